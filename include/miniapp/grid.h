/*
 * The grid: Veros's staggered Arakawa C-grid.
 *
 * Axes are in the order z, y, x with x fastest. z = 0 is the bottom level and z = nz - 1 the
 * surface. nx and ny include MINIAPP_HALO ghost cells on each side: the interior is [2, n - 2).
 */
#ifndef MINIAPP_GRID_H
#define MINIAPP_GRID_H

#include <miniapp/api.h>
#include <stddef.h>
#include <stdint.h>

MINIAPP_BEGIN

#define MINIAPP_HALO 2
#define MINIAPP_MIN_CELLS (2 * MINIAPP_HALO + 1) /* the least nx or ny: one cell inside */
#define MINIAPP_MAX_CELLS INT32_MAX              /* the most along one axis */

struct miniapp_grid {
    size_t nx, ny, nz;
};

size_t miniapp_grid_points(const struct miniapp_grid *); /* or SIZE_MAX where that does not fit */
struct miniapp_grid miniapp_grid_interior(const struct miniapp_grid *);
struct miniapp_grid miniapp_grid_with_ghosts(const struct miniapp_grid *interior);

/* The axis that an index of a field runs over. IP, JP and KR have length 2 and come first: each
 * selects one of two neighbouring cells, along x, y or z. */
enum miniapp_axis {
    MINIAPP_NO_AXIS,
    MINIAPP_X,
    MINIAPP_Y,
    MINIAPP_Z,
    MINIAPP_IP,
    MINIAPP_JP,
    MINIAPP_KR,
    MINIAPP_AXES
};
const char *miniapp_axis_name(enum miniapp_axis); /* "x", "ip" */
size_t miniapp_axis_length(enum miniapp_axis, const struct miniapp_grid *);

/* The sides that have ghost cells. */
enum miniapp_side { MINIAPP_WEST, MINIAPP_EAST, MINIAPP_SOUTH, MINIAPP_NORTH, MINIAPP_SIDES };

MINIAPP_END

#endif
