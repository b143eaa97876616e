/*
 * The grid: Veros's staggered Arakawa C-grid.
 *
 * Axes are in the order z, y, x with x fastest, of which a field may lack some, behind those that
 * count the corners of isoneutral mixing. z = 0 is the bottom level and z = nz - 1 the surface. nx
 * and ny include MINIAPP_HALO ghost cells on each side, so the interior is [2, n - 2).
 */
#ifndef MINIAPP_GRID_H
#define MINIAPP_GRID_H

#include <miniapp/api.h>
#include <stddef.h>
#include <stdint.h>

MINIAPP_BEGIN

#define MINIAPP_HALO 2

/* The fewest cells along x or y: the ghosts and one interior cell. */
#define MINIAPP_MIN_CELLS (2 * MINIAPP_HALO + 1)

/* The most cells along x, y or z: GPU code may count them in 32 bits. The points may be more. */
#define MINIAPP_MAX_CELLS INT32_MAX

struct miniapp_grid {
    size_t nx, ny, nz;
};

/* What an index of a field runs over. A corner of isoneutral mixing is one of Griffies' triads; IP,
 * JP and KR select one of the two cells that meet there along x, y and z. */
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

/* The sides of a grid that have ghost cells. */
enum miniapp_side { MINIAPP_WEST, MINIAPP_EAST, MINIAPP_SOUTH, MINIAPP_NORTH, MINIAPP_SIDES };

/* The axis's name in files and messages: "x", "ip", ... */
MINIAPP_API const char *miniapp_axis_name(enum miniapp_axis axis);

/* Cells along an axis. */
MINIAPP_API size_t miniapp_axis_length(enum miniapp_axis axis, const struct miniapp_grid *grid);

/* nx * ny * nz, or SIZE_MAX where that does not fit. */
MINIAPP_API size_t miniapp_grid_points(const struct miniapp_grid *grid);

/* The same grid without its ghosts, and an interior with ghosts added. */
MINIAPP_API struct miniapp_grid miniapp_grid_interior(const struct miniapp_grid *grid);
MINIAPP_API struct miniapp_grid miniapp_grid_with_ghosts(const struct miniapp_grid *interior);

MINIAPP_END

#endif
