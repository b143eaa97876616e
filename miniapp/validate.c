#include "validate.h"

#include <math.h>

/* |x - ref|: 0 where both are the same infinity or both NaN, infinite where only one is. */
static double difference(double x, double ref)
{
    if (x == ref || (isnan(x) && isnan(ref)))
        return 0;
    const double distance = fabs(x - ref);
    return isfinite(distance) ? distance : INFINITY;
}

void validate(const double *values, const struct reference *reference,
              const struct physics_field *field, const struct physics_grid *grid,
              struct verdict *verdict)
{
    const size_t elements = physics_field_elements(field, grid);
    double most_excess = -INFINITY;
    size_t worst = 0;
    *verdict = (struct verdict){.rtol = reference->rtol, .atol = reference->atol,
                                .rank = physics_field_rank(field)};
    for (size_t i = 0; i < elements; i++) {
        const double ref = reference->values[i];
        const double off = difference(values[i], ref);
        const double size = isfinite(ref) ? fabs(ref) : 0;
        const double excess = off - (reference->atol + reference->rtol * size);
        verdict->max_abs = fmax(verdict->max_abs, off);
        verdict->largest = fmax(verdict->largest, size);
        if (off > 0)
            verdict->max_rel = fmax(verdict->max_rel, size > 0 ? off / size : INFINITY);
        if (excess > most_excess) {
            most_excess = excess;
            worst = i;
        }
    }
    verdict->passed = most_excess <= 0;
    for (int i = verdict->rank - 1; i >= 0; i--) {
        const size_t length = physics_axis_length(field->axes[i], grid);
        verdict->worst_index[i] = worst % length;
        worst /= length;
    }
}
