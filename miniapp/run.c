#include "run.h"
#include "bench.h"
#include "clock.h"
#include "collect.h"
#include "fields.h"
#include "report.h"
#include "resume.h"
#include "status.h"
#include "stop.h"

/* ---- before ---- */

static enum physics_status open_devices(struct run *run)
{
    const struct options *options = &run->options;
    for (size_t i = 0; i < options->device_count; i++) {
        const enum physics_status status = device_open(options->devices[i], &run->devices[i]);
        if (status)
            return status;
    }
    return PHYSICS_DONE;
}

static void add_inputs(const struct physics_kernel *kernel, bool wanted[PHYSICS_FIELDS])
{
    for (const enum physics_field_id *id = kernel->inputs; *id; id++)
        wanted[*id] = true;
}

static enum physics_status read_file(struct run *run)
{
    const struct options *options = &run->options;
    bool wanted[PHYSICS_FIELDS] = {false};
    for (size_t i = 0; i < options->kernel_count; i++)
        add_inputs(options->kernels[i], wanted);
    if (options->roofline) {
        add_inputs(ceiling_of_bytes(), wanted);
        add_inputs(ceiling_of_flops(), wanted);
    }
    const double start = seconds_now();
    const enum physics_status status =
        read_input(options->input, wanted, options->checks, &run->input);
    run->results.read_seconds = seconds_now() - start;
    return status;
}

/* The command line's settings, else the file's, else the defaults; those that the kernels read
 * have to be in their ranges. */
static enum physics_status choose_settings(struct run *run)
{
    const struct options *options = &run->options;
    bool is_read[PHYSICS_SETTINGS] = {false};
    for (size_t i = 0; i < options->kernel_count; i++) {
        const struct physics_kernel *kernel = options->kernels[i];
        for (const enum physics_setting_id *id = kernel->settings; *id; id++)
            is_read[*id] = true;
    }
    for (int id = 1; id < PHYSICS_SETTINGS; id++) {
        const bool by_file = run->input.is_set[id] && !options->is_set[id];
        run->setting[id] = options->is_set[id] ? options->setting[id]
                           : by_file           ? run->input.setting[id]
                                               : physics_settings[id].value;
        if (options->is_set[id] && !is_read[id])
            warn("--set %s: none of the kernels reads it", physics_settings[id].name);
        if (!by_file || !is_read[id])
            continue;
        const enum physics_status status = check_setting(
            (enum physics_setting_id)id, run->setting[id], options->input, PHYSICS_INPUT);
        if (status)
            return status;
    }
    return PHYSICS_DONE;
}

/* ---- which rows ---- */

/* What `--size` asks for, or the file's own grid with ghosts. */
static struct physics_grid grid_of(const struct run *run, size_t shape)
{
    const struct physics_grid *asked = &run->options.shapes[shape];
    return asked->nx ? *asked : grid_of_input(&run->input);
}

/* Whether a resumed run has the rows of all devices, which are compared with each other in one
 * run; it fails where it has some of them. */
static enum physics_status has_devices(const struct run *run, const struct physics_kernel *kernel,
                                       enum physics_precision precision,
                                       const struct physics_grid *grid, bool *has)
{
    const struct options *options = &run->options;
    const bool each_call = options->transfer == TRANSFER_EACH_CALL;
    const char *lacking = NULL;
    size_t count = 0;
    for (size_t d = 0; d < options->device_count; d++) {
        const char *label = run->devices[d].label;
        if (!resume_has(&run->results, kernel, label, precision, grid, each_call))
            lacking = label;
        else if (options->roofline &&
                 !resume_has_ceilings(&run->results, kernel, label, precision, grid))
            return fail(PHYSICS_INPUT, "%s: cannot be resumed with --roofline: it has '%s' on %zu "
                                       "x %zu x %zu points without; give another file",
                        options->resume, kernel->name, grid->nx, grid->ny, grid->nz);
        else
            count++;
    }
    *has = count == options->device_count;
    if (count == 0 || *has)
        return PHYSICS_DONE;
    return fail(PHYSICS_INPUT, "%s: cannot be resumed: it has '%s' on %zu x %zu x %zu points on "
                               "another device, but not on '%s'; give another file",
                options->resume, kernel->name, grid->nx, grid->ny, grid->nz, lacking);
}

/* The rows of one size. A resumed run skips those that it has. */
static enum physics_status add_rows(const struct run *run, size_t shape, struct bench *bench)
{
    const struct options *options = &run->options;
    const struct physics_grid grid = grid_of(run, shape);
    for (size_t k = 0; k < options->kernel_count; k++)
        for (size_t p = 0; p < options->precision_count; p++) {
            const struct physics_kernel *kernel = options->kernels[k];
            const enum physics_precision precision = options->precisions[p];
            bool has;
            const enum physics_status status = has_devices(run, kernel, precision, &grid, &has);
            if (status)
                return status;
            for (size_t d = 0; d < options->device_count && !has; d++)
                if (bench_add(bench, kernel, &run->devices[d], precision, &grid,
                              options->roofline) == NO_ROW)
                    return PHYSICS_DEVICE;
        }
    return PHYSICS_DONE;
}

/* ---- measuring ---- */

static struct method method_of(const struct options *options)
{
    return (struct method){
        .burnin = options->burnin,
        .repetitions = options->repetitions,
        .seconds = options->seconds,
        .seed = options->seed,
        .each_call = options->transfer == TRANSFER_EACH_CALL,
        .own_grid = options->shapes[0].nx == 0,
        .verbose = options->verbose,
    };
}

