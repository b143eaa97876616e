/*
 * The eastern and northern faces of a row's cells, with the slopes of their corners, which no
 * kernel computes twice. A kernel that takes this nest defines at_face.
 */
#ifndef LATERAL_FACES_H
#define LATERAL_FACES_H

#include "neutral.h"
#include "span.h"

/* Uses the slopes of the face between cell i and the one to its east or north; `open` is its mask,
 * and where that is 0, so are the slopes. */
INLINED void at_face(const struct arguments *a, const struct neutral_level *l, bool to_north,
                     count i, real open, struct slopes s);

/* The masks that a loop over points reads are packed by a loop of its own, but only where bytes
 * cost lanes. Bit 0 is that of the face to the east, bit 1 that of the one to the north. */
INLINED int32_t bits_of_sides(const struct arguments *a, count i)
{
    return a->maskU[i] | a->maskV[i] << 1;
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

INLINED void take_lateral_face(const struct arguments *a, const struct neutral_level *l,
                               bool to_north, count i, struct masks m, real per_dx,
                               struct neutral_cell here, struct neutral_cell next)
{
    const real open = mask_of(to_north ? a->maskV : a->maskU, i, m, to_north);
    const count j = i + (to_north ? a->nx : 1);
    at_face(a, l, to_north, i, open, slopes_of_face(a, i, j, open * per_dx, here, next));
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
        take_lateral_face(a, l, false, i, m, per_dxu, c,
                          neutral_cell_at(a, l, here, p + 1, i + 1, teos));
        take_lateral_face(a, l, true, i, m, per_dyu, c,
                          neutral_cell_at(a, l, there, p, i + a->nx, teos));
    }
}

/* The cells of a part of row y whose eastern face is one of the ocean's, and those whose northern
 * face is. */
INLINED struct span with_eastern_face(const struct arguments *a, struct span part, count y)
{
    return within(part, y >= 2 && y < a->ny - 2, 1, a->nx - 2);
}

INLINED struct span with_northern_face(const struct arguments *a, struct span part, count y)
{
    return within(part, y >= 1 && y < a->ny - 2, 2, a->nx - 2);
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

#endif
