/*
 * Equation of state: dHdT, the derivative of dynamic enthalpy by Conservative Temperature.
 *
 * Dynamic enthalpy is the integral of specific volume v over pressure, so
 *
 *     dHdT = 1e4 * integral_0^p dv/dT dp'        (1e4 Pa in a dbar)
 */
#include "enthalpy.h"
#include "prefetch.h"

#define DESCRIPTION "eos/eos.kernel"

/*
 * Computes a part of a row with so many nodes. The function exists so that each number of nodes
 * is a literal in its own loop, which then has no inner loop and runs along SIMD lanes.
 */
INLINED void eos_row(const real *restrict salt, const real *restrict temp, real p,
                     real *restrict dHdT, count points, int nodes)
{
    const struct integrals level = integrals(p, nodes);
    ALONG_X
    for (count x = 0; x < points; x++)
        dHdT[x] = level.joules * means(&level, salt[x], temp[x], nodes).v_T;
}

void VARIANT(eos)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x = 0; x < nx; x += ROW_PART(nx)) {
                const count i = (z * ny + y) * nx + x;
                const count n = ROW_PART(nx);
                prefetch(salt + i + n, n * (count)sizeof(real));
                prefetch(temp + i + n, n * (count)sizeof(real));
                switch (quadrature_nodes(p[z])) {
                case 3: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 3); break;
                case 4: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 4); break;
                case 5: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 5); break;
                case 6: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 6); break;
                case 7: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 7); break;
                case 8: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 8); break;
                case 10: eos_row(salt + i, temp + i, p[z], dHdT + i, n, 10); break;
                default: eos_row(salt + i, temp + i, p[z], dHdT + i, n, MOST_NODES);
                }
            }
}