/* The rows of some sizes, for which there is enough memory. */
static enum physics_status plan(const struct run *run, size_t first, size_t end,
                                struct bench *bench)
{
    const struct method method = method_of(&run->options);
    enum physics_status status = PHYSICS_DONE;
    *bench = (struct bench){0};
    for (size_t shape = first; shape < end && !status; shape++)
        status = add_rows(run, shape, bench);
    return status ? status : bench_check_memory(bench, &run->input, &method);
}

static enum physics_status run_shapes(struct run *run, size_t first, size_t end)
{
    const struct method method = method_of(&run->options);
    struct bench bench;
    enum physics_status status = plan(run, first, end, &bench);
    if (!status)
        status = bench_open(&bench, &run->input, run->setting, &method);
    if (!status)
        status = bench_measure(&bench, &method);
    if (!status)
        status = collect(run, &bench);
    bench_close(&bench);
    return status;
}

/* All sizes take turns with each other; but where results are kept, one follows the other, so that
 * a run that is cut off loses no more than one. */
static size_t shapes_together(const struct options *options)
{
    return options->resume ? 1 : options->shape_count;
}

/* What can be known before anything is measured. */
static enum physics_status check_plans(const struct run *run)
{
    const size_t step = shapes_together(&run->options);
    enum physics_status status = PHYSICS_DONE;
    for (size_t i = 0; i < run->options.shape_count && !status; i += step) {
        struct bench bench;
        status = plan(run, i, i + step, &bench);
        bench_close(&bench);
    }
    return status;
}

static enum physics_status run_bench(struct run *run)
{
    const struct options *options = &run->options;
    const size_t step = shapes_together(options);
    enum physics_status status = check_plans(run);
    if (!status && options->resume)
        resume_compare(options->resume, &run->results);
    stop_in_order();
    for (size_t i = 0; i < options->shape_count && !status && !stop_signal(); i += step) {
        status = run_shapes(run, i, i + step);
        results_compare_devices(&run->results);
        if (!status && options->resume && !stop_signal())
            status = resume_save(options->resume, &run->results);
    }
    stop_at_once();
    if (stop_signal())
        run->results.interrupted = stop_signal_name();
    return status;
}

/* ---- all of it ---- */

/* NAME=VALUE, as --set takes them. */
static const char *settings_text(const double setting[PHYSICS_SETTINGS],
                                 char text[PROVENANCE_TEXT])
{
    size_t used = 0;
    for (int id = 1; id < PHYSICS_SETTINGS; id++)
        used += (size_t)snprintf(text + used, PROVENANCE_TEXT - used, "%s%s=%.15g",
                                 id > 1 ? " " : "", physics_settings[id].name, setting[id]);
    return text;
}

static void describe_run(struct run *run)
{
    struct provenance *provenance = &run->results.provenance;
    char devices[PROVENANCE_TEXT] = "", settings[PROVENANCE_TEXT];
    size_t used = 0;
    for (size_t i = 0; i < run->options.device_count && used < sizeof(devices); i++)
        used += (size_t)snprintf(devices + used, sizeof(devices) - used, "%s%s: %s",
                                 i ? "; " : "", run->devices[i].label, run->devices[i].name);
    run->results.input = run->options.input;
    run->results.reference = run->options.reference;
    run->results.seed = run->options.seed;
    run->results.clock = clock_measure();
    if (run->options.verbose)
        fprintf(stderr, "miniapp: a reading of the clock costs %.3g ns, it resolves %.3g ns\n",
                1e9 * run->results.clock.cost, 1e9 * run->results.clock.resolution);
    provenance_of_build(provenance);
    provenance_of_run(provenance, run->command_line, run->options.input);
    provenance_add(provenance, "device", devices);
    provenance_add(provenance, "settings", settings_text(run->setting, settings));
}

/* What comes of a run that is done, or that a signal ended. */
static enum physics_status conclude(struct run *run)
{
    const struct options *options = &run->options;
    const bool ended = run->results.interrupted != NULL;
    enum physics_status status = PHYSICS_DONE;
    if (options->output && !ended)
        status = output_finish(&run->output, &run->results.provenance);
    if (!status)
        status = report(&run->results, options->format);
    if (!status && ended)
        warn("ended by %s: %s", run->results.interrupted,
             options->output || options->reference ? "nothing is written or compared"
                                                   : "rows may lack calls, or be missing");
    if (!status && !results_passed(&run->results))
        status = fail(PHYSICS_MISMATCH, "%s: the outputs differ from this reference",
                      options->reference);
    return status;
}

enum physics_status run_all(struct run *run)
{
    const struct options *options = &run->options;
    enum physics_status status = open_devices(run);
    if (!status)
        status = read_file(run);
    if (!status)
        status = choose_settings(run);
    if (!status && options->reference)
        status = check_reference(run);
    if (!status && options->output)
        status = output_open(options->output, options->input, options->reference, &run->output);
    if (status)
        return status;
    describe_run(run);
    if (options->resume)
        status = resume_load(options->resume, &run->results);
    if (status)
        return status;
    status = run_bench(run);
    return status ? status : conclude(run);
}

void run_release(struct run *run)
{
    if (run->output.path)
        output_discard(&run->output);
    fields_release(&run->input.fields);
    results_release(&run->results);
}
