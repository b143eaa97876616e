/* The process: its command line, threads, signals and exit code. */
#include "listing.h"
#include "load.h"
#include "progress.h"
#include "report.h"
#include "run.h"
#include "status.h"
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Sets the most threads that any row runs on, because memory is spread over them. */
static void set_threads(struct options *options)
{
    int threads = 0;
    for (size_t i = 0; i < options->thread_count; i++)
        threads = (int)options->threads[i] > threads ? (int)options->threads[i] : threads;
    if (threads > miniapp_host_cpus())
        warn("%d threads share the %d CPU%s that this process may use", threads,
             miniapp_host_cpus(), miniapp_host_cpus() == 1 ? "" : "s");
    miniapp_host_set_threads(threads);
    if (threads && miniapp_host_threads() != threads)
        warn("%d threads are asked for, but the OpenMP runtime gives %d", threads,
             miniapp_host_threads());
    for (size_t i = 0; i < options->thread_count; i++) /* the report has to say what runs */
        if ((int)options->threads[i] > miniapp_host_threads())
            options->threads[i] = (size_t)miniapp_host_threads();
}

static enum miniapp_status list(const struct options *options)
{
    if (options->action == ACTION_LIST_KERNELS)
        list_kernels(stdout, options->settings);
    else
        list_devices(stdout);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(MINIAPP_OUTPUT, "standard output cannot be written: %s", strerror(errno));
    return MINIAPP_DONE;
}

static enum miniapp_status show(const struct options *options, struct results *results)
{
    const enum miniapp_status status = results_load(options->show, "be shown", results);
    results->earlier_count = 0;
    return status ? status : report(results, options->format);
}

/* Puts the process into the order that the program relies on. */
static enum miniapp_status settle_in(void)
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
        return fail(MINIAPP_USAGE, "OMP_NUM_THREADS is '%s', but must be a whole number from 1",
                    threads);
    return MINIAPP_DONE;
}

static void print(enum miniapp_status status, const char *line)
{
    progress_clear();
    fprintf(stderr, "miniapp: %s%s\n", status ? "" : "warning: ", line);
}

int main(int argc, char **argv)
{
    static struct run run;
    miniapp_listen(print);
    miniapp_own_process(true);
    join_words(argc, argv, run.command_line); /* argp moves the words about */
    enum miniapp_status status = settle_in();
    if (!status)
        status = parse_options(argc, argv, &run.options);
    if (status) {
        run_release(&run);
        return status;
    }
    stop_prepare();
    set_threads(&run.options);
    if (run.options.action != ACTION_RUN && run.options.action != ACTION_CHECK) {
        status = run.options.action == ACTION_SHOW ? show(&run.options, &run.results)
                                                   : list(&run.options);
        run_release(&run);
        return status;
    }
    status = run.options.action == ACTION_CHECK ? run_check(&run) : run_all(&run);
    const bool ended = !status && run.results.interrupted;
    run_release(&run);
    return ended ? stop_exit_code() : (int)status;
}
