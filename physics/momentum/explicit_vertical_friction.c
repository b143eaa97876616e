/*
 * Vertical friction, explicit in time: it acts for a step forward on the flow that momentum has
 * made, and leaves depth means as they are, because nothing goes through the surface or the bottom.
 * A setup with turbulent kinetic energy has implicit friction in its place.
 */
#define DESCRIPTION "momentum/explicit_vertical_friction.kernel"
#include "arguments.h"
#include "span.h"

#include "faces.h"

/* The stress through the top of a face, `column` of whose cells is the lower one; none through the
 * surface, the sea floor or beneath the lowest level. */
INLINED real stress_above(const struct arguments *a, const real *flow, count k, count i,
                          count column, count beside)
{
    const count plane = a->ny * a->nx, inside = k < 0 ? i + plane : i;
    const count above = k >= 0 && k < a->nz - 1 ? plane : 0;
    const level lowest = both_wet(a->kbot[column], a->kbot[column + beside]);
    const real per_dz = above ? 1 / a->dzw[k > 0 ? k : 0] : 0;
    const real viscosity = (a->kappaM[inside] + a->kappaM[inside + beside]) / 2;
    const real stress = viscosity * per_dz * (flow[inside + above] - flow[inside]);
    return lowest <= (level)k ? stress : 0;
}

/* What a face dissipates at the level above it. */
INLINED real lost_above(const struct arguments *a, const real *flow, count k, count i, count column,
                        count beside)
{
    const count above = k < a->nz - 1 ? a->ny * a->nx : 0;
    return stress_above(a, flow, k, i, column, beside) * (flow[i + above] - flow[i]) / a->dzw[k];
}

INLINED real change_of(const struct arguments *a, const real *flow, count k, count i, count column,
                       count beside)
{
    const count plane = a->ny * a->nx;
    return a->dt_mom / a->dzt[k] *
           (stress_above(a, flow, k, i, column, beside) -
            stress_above(a, flow, k - 1, i - plane, column, beside));
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
                const real per_area = 1 / (2 * cost[y] * dyt[y]);
                const real share_v = cosu[y] * dyu[y] * per_area;
                const real share_v_south = cosu[y - 1] * dyu[y - 1] * per_area;
                ALONG_X
                for (count x = inside.begin; x < inside.end; x++) {
                    const count c = y * nx + x, i = k * ny * nx + c;
                    const real east = lost_above(&a, u, k, i, c, 1);
                    const real west = lost_above(&a, u, k, i - 1, c - 1, 1);
                    const real north = lost_above(&a, v, k, i, c, nx);
                    const real south = lost_above(&a, v, k, i - nx, c - nx, nx);
                    K_diss_v[i] += (dxu[x] * east + dxu[x - 1] * west) / (2 * dxt[x]) +
                                   (share_v * north + share_v_south * south);
                    u_taup1[i] += change_of(&a, u, k, i, c, 1);
                    v_taup1[i] += change_of(&a, v, k, i, c, nx);
                }
            }
}
