/* The flops and bytes of kernels and sequences. */
#include "program.h"
#include "sequence.h"
#include "table.h"

double miniapp_kernel_flops(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                            const struct miniapp_settings *values)
{
    return kernel->flops(values->value) * (double)miniapp_grid_points(grid);
}

const struct miniapp_field *miniapp_kernel_level_of_flops(const struct miniapp_kernel *kernel)
{
    return kernel->level_of_flops ? &fields[kernel->level_of_flops] : NULL;
}

double miniapp_kernel_flops_on(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                               const struct miniapp_settings *values, const double *levels)
{
    double flops = 0;
    for (size_t z = 0; z < grid->nz; z++)
        flops += kernel->flops_at(values->value, levels[z]);
    return flops * (double)(grid->nx * grid->ny);
}

/* How often the elements of an argument move, by the kind of access. */
typedef int times_of(enum miniapp_access access);

static int least_times(enum miniapp_access access)
{
    return access == MINIAPP_SCRATCH ? 0 : access == MINIAPP_UPDATE ? 2 : 1;
}

static int times_with_allocation(enum miniapp_access access)
{
    return access == MINIAPP_WRITE ? 2 : least_times(access);
}

static size_t touched_elements(const struct miniapp_kernel *kernel, const struct argument *argument,
                               const struct miniapp_grid *grid,
                               const struct miniapp_settings *values)
{
    const size_t all = miniapp_field_elements(&fields[argument->field], grid);
    const enum extent extent = kernel->touches(values->value, argument->name);
    return extent == ALL_OF_IT ? all : extent == ONE_LEVEL_OF_IT ? all / grid->nz : 0;
}

static double moved_bytes(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                          enum miniapp_precision precision, const struct miniapp_settings *values,
                          times_of *times)
{
    double bytes = 0;
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct argument *argument = &kernel->arguments[i];
        bytes += times(argument->access) *
                 (double)touched_elements(kernel, argument, grid, values) *
                 (double)miniapp_element_bytes(argument->type, precision);
    }
    return bytes;
}

double miniapp_kernel_bytes(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                            enum miniapp_precision precision, const struct miniapp_settings *values)
{
    return moved_bytes(kernel, grid, precision, values, least_times);
}

double miniapp_kernel_traffic(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                              enum miniapp_precision precision,
                              const struct miniapp_settings *values)
{
    return moved_bytes(kernel, grid, precision, values, times_with_allocation);
}

static double moved_by_steps(const struct miniapp_sequence *sequence,
                             const struct miniapp_grid *grid, enum miniapp_precision precision,
                             const struct miniapp_settings *values, times_of *times)
{
    double bytes = 0;
    for (size_t s = sequence->start_count; s < sequence->count; s++)
        if (holds(&sequence->steps[s].condition, values->value))
            bytes += moved_bytes(sequence->steps[s].kernel, grid, precision, values, times);
    return bytes;
}

double miniapp_sequence_bytes(const struct miniapp_sequence *sequence,
                              const struct miniapp_grid *grid, enum miniapp_precision precision,
                              const struct miniapp_settings *values)
{
    return moved_by_steps(sequence, grid, precision, values, least_times);
}

double miniapp_sequence_traffic(const struct miniapp_sequence *sequence,
                                const struct miniapp_grid *grid, enum miniapp_precision precision,
                                const struct miniapp_settings *values)
{
    return moved_by_steps(sequence, grid, precision, values, times_with_allocation);
}
