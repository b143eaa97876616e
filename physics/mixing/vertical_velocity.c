/*
 * The vertical velocity on the upper faces of T cells, by continuity,
 *
 *     w = -sum of dzt (du/dx + dv/dy) over the water below,
 *
 * whose value at the surface shows how well u and v conserve volume.
 */
#include "continuity.h"
#include "rows.h"

#define DESCRIPTION "mixing/vertical_velocity.kernel"

void VARIANT(vertical_velocity)(const struct kernel_call *call)
{
#include "unpack.h"
    const count rows = rows_together(ny);
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct span part = {x0, x0 + ROW_PART(nx)};
            upward(w, u, v, maskW, dzt, dxt, dyt, cost, cosu, part, y, y + rows_left(rows, y, ny),
                   nx, ny, nz, true);
        }
}
