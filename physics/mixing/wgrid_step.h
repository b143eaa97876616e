/*
 * The part of a step of an energy on the W grid that is explicit in time: lateral diffusion,
 * advection and the Adams-Bashforth step, added to the solution of the columns. It reads the energy
 * at time level tau only.
 *
 * On the host, step_rows goes through a tile of rows level by level and computes each face once:
 * the western faces are kept in a row of memory, the southern ones are those of the row before, and
 * the lower ones those of the level before. On a GPU a thread has a point, and step_point computes
 * all six faces of its cell.
 */
#ifndef WGRID_STEP_H
#define WGRID_STEP_H

/* The part of DERIVED that tke and eke have in common: the energy, its tendencies, and the factors
 * of a step. */
#define DERIVED_OF_STEP(VALUE, NAME, dt_diffused, is_advected, is_limited)                         \
    VALUE(const real *, energy, NAME)                                                              \
    VALUE(const real *, denergy_taum1, d##NAME##_taum1)                                            \
    VALUE(real *, denergy, d##NAME)                                                                \
    VALUE(real *, energy_taup1, NAME##_taup1)                                                      \
    VALUE(real, dt_diffusion, dt_diffused)                                                         \
    VALUE(real, advects, is_advected)                                                              \
    VALUE(real, share, is_limited)                                                                 \
    VALUE(real, dt_limited, share ? dt_tracer : 0)                                                 \
    VALUE(real, dt_now, ((real)1.5 + AB_eps) * dt_tracer * advects)                                \
    VALUE(real, dt_before, ((real)0.5 + AB_eps) * dt_tracer * advects)

#include "prefetch.h"
#include "rows.h"
#include "span.h"
#include "wgrid_advection.h"

/* Reciprocals that all cells of a row share. */
struct w_row {
    real per_cosine, per_dy, per_height_below, per_height_above;
};

INLINED struct w_row w_row_at(const struct arguments *a, count k, count y)
{
    const count top = a->nz - 1;
    const real height = k < top ? a->dzw[k] : a->dzw[k] / 2;
    return (struct w_row){
        .per_cosine = 1 / a->cost[y],
        .per_dy = 1 / (a->cost[y] * a->dyt[y]),
        .per_height_below = k > 0 ? 1 / height : 0,
        .per_height_above = k < top ? 1 / height : 0,
    };
}

/* A step of cell i by the fluxes through its faces. As in Veros, only the lateral ones are
 * masked. */
INLINED void step_cell(const struct arguments *a, const struct w_row *r, count i, bool is_water,
                       real per_dx, struct lateral_flux west, struct lateral_flux east,
                       struct lateral_flux south, struct lateral_flux north, real below, real above)
{
    const real lateral = (west.adv - east.adv) * per_dx + (south.adv - north.adv) * r->per_dy;
    const real diffusion = (west.diff - east.diff) * per_dx + (south.diff - north.diff) * r->per_dy;
    const real tendency =
        value_if(is_water, lateral) + below * r->per_height_below - above * r->per_height_above;
    a->denergy[i] = a->advects * tendency;
    a->energy_taup1[i] += a->dt_diffusion * value_if(is_water, diffusion) + a->dt_now * tendency -
                          a->dt_before * a->denergy_taum1[i];
}

#if defined(PHYSICS_OFFLOAD)

INLINED void step_point(const struct arguments *a, count k, count y, count x)
{
    const count nx = a->nx, i = (k * a->ny + y) * nx + x;
    const count under = k > 0 ? k - 1 : 0, j = i - (k > 0) * a->ny * nx;
    const struct w_row r = w_row_at(a, k, y);
    const real per_dx = r.per_cosine * (1 / a->dxt[x]);
    const real per_dx_west = r.per_cosine * (1 / a->dxt[x - 1]);
    const real per_dxu = r.per_cosine * (1 / a->dxu[x]);
    const real per_dxu_west = r.per_cosine * (1 / a->dxu[x - 1]);
    const struct lateral_flux west =
        eastern_face(a, i - 1, open_in_x(a, i - 1), per_dx_west, per_dxu_west);
    const struct lateral_flux east = eastern_face(a, i, open_in_x(a, i), per_dx, per_dxu);
    const struct lateral_flux south =
        northern_face(a, north_at(a, y - 1), i - nx, open_in_y(a, i - nx));
    const struct lateral_flux north = northern_face(a, north_at(a, y), i, open_in_y(a, i));
    const real below = upper_face(a, above_at(a, under), j, open_in_z(a, under, j));
    const real above = upper_face(a, above_at(a, k), i, open_in_z(a, k, i));
    step_cell(a, &r, i, a->maskW[i], per_dx, west, east, south, north, below, above);
}

INLINED void step_part(const struct arguments *a, count k, count y, struct span part)
{
    const count nx = a->nx, row = (k * a->ny + y) * nx;
    const struct span inside = interior(part, y, nx, a->ny);
    zero_outside(a->denergy + row, part, inside);
    zero_outside(a->energy_taup1 + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++)
        step_point(a, k, y, x);
}

#else

/* The memory of a tile for a chunk of its rows, whose first cell is at 1: the eastern faces of the
 * row, the northern ones of the row before, and the upper ones of the level below. */
struct w_carried {
    real per_dxt[ROW_CHUNK + 1], per_dxu[ROW_CHUNK + 1];
    int32_t open[ROW_CHUNK + 1];
    real east_adv[ROW_CHUNK + 1], east_diff[ROW_CHUNK + 1];
    real north_adv[ROW_CHUNK + 1], north_diff[ROW_CHUNK + 1];
    real above[MOST_ROWS_TOGETHER][ROW_CHUNK + 1];
};

INLINED void put_eastern_faces(const struct arguments *a, real per_cosine, count row,
                               struct span inside, count first, struct w_carried *c)
{
    ALONG_X
    for (count x = inside.begin - 1; x < inside.end; x++) {
        const count at = x - first;
        const struct lateral_flux east = eastern_face(
            a, row + x, c->open[at], per_cosine * c->per_dxt[at], per_cosine * c->per_dxu[at]);
        c->east_adv[at] = east.adv;
        c->east_diff[at] = east.diff;
    }
}

INLINED void put_northern_faces(const struct arguments *a, struct north n, count row,
                                struct span inside, count first, struct w_carried *c)
{
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count at = x - first;
        const struct lateral_flux north = northern_face(a, n, row + x, open_in_y(a, row + x));
        c->north_adv[at] = north.adv;
        c->north_diff[at] = north.diff;
    }
}

/* Steps a row whose southern and lower faces are known, and replaces these by its northern and
 * upper ones. Between its loops it prefetches the arrays that the next row reads first: all at once
 * would have to wait for one another. */
INLINED void step_row(const struct arguments *a, count k, count y, struct span inside, count first,
                      struct w_carried *c, real *restrict lower)
{
    const count row = (k * a->ny + y) * a->nx;
    const count next = row + a->nx + inside.begin;
    const count bytes = (inside.end - inside.begin) * (count)sizeof(real);
    const struct w_row r = w_row_at(a, k, y);
    const struct north n = north_at(a, y);
    const struct above up = above_at(a, k);
    prefetch(a->u + next, bytes);
    ALONG_X
    for (count x = inside.begin - 1; x < inside.end; x++)
        c->open[x - first] =
            open_in_x(a, row + x) | open_in_y(a, row + x) | open_in_z(a, k, row + x);
    prefetch(a->v + next, bytes);
    put_eastern_faces(a, r.per_cosine, row, inside, first, c);
    prefetch(a->w + next, bytes);
    prefetch(a->denergy_taum1 + next, bytes);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count at = x - first, i = row + x;
        const int32_t open = c->open[at];
        const struct lateral_flux west = {c->east_adv[at - 1], c->east_diff[at - 1]};
        const struct lateral_flux east = {c->east_adv[at], c->east_diff[at]};
        const struct lateral_flux south = {c->north_adv[at], c->north_diff[at]};
        const struct lateral_flux north = northern_face(a, n, i, open);
        const real above = upper_face(a, up, i, open);
        step_cell(a, &r, i, open & WATER, r.per_cosine * c->per_dxt[at], west, east, south, north,
                  lower[at], above);
        c->north_adv[at] = north.adv;
        c->north_diff[at] = north.diff;
        lower[at] = above;
    }
}

/* Steps the rows [begin, end), of which there are no more than MOST_ROWS_TOGETHER. */
INLINED void step_rows(const struct arguments *a, count begin, count end)
{
    const count nx = a->nx, ny = a->ny;
    struct w_carried c;
    for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
        const struct span part = chunk(x0, nx);
        const count first = x0 - 1;
        for (count x = x0 > 0 ? first : 0; x < part.end; x++) {
            c.per_dxt[x - first] = 1 / a->dxt[x];
            c.per_dxu[x - first] = 1 / a->dxu[x];
        }
        for (count k = 0; k < a->nz; k++)
            for (count y = begin; y < end; y++) {
                const struct span inside = interior(part, y, nx, ny);
                const count row = (k * ny + y) * nx;
                real *const lower = c.above[y - begin];
                zero_outside(a->denergy + row, part, inside);
                zero_outside(a->energy_taup1 + row, part, inside);
                if (inside.begin == inside.end)
                    continue;
                for (count x = inside.begin; k == 0 && x < inside.end; x++)
                    lower[x - first] = 0;
                if (y == begin || y == MINIAPP_HALO)
                    put_northern_faces(a, north_at(a, y - 1), row - nx, inside, first, &c);
                step_row(a, k, y, inside, first, &c, lower);
            }
    }
}

#endif

#endif
