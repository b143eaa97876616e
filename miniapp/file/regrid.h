/*
 * Brings fields from the file's grid to that of a state, plane by plane: adds ghost cells, and
 * interpolates if another size is asked for. The values may be those of a window of the file, and
 * the state may be a part of the ocean.
 *
 * Reals are interpolated by index; masks, indices and fields into which land must not mix are taken
 * from the nearest cell. Spacings are cut and joined, so that they keep their sum. Ghosts along x
 * are cyclic or closed, those along y closed. A closed side is land, on which the values of the
 * nearest cell are repeated and velocities are 0. A part that is narrower along x than a cyclic
 * ocean gets no cells from the opposite side: its ghosts there are treated as closed.
 */
#ifndef REGRID_H
#define REGRID_H

#include "table.h"
#include "window.h"

#include <miniapp/status.h>

/* Where a cell lies on an axis of the file, or of its window: between the cells `lower` and
 * `upper`, at `weight` of the way, and nearest to `nearest`. `inside` is the interior cell that it
 * is or repeats. A closed ghost is land. */
struct source_cells {
    size_t lower, upper, nearest, inside;
    double weight;
    bool is_closed;
};

/* An axis of the file and of the ocean: interior cells, and the ghosts on each side; where the
 * window begins, and the cells of the state. */
struct pair_of_axes {
    size_t from, from_ghosts, to, to_ghosts;
    size_t window;
    struct cells part;
    bool cyclic, resample, same;
};

struct regrid {
    const struct miniapp_field *field;
    size_t planes, plane_elements; /* of the state's field */
    size_t to[3], from[3]; /* cells along x, y, z of the state and the window: 1 for an axis that
                              the field lacks */
    size_t from_levels, to_levels; /* of the grids */
    struct pair_of_axes axes[3];
    struct source_cells *at[3];
    bool is_same; /* the file's values are taken as they are */
    bool resamples;
    double *plane;
};

/* regrid_close() is due after a failure, too. */
enum miniapp_status regrid_open(const struct miniapp_field *field, const struct window *from,
                                const struct window *to, bool resample, struct regrid *regrid);
void regrid_close(struct regrid *regrid);

/* The elements of one plane of the state's field, made from the file's values; valid until the next
 * call. */
const double *regrid_plane(struct regrid *regrid, const double *values, size_t plane);

/* The cells of the file along x or y that any field of a state is made from: all of them if the
 * state has the whole axis. */
struct cells regrid_sources(enum miniapp_axis axis, const struct window *from,
                            const struct window *to, bool resample);

#endif
