/* Whether outputs are finite. */
#ifndef FINITE_H
#define FINITE_H

#include "bench.h"

/* The first element of an output that is not. */
struct nonfinite {
    bool is_there;
    double value;
    size_t element;           /* its number in the output file, */
    struct miniapp_grid grid; /* which has this grid */
};

/* Looks for one in what a row has left in its state, a plane at a time. */
enum miniapp_status find_nonfinite(const struct miniapp_input *input, const struct row *row,
                                   const struct bound_field *output, struct nonfinite *found);

#endif
