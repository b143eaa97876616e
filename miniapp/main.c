/* The process: its command line, threads, signals and exit code. */
#include "host.h"
#include "report.h"
#include "run.h"
#include "status.h"
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void set_threads(const struct options *options)
{
    if ((int)options->threads > host_cpus())
        warn("%zu threads share the %d CPU%s that this process may use", options->threads,
             host_cpus(), host_cpus() == 1 ? "" : "s");
    host_set_threads((int)options->threads);
    if (options->threads && host_threads() != (int)options->threads)
        warn("%zu threads are asked for, but the OpenMP runtime gives %d", options->threads,
             host_threads());
}

static enum physics_status list(enum action action)
{
    if (action == ACTION_LIST_KERNELS)
        list_kernels(stdout);
    else
        list_devices(stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(PHYSICS_OUTPUT, "standard output cannot be written: %s", strerror(errno));
    return PHYSICS_DONE;
}

/* What the program takes for granted of the process that it is. */
static enum physics_status settle_in(void)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    int descriptor;
    do /* a file must not get the number of a standard stream that is closed */
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    close(descriptor);
    /* libomp aborts on what it cannot read */
    if (threads && !threads[0])
        unsetenv("OMP_NUM_THREADS");
    else if (threads && (threads[strspn(threads, "0123456789, ")] || atoi(threads) < 1))
        return fail(PHYSICS_USAGE, "OMP_NUM_THREADS is '%s', but must be a whole number from 1",
                    threads);
    return PHYSICS_DONE;
}

int main(int argc, char **argv)
{
    static struct run run;
    join_words(argc, argv, run.command_line); /* argp moves the words about */
    enum physics_status status = settle_in();
    if (!status)
        status = parse_options(argc, argv, &run.options);
    if (status)
        return status;
    stop_prepare();
    set_threads(&run.options);
    if (run.options.action != ACTION_RUN)
        return list(run.options.action);
    status = run_all(&run);
    const bool ended = !status && run.results.interrupted;
    run_release(&run);
    return ended ? stop_exit_code() : (int)status;
}
