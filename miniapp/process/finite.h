/* Whether outputs are finite and, after steps in time, within their limits. */
#ifndef FINITE_H
#define FINITE_H

#include "bench.h"

/* The planes of a field along y and x, in which it passes from a state to the file. */
struct planes {
    size_t count, elements; /* how many planes, and elements of each */
    bool has_x, has_y;
};
struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid);

/* The first element of an output that is not finite, or beyond the limits. */
struct nonfinite {
    bool is_there;
    double value, least, most;
    size_t element;           /* its number in the output file */
    struct miniapp_grid grid; /* of the output file */
};

enum { NONFINITE_TEXT = 512 };

/* Searches an output in the state of a row for such an element, a plane at a time. With
 * MINIAPP_ALLOW_INVALID in `allow`, any finite value passes. */
enum miniapp_status find_nonfinite(const struct miniapp_input *input, const struct row *row,
                                   const struct bound_field *output, int allow,
                                   struct nonfinite *found);

/* Adds an output to the text that the report ends with: the first with the place of the element,
 * others with their names. `step` is the step in time after which it was found, or 0. */
void note_nonfinite(const struct row *row, const struct bound_field *output,
                    const struct nonfinite *found, size_t step, char text[NONFINITE_TEXT]);

#endif
