#include "run.h"
#include "absent.h"
#include "bench.h"
#include "clock.h"
#include "collect.h"
#include "files.h"
#include "printable.h"
#include "ranks.h"
#include "report.h"
#include "resume.h"
#include "status.h"
#include "steps.h"
#include "stop.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- before ---- */

static bool is_open(const struct run *run, const struct miniapp_device *device)
{
    for (size_t i = 0; i < run->device_count; i++)
        if (strcmp(miniapp_device_label(run->devices[i]), miniapp_device_label(device)) == 0)
            return true;
    return false;
}

/* The processes of a node take its GPUs in turn: for them "gpu" is gpu:0, gpu:1, ... */
static void name_of_own(const char *name, char own[DEVICE_NAME])
{
    char text[PROVENANCE_TEXT];
    int count = 0;
    snprintf(own, DEVICE_NAME, "%s", name);
    if (ranks_on_node() == 1 || strcmp(name, "cpu") == 0 || strchr(name, ':'))
        return;
    while (miniapp_device_describe(count, text, sizeof(text)))
        count++;
    if (count == 0) /* opening it says why */
        return;
    if (ranks_on_node() > count)
        warn("%d processes of a node share %d device%s", ranks_on_node(), count,
             count == 1 ? "" : "s");
    snprintf(own, DEVICE_NAME, "%.10s:%d", strcmp(name, "auto") == 0 ? "gpu" : name,
             ranks_local() % count);
}

/* Opens each device once, whatever it is called. */
static enum miniapp_status open_devices(struct run *run)
{
    const struct options *options = &run->options;
    for (size_t i = 0; i < options->device_count; i++) {
        struct miniapp_device *device;
        char name[DEVICE_NAME];
        name_of_own(options->devices[i], name);
        const enum miniapp_status status = miniapp_device_open(name, &device);
        if (status)
            return status;
        if (!is_open(run, device)) {
            run->devices[run->device_count++] = device;
            continue;
        }
        warn("device '%s' is '%s', which is given already: it runs once", options->devices[i],
             miniapp_device_label(device));
        miniapp_device_close(device);
    }
    return MINIAPP_DONE;
}

bool run_reads(const struct options *options, const struct miniapp_field *field)
{
    for (size_t i = 0; i < options->kernel_count; i++)
        if (miniapp_sequence_reads(options->kernels[i], field))
            return true;
    return options->roofline && (miniapp_sequence_reads(ceiling_of_bytes(), field) ||
                                 miniapp_sequence_reads(ceiling_of_flops(), field));
}

static enum miniapp_status open_input(struct run *run)
{
    const struct options *options = &run->options;
    const struct miniapp_field **wanted = malloc(miniapp_field_count() * sizeof(*wanted));
    size_t count = 0;
    if (!wanted)
        return fail(MINIAPP_DEVICE, "out of memory for a list of fields");
    miniapp_input_options_share(options->reading, ranks_own(), ranks_count());
    for (size_t i = 0; i < miniapp_field_count(); i++)
        if (run_reads(options, miniapp_field_at(i)))
            wanted[count++] = miniapp_field_at(i);
    const enum miniapp_status status =
        miniapp_input_open(options->input, wanted, count, options->reading, &run->input);
    free(wanted);
    return status ? status : miniapp_input_check(run->input);
}

/* Whether any process has found water in its part. The reader warns where there is only one. */
static enum miniapp_status look_for_water_anywhere(struct run *run)
{
    size_t water;
    enum miniapp_status status = miniapp_input_count_water(run->input, &water);
    double most = (double)water; /* the most that a process found in its part */
    status = agree_on(status, &most, 1);
    run->is_land = most == 0;
    if (!status && run->is_land && !(run->options.allow & MINIAPP_ALLOW_INVALID) &&
        ranks_own() == 0 && ranks_count() > 1)
        warn("%s: all of the ocean is land", run->options.input);
    return status;
}

static bool is_read(const struct options *options, const struct miniapp_setting *setting)
{
    for (size_t i = 0; i < options->kernel_count; i++)
        if (miniapp_sequence_uses(options->kernels[i], setting))
            return true;
    return false;
}

