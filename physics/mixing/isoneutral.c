/*
 * Isoneutral mixing: the tensor of Griffies et al. (1998) and the tapered slopes it is made of, as
 * in Veros.
 *
 * A corner is a T cell with one of its lateral faces and its top or bottom face (the paper calls it
 * a triad, which here is STREAM's word). Its slope is that of the neutral surface, from the
 * gradients of temperature and salinity across the two faces and the cell's own drdT and drdS; its
 * taper ends mixing where the slope is steep:
 *
 *     drodx = drdT dTdx + drdS dSdx,     drodz = drdT dTdz + drdS dSdz,
 *     s     = -drodx / (min(0, drodz) - epsln),
 *     taper = (1 + tanh((iso_slopec - |s|) / iso_dslope)) / 2
 *           = 1 / (1 + exp(2 (|s| - iso_slopec) / iso_dslope)).
 *
 * Ai_ez and Ai_nz are taper * s of the four corners of each lateral face, Ai_bx and Ai_by of those
 * of each top face. They are the same corners: dTdx and dSdx have a factor maskU, so that
 *
 *     Ai_bx(ip, 0, z, x) = maskW(z, x) Ai_ez(1 - ip, 1, z,     x - 1 + ip),
 *     Ai_bx(ip, 1, z, x) = maskW(z, x) Ai_ez(1 - ip, 0, z + 1, x - 1 + ip),
 *
 * and likewise along y. Hence two nests. The first visits lateral faces and computes every slope
 * and taper once, eight a point. The second visits top faces, reads taper * s, and recomputes the
 * slopes, which K_33 needs squared, but no taper. On the host both go through a tile together, a
 * level each in turns, so that the second finds what it reads in the caches (tile.h).
 *
 * On one core more than half of the time goes into moving data, most of which are the 16 slopes a
 * point, and the rest into eight exponentials and 14 divisions a point (18 on a GPU).
 */
#define DESCRIPTION "mixing/isoneutral.kernel"
#include "neutral.h"
#include "span.h"
#include "tile.h"

/* East or north. */
struct direction {
    count next;                /* the offset to the next cell */
    real *Ai_lateral, *Ai_top; /* Ai_ez and Ai_bx, or Ai_nz and Ai_by */
};

INLINED struct direction eastward(const struct arguments *a)
{
    return (struct direction){1, a->Ai_ez, a->Ai_bx};
}

INLINED struct direction northward(const struct arguments *a)
{
    return (struct direction){a->nx, a->Ai_nz, a->Ai_by};
}

/* Where the slopes of the corners (ip, kr) begin. */
INLINED ptrdiff_t corners(const struct arguments *a, int ip, int kr)
{
    return (2 * ip + kr) * ((ptrdiff_t)a->nz * a->ny * a->nx);
}

/* The masks that a loop over points reads are packed by a loop of its own, but only where bytes
 * cost lanes. Bit 0 is that of the face to the east, bit 1 that of the one to the north. */
INLINED int32_t bits_of_sides(const struct arguments *a, count i)
{
    return a->maskU[i] | a->maskV[i] << 1;
}

/* Those of the two cells at a top face. The bits of their other faces are 0, so that only the
 * slopes at this face are right. */
INLINED int32_t bits_of_top(const struct arguments *a, count i, count above)
{
    const int32_t open = a->maskW[i];
    return a->maskT[i] << CELL | open << TOP |
           (a->maskT[i + above] << CELL | open << BOTTOM) << BITS_OF_CELL;
}

/* A corner of a lateral face: stores taper * s, returns its diffusivity. */
INLINED real lateral_corner(const struct arguments *a, real s, real diffloc, real *Ai)
{
    const real t = taper(a, s);
    *Ai = t * s;
    return larger(a->K_iso_steep, diffloc * t);
}

