/*
 * Velocities on the W grid, as in Veros, which advect turbulent and eddy kinetic energy.
 *
 * A W cell reaches from one T point to the next, so it has half of the transport of the T cell
 * below and half of that of the cell above; the lowest one has the lower half of its T cell as
 * well. Where one of two neighbouring W cells is dry, the transport between them moves up by one
 * level, once. The vertical velocity follows from continuity. So the transport of a column is the
 * same on both grids.
 *
 * The first nest makes u and v, the second sums their divergence up each column.
 */
#include "continuity.h"
#include "directives.h"
#include "rows.h"
#include "span.h"
#include "variant.h"

#include <stdbool.h>

#define DESCRIPTION "mixing/velocities_on_wgrid.kernel"

/* A level: the weights of the velocities of this T cell and of the one above in that of the W
 * cell. */
struct w_level {
    count above; /* the distance in memory */
    real share, share_above;
};

INLINED struct w_level w_level_at(const real *dzt, const real *dzw, count k, count top, count plane)
{
    const count above = k < top;
    return (struct w_level){
        .above = above * plane,
        .share = (k == 0 ? 2 : 1) * dzt[k] / (2 * dzw[k]),
        .share_above = above * dzt[k + above] / (2 * dzw[k]),
    };
}

/* A velocity on a lateral face of W cells, before transport moves up. */
INLINED real on_face(const real *u, const uint8_t *mask, count i, struct w_level l)
{
    return l.share * (mask[i] * u[i]) + l.share_above * (mask[i + l.above] * u[i + l.above]);
}

/* A row of u or v: two levels, and how the transport of the lower one makes a velocity here. */
struct faces {
    struct w_level here, under;
    count next, below; /* distances to the neighbour across the face, and to the level below */
    real from_below;   /* dzw there over dzw here; 0 at the bottom */
    bool is_top;       /* the top level keeps its transport where a face is closed */
};

/* The part [x0, x1) of a row. */
INLINED void face_row(const real *u, const uint8_t *mask, const uint8_t *maskW, real *u_wgrid,
                      count x0, count x1, struct faces f)
{
    ALONG_X
    for (count x = x0; x < x1; x++) {
        const real is_open = f.is_top | (maskW[x] & maskW[x + f.next]);
        const real is_closed_below = 1 - (maskW[x - f.below] & maskW[x - f.below + f.next]);
        const real carried =
            is_closed_below * f.from_below * on_face(u, mask, x - f.below, f.under);
        u_wgrid[x] = is_open * (on_face(u, mask, x, f.here) + carried);
    }
}

/* The last faces of a row or a column have no neighbour: none of them is closed, and no transport
 * moves up. */
INLINED void last_faces(const real *u, const uint8_t *mask, real *u_wgrid, count x0, count x1,
                        struct w_level here)
{
    ALONG_X
    for (count x = x0; x < x1; x++)
        u_wgrid[x] = on_face(u, mask, x, here);
}

static void VARIANT(lateral_velocities)(const struct kernel_call *call)
{
#include "unpack.h"
    const count plane = ny * nx;
    const count top = nz - 1;

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                const count x1 = x0 + ROW_PART(nx);
                const count with_neighbour = x1 < nx ? x1 : nx - 1;
                const count k_below = z > 0 ? z - 1 : 0;
                struct faces f = {
                    .here = w_level_at(dzt, dzw, z, top, plane),
                    .under = w_level_at(dzt, dzw, k_below, top, plane),
                    .next = 1,
                    .below = z > 0 ? plane : 0,
                    .from_below = z > 0 ? dzw[k_below] / dzw[z] : 0,
                    .is_top = z == top,
                };
                face_row(u, maskU, maskW, u_wgrid, row + x0, row + with_neighbour, f);
                last_faces(u, maskU, u_wgrid, row + with_neighbour, row + x1, f.here);
                f.next = nx;
                if (y < ny - 1)
                    face_row(v, maskV, maskW, v_wgrid, row + x0, row + x1, f);
                else
                    last_faces(v, maskV, v_wgrid, row + x0, row + x1, f.here);
            }
}

static void VARIANT(upward_velocity)(const struct kernel_call *call)
{
#include "unpack.h"
    const count rows = rows_together(ny);
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            upward(w_wgrid, u_wgrid, v_wgrid, NULL, dzw, dxt, dyt, cost, cosu, part, y,
                   y + rows_left(rows, y, ny), nx, ny, nz, true);
        }
}

void VARIANT(velocities_on_wgrid)(const struct kernel_call *call)
{
    VARIANT(lateral_velocities)(call);
    VARIANT(upward_velocity)(call);
}
