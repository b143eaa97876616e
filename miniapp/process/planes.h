/* The planes of a field along y and x, in which it passes from a state to the file. */
#ifndef PLANES_H
#define PLANES_H

#include "program.h"

struct planes {
    size_t count, elements; /* how many planes, and elements of each */
    size_t levels;          /* along z, the fastest axis of the planes */
    bool has_x, has_y;
};

struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid);

/* The number that a plane of the file has in a state, whose levels go from the bottom up. */
size_t plane_in_state(const struct miniapp_input *input, const struct planes *planes, size_t plane);

#endif
