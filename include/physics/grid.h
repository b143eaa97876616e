/*
 * The grid: Veros's staggered Arakawa C-grid.
 *
 * Every field is stored (z, y, x) with x fastest. z = 0 is the bottom level and
 * z = nz - 1 the surface. nx and ny include PHYSICS_HALO ghost cells on each side,
 * so the interior is [2, n - 2).
 */
#ifndef PHYSICS_GRID_H
#define PHYSICS_GRID_H

#include <physics/api.h>
#include <stddef.h>
#include <stdint.h>

#define PHYSICS_HALO 2

/* The fewest cells along x or y: the ghosts and one interior cell. */
#define PHYSICS_MIN_CELLS (2 * PHYSICS_HALO + 1)

/* The most cells along x, y or z: GPU code may count them in 32 bits. The points may be more. */
#define PHYSICS_MAX_CELLS INT32_MAX

struct physics_grid {
    size_t nx, ny, nz;
};

/* What an index of a field runs over. IP, JP and KR select one of the two cells that
 * meet at a triad: along x, along y and along z. */
enum physics_axis {
    PHYSICS_NO_AXIS,
    PHYSICS_X,
    PHYSICS_Y,
    PHYSICS_Z,
    PHYSICS_IP,
    PHYSICS_JP,
    PHYSICS_KR,
    PHYSICS_AXES
};

/* The axis's name in files and messages: "x", "ip", ... */
PHYSICS_API const char *physics_axis_name(enum physics_axis axis);

/* Cells along an axis. */
PHYSICS_API size_t physics_axis_length(enum physics_axis axis, const struct physics_grid *grid);

/* nx * ny * nz, or SIZE_MAX where that does not fit. */
PHYSICS_API size_t physics_grid_points(const struct physics_grid *grid);

#endif
