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

INLINED struct w_row w_row_at(const struct arguments *o, count k, count y)
{
    const count top = o->nz - 1;
    const real height = k < top ? o->dzw[k] : o->dzw[k] / 2;
    return (struct w_row){
        .per_cosine = 1 / o->cost[y],
        .per_dy = 1 / (o->cost[y] * o->dyt[y]),
        .per_height_below = k > 0 ? 1 / height : 0,
        .per_height_above = k < top ? 1 / height : 0,
    };
}

/* A step of cell i by the fluxes through its faces. As in Veros, only the lateral ones are
 * masked. */
INLINED void step_cell(const struct arguments *o, const struct w_row *r, count i, bool is_water,
                       real per_dx, struct lateral_flux west, struct lateral_flux east,
                       struct lateral_flux south, struct lateral_flux north, real below, real above)
{
    const real lateral = (west.adv - east.adv) * per_dx + (south.adv - north.adv) * r->per_dy;
    const real diffusion = (west.diff - east.diff) * per_dx + (south.diff - north.diff) * r->per_dy;
    const real tendency =
        value_if(is_water, lateral) + below * r->per_height_below - above * r->per_height_above;
    o->denergy[i] = o->advects * tendency;
    o->energy_taup1[i] += o->dt_diffusion * value_if(is_water, diffusion) + o->dt_now * tendency -
                          o->dt_before * o->denergy_taum1[i];
}

#if defined(PHYSICS_OFFLOAD)

INLINED void step_point(const struct arguments *o, count k, count y, count x)
{
    const count nx = o->nx, i = (k * o->ny + y) * nx + x;
    const count under = k > 0 ? k - 1 : 0, j = i - (k > 0) * o->ny * nx;
    const struct w_row r = w_row_at(o, k, y);
    const real per_dx = r.per_cosine * (1 / o->dxt[x]);
    const real per_dx_west = r.per_cosine * (1 / o->dxt[x - 1]);
    const real per_dxu = r.per_cosine * (1 / o->dxu[x]);
    const real per_dxu_west = r.per_cosine * (1 / o->dxu[x - 1]);
    const struct lateral_flux west =
        eastern_face(o, i - 1, open_in_x(o, i - 1), per_dx_west, per_dxu_west);
    const struct lateral_flux east = eastern_face(o, i, open_in_x(o, i), per_dx, per_dxu);
    const struct lateral_flux south =
        northern_face(o, north_at(o, y - 1), i - nx, open_in_y(o, i - nx));
    const struct lateral_flux north = northern_face(o, north_at(o, y), i, open_in_y(o, i));
    const real below = upper_face(o, above_at(o, under), j, open_in_z(o, under, j));
    const real above = upper_face(o, above_at(o, k), i, open_in_z(o, k, i));
    step_cell(o, &r, i, o->maskW[i], per_dx, west, east, south, north, below, above);
}

INLINED void step_part(const struct arguments *o, count k, count y, struct span part)
{
    const count nx = o->nx, row = (k * o->ny + y) * nx;
    const struct span inside = interior(part, y, nx, o->ny);
    zero_outside(o->denergy + row, part, inside);
    zero_outside(o->energy_taup1 + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++)
        step_point(o, k, y, x);
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

INLINED void put_eastern_faces(const struct arguments *o, real per_cosine, count row,
                               struct span inside, count first, struct w_carried *c)
{
    ALONG_X
    for (count x = inside.begin - 1; x < inside.end; x++) {
        const count at = x - first;
        const struct lateral_flux east = eastern_face(
            o, row + x, c->open[at], per_cosine * c->per_dxt[at], per_cosine * c->per_dxu[at]);
        c->east_adv[at] = east.adv;
        c->east_diff[at] = east.diff;
    }
}

INLINED void put_northern_faces(const struct arguments *o, struct north n, count row,
                                struct span inside, count first, struct w_carried *c)
{
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count at = x - first;
        const struct lateral_flux north = northern_face(o, n, row + x, open_in_y(o, row + x));
        c->north_adv[at] = north.adv;
        c->north_diff[at] = north.diff;
    }
}

/* Steps a row whose southern and lower faces are known, and replaces these by its northern and
 * upper ones. Between its loops it prefetches the arrays that the next row reads first: all at once
 * would have to wait for one another. */
INLINED void step_row(const struct arguments *o, count k, count y, struct span inside, count first,
                      struct w_carried *c, real *restrict lower)
{
    const count row = (k * o->ny + y) * o->nx;
    const count next = row + o->nx + inside.begin;
    const count bytes = (inside.end - inside.begin) * (count)sizeof(real);
    const struct w_row r = w_row_at(o, k, y);
    const struct north n = north_at(o, y);
    const struct above a = above_at(o, k);
    prefetch(o->u + next, bytes);
    ALONG_X
    for (count x = inside.begin - 1; x < inside.end; x++)
        c->open[x - first] =
            open_in_x(o, row + x) | open_in_y(o, row + x) | open_in_z(o, k, row + x);
    prefetch(o->v + next, bytes);
    put_eastern_faces(o, r.per_cosine, row, inside, first, c);
    prefetch(o->w + next, bytes);
    prefetch(o->denergy_taum1 + next, bytes);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count at = x - first, i = row + x;
        const int32_t open = c->open[at];
        const struct lateral_flux west = {c->east_adv[at - 1], c->east_diff[at - 1]};
        const struct lateral_flux east = {c->east_adv[at], c->east_diff[at]};
        const struct lateral_flux south = {c->north_adv[at], c->north_diff[at]};
        const struct lateral_flux north = northern_face(o, n, i, open);
        const real above = upper_face(o, a, i, open);
        step_cell(o, &r, i, open & WATER, r.per_cosine * c->per_dxt[at], west, east, south, north,
                  lower[at], above);
        c->north_adv[at] = north.adv;
        c->north_diff[at] = north.diff;
        lower[at] = above;
    }
}

/* Steps the rows [begin, end), of which there are no more than MOST_ROWS_TOGETHER. */
INLINED void step_rows(const struct arguments *o, count begin, count end)
{
    const count nx = o->nx, ny = o->ny;
    struct w_carried c;
    for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
        const struct span part = chunk(x0, nx);
        const count first = x0 - 1;
        for (count x = x0 > 0 ? first : 0; x < part.end; x++) {
            c.per_dxt[x - first] = 1 / o->dxt[x];
            c.per_dxu[x - first] = 1 / o->dxu[x];
        }
        for (count k = 0; k < o->nz; k++)
            for (count y = begin; y < end; y++) {
                const struct span inside = interior(part, y, nx, ny);
                const count row = (k * ny + y) * nx;
                real *const lower = c.above[y - begin];
                zero_outside(o->denergy + row, part, inside);
                zero_outside(o->energy_taup1 + row, part, inside);
                if (inside.begin == inside.end)
                    continue;
                for (count x = inside.begin; k == 0 && x < inside.end; x++)
                    lower[x - first] = 0;
                if (y == begin || y == MINIAPP_HALO)
                    put_northern_faces(o, north_at(o, y - 1), row - nx, inside, first, &c);
                step_row(o, k, y, inside, first, &c, lower);
            }
    }
}

#endif

#endif
