/* The process: its command line, threads, signals and exit code. */
#include "printable.h"
#include "program.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "run.h"
#include "status.h"
#include "stop.h"
#include "text.h"

#include <fcntl.h>
#include <malloc.h>
#if MINIAPP_MPI
#include <mpi.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sets the number of threads to the largest that any row runs on, because memory is spread over
 * them. */
static enum miniapp_status set_threads(struct options *options)
{
    const int threads = options_most_threads(options);
    const enum miniapp_status status = miniapp_host_set_threads(threads);
    if (status || options->action == ACTION_CHECK)
        return status;
    const int asked = threads ? threads : miniapp_host_threads();
    if (asked > miniapp_host_cpus())
        warn("%d threads share the %d CPU%s that this process may use", asked, miniapp_host_cpus(),
             miniapp_host_cpus() == 1 ? "" : "s");
    if (threads && miniapp_host_threads() != threads)
        warn("%d threads are asked for, but the OpenMP runtime gives %d", threads,
             miniapp_host_threads());
    for (size_t i = 0; i < options->thread_count; i++) /* the report has to say what runs */
        if ((int)options->threads[i] > miniapp_host_threads())
            options->threads[i] = (size_t)miniapp_host_threads();
    return MINIAPP_DONE;
}

static enum miniapp_status list(const struct options *options)
{
    if (options->action == ACTION_LIST_KERNELS)
        list_kernels(options->settings);
    else if (options->action == ACTION_LIST_VARIANTS)
        list_variants();
    else
        list_devices();
    return end_of_stdout();
}

/* Fails if the stack is too small, because a crash would not say why. */
static enum miniapp_status check_stack_limit(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur / 1024 >= LEAST_STACK)
        return MINIAPP_DONE;
    return fail(MINIAPP_DEVICE,
                "the limit of the stack is %llu KiB, but must be %d or more: see 'ulimit -s'",
                (unsigned long long)stack.rlim_cur / 1024, LEAST_STACK);
}

/* Opens standard streams that are closed, so that no file gets their numbers. */
static void fill_standard_streams(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    close(descriptor);
}

/* HDF5 allocates memory for each plane that it reads or writes. glibc returns memory of
 * that size to the system at once, which then clears new pages for the next plane. 32 MiB is the
 * highest threshold that all of glibc's versions take. */
static void keep_freed_memory(void)
{
    if (mallopt(M_MMAP_THRESHOLD, 32 << 20))
        mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

/* LLVM's runtime prints this to standard output, among the results; GCC's prints it elsewhere. */
static void keep_results_apart(void)
{
#if defined(__clang__)
    static const char name[] = "OMP_DISPLAY_AFFINITY";
    const char *const value = getenv(name);
    if (value && strcasecmp(value, "true") == 0)
        warn("%s is ignored, because the OpenMP runtime would print among the results", name);
    unsetenv(name);
#endif
}

/* The offload runtime's lines about memory that is short are less clear than the program's. */
static void silence_stderr(bool is_silent)
{
    static int stream = -1;
    if (is_silent) {
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        stream = nowhere < 0 ? -1 : dup(STDERR_FILENO);
        if (stream >= 0)
            dup2(nowhere, STDERR_FILENO);
        close(nowhere);
    } else if (stream >= 0) {
        dup2(stream, STDERR_FILENO);
        close(stream);
    }
}

#if MINIAPP_MPI
/* For a failure that the other processes would wait for. */
static void end_all(enum miniapp_status status)
{
    say_failures(true);
    miniapp_abandon();
    MPI_Abort(MPI_COMM_WORLD, (int)status);
    _Exit((int)status);
}
#endif

/* The lowest process that has failed speaks for all, and all have its status. */
static enum miniapp_status end_ranks(enum miniapp_status own)
{
    if (ranks_count() == 1)
        return own;
    const enum miniapp_status status = ranks_agree(own);
    if (!status)
        say_warnings();
    progress_clear();
    say_failures(!status || ranks_failed() == ranks_own());
    return status;
}

/* Starts MPI, where the build has it. One process prints. */
static enum miniapp_status start_ranks(int *argc, char ***argv)
{
    const enum miniapp_status status = ranks_start(argc, argv);
#if MINIAPP_MPI
    ranks_install_end(end_all);
#endif
    if (ranks_own() > 0 && !freopen("/dev/null", "w", stdout))
        return fail(MINIAPP_OUTPUT, "/dev/null cannot be opened");
    return status;
}

static void join_words(int count, char **words, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        append(text, PROVENANCE_TEXT, i ? " " : "", "%s", words[i]);
}

/* Returns the exit code of a run that is over. */
static int end_run(struct run *run, enum miniapp_status own)
{
    const enum miniapp_status status = end_ranks(own);
    const bool is_ended = !status && stop_signal() && run->results.interrupted;
    const int code = is_ended ? stop_exit_code() : (int)status;
    run_release(run);
    fflush(stdout);
    /* As soon as one process has ended, its launcher ends the others. So none ends before the one
     * that speaks has spoken, and by then each ends with the same code, however it is ended. */
    if (ranks_count() > 1 && code) {
        stop_with(code);
        ranks_meet();
    }
    return code;
}

int main(int argc, char **argv)
{
    static struct run run;
    run.resume = NO_RESUME;
    say_all();
    miniapp_own_process(true);
    miniapp_install_silence(silence_stderr);
    fill_standard_streams();
    keep_freed_memory();
    enum miniapp_status status = start_ranks(&argc, &argv);
    keep_results_apart();
    join_words(argc, argv, run.command_line); /* argp moves the words about */
    if (!status)
        status = ranks_agree(check_stack_limit());
    if (!status)
        status = ranks_agree(parse_options(argc, argv, &run.options));
    if (status)
        return end_run(&run, status);
    stop_prepare();
    if (run.options.action != ACTION_RUN && run.options.action != ACTION_CHECK)
        return end_run(&run, list(&run.options));
    status = run_open(&run);
    if (!status) /* an OpenMP runtime takes longer to start than most inputs to be refused */
        status = ranks_agree(set_threads(&run.options));
    if (!status)
        status = run.options.action == ACTION_CHECK ? run_check(&run) : run_all(&run);
    return end_run(&run, status);
}
