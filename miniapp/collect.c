#include "collect.h"
#include "fields.h"
#include "resume.h"
#include "status.h"
#include "stop.h"

#include <stdlib.h>

/* ---- outputs ---- */

enum physics_status check_reference(const struct run *run)
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

enum physics_status collect(struct run *run, struct bench *bench)
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
