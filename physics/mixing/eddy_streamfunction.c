/*
 * The streamfunction of the eddies' overturning (Gent and McWilliams 1990), for diagnostics: at
 * each lateral face, the mean of K_gm about it times the mean of its four tapered slopes.
 * isoneutral.c defines these and stores them; here they are summed at once.
 */
#define DESCRIPTION "mixing/eddy_streamfunction.kernel"
#include "lateral_faces.h"
#include "rows.h"

INLINED void at_face(const struct arguments *a, const struct neutral_level *l, bool to_north,
                     count i, real open, struct slopes s)
{
    const real K = mean_of_four(a->K_gm, i, i + (to_north ? a->nx : 1), l->below);
    const real sum = taper(a, s.here_below) * s.here_below + taper(a, s.next_below) * s.next_below +
                     taper(a, s.here_above) * s.here_above + taper(a, s.next_above) * s.next_above;
    (to_north ? a->B1_gm : a->B2_gm)[i] = K * sum / (to_north ? -4 : 4);
    (void)open;
}

void VARIANT(eddy_streamfunction)(const struct kernel_call *call)
{
#include "unpack.h"
    const count rows = rows_together(ny);
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y0 = 0; y0 < ny; y0 += rows)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct arguments a = {
#include "gather.h"
                };
                const struct span part = chunk(x0, nx);
                real kept[2][CELL_ROWS * KEPT];
                for (count y = y0; y < y0 + rows && y < ny; y++) {
                    const count row = (z * ny + y) * nx;
                    faces_of_row(&a, z, y, part, kept, y == y0);
                    zero_outside(B2_gm + row, part, with_eastern_face(&a, part, y));
                    zero_outside(B1_gm + row, part, with_northern_face(&a, part, y));
                }
            }
}