static bool is_possible(const struct miniapp_setting *setting, double value)
{
    double least, most;
    miniapp_setting_range(setting, &least, &most);
    return value >= least && value <= most &&
           (!miniapp_setting_is_whole(setting) || value == floor(value));
}

/* The command line's settings, else the file's, else the defaults; those that the kernels read
 * have to be in their ranges. */
static enum miniapp_status choose_settings(struct run *run)
{
    const struct options *options = &run->options;
    for (size_t i = 0; i < miniapp_setting_count(); i++) {
        const struct miniapp_setting *const setting = miniapp_setting_at(i);
        const char *const name = miniapp_setting_name(setting);
        double value;
        if (options->is_set[i] && !is_read(options, setting))
            warn("--set %s: none of the kernels reads it", name);
        if (options->is_set[i] || !miniapp_input_setting(run->input, setting, &value))
            continue;
        if (!is_read(options, setting)) { /* its value is reported, but need not be valid */
            if (is_possible(setting, value))
                miniapp_settings_set(run->options.settings, name, value);
            continue;
        }
        const enum miniapp_status status =
            options_check_setting(options, setting, value, options->input, MINIAPP_INPUT);
        if (status)
            return status;
        miniapp_settings_set(run->options.settings, name, value);
    }
    return MINIAPP_DONE;
}

/* ---- which rows ---- */

/* What `--size` asks for, or the file's own grid with ghosts. */
static struct miniapp_grid grid_of(const struct run *run, size_t shape)
{
    const struct miniapp_grid *asked = &run->options.shapes[shape];
    return asked->nx ? *asked : miniapp_input_grid(run->input);
}

/* The rows of a kernel on all devices and numbers of threads, which are compared with each
 * other. */
enum { MOST_COMPARED = 2 * MAX_REPEATS };

static size_t list_compared(const struct run *run, const struct row *like,
                            struct row rows[MOST_COMPARED])
{
    const struct options *options = &run->options;
    size_t count = 0;
    for (size_t d = 0; d < run->device_count; d++) {
        const bool is_host = strcmp(miniapp_device_kind(run->devices[d]), "host") == 0;
        const size_t times = is_host && options->thread_count ? options->thread_count : 1;
        for (size_t t = 0; t < times && count < MOST_COMPARED; t++) {
            rows[count] = *like;
            rows[count].device = run->devices[d];
            rows[count].threads = !is_host                ? 0
                                  : options->thread_count ? (int)options->threads[t]
                                                          : miniapp_host_threads();
            count++;
        }
    }
    return count;
}

static enum miniapp_status report_missing(const struct run *run, const struct result *row,
                                          const char *option, const char *what)
{
    return fail(MINIAPP_INPUT,
                "%s: cannot be resumed with %s: it has '%s' on %zu x %zu x %zu points without %s; "
                "give another file",
                run->options.resume, option, row->kernel, row->grid.nx, row->grid.ny, row->grid.nz,
                what);
}

/* Whether a resumed run has a row. The ceiling of another row is measured again, with ceilings of
 * its own, if it becomes a row itself. */
static bool has_row(const struct run *run, const struct row *row, const struct result *wanted)
{
    const bool measures_ceilings =
        row->sequence == ceiling_of_bytes() || row->sequence == ceiling_of_flops();
    return run->options.roofline && measures_ceilings ? resume_has_ceilings(&run->results, wanted)
                                                      : resume_has(&run->results, wanted);
}

/* Whether a resumed run has all of these rows; fails if it has only some of them. */
static enum miniapp_status has_rows(const struct run *run, const struct row *rows, size_t count,
                                    bool *has)
{
    const struct options *options = &run->options;
    const struct row *lacking = NULL;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct result wanted = result_like(&rows[i]);
        if (!has_row(run, &rows[i], &wanted))
            lacking = &rows[i];
        else if (options->roofline && !resume_has_ceilings(&run->results, &wanted))
            return report_missing(run, &wanted, "--roofline", "ceilings");
        else if (options->checksums && !resume_has_checksums(&run->results, &wanted))
            return report_missing(run, &wanted, "--checksums", "checksums");
        else
            found++;
    }
    *has = found == count;
    if (found == 0 || *has)
        return MINIAPP_DONE;
    const struct result wanted = result_like(lacking);
    return fail(MINIAPP_INPUT,
                "%s: cannot be resumed: it has '%s' on %zu x %zu x %zu points on "
                "another device, but not on '%s'; give another file",
                options->resume, wanted.kernel, wanted.grid.nx, wanted.grid.ny, wanted.grid.nz,
                wanted.device);
}

