/*
 * Isoneutral mixing of temperature and salinity in one pass: tensor, isoneutral and skew diffusion,
 * and the column solve. `isoneutral`, `isoneutral_skew` and `isoneutral_diffusion` do the same in
 * steps (isoneutral_steps.sequence) and store slopes. Here a slope is computed at its lateral face
 * and used at once: in the fluxes of both tracers, for the faces below and above, and in K_33.
 * isoneutral_mixing.h has the formulas. If enable_conserve_energy is set, the same pass computes
 * the dissipation.
 *
 * There are two drivers. On the host a thread advances through its rows from south to north, and in
 * a row from the bottom up, whole rows of x at a time. It computes each face once: western faces
 * are kept in a row of memory, southern ones in a plane of (z, x), where the row to the south has
 * put them: as little memory as possible, since it has to stay in the second cache. On a GPU a
 * thread has a column, and computes all four faces of a cell.
 */
#define DESCRIPTION "mixing/isoneutral_mixing.kernel"
#include "isoneutral_mixing.h"
#include "prefetch.h"
#include "span.h"

/* Writes the losses of a level that are explicit in time, by its own faces and those of the level
 * above. */
INLINED void put_losses(const struct arguments *a, struct mixed_level m, count k, count i,
                        const struct lateral_sums *here, const struct lateral_sums *above,
                        const struct ceiling *top, bool is_surface)
{
    if (is_surface) {
        a->P_diss_iso[i] = surface_loss(a, k, i, here->loss_iso);
        a->P_diss_skew[i] = surface_loss(a, k, i, here->loss_skew);
    } else {
        a->P_diss_iso[i] = explicit_loss(a, m, k, i, here->loss_iso, above->loss_iso, top->iso);
        a->P_diss_skew[i] = explicit_loss(a, m, k, i, here->loss_skew, above->loss_skew, top->skew);
    }
}

#if defined(PHYSICS_OFFLOAD)

/* ---- columns ---- */

INLINED struct neutral_face neutral_face_at(const struct arguments *a,
                                            const struct neutral_level *l, count i, count next,
                                            real per_dx, bool teos)
{
    return neutral_face(a, l, i, next, per_dx, neutral_cell(a, l, STORED, i, teos),
                        neutral_cell(a, l, STORED, i + next, teos));
}

INLINED struct lateral_sums lateral_at(const struct arguments *a, count k, count y, count x,
                                       bool teos, bool dissipates)
{
    const struct neutral_level l = neutral_level(a, k);
    const count nx = a->nx, i = (k * a->ny + y) * nx + x;
    struct lateral_sums lateral = {0};
    ROLLED
    for (int n = 0; n < 4; n++) {
        const bool is_ahead = n % 2, in_x = n < 2;
        struct side side = in_x ? side_in_x(a, a->cost[y], weight_in_x(a, y, x), x, is_ahead)
                                : side_in_y(a, y, is_ahead);
        const count first = is_ahead ? i : i + side.to;
        const real open = in_x ? a->maskU[first] : a->maskV[first];
        side.face = neutral_face_at(a, &l, first, in_x ? 1 : nx, open / side.distance, teos);
        if (a->enable_eddy_streamfunction && (is_ahead || (in_x ? x : y) == 2))
            (in_x ? a->B2_gm : a->B1_gm)[first] = in_x ? side.face.stream : -side.face.stream;
        add_side(a, &lateral, i, side, dissipates);
    }
    return lateral;
}

