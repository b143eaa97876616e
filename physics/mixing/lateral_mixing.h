/*
 * Lateral mixing of temperature and salinity, harmonic and biharmonic: a step with what differences
 * of a field, the tracer or its Laplacian, make of fluxes, and what these take from dynamic
 * enthalpy, on the W grid. Columns go down through their levels.
 */
#ifndef LATERAL_MIXING_H
#define LATERAL_MIXING_H

#include "arguments.h"
#include "constants.h"
#include "maths.h"
#include "span.h"

#include <stdbool.h>

/* The factors of a row: a flux through a face is such a factor times a difference, over the
 * distance for one to the east. */
struct lateral_factors {
    real east, north, south;
    real per_cosine, per_dy; /* 1 / cost, 1 / (cost dyt) */
};

/* Those of row y, where the diffusivity is K times a power of the cosine of latitude. */
INLINED struct lateral_factors lateral_factors(const struct arguments *a, count y, real K,
                                               int power)
{
    const real at_t = K * whole_power(a->cost[y], power);
    const real at_u = K * whole_power(a->cosu[y], power);
    const real at_south = K * whole_power(a->cosu[y - 1], power);
    return (struct lateral_factors){.east = at_t / a->cost[y],
                                    .north = at_u * a->cosu[y] / a->dyu[y],
                                    .south = at_south * a->cosu[y - 1] / a->dyu[y - 1],
                                    .per_cosine = 1 / a->cost[y],
                                    .per_dy = 1 / (a->cost[y] * a->dyt[y])};
}

/* The faces of a T cell: factors of the differences across them, 0 on land. */
struct open_faces {
    real east, west, north, south;
    real in_x, in_y; /* of a flux through one, in the cell's tendency */
};

INLINED struct open_faces open_faces(const struct arguments *a, const struct lateral_factors *f,
                                     count i, count x)
{
    return (struct open_faces){.east = f->east * a->maskU[i] / a->dxu[x],
                               .west = f->east * a->maskU[i - 1] / a->dxu[x - 1],
                               .north = f->north * a->maskV[i],
                               .south = f->south * a->maskV[i - a->nx],
                               .in_x = f->per_cosine / a->dxt[x],
                               .in_y = f->per_dy};
}

/* The tendency of a T cell by fluxes down the gradient of q, and what these take from dynamic
 * enthalpy, whose derivative by the tracer is of X, in *lost. */
INLINED real mix_cell(const struct open_faces *f, const real *q, const real *X, count nx,
                      real *lost)
{
    const real east = f->east * (q[1] - q[0]), west = f->west * (q[0] - q[-1]);
    const real north = f->north * (q[nx] - q[0]), south = f->south * (q[0] - q[-nx]);
    const real work = f->in_x * ((X[1] - X[0]) * east + (X[0] - X[-1]) * west) +
                      f->in_y * ((X[nx] - X[0]) * north + (X[0] - X[-nx]) * south);
    *lost = (real)(GRAVITY / RHO_0) / 2 * work;
    return f->in_x * (east - west) + f->in_y * (north - south);
}

/* A step of a row of a level, whose sign is that of the fluxes. lost_above is of the level above,
 * and becomes that of this one. As in tempsalt_sources, half of a level's loss goes to the W point
 * above it and half to the one below; what would go below the lowest level stays in it. */
INLINED void mix_laterally(const struct arguments *a, const struct lateral_factors *f,
                           const real *temp, const real *salt, real sign, count k, count y,
                           struct span cells, real *lost_above)
{
    const count nx = a->nx, row = (k * a->ny + y) * nx;
    const bool is_top = k == a->nz - 1;
    const real beneath = is_top ? 0 : a->dzw[k > 0 ? k - 1 : 0] / a->dzw[k];
    const real conserves = a->enable_conserve_energy ? sign : 0, step = sign * a->dt_tracer;
    ALONG_X
    for (count x = cells.begin; x < cells.end; x++) {
        const count at = x - cells.begin, i = row + x, lowest = a->kbot[y * nx + x] - 1;
        const struct open_faces faces = open_faces(a, f, i, x);
        real lost_by_temp, lost_by_salt;
        const real of_temp = mix_cell(&faces, temp + i, a->int_drhodT + i, nx, &lost_by_temp);
        const real of_salt = mix_cell(&faces, salt + i, a->int_drhodS + i, nx, &lost_by_salt);
        const real lost = lost_by_temp + lost_by_salt;
        const real inside = is_top ? 2 * lost : lost + lost_above[at];
        const real wet = lowest >= 0 && k >= lowest, is_lowest = k == lowest;
        a->temp_taup1[i] += step * a->maskT[i] * of_temp;
        a->salt_taup1[i] += step * a->maskT[i] * of_salt;
        a->P_diss_hmix[i] = conserves * wet * (inside + is_lowest * beneath * lost) / 2;
        lost_above[at] = lost;
    }
}

/* Steps the columns of a part of row y, by a diffusivity as in lateral_factors; 0 in ghosts. */
INLINED void mix_part(const struct arguments *a, real K, int power, const real *temp,
                      const real *salt, real sign, count y, struct span part)
{
    const struct span inside = interior(part, y, a->nx, a->ny);
    for (count k = 0; k < a->nz; k++)
        zero_outside(a->P_diss_hmix + (k * a->ny + y) * a->nx, part, inside);
    if (inside.begin == inside.end)
        return;
    const struct span cells = seen(part, inside);
    const struct lateral_factors f = lateral_factors(a, y, K, power);
    real lost_above[ROW_CHUNK];
    for (count at = 0; at < cells.end - cells.begin; at++)
        lost_above[at] = 0;
    for (count k = a->nz - 1; k >= 0; k--)
        mix_laterally(a, &f, temp, salt, sign, k, y, cells, lost_above);
}

#endif
