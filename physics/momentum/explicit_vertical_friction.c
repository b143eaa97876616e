/*
 * Vertical friction, explicit in time: it acts for a step forward on the flow that momentum has
 * made, and leaves depth means as they are, because nothing goes through the surface or the bottom.
 * A setup with turbulent kinetic energy has implicit friction in its place.
 */
#define DESCRIPTION "momentum/explicit_vertical_friction.kernel"
#include "arguments.h"
#include "span.h"

#include "faces.h"

/* The stress through the top of a face of level k, the lower one of whose cells is `column`. per_dz
 * is 1 over the distance to the next level, or 0 at the surface and beneath the lowest level of
 * all. */
INLINED real stress_above(const struct arguments *a, const real *flow, real per_dz, count k,
                          count i, count column, count beside)
{
    const count plane = a->ny * a->nx, inside = k < 0 ? i + plane : i;
    const count above = k >= 0 && k < a->nz - 1 ? plane : 0;
    const level lowest = both_wet(a->kbot[column], a->kbot[column + beside]);
    const real viscosity = (a->kappaM[inside] + a->kappaM[inside + beside]) / 2;
    const real stress = viscosity * per_dz * (flow[inside + above] - flow[inside]);
    return lowest <= (level)k ? stress : 0;
}

/* The dissipation of a face at the level above it. */
INLINED real lost_above(const struct arguments *a, const real *flow, real per_dz, count k, count i,
                        count column, count beside)
{
    const count above = k < a->nz - 1 ? a->ny * a->nx : 0;
    const real shear = per_dz * (flow[i + above] - flow[i]);
    return stress_above(a, flow, per_dz, k, i, column, beside) * shear;
}

void VARIANT(explicit_vertical_friction)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count k = 0; k < nz; k++)
        for (count y = 2; y < ny - 2; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct arguments a = {
#include "gather.h"
                };
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const struct span inside = interior(part, y, nx, ny);
                const real per_dz = k < nz - 1 ? 1 / dzw[k] : 0;
                const real per_dz_below = k > 0 ? 1 / dzw[k - 1] : 0, per_height = dt_mom / dzt[k];
                const real per_area = 1 / (2 * cost[y] * dyt[y]);
                const real share_v = cosu[y] * dyu[y] * per_area;
                const real share_v_south = cosu[y - 1] * dyu[y - 1] * per_area;
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count c = y * nx + x, i = k * ny * nx + c;
                    const count plane = ny * nx;
                    const real east = lost_above(&a, u, per_dz, k, i, c, 1);
                    const real west = lost_above(&a, u, per_dz, k, i - 1, c - 1, 1);
                    const real north = lost_above(&a, v, per_dz, k, i, c, nx);
                    const real south = lost_above(&a, v, per_dz, k, i - nx, c - nx, nx);
                    const real floor_u = stress_above(&a, u, per_dz_below, k - 1, i - plane, c, 1);
                    const real floor_v = stress_above(&a, v, per_dz_below, k - 1, i - plane, c, nx);
                    K_diss_v[i] += (dxu[x] * east + dxu[x - 1] * west) / (2 * dxt[x]) +
                                   (share_v * north + share_v_south * south);
                    u_taup1[i] += per_height * (stress_above(&a, u, per_dz, k, i, c, 1) - floor_u);
                    v_taup1[i] += per_height * (stress_above(&a, v, per_dz, k, i, c, nx) - floor_v);
                }
            }
}
