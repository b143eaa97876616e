/*
 * The first half of biharmonic friction, whose second half is biharmonic_friction: between them,
 * ghosts have to be exchanged. On land the result is 0, so that walls without slip get half of a
 * cell's distance in the second half, too.
 */
#define DESCRIPTION "momentum/flow_laplacian.kernel"
#include "arguments.h"
#include "span.h"

#include "biharmonic.h"

INLINED void take_laplacian(const struct arguments *a, count y, struct span cells, bool is_u)
{
    const real *const flow = is_u ? a->u : a->v;
    real *const result = is_u ? a->del2_u : a->del2_v;
    struct face_row faces;
    fill_face_row(a, &faces, is_u, y, 0, cells);
    for (count k = 0; k < a->nz; k++) {
        const count row = (k * a->ny + y) * a->nx;
        ALONG_X
        for (count x = cells.begin; x < cells.end; x++) {
            real lost;
            result[row + x] = spread_one(a, &faces, flow, flow, k, row + x, x - cells.begin, &lost);
        }
    }
}

void VARIANT(flow_laplacian)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = chunk(x0, nx), inside = interior(part, y, nx, ny);
            for (count k = 0; k < nz; k++) {
                zero_outside(del2_u + (k * ny + y) * nx, part, inside);
                zero_outside(del2_v + (k * ny + y) * nx, part, inside);
            }
            if (inside.begin == inside.end)
                continue;
            const struct span cells = seen(part, inside);
            take_laplacian(&a, y, cells, true);
            take_laplacian(&a, y, cells, false);
        }
}