/* The first process has the results, so it decides. */
static enum miniapp_status agree_on_rows(const struct run *run, const struct row *rows,
                                         size_t count, bool *has)
{
    enum miniapp_status status = MINIAPP_DONE;
    *has = false;
    if (!run->options.resume)
        return status;
    if (ranks_own() == 0)
        status = has_rows(run, rows, count, has);
    double number = *has;
    status = agree_on(status, &number, 1);
    *has = number > 0;
    return status;
}

/* The rows of one size. A resumed run skips those that it has. */
static enum miniapp_status add_rows(const struct run *run, size_t shape,
                                    const struct method *method, struct bench *bench)
{
    const struct options *options = &run->options;
    for (size_t k = 0; k < options->kernel_count; k++)
        for (size_t p = 0; p < options->precision_count; p++) {
            const struct row like = {.sequence = options->kernels[k],
                                     .precision = options->precisions[p],
                                     .grid = grid_of(run, shape),
                                     .each_call = options->transfer == TRANSFER_EACH_CALL};
            struct row rows[MOST_COMPARED];
            bool has;
            const size_t count = list_compared(run, &like, rows);
            const enum miniapp_status status = agree_on_rows(run, rows, count, &has);
            if (status)
                return status;
            for (size_t i = 0; i < count && !has; i++) {
                const enum miniapp_status added =
                    bench_add(bench, &rows[i], options->roofline, method);
                if (added)
                    return added;
            }
        }
    return MINIAPP_DONE;
}

/* ---- measuring ---- */

static struct method method_of(struct run *run)
{
    const struct options *const options = &run->options;
    return (struct method){
        .along_x = options->along_x,
        .overlaps = options->overlap,
        .along_y = options->along_y,
        .burnin = options->burnin,
        .repetitions = options->steps ? options->steps - run->first_step : options->repetitions,
        .advances = options->steps > 0,
        .after_step = steps_after,
        .context = run,
        .seconds = options->seconds,
        .seed = options->seed,
        .each_call = options->transfer == TRANSFER_EACH_CALL,
        .own_grid = options->shapes[0].nx == 0,
        .settings = options->settings,
        .verbose = options->verbose,
    };
}

/* Adds the rows of some sizes, and checks that there is enough memory for them. */
static enum miniapp_status plan(struct run *run, size_t first, size_t end, struct bench *bench)
{
    const struct method method = method_of(run);
    enum miniapp_status status = MINIAPP_DONE;
    *bench = (struct bench){0};
    for (size_t shape = first; shape < end && !status; shape++)
        status = add_rows(run, shape, &method, bench);
    double rows[] = {bench->count, -bench->count};
    status = agree_on(status, rows, 2);
    if (!status && rows[0] != -rows[1])
        status = fail(MINIAPP_USAGE, "processes find different devices: name each by its number");
    return agree(status ? status : bench_check_memory(bench, run->input, &method));
}

static enum miniapp_status open_rows(struct run *run, struct bench *bench,
                                     const struct method *method)
{
    const double start = seconds_now();
    const enum miniapp_status status = bench_open(bench, run->input, method);
    run->results.read_seconds += seconds_now() - start;
    return status;
}

static enum miniapp_status run_shapes(struct run *run, size_t first, size_t end)
{
    const struct method method = method_of(run);
    struct bench bench;
    enum miniapp_status status = plan(run, first, end, &bench);
    if (!status)
        status = open_rows(run, &bench, &method);
    if (!status && !stop_signal())
        status = agree(steps_begin(run, &bench));
    if (!status)
        status = agree(bench_measure(&bench, &method));
    if (!status)
        status = agree(steps_end(run, &bench));
    if (!status)
        status = agree(collect(run, &bench));
    bench_close(&bench);
    return status;
}