/* The face between cell i, which is `here`, and the next one to the east or north. */
INLINED void lateral_face(const struct arguments *a, const struct neutral_level *l, bool to_north,
                          count i, struct masks m, real per_dx, struct neutral_cell here,
                          struct neutral_cell next)
{
    const real open = mask_of(to_north ? a->maskV : a->maskU, i, m, to_north);
    const count j = i + (to_north ? a->nx : 1);
    const struct slopes s = slopes_of_face(a, i, j, open * per_dx, here, next);
    const real diffloc = mean_of_four(a->K_iso, i, j, l->below);
    real *const K = to_north ? a->K_22 : a->K_11;
    real *const Ai = (to_north ? a->Ai_nz : a->Ai_ez) + i;
    const real below = lateral_corner(a, s.here_below, diffloc, Ai + corners(a, 0, 0)) +
                       lateral_corner(a, s.next_below, diffloc, Ai + corners(a, 1, 0));
    const real above = lateral_corner(a, s.here_above, diffloc, Ai + corners(a, 0, 1)) +
                       lateral_corner(a, s.next_above, diffloc, Ai + corners(a, 1, 1));
    K[i] = open * l->per_4_dzt * (l->dzw_below * below + l->dzw_above * above);
}

/* Up to three rows of faces share a cell. So the host keeps those of a chunk of a row, and the one
 * to the east; a point of a GPU computes the cells that it needs. */
#define KEEPS_CELLS HOST_OR_OFFLOAD(true, false)
enum { KEPT = ROW_CHUNK + 1 };

/* Cell i, which is kept at place p. */
INLINED struct neutral_cell neutral_cell_at(const struct arguments *a,
                                            const struct neutral_level *l, const real *kept,
                                            count p, count i, bool teos)
{
    if (KEEPS_CELLS)
        return get_neutral_cell(kept + p, KEPT);
    return neutral_cell(a, l, STORED, i, teos);
}

/* Computes the eastern and northern faces of row y, which begins at cell `row` and has the cells
 * `here`. */
INLINED void lateral_faces(const struct arguments *a, const struct neutral_level *l, count row,
                           count y, struct span in, const real *here, const real *there, bool teos)
{
    const real cost = a->cost[y];
    const real per_dyu = 1 / a->dyu[y];
    int32_t masks[ROW_CHUNK];
    if (BYTES_COST_LANES) {
        ALONG_X
        for (count x = in.begin; x < in.end; x++)
            masks[x - in.begin] = bits_of_sides(a, row + x);
    }
    ALONG_X
    for (count x = in.begin; x < in.end; x++) {
        const count i = row + x;
        const count p = x - in.begin;
        const struct masks m = masks_in(BYTES_COST_LANES ? masks[p] : 0);
        const real per_dxu = 1 / (a->dxu[x] * cost);
        const struct neutral_cell c = neutral_cell_at(a, l, here, p, i, teos);
        lateral_face(a, l, false, i, m, per_dxu, c,
                     neutral_cell_at(a, l, here, p + 1, i + 1, teos));
        lateral_face(a, l, true, i, m, per_dyu, c,
                     neutral_cell_at(a, l, there, p, i + a->nx, teos));
    }
}

/* The faces of a part of row y at level z: both wherever one of them is needed, and the caller then
 * sets to zero what is not. Each row keeps the cells of the row to the north for that row; the
 * first that has faces, and one that `is_first` of its tile, compute their own as well. */
INLINED void faces_of_row(const struct arguments *a, count z, count y, struct span part,
                          real kept[2][CELL_ROWS * KEPT], bool is_first)
{
    const bool teos = a->eq_of_state_type == 5;
    const struct neutral_level l = neutral_level(a, z);
    const count row = (z * a->ny + y) * a->nx;
    const struct span in = within(part, y >= 1 && y < a->ny - 2, 1, a->nx - 2);
    if (in.begin >= in.end)
        return;
    const struct span and_east = {in.begin, in.end + 1};
    for (count ahead = is_first || y == 1 ? 0 : 1; KEEPS_CELLS && ahead < 2; ahead++) {
        const count ahead_row = row + ahead * a->nx;
        real *const cells = kept[(y + ahead) % 2];
        if (teos)
            keep_cells(a, &l, ahead_row, and_east, cells, KEPT, true);
        else
            keep_cells(a, &l, ahead_row, and_east, cells, KEPT, false);
    }
    const real *const here = kept[y % 2], *const there = kept[(y + 1) % 2];
    if (teos)
        lateral_faces(a, &l, row, y, in, here, there, true);
    else
        lateral_faces(a, &l, row, y, in, here, there, false);
}

