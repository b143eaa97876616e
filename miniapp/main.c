/*
 * miniapp: file -> fields -> device -> kernel -> compare / report / write.
 */
#include "clock.h"
#include "device.h"
#include "fields.h"
#include "host.h"
#include "input.h"
#include "measure.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "results.h"
#include "status.h"

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

static enum physics_status read_file(struct run *run)
{
    const struct options *options = &run->options;
    bool wanted[PHYSICS_FIELDS] = {false};
    for (size_t i = 0; i < options->kernel_count; i++) {
        const struct physics_kernel *kernel = options->kernels[i];
        for (const enum physics_field_id *id = kernel->inputs; *id; id++)
            wanted[*id] = true;
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

static enum physics_status check_size(size_t points, struct physics_grid *grid)
{
    *grid = grid_of_size(points);
    if (grid->nx < PHYSICS_MIN_CELLS)
        return fail(PHYSICS_USAGE, "--size %zu makes %zu x %zu x %zu points, too few for %d ghost "
                                   "cells on each side", points, grid->nx, grid->ny, grid->nz,
                    PHYSICS_HALO);
    return PHYSICS_DONE;
}

/* The input's fields with ghosts, on about `points` points. */
static enum physics_status resized(const struct input *input, size_t points, struct fields *fields)
{
    struct physics_grid grid;
    struct fields interior = {0}, small = {0};
    enum physics_status status = check_size(points, &grid);
    if (!status && input->has_ghosts)
        status = fields_interior(&input->fields, &interior);
    const struct physics_grid inner = interior_of(&grid);
    if (!status)
        status = fields_resample(input->has_ghosts ? &interior : &input->fields, &inner, &small);
    fields_release(&interior);
    if (!status)
        status = fields_add_ghosts(&small, input->cyclic_x, fields);
    fields_release(&small);
    return status;
}

/* The fields of one size, all with ghosts. `owned` says that they are to be released. */
static enum physics_status prepare_fields(const struct input *input, size_t points,
                                          struct fields *fields, bool *owned)
{
    *owned = points || !input->has_ghosts;
    if (!*owned) {
        *fields = input->fields;
        return PHYSICS_DONE;
    }
    *fields = (struct fields){0};
    if (points)
        return resized(input, points, fields);
    return fields_add_ghosts(&input->fields, input->cyclic_x, fields);
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

/* Brings one output to the host and to the form of the file, to be compared and written. */
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
    if (!status && run->options.output)
        status = output_write(&run->output, id, &grid, arrays->precision, values);
    free(values);
    return status;
}

/* Over the first device with the same kernel, precision and size. */
static double speedup_of(const struct results *results, const struct result *result)
{
    const struct result *first = results->results;
    while (first->kernel != result->kernel || first->precision != result->precision ||
           memcmp(&first->grid, &result->grid, sizeof(first->grid)) != 0)
        first++;
    return first->timing.median / result->timing.median;
}

/* One row: a kernel on a device in a precision, on fields with ghosts. */
static enum physics_status run_kernel(struct run *run, const struct physics_kernel *kernel,
                                      const struct device *device,
                                      enum physics_precision precision,
                                      const struct fields *fields)
{
    struct arrays arrays;
    struct timing timing;
    enum physics_status status =
        arrays_open(device, kernel, precision, fields, run->setting, &arrays);
    if (status)
        return status;
    status = measure(&arrays, run->options.burnin, run->options.repetitions, &timing);
    const bool used = run->options.reference || run->options.output;
    for (const enum physics_field_id *id = kernel->outputs; *id && used && !status; id++)
        status = use_output(run, &arrays, *id);
    struct result *result = status ? NULL : results_add(&run->results);
    if (result) {
        *result = (struct result){
            .kernel = kernel,
            .device = device->label,
            .precision = precision,
            .grid = fields->grid,
            .timing = timing,
            .bytes = physics_kernel_bytes(kernel, &fields->grid, precision),
            .to_device_bytes = arrays.to_device_bytes,
            .to_device_seconds = arrays.to_device_seconds,
            .from_device_bytes = arrays.from_device_bytes,
            .from_device_seconds = arrays.from_device_seconds,
        };
        result->speedup = speedup_of(&run->results, result);
    } else if (!status) {
        status = PHYSICS_DEVICE;
    }
    arrays_close(&arrays);
    return status;
}

static enum physics_status run_size(struct run *run, const struct fields *fields)
{
    const struct options *options = &run->options;
    for (size_t k = 0; k < options->kernel_count; k++)
        for (size_t p = 0; p < options->precision_count; p++)
            for (size_t d = 0; d < options->device_count; d++) {
                const enum physics_status status =
                    run_kernel(run, options->kernels[k], &run->devices[d],
                               options->precisions[p], fields);
                if (status)
                    return status;
            }
    return PHYSICS_DONE;
}

static enum physics_status run_sizes(struct run *run)
{
    for (size_t i = 0; i < run->options.size_count; i++) {
        struct fields fields;
        bool owned;
        enum physics_status status =
            prepare_fields(&run->input, run->options.sizes[i], &fields, &owned);
        if (!status)
            status = run_size(run, &fields);
        if (owned)
            fields_release(&fields);
        if (status)
            return status;
    }
    return PHYSICS_DONE;
}

static void describe_run(struct run *run)
{
    struct provenance *provenance = &run->results.provenance;
    char devices[PROVENANCE_TEXT] = "";
    size_t used = 0;
    for (size_t i = 0; i < run->options.device_count && used < sizeof(devices); i++)
        used += (size_t)snprintf(devices + used, sizeof(devices) - used, "%s%s: %s",
                                 i ? "; " : "", run->devices[i].label, run->devices[i].name);
    run->results.input = run->options.input;
    run->results.reference = run->options.reference;
    provenance_of_build(provenance);
    provenance_of_run(provenance, run->command_line, run->options.input);
    provenance_add(provenance, "device", devices);
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
    status = run_sizes(run);
    if (!status && options->output)
        status = output_finish(&run->output, &run->results.provenance);
    if (!status)
        status = report(&run->results, options->format);
    if (!status && !results_passed(&run->results))
        status = fail(PHYSICS_MISMATCH, "%s: the outputs differ from this reference",
                      options->reference);
    return status;
}

static void set_threads(const struct options *options)
{
    if ((int)options->threads > host_cpus())
        warn("%zu threads share the %d CPUs that this process may use", options->threads,
             host_cpus());
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
    set_threads(&run.options);
    if (run.options.action != ACTION_RUN)
        return list(run.options.action);
    status = run_all(&run);
    if (run.output.path)
        output_discard(&run.output);
    fields_release(&run.input.fields);
    results_release(&run.results);
    return status;
}