/* All sizes take turns with each other; but with --resume one follows the other, so that a run that
 * is cut off loses no more than one size. */
static size_t shapes_together(const struct options *options)
{
    return options->resume ? 1 : options->shape_count;
}

/* Checks whatever can be known before anything is measured. */
static enum miniapp_status check_plans(struct run *run)
{
    const size_t step = shapes_together(&run->options);
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < run->options.shape_count && !status; i += step) {
        struct bench bench;
        status = plan(run, i, i + step, &bench);
        bench_close(&bench);
    }
    return status;
}

static enum miniapp_status run_bench(struct run *run)
{
    const struct options *options = &run->options;
    const size_t step = shapes_together(options);
    enum miniapp_status status = check_plans(run);
    if (!status && options->resume && ranks_own() == 0)
        resume_compare(&run->resume, &run->results);
    stop_in_order();
    for (size_t i = 0; i < options->shape_count && !status && !stop_signal(); i += step) {
        status = run_shapes(run, i, i + step);
        results_compare_devices(&run->results);
        status = agree(status);
        if (!status && options->resume && !stop_signal() && ranks_own() == 0)
            status = resume_save(&run->resume, &run->results);
        status = agree(status);
    }
    stop_at_once();
    if (stop_signal())
        run->results.interrupted = stop_signal_name();
    return status;
}

/* ---- all of it ---- */

