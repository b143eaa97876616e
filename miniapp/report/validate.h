/* Comparing an output with its reference. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "program.h"

struct verdict {
    bool passed;
    double max_abs, max_rel; /* the largest differences; infinite where only one side is finite */
    double largest;          /* the reference's largest magnitude */
    double rtol, atol;
    size_t compared;   /* elements where one side or both are finite and not 0 */
    double below_atol; /* of the reference that is not 0, the share that the tolerance cannot tell
                          from 0; NAN where all is 0 */
    int rank;
    size_t worst_index[MINIAPP_MAX_RANK]; /* where the difference is largest for its tolerance */
};

/* A comparison that continues from part to part. */
struct comparison {
    struct verdict verdict;
    double most, largest; /* the difference at the worst place, in tolerances and as it is */
    size_t worst, nonzero, below;
};

/* Passes when |x - ref| <= atol + rtol |ref| at every element. Where the reference is not finite
 * the value must be the same. `values` are `count` elements from number `first` on; each element
 * must be added once. */
void compare_begin(struct comparison *comparison, const struct miniapp_reference *reference);
void compare_add(struct comparison *comparison, const struct miniapp_reference *reference,
                 const double *values, size_t first, size_t count);
void compare_end(struct comparison *comparison, const struct miniapp_field *field,
                 const struct miniapp_grid *grid, struct verdict *verdict);

#endif
