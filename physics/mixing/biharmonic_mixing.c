/*
 * Biharmonic lateral mixing of temperature and salinity, along levels: harmonic diffusion twice,
 * each time with the root of the diffusivity. Its P_diss_hmix, which it takes from dynamic
 * enthalpy, replaces that of lateral_diffusion, as in Veros, and can be negative in places.
 */
#define DESCRIPTION "mixing/biharmonic_mixing.kernel"
#include "lateral_mixing.h"

/* The Laplacians of a part of a row, and of a ring of ghosts. */
INLINED void take_laplacians(const struct arguments *a, count y, struct span cells)
{
    const struct lateral_factors f = lateral_factors(a, y, square_root(a->K_hbi), 0);
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
            mix_part(&a, square_root(K_hbi), 0, del2_temp, del2_salt, -1, y, chunk(x0, nx));
        }
}
