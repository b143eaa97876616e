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

double miniapp_kernel_flops_of_iteration(const struct miniapp_kernel *kernel,
                                         const struct miniapp_grid *grid)
{
    return kernel->flops_of_iteration * (double)(grid->nx * grid->ny);
}

static size_t touched_elements(const struct miniapp_kernel *kernel, const struct argument *argument,
                               const struct miniapp_grid *grid,
                               const struct miniapp_settings *values)
{
    const size_t all = miniapp_field_elements(&fields[argument->field], grid);
    const enum extent extent = kernel->touches(values->value, argument->name);
    return extent == ALL_OF_IT ? all : extent == ONE_LEVEL_OF_IT ? all / grid->nz : 0;
}

struct miniapp_moves miniapp_kernel_moves(const struct miniapp_kernel *kernel,
                                          const struct miniapp_grid *grid,
                                          enum miniapp_precision precision,
                                          const struct miniapp_settings *values)
{
    struct miniapp_moves moves = {0};
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct argument *argument = &kernel->arguments[i];
        const enum miniapp_access access = argument->access;
        const int times = access == MINIAPP_SCRATCH ? 0 : access == MINIAPP_UPDATE ? 2 : 1;
        const double bytes = (double)touched_elements(kernel, argument, grid, values) *
                             (double)miniapp_element_bytes(argument->type, precision);
        moves.bytes += times * bytes;
        moves.traffic += (access == MINIAPP_WRITE ? 2 : times) * bytes;
    }
    return moves;
}

struct miniapp_moves miniapp_sequence_moves(const struct miniapp_sequence *sequence,
                                            const struct miniapp_grid *grid,
                                            enum miniapp_precision precision,
                                            const struct miniapp_settings *values)
{
    struct miniapp_moves sum = {0};
    for (size_t s = sequence->start_count; s < sequence->count; s++) {
        const struct step *const step = &sequence->steps[s];
        if (!holds(&step->condition, values->value))
            continue;
        const struct miniapp_moves moves =
            miniapp_kernel_moves(step->kernel, grid, precision, values);
        sum.bytes += moves.bytes;
        sum.traffic += moves.traffic;
    }
    return sum;
}