/* `scratch` is four fields: the ratios, what skew diffusion adds to both tracers, and K_33. */
INLINED void mix_column(const struct arguments *a, real *scratch, count y, count x, bool teos,
                        bool dissipates)
{
    const count plane = a->ny * a->nx, column = y * a->nx + x;
    const ptrdiff_t points = (ptrdiff_t)a->nz * plane;
    real *const skew_T = scratch + points, *const skew_S = scratch + 2 * points;
    real *const K_33 = scratch + 3 * points;
    struct lateral_sums below = {0};
    struct reduced reduced = {0};
    real floor_K_33 = 0;
    for (count k = 0; k <= a->nz; k++) {
        const bool is_surface = k == a->nz;
        const count i = (k - 1) * plane + column;
        struct lateral_sums here = {0};
        if (!is_surface)
            here = lateral_at(a, k, y, x, teos, dissipates);
        if (k > 0) {
            const struct mixed_level m = mixed_level(a, k - 1);
            const struct ceiling top =
                is_surface ? CLOSED : ceiling(a, i, a->maskW[i], below.above, here.below);
            const struct pair taup1 = {a->temp_taup1[i], a->salt_taup1[i]};
            reduced = eliminate_both(a, m, a->maskT[i], taup1, &below, floor_K_33, top,
                                     reduced.ratio, reduced.d);
            a->temp_taup1[i] = reduced.d.T;
            a->salt_taup1[i] = reduced.d.S;
            scratch[i] = reduced.ratio;
            skew_T[i] = reduced.skew.T;
            skew_S[i] = reduced.skew.S;
            K_33[i] = top.K_33;
            if (dissipates)
                put_losses(a, m, k - 1, i, &below, &here, &top, is_surface);
            if (!is_surface)
                subtract_floor(&here, top, 1 / a->dzt[k]);
            floor_K_33 = top.K_33;
        }
        below = here;
    }
    struct pair solved = {0, 0};
    for (count k = a->nz - 1; k >= 0; k--) {
        const count i = k * plane + column;
        const struct pair d = {a->temp_taup1[i], a->salt_taup1[i]};
        const struct pair now = plus(d, minus_c(scratch[i]), solved);
        if (dissipates && k < a->nz - 1)
            a->P_diss_iso[i] += implicit_loss(a, mixed_level(a, k), i, K_33[i], now, solved);
        a->temp_taup1[i] = now.T + skew_T[i];
        a->salt_taup1[i] = now.S + skew_S[i];
        solved = now;
    }
}

#else

/* ---- rows ---- */

/* The state of a level that is kept until the level above is known: the sums over its faces but the
 * upper one, and K_33 of its floor. */
struct carried {
    struct lateral_sums sums;
    real floor_K_33;
};

/* clang-format off */
#define FACE_VALUES(VALUE)                                                                         \
    VALUE(iso.T) VALUE(iso.S) VALUE(skew.T) VALUE(skew.S)                                          \
    VALUE(next.below.s) VALUE(next.below.s2) VALUE(next.above.s) VALUE(next.above.s2)
#define CORNER_VALUES(VALUE) VALUE(below.s) VALUE(below.s2) VALUE(above.s) VALUE(above.s2)
#define CARRIED_VALUES(VALUE)                                                                      \
    VALUE(sums.iso.T) VALUE(sums.iso.S) VALUE(sums.skew.T) VALUE(sums.skew.S)                      \
    VALUE(sums.above.T) VALUE(sums.above.S) VALUE(sums.above.K)                                    \
    VALUE(sums.loss_iso) VALUE(sums.loss_skew) VALUE(floor_K_33)
/* clang-format on */
enum {
    FACE_ROWS = FACE_VALUES(COUNT_ROW),
    CORNER_ROWS = CORNER_VALUES(COUNT_ROW),
    CARRIED_ROWS = CARRIED_VALUES(COUNT_ROW)
};
KEPT_IN_ROWS(neutral_face, FACE_VALUES)
KEPT_IN_ROWS(corners, CORNER_VALUES)
KEPT_IN_ROWS(carried, CARRIED_VALUES)

/*
 * The memory of a chunk of rows, in rows of nx. A slot has the southern faces and the cells of a
 * row at a level. There is one slot more than levels: where a row has done with a level, the row to
 * its north puts the level above.
 */
enum {
    SLOT_ROWS = FACE_ROWS + CELL_ROWS,
    COLUMN_ROWS = 4, /* a level: ratios, skew diffusion of both tracers, K_33 */
    MASK_ROWS = 2,
    SINGLE_ROWS = 3,
    ROWS = FACE_ROWS + 2 * CORNER_ROWS + CARRIED_ROWS + MASK_ROWS + SINGLE_ROWS,
};

struct chunk_memory {
    real *slots, *spare; /* the spare slot is the last one */
    real *column;        /* COLUMN_ROWS a level */
    real *east;          /* the eastern faces of the current level, with both cells' corners */
    real *north_corners; /* of the northern faces of the current level: those of the cells here */
    real *carried;
    real *masks;   /* as numbers (bytes.h says why) */
    real *weights; /* of the sides in x */
    real *per_dx;  /* between cells in x */
    real *zeros;   /* the ratios beneath the bottom */
};

/* The slot of a level of row number `turn` of a chunk. */
static real *slot(const struct arguments *a, const struct chunk_memory *chunk, count k, count turn)
{
    const count place = (k + turn * a->nz) % (a->nz + 1); /* one less in the next turn */
    return place < a->nz ? chunk->slots + place * SLOT_ROWS * a->nx : chunk->spare;
}

