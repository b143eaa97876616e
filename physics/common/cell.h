/* A cell and its neighbours above and below. */
#ifndef PHYSICS_CELL_H
#define PHYSICS_CELL_H

#include "directives.h"

/* Where a cell lies. At the bottom and at the surface the offset to the missing level is 0, so that
 * differences are 0 and nothing outside the array is read. */
struct cell {
    count x, y, z, i;
    count below, above;
};

INLINED struct cell cell_at(count nx, count ny, count nz, count z, count y, count x)
{
    return (struct cell){.x = x,
                         .y = y,
                         .z = z,
                         .i = (z * ny + y) * nx + x,
                         .below = z > 0 ? ny * nx : 0,
                         .above = z < nz - 1 ? ny * nx : 0};
}

#endif
