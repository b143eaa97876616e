/* The flops and bytes of kernels and sequences. */
#include "program.h"
#include "sequence.h"
#include "table.h"

double miniapp_kernel_flops(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                            const struct miniapp_settings *values)
{
    return kernel->flops(values->value) * (double)miniapp_grid_points(grid);
}

double miniapp_kernel_bytes(const struct miniapp_kernel *kernel, const struct miniapp_grid *grid,
                            enum miniapp_precision precision, const struct miniapp_settings *values)
{
    double bytes = 0;
    (void)values; /* no kernel's arguments depend on a setting so far */
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct argument *argument = &kernel->arguments[i];
        const int times = argument->access == MINIAPP_SCRATCH  ? 0
                          : argument->access == MINIAPP_UPDATE ? 2
                                                               : 1;
        bytes += times * (double)miniapp_field_elements(&fields[argument->field], grid) *
                 (double)miniapp_element_bytes(argument->type, precision);
    }
    return bytes;
}

double miniapp_sequence_flops(const struct miniapp_sequence *sequence,
                              const struct miniapp_grid *grid,
                              const struct miniapp_settings *values)
{
    double flops = 0;
    for (size_t s = sequence->start_count; s < sequence->count; s++)
        flops += miniapp_kernel_flops(sequence->steps[s].kernel, grid, values);
    return flops;
}

double miniapp_sequence_bytes(const struct miniapp_sequence *sequence,
                              const struct miniapp_grid *grid, enum miniapp_precision precision,
                              const struct miniapp_settings *values)
{
    double bytes = 0;
    for (size_t s = sequence->start_count; s < sequence->count; s++)
        bytes += miniapp_kernel_bytes(sequence->steps[s].kernel, grid, precision, values);
    return bytes;
}