/* Functions of a row are called, not inlined: the first row of a chunk gets its southern faces from
 * the same instructions as any other row, so that results do not show where chunks begin. */
OF_ROW void VARIANT(cells_of_row)(const struct arguments *a, const struct neutral_level *l,
                                  count row, real *cells, bool teos)
{
    const count nx = a->nx;
    for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
        const struct span in = within(chunk(x0, nx), true, 1, nx - 1);
        if (teos)
            keep_cells(a, l, row, in, cells + in.begin, nx, true);
        else
            keep_cells(a, l, row, in, cells + in.begin, nx, false);
    }
}

/* The faces keep the corners of the cell here in rows of their own. */
INLINED void put_face(real *faces, real *corners, count nx, struct neutral_face face)
{
    put_neutral_face(faces, nx, face);
    put_corners(corners, nx, face.here);
}

INLINED struct neutral_face get_face(const real *faces, const real *corners, count nx)
{
    struct neutral_face face = get_neutral_face(faces, nx);
    face.here = get_corners(corners, nx);
    return face;
}

INLINED void faces_to_east(const struct arguments *arguments, const struct neutral_level *l,
                           count row, const real *per_dx, const real *cells, real *open,
                           real *faces, bool streams)
{
    const struct arguments a = *arguments;
    const struct neutral_level here = *l;
    const count nx = a.nx;
    as_numbers(open, a.maskU + row, nx);
    ALONG_X
    for (count x = 1; x < nx - 2; x++) {
        const struct neutral_face face =
            neutral_face(&a, &here, row + x, 1, number_at(open, a.maskU + row, x) * per_dx[x],
                         get_neutral_cell(cells + x, nx), get_neutral_cell(cells + x + 1, nx));
        put_face(faces + x, faces + FACE_ROWS * nx + x, nx, face);
        if (streams)
            a.B2_gm[row + x] = face.stream;
    }
}

/* The eddies' streamfunction has functions of its own: with both loops in one, the kernel took 5 %
 * longer, since registers held numbers of both. */
OF_ROW void VARIANT(eastern_faces)(const struct arguments *a, const struct neutral_level *l,
                                   count row, const real *per_dx, const real *cells, real *open,
                                   real *faces)
{
    faces_to_east(a, l, row, per_dx, cells, open, faces, false);
}

OF_ROW void VARIANT(eastern_streams)(const struct arguments *a, const struct neutral_level *l,
                                     count row, const real *per_dx, const real *cells, real *open,
                                     real *faces)
{
    faces_to_east(a, l, row, per_dx, cells, open, faces, true);
}

INLINED void faces_to_north(const struct arguments *arguments, const struct neutral_level *l,
                            count row, count y, const real *cells, const real *next_cells,
                            real *open, real *faces, real *corners, bool streams)
{
    const struct arguments a = *arguments;
    const struct neutral_level here = *l;
    const count nx = a.nx;
    const real per_dyu = 1 / a.dyu[y];
    as_numbers(open, a.maskV + row, nx);
    ALONG_X
    for (count x = 2; x < nx - 2; x++) {
        const struct neutral_face face =
            neutral_face(&a, &here, row + x, nx, number_at(open, a.maskV + row, x) * per_dyu,
                         get_neutral_cell(cells + x, nx), get_neutral_cell(next_cells + x, nx));
        put_face(faces + x, corners + x, nx, face);
        if (streams)
            a.B1_gm[row + x] = -face.stream;
    }
}

OF_ROW void VARIANT(northern_faces)(const struct arguments *a, const struct neutral_level *l,
                                    count row, count y, const real *cells, const real *next_cells,
                                    real *open, real *faces, real *corners)
{
    faces_to_north(a, l, row, y, cells, next_cells, open, faces, corners, false);
}

OF_ROW void VARIANT(northern_streams)(const struct arguments *a, const struct neutral_level *l,
                                      count row, count y, const real *cells, const real *next_cells,
                                      real *open, real *faces, real *corners)
{
    faces_to_north(a, l, row, y, cells, next_cells, open, faces, corners, true);
}

/* The rows that a level needs. */
struct level_rows {
    const real *south, *north, *north_corners, *east, *weights;
    real *open_T, *open_W; /* masks of the level below, as numbers */
    real *carried;
    real *column;            /* of the level below the current one */
    const real *ratio_below; /* of the level below that; zeros at the bottom */
    count deeper; /* the offset from `column`'s level to that of ratio_below; 0 at the bottom */
};

