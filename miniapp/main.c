/*
 * miniapp: file -> fields -> device -> kernel -> compare / report / write.
 */
#include "bench.h"
#include "clock.h"
#include "device.h"
#include "fields.h"
#include "host.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "results.h"
#include "resume.h"
#include "status.h"
#include "stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What all parts of a run need. */
struct run {
    char command_line[PROVENANCE_TEXT];
    struct options options;
    struct device devices[MAX_REPEATS];
    struct input input;
    double setting[PHYSICS_SETTINGS];
    struct output output; /* where options.output is given */
    struct results results;
};

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

/* Whether the reference has what will be compared, before anything is timed. */
static enum physics_status check_reference(const struct run *run)
{
    const struct options *options = &run->options;
    for (size_t i = 0; i < options->kernel_count; i++) {
        const struct physics_kernel *kernel = options->kernels[i];
        for (const enum physics_field_id *id = kernel->outputs; *id; id++) {
            struct reference reference;
            const enum physics_status status =
                read_reference(options->reference, *id, &run->input.fields.grid,
                               options->precisions[0], &reference);
            if (status)
                return status;
            free(reference.values);
        }
    }
    return PHYSICS_DONE;
}

static enum physics_status check_output(struct run *run, const struct arrays *arrays,
                                        enum physics_field_id id, const double *values)
{
    struct reference reference;
    const struct physics_grid *grid = &run->input.fields.grid;
    enum physics_status status =
        read_reference(run->options.reference, id, grid, arrays->precision, &reference);
    if (status)
        return status;
    struct check *check = results_add_check(&run->results);
    if (check) {
        check->kernel = arrays->kernel;
        check->device = arrays->device->label;
        check->precision = arrays->precision;
        check->field = &physics_fields[id];
        validate(values, &reference, check->field, grid, &check->verdict);
    }
    free(reference.values);
    return check ? PHYSICS_DONE : PHYSICS_DEVICE;
}

static enum physics_status add_checksum(struct run *run, const struct arrays *arrays,
                                        enum physics_field_id id, const struct physics_grid *grid,
                                        const double *values)
{
    struct checksum *checksum = results_add_checksum(&run->results);
    if (!checksum)
        return PHYSICS_DEVICE;
    checksum->kernel = arrays->kernel;
    checksum->device = arrays->device->label;
    checksum->precision = arrays->precision;
    checksum->grid = arrays->call.grid;
    checksum->field = &physics_fields[id];
    digest_values(values, physics_field_elements(checksum->field, grid), checksum->text);
    return PHYSICS_DONE;
}

/* Brings one output to the host and to the form of the file, to be compared, hashed and written. */
static enum physics_status use_output(struct run *run, struct arrays *arrays,
                                      enum physics_field_id id)
{
    const struct physics_field *field = &physics_fields[id];
    struct physics_grid grid = arrays->call.grid;
    double *values;
    enum physics_status status = arrays_fetch(arrays, id, &values);
    if (!status && !run->input.has_ghosts) {
        double *stripped = strip_ghosts(values, field, &grid, sizeof(*values));
        free(values);
        values = stripped;
        grid = interior_of(&grid);
        if (!values)
            status = fail(PHYSICS_DEVICE, "out of memory for a copy of '%s'", field->name);
    }
    if (!status && run->options.reference)
        status = check_output(run, arrays, id, values);
    if (!status && run->options.checksums)
        status = add_checksum(run, arrays, id, &grid, values);
    if (!status && run->options.output)
        status = output_write(&run->output, id, &grid, arrays->precision, values);
    free(values);
    return status;
}

static enum physics_status use_outputs(struct run *run, struct row *row)
{
    const struct options *options = &run->options;
    enum physics_status status = PHYSICS_DONE;
    if (!options->reference && !options->output && !options->checksums)
        return PHYSICS_DONE;
    for (const enum physics_field_id *id = row->kernel->outputs;
         *id && !status && !stop_signal(); id++)
        status = use_output(run, &row->arrays, *id);
    return status;
}

/* ---- rows ---- */

/* What `--size` asks for, or the file's own grid with ghosts. */
static struct physics_grid grid_of(const struct run *run, size_t shape)
{
    const struct physics_grid *asked = &run->options.shapes[shape];
    const struct input *input = &run->input;
    if (asked->nx)
        return *asked;
    return input->has_ghosts ? input->fields.grid : with_ghosts(&input->fields.grid);
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
        if (resume_has(&run->results, kernel, label, precision, grid, each_call))
            count++;
        else
            lacking = label;
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

/* What the row that measures a ceiling reached, in bytes or flops a second. */
static double rate_of(const struct bench *bench, int place, bool of_bytes)
{
    const struct row *row = place == NO_ROW ? NULL : &bench->rows[place];
    if (!row || row->samples.count == 0)
        return 0;
    return (of_bytes ? physics_kernel_bytes(row->kernel, &row->grid, row->precision)
                     : row->kernel->flops * (double)physics_grid_points(&row->grid)) /
           row->timing.median;
}

static enum physics_status collect_row(struct run *run, struct bench *bench, struct row *row)
{
    enum physics_status status = PHYSICS_DONE;
    if (row->samples.count == row->samples.wanted)
        status = arrays_time_transfers(&row->arrays);
    if (!status && !stop_signal() && !row->is_ceiling) /* a ceiling may have another grid */
        status = use_outputs(run, row);
    struct result *result = status ? NULL : results_add(&run->results);
    if (!result)
        return status ? status : PHYSICS_DEVICE;
    *result = (struct result){
        .kernel = row->kernel,
        .device = row->device->label,
        .precision = row->precision,
        .grid = row->grid,
        .timing = row->timing,
        .each_call = row->arrays.each_call,
        .bytes = physics_kernel_bytes(row->kernel, &row->grid, row->precision),
        .flops = row->kernel->flops * (double)physics_grid_points(&row->grid),
        .device_bytes = row->arrays.bytes,
        .to_device = row->arrays.to_device,
        .from_device = row->arrays.from_device,
        .bandwidth = rate_of(bench, row->triad, true),
        .flop_rate = rate_of(bench, row->fma, false),
    };
    return PHYSICS_DONE;
}

/* Sizes that are run one after the other may share a ceiling. */
static bool is_known_ceiling(const struct run *run, const struct row *row)
{
    return row->is_ceiling &&
           (results_have(&run->results, row->kernel, row->device->label, row->precision,
                         &row->grid) ||
            resume_has(&run->results, row->kernel, row->device->label, row->precision, &row->grid,
                       false));
}

/* The rows that were asked for come first, then those that measure their ceilings. */
static enum physics_status collect(struct run *run, struct bench *bench)
{
    enum physics_status status = PHYSICS_DONE;
    for (int ceilings = 0; ceilings < 2; ceilings++)
        for (int i = 0; i < bench->count && !status; i++) {
            struct row *row = &bench->rows[i];
            if (row->samples.count > 0 && row->is_ceiling == (ceilings == 1) &&
                !is_known_ceiling(run, row))
                status = collect_row(run, bench, row);
        }
    return status;
}

static struct method method_of(const struct options *options)
{
    return (struct method){
        .burnin = options->burnin,
        .repetitions = options->repetitions,
        .seconds = options->seconds,
        .seed = options->seed,
        .each_call = options->transfer == TRANSFER_EACH_CALL,
        .own_grid = options->shapes[0].nx == 0,
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

static enum physics_status run_all(struct run *run)
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
    if (run.output.path)
        output_discard(&run.output);
    fields_release(&run.input.fields);
    results_release(&run.results);
    return ended ? stop_exit_code() : (int)status;
}
