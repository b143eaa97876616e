/* Comparing an output with its reference. */
#ifndef MINIAPP_VALIDATE_H
#define MINIAPP_VALIDATE_H

#include "input.h"

struct verdict {
    bool passed;
    double max_abs, max_rel; /* the largest differences; infinite where only one side is finite */
    double largest;          /* the reference's largest magnitude */
    double rtol, atol;
    int rank;
    size_t worst_index[PHYSICS_MAX_RANK]; /* where the difference is largest for its tolerance */
};

/* Passes when |x - ref| <= atol + rtol |ref| at every element. Where the reference is not finite
 * the value must be the same. `values` and the reference are on `grid`. */
void validate(const double *values, const struct reference *reference,
              const struct physics_field *field, const struct physics_grid *grid,
              struct verdict *verdict);

#endif
