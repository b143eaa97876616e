/*
 * The derivatives of density by temperature and by salinity, at every point. Depth in m is taken as
 * pressure in dbar, as in Veros and in the mixing tensor.
 */
#include "expansion.h"

#define DESCRIPTION "eos/expansion.kernel"

/* A part of a row. `teos` is a literal, so that each loop has one formula. */
INLINED void expansion_row(const real *restrict salt, const real *restrict temp, real depth,
                           struct linear_expansion linear, real *restrict drhodT,
                           real *restrict drhodS, count points, bool teos)
{
    ALONG_X
    for (count x = 0; x < points; x++) {
        const real drdT = linear.drdT + linear.drdT_by_depth * depth;
        struct expansion r = {drdT + linear.drdT_by_T * (temp[x] - (real)THETA_0), linear.drdS};
        if (teos)
            r = teos10_expansion(salt[x], temp[x], depth);
        drhodT[x] = r.drdT;
        drhodS[x] = r.drdS;
    }
}

void VARIANT(expansion)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x = 0; x < nx; x += ROW_PART(nx)) {
                const count i = (z * ny + y) * nx + x;
                const struct linear_expansion linear = linear_expansion(eq_of_state_type);
                if (eq_of_state_type == 5)
                    expansion_row(salt + i, temp + i, magnitude(zt[z]), linear, drhodT + i,
                                  drhodS + i, ROW_PART(nx), true);
                else /* salt is not read, and may have no memory */
                    expansion_row(temp + i, temp + i, magnitude(zt[z]), linear, drhodT + i,
                                  drhodS + i, ROW_PART(nx), false);
            }
}
