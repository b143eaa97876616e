#include "validate.h"
#include "text.h"

#include <math.h>
#include <stdio.h>

/* |x - ref|: 0 where both are the same infinity or both NaN, infinite where only one is. */
static double deviation(double x, double ref)
{
    if (x == ref || (isnan(x) && isnan(ref)))
        return 0;
    const double distance = fabs(x - ref);
    return isfinite(distance) ? distance : INFINITY;
}

void compare_begin(struct comparison *comparison, const struct miniapp_reference *reference)
{
    *comparison = (struct comparison){
        .verdict = {.passed = true, .rtol = reference->rtol, .atol = reference->atol}};
}

static void compare_one(struct comparison *comparison, double value, double ref, size_t place)
{
    struct verdict *const verdict = &comparison->verdict;
    const double off = deviation(value, ref);
    const double size = isfinite(ref) ? fabs(ref) : 0;
    const double tolerated = verdict->atol + verdict->rtol * size;
    const double relative = off > 0 ? off / tolerated : 0;
    comparison->nonzero += size > 0;
    comparison->below += size > 0 && size <= verdict->atol;
    verdict->compared += size > 0 || (isfinite(value) && value != 0);
    if (!(off <= tolerated) || isinf(off))
        verdict->passed = false;
    verdict->max_abs = fmax(verdict->max_abs, off);
    verdict->largest = fmax(verdict->largest, size);
    if (off > 0)
        verdict->max_rel = fmax(verdict->max_rel, size > 0 ? off / size : INFINITY);
    if (relative > comparison->most ||
        (relative == comparison->most && off > comparison->largest)) {
        comparison->most = relative;
        comparison->largest = off;
        comparison->worst = place;
    }
}

void compare_add(struct comparison *comparison, const struct miniapp_reference *reference,
                 const double *values, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        compare_one(comparison, values[i], reference->values[first + i], first + i);
}

void compare_end(struct comparison *comparison, const struct miniapp_field *field,
                 const struct miniapp_grid *grid, struct verdict *verdict)
{
    *verdict = comparison->verdict;
    verdict->below_atol =
        comparison->nonzero ? (double)comparison->below / (double)comparison->nonzero : NAN;
    verdict->rank = index_of(comparison->worst, field, grid, verdict->worst_index);
}