/* Numbers that all points of a level of a row share: `south` and `north` lack their faces. The loop
 * over x would compute them for each vector, since its stores might be to the grid. */
struct shared {
    real cost;
    struct side south, north;
    struct mixed_level below;
    real per_dzt;
};

INLINED struct lateral_sums lateral_of(const struct arguments *a, const struct shared *shared,
                                       struct level_rows rows, count i, count x, bool dissipates)
{
    struct side west = side_in_x(a, shared->cost, rows.weights[x], x, false);
    struct side east = side_in_x(a, shared->cost, rows.weights[x], x, true);
    struct side south = shared->south, north = shared->north;
    const real *const east_corners = rows.east + FACE_ROWS * a->nx;
    west.face = get_neutral_face(rows.east + x - 1, a->nx);
    east.face = get_face(rows.east + x, east_corners + x, a->nx);
    south.face = get_neutral_face(rows.south + x, a->nx);
    north.face = get_face(rows.north + x, rows.north_corners + x, a->nx);
    struct lateral_sums lateral = {0};
    add_side(a, &lateral, i, west, dissipates);
    add_side(a, &lateral, i, east, dissipates);
    add_side(a, &lateral, i, south, dissipates);
    add_side(a, &lateral, i, north, dissipates);
    return lateral;
}

/*
 * Level k takes its four faces. That completes the level below, which is then eliminated.
 * `is_first`: there is no level below. `is_last`: k is above the surface, and has no faces.
 */
INLINED void advance_point(const struct arguments *a, const struct shared *shared,
                           struct level_rows rows, count k, count y, count x, bool is_first,
                           bool is_last, bool dissipates)
{
    const count nx = a->nx, plane = nx * a->ny;
    const count i = k * plane + y * nx + x, j = i - plane;
    struct carried next = {0};
    if (!is_last)
        next.sums = lateral_of(a, shared, rows, i, x, dissipates);
    if (!is_first) {
        const struct carried c = get_carried(rows.carried + x, nx);
        const struct lateral_sums *const below = &c.sums;
        const struct ceiling top = is_last
                                       ? CLOSED
                                       : ceiling(a, j, number_at(rows.open_W, a->maskW + j - x, x),
                                                 below->above, next.sums.below);
        const struct pair taup1 = {a->temp_taup1[j], a->salt_taup1[j]};
        const struct pair d = {a->temp_taup1[j - rows.deeper], a->salt_taup1[j - rows.deeper]};
        const struct reduced reduced =
            eliminate_both(a, shared->below, number_at(rows.open_T, a->maskT + j - x, x), taup1,
                           below, c.floor_K_33, top, rows.ratio_below[x], d);
        a->temp_taup1[j] = reduced.d.T;
        a->salt_taup1[j] = reduced.d.S;
        rows.column[x] = reduced.ratio;
        rows.column[nx + x] = reduced.skew.T;
        rows.column[2 * nx + x] = reduced.skew.S;
        rows.column[3 * nx + x] = top.K_33;
        if (dissipates)
            put_losses(a, shared->below, k - 1, j, below, &next.sums, &top, is_last);
        subtract_floor(&next.sums, top, shared->per_dzt);
        next.floor_K_33 = top.K_33;
    }
    if (!is_last)
        put_carried(rows.carried + x, nx, next);
}

/* GCC did not vectorise this loop while its structures were declared in it. */
INLINED void advance(const struct arguments *arguments, struct level_rows rows, count k, count y,
                     bool is_first, bool is_last, bool dissipates)
{
    const struct arguments a = *arguments;
    const struct shared shared = {a.cost[y], side_in_y(&a, y, false), side_in_y(&a, y, true),
                                  mixed_level(&a, is_first ? 0 : k - 1),
                                  1 / a.dzt[is_last ? k - 1 : k]};
    ALONG_X
    for (count x = 2; x < a.nx - 2; x++)
        advance_point(&a, &shared, rows, k, y, x, is_first, is_last, dissipates);
}

OF_ROW void VARIANT(level_of_row)(const struct arguments *a, struct level_rows rows, count k,
                                  count y, bool dissipates)
{
    const bool is_first = k == 0, is_last = k == a->nz;
    if (!is_first) {
        const count row = ((k - 1) * a->ny + y) * a->nx;
        as_numbers(rows.open_T, a->maskT + row, a->nx);
        as_numbers(rows.open_W, a->maskW + row, a->nx);
    }
    if (is_first && dissipates)
        advance(a, rows, k, y, true, false, true);
    else if (is_first)
        advance(a, rows, k, y, true, false, false);
    else if (is_last && dissipates)
        advance(a, rows, k, y, false, true, true);
    else if (is_last)
        advance(a, rows, k, y, false, true, false);
    else if (dissipates)
        advance(a, rows, k, y, false, false, true);
    else
        advance(a, rows, k, y, false, false, false);
}

