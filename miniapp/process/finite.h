/* Whether outputs are finite and, after steps in time, within their limits. */
#ifndef FINITE_H
#define FINITE_H

#include "bench.h"

/* The first element of an output that is not finite, or beyond the limits. */
struct nonfinite {
    bool is_there;
    double value, least, most;
    size_t element;           /* its number in the output file */
    struct miniapp_grid grid; /* of the output file */
};

enum { NONFINITE_TEXT = 512 };

/* Looks for one in what a row has left in its state, a plane at a time. MINIAPP_ALLOW_INVALID in
 * `allow` allows any finite value. */
enum miniapp_status find_nonfinite(const struct miniapp_input *input, const struct row *row,
                                   const struct bound_field *output, int allow,
                                   struct nonfinite *found);

/* Adds to the text that is reported at the end: where the first one is, and the names of the
 * others. `step` is the step in time after which it was there, or 0. */
void note_nonfinite(const struct row *row, const struct bound_field *output,
                    const struct nonfinite *found, size_t step, char text[NONFINITE_TEXT]);

#endif