/*
 * A corner of the top face of cell i: stores taper * s, returns taper * s^2 times the distance that
 * dTdx is divided by, which is its weight in K_33. The corner's own cell c is i or the one above.
 * Where the lateral face is closed Ai_lateral is 0.
 */
INLINED real top_corner(const struct arguments *a, const struct direction *d, count i, count c,
                        struct expansion r, real per_drodz, real maskW, int ip, int kr)
{
    const count face = c - (1 - ip) * d->next;
    const real distance_s = drho(a, r, face, face + d->next) * per_drodz;
    const real Ai = maskW * (d->Ai_lateral + corners(a, 1 - ip, 1 - kr))[face];
    (d->Ai_top + corners(a, ip, kr))[i] = Ai;
    return Ai * distance_s;
}

INLINED void top_faces(const struct arguments *a, const struct neutral_level *lower,
                       const struct neutral_level *upper, const struct direction *east,
                       const struct direction *north, count row, count y, struct span in, bool teos)
{
    const real cost = a->cost[y];
    const real per_south = a->cosu[y - 1] / (4 * a->dyt[y] * cost);
    const real per_north = a->cosu[y] / (4 * a->dyt[y] * cost);
    int32_t masks[ROW_CHUNK];
    if (BYTES_COST_LANES) {
        ALONG_X
        for (count x = in.begin; x < in.end; x++)
            masks[x - in.begin] = bits_of_top(a, row + x, lower->above);
    }
    ALONG_X
    for (count x = in.begin; x < in.end; x++) {
        const count i = row + x;
        const count j = i + lower->above;
        const int32_t bits = BYTES_COST_LANES ? masks[x - in.begin] : 0;
        const real maskW = mask_of(a->maskW, i, masks_in(bits), TOP);
        const struct neutral_cell under = neutral_cell(a, lower, masks_in(bits), i, teos);
        const struct neutral_cell over =
            neutral_cell(a, upper, masks_in(bits >> BITS_OF_CELL), j, teos);
        const real per_under = under.per_drodz_above;
        const real per_over = over.per_drodz_below;
        const real along_x = top_corner(a, east, i, i, under.r, per_under, maskW, 0, 0) +
                             top_corner(a, east, i, i, under.r, per_under, maskW, 1, 0) +
                             top_corner(a, east, i, j, over.r, per_over, maskW, 0, 1) +
                             top_corner(a, east, i, j, over.r, per_over, maskW, 1, 1);
        const real to_south = top_corner(a, north, i, i, under.r, per_under, maskW, 0, 0) +
                              top_corner(a, north, i, j, over.r, per_over, maskW, 0, 1);
        const real to_north = top_corner(a, north, i, i, under.r, per_under, maskW, 1, 0) +
                              top_corner(a, north, i, j, over.r, per_over, maskW, 1, 1);
        a->K_33[i] = a->K_iso[i] * (along_x / (4 * a->dxt[x] * cost) + per_south * to_south +
                                    per_north * to_north);
    }
}

/* The lateral faces of a part of row y at level z, and zeros where there are none. */
INLINED void lateral_row(const struct arguments *a, count z, count y, struct span part,
                         real kept[2][CELL_ROWS * KEPT], bool is_first)
{
    const struct direction east = eastward(a), north = northward(a);
    const count row = (z * a->ny + y) * a->nx;
    const struct span in_east = within(part, y >= 2 && y < a->ny - 2, 1, a->nx - 2);
    const struct span in_north = within(part, y >= 1 && y < a->ny - 2, 2, a->nx - 2);
    faces_of_row(a, z, y, part, kept, is_first);
    zero_outside(a->K_11 + row, part, in_east);
    zero_outside(a->K_22 + row, part, in_north);
    const ptrdiff_t points = corners(a, 0, 1);
    for (ptrdiff_t i = row; i < 4 * points; i += points) {
        zero_outside(east.Ai_lateral + i, part, in_east);
        zero_outside(north.Ai_lateral + i, part, in_north);
    }
}

