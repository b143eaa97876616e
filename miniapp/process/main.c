/* The process: its command line, threads, signals and exit code. */
#include "listing.h"
#include "load.h"
#include "progress.h"
#include "ranks.h"
#include "report.h"
#include "run.h"
#include "status.h"
#include "stop.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Sets the most threads that any row runs on, because memory is spread over them. */
static void set_threads(struct options *options)
{
    int threads = 0;
    for (size_t i = 0; i < options->thread_count; i++)
        threads = (int)options->threads[i] > threads ? (int)options->threads[i] : threads;
    miniapp_host_set_threads(threads);
    if (options->action != ACTION_RUN)
        return;
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

/* Whole numbers from 1 with commas between, of threads at each level of nested parallel regions. */
static bool is_list_of_threads(const char *text)
{
    for (;; text++) {
        char *end;
        text += strspn(text, " ");
        const unsigned long threads = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
        if (threads < 1 || threads > MAX_THREADS)
            return false;
        text = end + strspn(end, " ");
        if (*text != ',')
            return !*text;
    }
}

enum { LEAST_STACK = 256 }; /* KiB; half of that was found to be enough */

/* A stack of threads in KiB, as OMP_STACKSIZE gives it; NAN where it is none, of which the OpenMP
 * runtime warns, and takes its own. */
static double stack_of_threads(const char *text)
{
    static const char units[] = "BKMG";
    char *end;
    const double number = isdigit((unsigned char)text[0]) ? strtod(text, &end) : NAN;
    const char *const unit = isnan(number) ? NULL : strchr(units, toupper((unsigned char)*end));
    if (!unit)
        return NAN;
    return *end ? ldexp(number, 10 * (int)(unit - units - 1)) : number;
}

/* libomp aborts on what it cannot read, and takes the last digits of what is too large for it. */
static enum miniapp_status check_threads(void)
{
    static const char name[] = "OMP_NUM_THREADS";
    const char *const threads = getenv(name);
    if (threads && !threads[0])
        unsetenv(name);
    else if (threads && !is_list_of_threads(threads))
        return fail(MINIAPP_USAGE, "%s is '%s', but must be a whole number from 1 to %d", name,
                    threads, MAX_THREADS);
    return MINIAPP_DONE;
}

static enum miniapp_status check_stack_of_threads(void)
{
    const char *const stack = getenv("OMP_STACKSIZE");
    if (stack && stack_of_threads(stack) < LEAST_STACK)
        return fail(MINIAPP_USAGE, "OMP_STACKSIZE is '%s', but must be %dK or more", stack,
                    LEAST_STACK);
    return MINIAPP_DONE;
}

/* A crash would say nothing. */
static enum miniapp_status check_stack(void)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur / 1024 >= LEAST_STACK)
        return MINIAPP_DONE;
    return fail(MINIAPP_DEVICE,
                "the limit of the stack is %llu KiB, but must be %d or more: see 'ulimit -s'",
                (unsigned long long)stack.rlim_cur / 1024, LEAST_STACK);
}

/* A file must not get the number of a standard stream that is closed. */
static void fill_standard_streams(void)
{
    int descriptor;
    do
        descriptor = open("/dev/null", O_RDONLY);
    while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    close(descriptor);
}

/* Puts the process into the order that the program relies on. */
static enum miniapp_status settle_in(void)
{
    fill_standard_streams();
    enum miniapp_status status = check_stack();
    if (!status)
        status = check_stack_of_threads();
    return status ? status : check_threads();
}

/* What several processes have to say of a failure: one of them says it, at the end. */
static char *held;
static size_t held_bytes;
static FILE *held_lines;

static void say_held(void)
{
    if (!held_lines)
        return;
    fclose(held_lines);
    fputs(held, stderr);
    free(held);
    held_lines = NULL;
}

/* Several processes warn of the same: the first one does. */
static void print(enum miniapp_status status, const char *line)
{
    if (ranks_count() > 1 && status && !held_lines)
        held_lines = open_memstream(&held, &held_bytes);
    if (!status && ranks_own() > 0)
        return;
    progress_clear();
    fprintf(status && held_lines ? held_lines : stderr, "miniapp: %s%s\n",
            status ? "" : "warning: ", line);
}

/* The lowest process that has failed speaks for all. */
static void end_ranks(enum miniapp_status own)
{
    const enum miniapp_status status = ranks_agree(own);
    if (status && ranks_failed() != ranks_own())
        return;
    progress_clear();
    say_held();
}

/* Starts MPI, where the build has it. One process prints. */
static enum miniapp_status start_ranks(int *argc, char ***argv)
{
    const enum miniapp_status status = ranks_start(argc, argv);
    ranks_before_abort(say_held);
    if (ranks_own() > 0 && !freopen("/dev/null", "w", stdout))
        return fail(MINIAPP_OUTPUT, "/dev/null cannot be opened");
    return status;
}

int main(int argc, char **argv)
{
    static struct run run;
    run.resume = NO_RESUME;
    miniapp_listen(print);
    miniapp_own_process(true);
    enum miniapp_status status = settle_in();
    if (!status)
        status = start_ranks(&argc, &argv);
    join_words(argc, argv, run.command_line); /* argp moves the words about */
    if (!status)
        status = ranks_agree(parse_options(argc, argv, &run.options));
    if (status) {
        end_ranks(status);
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
    end_ranks(status);
    run_release(&run);
    return ended ? stop_exit_code() : (int)status;
}