/* The way down of the column solve: in `column` the solution replaces the skew diffusion. */
INLINED void substitute_both(const struct arguments *arguments, real *column, count k, count row,
                             bool is_top, bool dissipates)
{
    const struct arguments a = *arguments;
    const count nx = a.nx;
    const struct mixed_level m = mixed_level(&a, k);
    real *const solved_T = column + nx, *const solved_S = column + 2 * nx;
    ALONG_X
    for (count x = 2; x < nx - 2; x++) {
        const count i = row + x;
        const count next = COLUMN_ROWS * nx + x;
        const struct pair above = {is_top ? 0 : solved_T[next], is_top ? 0 : solved_S[next]};
        const struct pair d = {a.temp_taup1[i], a.salt_taup1[i]};
        const struct pair now = plus(d, minus_c(column[x]), above);
        if (dissipates && !is_top)
            a.P_diss_iso[i] += implicit_loss(&a, m, i, column[3 * nx + x], now, above);
        a.temp_taup1[i] = now.T + solved_T[x];
        a.salt_taup1[i] = now.S + solved_S[x];
        solved_T[x] = now.T;
        solved_S[x] = now.S;
    }
}

OF_ROW void VARIANT(solve_level)(const struct arguments *a, real *column, count k, count row,
                                 bool dissipates)
{
    if (k == a->nz - 1)
        substitute_both(a, column, k, row, true, false);
    else if (dissipates)
        substitute_both(a, column, k, row, false, true);
    else
        substitute_both(a, column, k, row, false, false);
}

INLINED void prefetch_rows(const real *one, const real *other, count nx)
{
    prefetch(one, nx * (count)sizeof *one);
    prefetch(other, nx * (count)sizeof *other);
}

/* Mixes row y, number `turn` of its chunk, whose cells and southern faces are known. The slots of
 * the next row get its cells and the northern faces. In turns with its loops, it prefetches what
 * the next level reads first. */
static void mix_row(const struct arguments *a, const struct chunk_memory *chunk, count turn,
                    count y, bool teos, bool dissipates)
{
    const count nx = a->nx, ny = a->ny, nz = a->nz, level = COLUMN_ROWS * nx;
    const bool streams = a->enable_eddy_streamfunction;
    for (count x = 0; x < nx; x++) {
        chunk->weights[x] = weight_in_x(a, y, x);
        chunk->per_dx[x] = 1 / (a->cost[y] * a->dxu[x]);
    }
    for (count k = 0; k <= nz; k++) {
        const count row = (k * ny + y) * nx;
        real *const here = slot(a, chunk, k, turn), *const next = slot(a, chunk, k, turn + 1);
        real *const cells = here + FACE_ROWS * nx, *const next_cells = next + FACE_ROWS * nx;
        const struct level_rows rows = {
            .south = here,
            .north = next,
            .north_corners = chunk->north_corners,
            .east = chunk->east,
            .weights = chunk->weights,
            .open_T = chunk->masks,
            .open_W = chunk->masks + nx,
            .carried = chunk->carried,
            .column = chunk->column + (k - 1) * level,
            .ratio_below = k > 1 ? chunk->column + (k - 2) * level : chunk->zeros,
            .deeper = k > 1 ? ny * nx : 0,
        };
        if (k < nz) {
            const struct neutral_level l = neutral_level(a, k);
            const count up = row + (k < nz - 1) * ny * nx, up_north = up + nx;
            prefetch_rows(a->temp + up_north, a->salt + up_north, nx);
            VARIANT(cells_of_row)(a, &l, row + nx, next_cells, teos);
            prefetch_rows(a->K_iso + up_north, a->K_gm + up_north, nx);
            (streams ? VARIANT(eastern_streams) : VARIANT(eastern_faces))(
                a, &l, row, chunk->per_dx, cells, chunk->masks, chunk->east);
            prefetch_rows(a->int_drhodT + up_north, a->int_drhodS + up_north, nx);
            (streams ? VARIANT(northern_streams) : VARIANT(northern_faces))(
                a, &l, row, y, cells, next_cells, chunk->masks, next, chunk->north_corners);
            prefetch_rows(a->temp_taup1 + up, a->salt_taup1 + up, nx);
            prefetch_rows(a->P_diss_iso + up, a->P_diss_skew + up, nx);
        }
        VARIANT(level_of_row)(a, rows, k, y, dissipates);
    }
    for (count k = nz - 1; k >= 0; k--)
        VARIANT(solve_level)(a, chunk->column + k * level, k, (k * ny + y) * nx, dissipates);
}