/* With the fewest digits that give the same number again. */
static const char *exact_text(double value, char text[32])
{
    for (int digits = 15; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

/* NAME=VALUE, as --set takes them. */
static const char *settings_text(const struct miniapp_settings *settings,
                                 char text[PROVENANCE_TEXT])
{
    size_t used = 0;
    for (size_t i = 0; i < miniapp_setting_count() && used < PROVENANCE_TEXT; i++) {
        const char *const name = miniapp_setting_name(miniapp_setting_at(i));
        char value[32];
        used += (size_t)snprintf(text + used, PROVENANCE_TEXT - used, "%s%s=%s", i > 0 ? " " : "",
                                 name, exact_text(miniapp_settings_get(settings, name), value));
    }
    return text;
}

/* "1, 2, 4" */
static const char *threads_text(const struct options *options, char text[PROVENANCE_TEXT])
{
    size_t used = 0;
    if (options->thread_count == 0)
        snprintf(text, PROVENANCE_TEXT, "%d", miniapp_host_threads());
    for (size_t i = 0; i < options->thread_count; i++)
        used += (size_t)snprintf(text + used, PROVENANCE_TEXT - used, "%s%zu", i ? ", " : "",
                                 options->threads[i]);
    return text;
}

/* How the OpenMP runtime binds threads to CPUs, and what it was asked for. */
static const char *binding_text(char text[PROVENANCE_TEXT])
{
    static const char *const asked[] = {"OMP_PROC_BIND", "OMP_PLACES"};
    char bound[MINIAPP_BINDING];
    size_t used = (size_t)snprintf(text, PROVENANCE_TEXT, "%s", miniapp_host_binding(bound));
    for (size_t i = 0; i < 2 && used < PROVENANCE_TEXT; i++)
        if (getenv(asked[i]))
            used += (size_t)snprintf(text + used, PROVENANCE_TEXT - used, "; %s=%s", asked[i],
                                     getenv(asked[i]));
    return text;
}

static void describe_processes(struct provenance *provenance, const struct options *options)
{
    char text[PROVENANCE_TEXT];
    if (ranks_count() == 1)
        return;
    snprintf(text, sizeof(text), "%d", ranks_count());
    provenance_add(provenance, "processes", text);
    if (options->overlap)
        provenance_add(provenance, "overlap", "ghosts are under way while kernels run");
    snprintf(text, sizeof(text), "%s; %d of the processes on this node; %s", ranks_library(),
             ranks_on_node(),
             ranks_gpu_aware() ? "it sends from a GPU's memory"
                               : "a GPU's messages go by the host");
    provenance_add(provenance, "mpi", text);
}

static void describe_run(struct run *run)
{
    struct provenance *provenance = &run->results.provenance;
    char devices[PROVENANCE_TEXT] = "", settings[PROVENANCE_TEXT];
    char threads[PROVENANCE_TEXT], binding[PROVENANCE_TEXT], absent[PROVENANCE_TEXT];
    size_t used = 0;
    for (size_t i = 0; i < run->device_count && used < sizeof(devices); i++)
        used += (size_t)snprintf(devices + used, sizeof(devices) - used, "%s%s: %s", i ? "; " : "",
                                 miniapp_device_label(run->devices[i]),
                                 miniapp_device_name(run->devices[i]));
    run->results.input = run->options.input;
    run->results.reference = run->options.reference;
    run->results.seed = run->options.seed;
    run->results.clock = clock_measure();
    if (run->options.verbose)
        fprintf(stderr, "miniapp: a reading of the clock costs %.3g ns, it resolves %.3g ns\n",
                1e9 * run->results.clock.cost, 1e9 * run->results.clock.resolution);
    provenance_of_build(provenance);
    provenance_of_run(provenance, run->command_line, run->options.input);
    describe_processes(provenance, &run->options);
    provenance_add(provenance, "threads", threads_text(&run->options, threads));
    provenance_add(provenance, "binding", binding_text(binding));
    if (run->options.sources)
        provenance_add(provenance, "tracers_start_as", run->options.sources);
    provenance_add(provenance, "grid", miniapp_input_grid_text(run->input));
    if (absent_text(run, absent)[0])
        provenance_add(provenance, "absent", absent);
    provenance_add(provenance, "device", devices);
    if (run->options.every) { /* for --restart */
        provenance_add(provenance, "sequence", miniapp_sequence_name(run->options.kernels[0]));
        provenance_add(provenance, "precision", miniapp_precision_name(run->options.precisions[0]));
    }
    provenance_add(provenance, "settings", settings_text(run->options.settings, settings));
}

/* Rows that a resumed run already has may have had outputs that were not finite. */
static enum miniapp_status check_outputs(const struct run *run)
{
    const struct result *const earlier = results_nonfinite(&run->results);
    if (run->nonfinite[0] && run->is_finite)
        return fail(MINIAPP_MISMATCH,
                    "steps lead beyond the limits of an ocean: %s (--allow-invalid accepts it)",
                    run->nonfinite);
    if (run->nonfinite[0])
        return fail(
            MINIAPP_MISMATCH,
            "outputs are not finite, though the inputs are: %s (--allow-nonfinite accepts them)",
            run->nonfinite);
    if (earlier && !(run->options.allow & MINIAPP_ALLOW_NONFINITE))
        return fail(MINIAPP_MISMATCH,
                    "%s: outputs of %s on %s in %s were not finite, though the inputs were "
                    "(--allow-nonfinite accepts them)",
                    run->options.resume, earlier->kernel, earlier->device,
                    miniapp_precision_name(earlier->precision));
    return MINIAPP_DONE;
}

static enum miniapp_status check_budgets(const struct run *run)
{
    const struct result *where;
    const struct miniapp_budget *const budget = results_unbalanced(&run->results, &where);
    if (!budget || (isnan(budget->residual) && (run->options.allow & MINIAPP_ALLOW_NONFINITE)))
        return MINIAPP_DONE;
    return fail(MINIAPP_MISMATCH,
                "the budget of %s is not kept: its residual is %.3g %s, where rounding makes %.3g "
                "at most, by %s on %s in %s",
                budget->name, budget->residual, budget->units, budget->bound, where->kernel,
                where->device, miniapp_precision_name(where->precision));
}

/* Whether the file of references says so. Only the first process has it. */
static bool is_of_another_input(const struct run *run)
{
    const char *const theirs = run->references ? miniapp_references_input(run->references) : "";
    const char *const own = provenance_text(&run->results.provenance, "input_sha256");
    return theirs[0] && strcmp(theirs, own) != 0;
}

static enum miniapp_status check_verdicts(const struct run *run)
{
    const char *const reference = run->options.reference;
    const struct check *const uncompared = results_uncompared(&run->results);
    if (uncompared)
        return fail(MINIAPP_MISMATCH, "%s: nothing was compared for '%s': %s", reference,
                    uncompared->kernel,
                    run->is_land
                        ? "all of the input is land"
                        : "its outputs and their reference are 0 or not finite everywhere");
    return results_passed(&run->results)
               ? MINIAPP_DONE
               : fail(MINIAPP_MISMATCH, "%s: the outputs differ from this reference%s", reference,
                      is_of_another_input(run) ? ", which was made from another input" : "");
}

/* Puts the output in its place, unless it is of steps in time that did not reach the last one. */
static enum miniapp_status put_end(struct run *run)
{
    struct miniapp_output *const output = run->output;
    const bool is_whole = run->options.steps == 0 || !run->nonfinite[0];
    const double start = seconds_now();
    run->output = NULL;
    const enum miniapp_status status = is_whole ? finish_output(run, output) : MINIAPP_DONE;
    if (!is_whole)
        miniapp_output_discard(output);
    run->results.write_seconds += seconds_now() - start;
    return status;
}

static void warn_of_end(const struct run *run)
{
    const struct options *options = &run->options;
    warn("ended by %s: %s", run->results.interrupted,
         options->output || options->reference ? "nothing is written or compared"
                                               : "rows may lack calls, or be missing");
}

/* The same for steps with snapshots. */
static enum miniapp_status warn_of_restart(const struct run *run)
{
    char from[64] = "starts from the input";
    size_t step;
    const enum miniapp_status status = steps_find_newest(run, run->options.steps, &step);
    if (step > 0)
        snprintf(from, sizeof(from), "goes on from the snapshot of step %zu", step);
    if (!status)
        warn("ended by %s%s%s: --restart %s", run->results.interrupted,
             run->nonfinite[0] ? ", when " : "", run->nonfinite, from);
    return status;
}

/* Writes, reports and judges what a run gave that is done, or that a signal ended. The first
 * process does it. */
static enum miniapp_status conclude(struct run *run)
{
    const struct options *options = &run->options;
    const bool ended = run->results.interrupted != NULL;
    enum miniapp_status status = MINIAPP_DONE;
    if (ranks_own() > 0)
        return status;
    if (options->output && !ended)
        status = put_end(run);
    if (!status)
        status = report(&run->results, options->format);
    if (!status && ended && options->every)
        status = warn_of_restart(run);
    else if (!status && ended)
        warn_of_end(run);
    if (!status && !ended)
        status = check_outputs(run);
    if (!status && !ended)
        status = check_budgets(run);
    return status || ended ? status : check_verdicts(run);
}

/* A process has only one output at a time: the final one is started again after the last
 * snapshot. */
static void give_place_to_snapshots(struct run *run)
{
    miniapp_output_discard(run->output);
    run->output = NULL;
}

static enum miniapp_status open_resume(struct run *run)
{
    const struct options *options = &run->options;
    size_t count;
    const char **const read_files = list_read_files(run, &count);
    enum miniapp_status status =
        read_files ? check_not_read("resume", options->resume, read_files, count) : MINIAPP_DEVICE;
    free(read_files);
    return status ? status : resume_open(options->resume, &run->resume);
}

/* Opens the files that results go to, which must not be among those that are read. The first
 * process writes them. */
static enum miniapp_status open_outputs(struct run *run)
{
    const struct options *options = &run->options;
    enum miniapp_status status = MINIAPP_DONE;
    if (ranks_own() > 0)
        return status;
    if (options->output)
        status = start_end(run);
    if (!status && options->every)
        give_place_to_snapshots(run);
    return status || !options->resume ? status : open_resume(run);
}

/* Checks that all processes run the same build, and gives them the same seed for turns. */
static enum miniapp_status check_builds(struct run *run)
{
    static struct provenance own;
    char digest[SHA256_TEXT], first[SHA256_TEXT], text[PROVENANCE_TEXT] = "";
    size_t used = 0;
    if (ranks_count() == 1)
        return MINIAPP_DONE;
    provenance_of_build(&own);
    for (size_t i = 0; i < own.count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", own.texts[i]);
    digest_text(text, digest);
    memcpy(first, digest, sizeof(first));
    ranks_broadcast(0, first, sizeof(first));
    ranks_broadcast(0, &run->options.seed, sizeof(run->options.seed));
    return strcmp(digest, first) == 0
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "process %d runs another build than the first", ranks_own());
}

static bool is_that_of_the_first(const char *text)
{
    char own[SHA256_TEXT], first[SHA256_TEXT];
    digest_text(text, own);
    memcpy(first, own, sizeof(first));
    ranks_broadcast(0, first, sizeof(first));
    return strcmp(own, first) == 0;
}

/* Processes may have been started with other options, or find other files under the same name. */
static enum miniapp_status check_options(const struct run *run)
{
    return ranks_count() == 1 || is_that_of_the_first(run->command_line)
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "process %d has other options than the first", ranks_own());
}

static enum miniapp_status check_files(const struct run *run)
{
    char text[2 * PROVENANCE_TEXT], settings[PROVENANCE_TEXT];
    struct stat found = {0};
    if (ranks_count() == 1)
        return MINIAPP_DONE;
    stat(run->options.input, &found);
    snprintf(text, sizeof(text), "%lld %s %s", (long long)found.st_size,
             settings_text(run->options.settings, settings), miniapp_input_grid_text(run->input));
    return is_that_of_the_first(text)
               ? MINIAPP_DONE
               : fail(MINIAPP_INPUT,
                      "%s: process %d has read another file of that name than the first: its size, "
                      "grid or settings differ",
                      run->options.input, ranks_own());
}

enum miniapp_status run_all(struct run *run)
{
    const struct options *options = &run->options;
    enum miniapp_status status = agree(open_devices(run));
    if (!status)
        status = agree(open_input(run));
    if (!status)
        status = look_for_water_anywhere(run);
    if (!status) /* after the reader, whose hdf5_start has to be HDF5's first call */
        status = agree(check_builds(run));
    if (!status)
        status = agree(check_options(run));
    if (!status)
        status = agree(choose_settings(run));
    if (!status)
        status = agree(check_files(run));
    if (!status)
        status = agree(absent_check(run));
    if (!status && options->reference)
        status = agree(check_reference(run));
    if (!status)
        status = agree(open_outputs(run));
    if (!status)
        status = agree(steps_find_start(run));
    if (status)
        return status;
    describe_run(run);
    if (options->resume && ranks_own() == 0)
        status = resume_load(&run->resume, &run->results);
    status = agree(status);
    if (status)
        return status;
    status = run_bench(run);
    return status ? status : agree(conclude(run));
}

enum miniapp_status run_check(struct run *run)
{
    char absent[PROVENANCE_TEXT];
    enum miniapp_status status = agree(open_input(run));
    if (!status)
        status = look_for_water_anywhere(run);
    if (!status)
        status = agree(choose_settings(run));
    if (!status)
        status = agree(absent_check(run));
    if (status)
        return status;
    print("%s: can be used by ", run->options.input);
    for (size_t i = 0; i < run->options.kernel_count; i++)
        print("%s%s", i ? ", " : "", miniapp_sequence_name(run->options.kernels[i]));
    print(": %s\n", miniapp_input_grid_text(run->input));
    if (absent_text(run, absent)[0])
        print("absent: %s\n", absent);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(MINIAPP_OUTPUT, "standard output cannot be written: %s", strerror(errno));
    return MINIAPP_DONE;
}

void run_release(struct run *run)
{
    miniapp_output_discard(run->output);
    resume_close(&run->resume);
    miniapp_references_close(run->references);
    miniapp_input_close(run->input);
    miniapp_settings_free(run->options.settings);
    miniapp_input_options_free(run->options.reading);
    free(run->options.sources);
    free(run->options.source_words);
    free(run->options.tracers);
    results_release(&run->results);
    for (size_t i = 0; i < run->device_count; i++)
        miniapp_device_close(run->devices[i]);
}
