/* Comparing an output with its reference. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include <miniapp.h>

struct verdict {
    bool passed;
    double max_abs, max_rel; /* the largest differences; infinite where only one side is finite */
    double largest;          /* the reference's largest magnitude */
    double rtol, atol;
    int rank;
    size_t worst_index[MINIAPP_MAX_RANK]; /* where the difference is largest for its tolerance */
};

/* Passes when |x - ref| <= atol + rtol |ref| at every element. Where the reference is not finite
 * the value must be the same. `values` and the reference are on `grid`. */
void validate(const double *values, const struct miniapp_reference *reference,
              const struct miniapp_field *field, const struct miniapp_grid *grid,
              struct verdict *verdict);

#endif
