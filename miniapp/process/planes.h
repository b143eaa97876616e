/* The planes of a field along y and x, in which it passes from a state to the file. */
#ifndef PLANES_H
#define PLANES_H

#include "program.h"

struct planes {
    size_t count, elements; /* how many planes, and elements of each */
    bool has_x, has_y;
};

struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid);

#endif