/* Mixes the rows [begin, end). The first one needs values of the row before, which are computed
 * again. */
static void mix_rows(const struct arguments *a, const struct chunk_memory *chunk, count begin,
                     count end, bool teos, bool dissipates)
{
    const count nx = a->nx, ny = a->ny, nz = a->nz;
    const bool streams = a->enable_eddy_streamfunction && begin == 2;
    real *const cells_before = chunk->carried;
    for (count x = 0; x < nx; x++)
        chunk->zeros[x] = 0;
    for (count k = 0; k < nz && begin < end; k++) {
        const struct neutral_level l = neutral_level(a, k);
        const count row = (k * ny + begin) * nx;
        real *const faces = slot(a, chunk, k, 0), *const cells = faces + FACE_ROWS * nx;
        VARIANT(cells_of_row)(a, &l, row - nx, cells_before, teos);
        VARIANT(cells_of_row)(a, &l, row, cells, teos);
        (streams ? VARIANT(northern_streams)
                 : VARIANT(northern_faces))(a, &l, row - nx, begin - 1, cells_before, cells,
                                            chunk->masks, faces, chunk->north_corners);
    }
    for (count y = begin; y < end; y++)
        mix_row(a, chunk, y - begin, y, teos, dissipates);
}

/* The number of chunks of rows: one for each thread, but no more than the scratch has room for,
 * which is ny / 5; no grid has fewer than five rows. */
static count chunks_of(count ny)
{
    const count threads = omp_get_max_threads(), most = ny / 5;
    return threads < most ? threads : most;
}

#endif

void VARIANT(isoneutral_mixing)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                const struct span part = {x0, x0 + ROW_PART(nx)};
                const bool dissipates = enable_conserve_energy && y >= 2 && y < ny - 2;
                const struct span inside = within(part, dissipates, 2, nx - 2);
                ALONG_X /* so that GCC's GPU code has the lanes of a warp share it */
                for (count x = part.begin; x < part.end; x++)
                    if (x < inside.begin || x >= inside.end) {
                        P_diss_iso[row + x] = 0;
                        P_diss_skew[row + x] = 0;
                        if (enable_eddy_streamfunction)
                            B1_gm[row + x] = B2_gm[row + x] = 0;
                    }
            }

#if defined(PHYSICS_OFFLOAD)
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span inside = interior((struct span){x0, x0 + ROW_PART(nx)}, y, nx, ny);
            ALONG_X
            for (count x = inside.begin; x < inside.end; x++)
                mix_column(&a, planes, y, x, eq_of_state_type == 5, enable_conserve_energy);
        }
#else
    const struct arguments a = {
#include "gather.h"
    };
    const count chunks = chunks_of(ny), first = 2, count_of_rows = ny - 4;
    _Pragma("omp parallel for schedule(static, 1)") for (count c = 0; c < chunks; c++)
    {
        const count plane = nz * nx;
        real *const column = more_planes + c * (COLUMN_ROWS * plane + SLOT_ROWS * nx);
        real *const row = rows + c * ROWS * nx;
        real *const carried = row + (FACE_ROWS + 2 * CORNER_ROWS) * nx;
        const struct chunk_memory chunk = {
            .slots = planes + c * SLOT_ROWS * plane,
            .spare = column + COLUMN_ROWS * plane,
            .column = column,
            .east = row,
            .north_corners = row + (FACE_ROWS + CORNER_ROWS) * nx,
            .carried = carried,
            .masks = carried + CARRIED_ROWS * nx,
            .weights = carried + (CARRIED_ROWS + MASK_ROWS) * nx,
            .per_dx = carried + (CARRIED_ROWS + MASK_ROWS + 1) * nx,
            .zeros = carried + (CARRIED_ROWS + MASK_ROWS + 2) * nx,
        };
        mix_rows(&a, &chunk, first + c * count_of_rows / chunks,
                 first + (c + 1) * count_of_rows / chunks, eq_of_state_type == 5,
                 enable_conserve_energy);
    }
#endif
}