/* The top faces of a part of row y at level z, and zeros where there are none. */
OF_ROW void VARIANT(top_row)(const struct arguments *arguments, count z, count y, struct span part)
{
    const struct arguments a = *arguments;
    const struct direction east = eastward(&a), north = northward(&a);
    const bool teos = a.eq_of_state_type == 5;
    const count row = (z * a.ny + y) * a.nx;
    const bool interior = y >= 2 && y < a.ny - 2 && z < a.nz - 1;
    const struct span in = within(part, interior, 2, a.nx - 2);
    if (interior) {
        const struct neutral_level lower = neutral_level(&a, z);
        const struct neutral_level upper = neutral_level(&a, z + 1);
        if (teos)
            top_faces(&a, &lower, &upper, &east, &north, row, y, in, true);
        else
            top_faces(&a, &lower, &upper, &east, &north, row, y, in, false);
    }
    zero_outside(a.K_33 + row, part, in);
    const ptrdiff_t points = corners(&a, 0, 1);
    for (ptrdiff_t i = row; i < 4 * points; i += points) {
        zero_outside(east.Ai_top + i, part, in);
        zero_outside(north.Ai_top + i, part, in);
    }
}

#if !defined(PHYSICS_OFFLOAD)

/* A thread takes both kinds of faces through a tile. */
static void VARIANT(faces_of_tiles)(const struct kernel_call *call, struct tile tile)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z0 = 0; z0 < nz; z0 += tile.levels)
        for (count y0 = 0; y0 < ny; y0 += tile.rows)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct arguments a = {
#include "gather.h"
                };
                const struct span part = chunk(x0, nx);
                const count z1 = tile_end(z0, tile.levels, nz), y1 = tile_end(y0, tile.rows, ny);
                real kept[2][CELL_ROWS * KEPT];
                for (count z = z0; z < z1; z++) {
                    for (count y = y0; y < y1; y++)
                        lateral_row(&a, z, y, part, kept, y == y0);
                    for (count y = y0 + 1; y < y1 && z > z0; y++)
                        VARIANT(top_row)(&a, z - 1, y, part);
                }
            }
}

/* The top faces that read what another tile has written: those of each tile's first row, and then
 * the rest of its highest level. */
static void VARIANT(faces_between_tiles)(const struct kernel_call *call, struct tile tile)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y += tile.rows)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct arguments a = {
#include "gather.h"
                };
                VARIANT(top_row)(&a, z, y, chunk(x0, nx));
            }
    PARALLEL_ROWS
    for (count z0 = 0; z0 < nz; z0 += tile.levels)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx && y % tile.rows > 0; x0 += ROW_CHUNK) {
                const struct arguments a = {
#include "gather.h"
                };
                VARIANT(top_row)(&a, tile_end(z0, tile.levels, nz) - 1, y, chunk(x0, nx));
            }
}

void VARIANT(isoneutral)(const struct kernel_call *call)
{
    const struct tile tile = tile_of((count)call->grid.nz, (count)call->grid.ny);
    VARIANT(faces_of_tiles)(call, tile);
    VARIANT(faces_between_tiles)(call, tile);
}

#else

/* A thread takes a point, first with its lateral faces, and then with its top face. */
void VARIANT(isoneutral)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct arguments a = {
#include "gather.h"
                };
                real kept[2][CELL_ROWS * KEPT];
                lateral_row(&a, z, y, chunk(x0, nx), kept, true);
            }
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct arguments a = {
#include "gather.h"
                };
                VARIANT(top_row)(&a, z, y, chunk(x0, nx));
            }
}

#endif
