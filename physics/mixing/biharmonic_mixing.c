/*
 * Biharmonic lateral mixing of temperature and salinity, along levels: harmonic diffusion twice,
 * each time with the root of the diffusivity. Its P_diss_hmix, which it takes from dynamic
 * enthalpy, replaces that of lateral_diffusion, as in Veros, and can be negative in places.
 */
#define DESCRIPTION "mixing/biharmonic_mixing.kernel"
#include "arguments.h"

#include <stdbool.h>

#include "lateral_mixing.h"
#include "maths.h"

INLINED struct lateral_factors half_factors(const struct arguments *a, count y)
{
    const real root = square_root(a->K_hbi);
    return lateral_factors(a, y, root, root, root);
}

/* The Laplacians of a part of a row, and of a ring of ghosts. */
INLINED void take_laplacians(const struct arguments *a, count y, struct span cells)
{
    const struct lateral_factors f = half_factors(a, y);
    const count nx = a->nx;
    for (count k = 0; k < a->nz; k++) {
        const count row = (k * a->ny + y) * nx;
        ALONG_X
        for (count x = cells.begin; x < cells.end; x++) {
            const count i = row + x;
            const struct open_faces faces = open_faces(a, &f, i, x);
            real lost;
            a->del2_temp[i] = a->maskT[i] * mix_cell(&faces, a->temp + i, a->temp + i, nx, &lost);
            a->del2_salt[i] = a->maskT[i] * mix_cell(&faces, a->salt + i, a->salt + i, nx, &lost);
        }
    }
}

void VARIANT(biharmonic_mixing)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 1; y < ny - 1; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = {x0, x0 + ROW_PART(nx)};
            take_laplacians(&a, y, within(part, true, 1, nx - 1));
        }
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = chunk(x0, nx), inside = interior(part, y, nx, ny);
            for (count k = 0; k < nz; k++)
                zero_outside(P_diss_hmix + (k * ny + y) * nx, part, inside);
            if (inside.begin == inside.end)
                continue;
            const struct span cells = ROW_CHUNK == 1 ? part : inside; /* which compilers can see */
            const struct lateral_factors f = half_factors(&a, y);
            mix_part(&a, &f, del2_temp, del2_salt, -1, y, cells);
        }
}
