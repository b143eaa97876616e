/*
 * Fluxes of a tracer by the isoneutral tensor and its slopes (Griffies et al. 1998), and their
 * divergence, as in Veros:
 *
 *     east   maskU (diagonal K_11 dT/dx + sign K sum(Ai_ez dT) / (4 dzt)), and likewise north
 *     top    maskW K (sum(Ai_bx dT) / (4 dxt cost) + sum(Ai_by cosu dT) / (4 dyt cost))
 *
 * where dT is the difference between the cells on both sides of a corner's other face. Isoneutral
 * diffusion has K = K_iso and sign +; the tensor is symmetric, and K_33 is left to the column
 * solve. Skew diffusion (Griffies 1998, for Gent and McWilliams) has K = K_gm and sign -.
 *
 * The tensor of skew diffusion has no diagonal, but in pyOM2 and in Veros before 1.7 K_11 and K_22
 * act in it, so that the lateral part of isoneutral diffusion acts twice. It does here, too, if
 * pyom_compatibility_mode is set, by the factor `diagonal`.
 *
 * The kernel `isoneutral` leaves 0 on closed faces. A file's tensor and slopes may not be 0 there,
 * hence the masks.
 */
#ifndef TRACER_FLUXES_H
#define TRACER_FLUXES_H

#include "arguments.h"
#include "cell.h"

/* Goes before a loop over the two sides of a cell. The host unrolls it, because a loop that is
 * vectorised must have no inner loop. A GPU keeps it, so that both sides use the same registers. */
#if defined(PHYSICS_OFFLOAD)
#define EACH_SIDE ROLLED
#else
#define EACH_SIDE UNROLL
#endif

/* Isoneutral or skew diffusion; `K` is one of the arguments. */
struct mixing_by {
    const real *K;
    real sign, diagonal;
};

/* A slope of the face that belongs to cell i; the first index of Ai is ip or jp. */
INLINED real slope(const struct arguments *a, const real *Ai, int ip, int kr, count i)
{
    return (Ai + (2 * ip + kr) * ((ptrdiff_t)a->nz * a->ny * a->nx))[i];
}

/* K sum(Ai dT) of the face between cell i and the one at distance `next`; the caller divides it by
 * 4 dzt. */
INLINED real sloping_flux(const struct arguments *a, const real *K, const real *Ai, const real *T,
                          struct cell c, count i, count next)
{
    const count j = i + next;
    const real mean = (real)0.25 * (K[i] + K[i - c.below] + K[j] + K[j - c.below]);
    return mean * (slope(a, Ai, 0, 0, i) * (T[i] - T[i - c.below]) +
                   slope(a, Ai, 1, 0, i) * (T[j] - T[j - c.below]) +
                   slope(a, Ai, 0, 1, i) * (T[i + c.above] - T[i]) +
                   slope(a, Ai, 1, 1, i) * (T[j + c.above] - T[j]));
}

/* Through the eastern face of the cell, or of its western neighbour (`west` is 1). */
INLINED real flux_east(const struct arguments *a, struct mixing_by by, const real *T, struct cell c,
                       int west)
{
    const count i = c.i - west;
    return a->maskU[i] *
           (by.sign * sloping_flux(a, by.K, a->Ai_ez, T, c, i, 1) / (4 * a->dzt[c.z]) +
            by.diagonal * a->K_11[i] * (T[i + 1] - T[i]) / (a->dxu[c.x - west] * a->cost[c.y]));
}

/* Through the northern face of the cell, or of its southern neighbour; cosu is the length of the
 * face. */
INLINED real flux_north(const struct arguments *a, struct mixing_by by, const real *T,
                        struct cell c, int south)
{
    const count i = c.i - south * a->nx;
    return a->maskV[i] * a->cosu[c.y - south] *
           (by.sign * sloping_flux(a, by.K, a->Ai_nz, T, c, i, a->nx) / (4 * a->dzt[c.z]) +
            by.diagonal * a->K_22[i] * (T[i + a->nx] - T[i]) / a->dyu[c.y - south]);
}

/* Through the upper face of the cell, or of the one below it; 0 at the surface and the bottom. */
INLINED real flux_top(const struct arguments *a, struct mixing_by by, const real *T, struct cell c,
                      int lower)
{
    const count i = c.i - lower * c.below;
    const count j = lower ? c.i : c.i + c.above;
    const count nx = a->nx;
    const real is_inside = lower ? c.below > 0 : c.above > 0;
    const real along_x = slope(a, a->Ai_bx, 0, 0, i) * (T[i] - T[i - 1]) +
                         slope(a, a->Ai_bx, 1, 0, i) * (T[i + 1] - T[i]) +
                         slope(a, a->Ai_bx, 0, 1, i) * (T[j] - T[j - 1]) +
                         slope(a, a->Ai_bx, 1, 1, i) * (T[j + 1] - T[j]);
    const real to_south = slope(a, a->Ai_by, 0, 0, i) * (T[i] - T[i - nx]) +
                          slope(a, a->Ai_by, 0, 1, i) * (T[j] - T[j - nx]);
    const real to_north = slope(a, a->Ai_by, 1, 0, i) * (T[i + nx] - T[i]) +
                          slope(a, a->Ai_by, 1, 1, i) * (T[j + nx] - T[j]);
    const real along_y = a->cosu[c.y - 1] * to_south + a->cosu[c.y] * to_north;
    return is_inside * a->maskW[i] * by.K[i] / (4 * a->cost[c.y]) *
           (along_x / a->dxt[c.x] + along_y / a->dyt[c.y]);
}

/* Side 0 is the eastern, northern or upper face (outflow, +1), side 1 the opposite one (inflow,
 * -1). */
INLINED int sign_of(int side)
{
    return side == 0 ? 1 : -1;
}

/* The tendency of the tracer by the divergence of its fluxes. */
INLINED real divergence(const struct arguments *a, struct mixing_by by, const real *T,
                        struct cell c)
{
    real eastward = 0, northward = 0, upward = 0;
    EACH_SIDE
    for (int side = 0; side < 2; side++)
        eastward += sign_of(side) * flux_east(a, by, T, c, side);
    EACH_SIDE
    for (int side = 0; side < 2; side++)
        northward += sign_of(side) * flux_north(a, by, T, c, side);
    EACH_SIDE
    for (int side = 0; side < 2; side++)
        upward += sign_of(side) * flux_top(a, by, T, c, side);
    return eastward / (a->cost[c.y] * a->dxt[c.x]) + northward / (a->cost[c.y] * a->dyt[c.y]) +
           upward / a->dzt[c.z];
}

#endif
