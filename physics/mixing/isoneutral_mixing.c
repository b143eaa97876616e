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
 * put them. On a GPU a thread has a column, and computes all four faces of a cell.
 */
#define DESCRIPTION "mixing/isoneutral_mixing.kernel"
#include "isoneutral_mixing.h"
#include "span.h"

/* Writes the losses of a level that are explicit in time, by its own faces and those of the level
 * above. */
INLINED void put_losses(const struct arguments *a, count k, count i,
                        const struct lateral_sums *here, const struct lateral_sums *above,
                        const struct ceiling *top, bool is_surface)
{
    if (is_surface) {
        a->P_diss_iso[i] = surface_loss(a, k, i, here->loss_iso);
        a->P_diss_skew[i] = surface_loss(a, k, i, here->loss_skew);
    } else {
        a->P_diss_iso[i] = explicit_loss(a, k, i, here->loss_iso, above->loss_iso, top->iso);
        a->P_diss_skew[i] = explicit_loss(a, k, i, here->loss_skew, above->loss_skew, top->skew);
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
        struct side side = in_x ? side_in_x(a, y, x, is_ahead) : side_in_y(a, y, is_ahead);
        const count first = is_ahead ? i : i + side.to;
        const real open = in_x ? a->maskU[first] : a->maskV[first];
        side.face = neutral_face_at(a, &l, first, in_x ? 1 : nx, open / side.distance, teos);
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
    struct ceiling floor = CLOSED;
    struct reduced reduced = {0};
    for (count k = 0; k <= a->nz; k++) {
        const bool is_surface = k == a->nz;
        const count i = (k - 1) * plane + column;
        struct lateral_sums here = {0};
        if (!is_surface)
            here = lateral_at(a, k, y, x, teos, dissipates);
        if (k > 0) {
            const struct ceiling top =
                is_surface ? CLOSED : ceiling(a, i, a->maskW[i], below.above, here.below);
            const struct pair taup1 = {a->temp_taup1[i], a->salt_taup1[i]};
            reduced = eliminate_both(a, k - 1, a->maskT[i], taup1, &below, floor, top,
                                     reduced.ratio, reduced.d);
            a->temp_taup1[i] = reduced.d.T;
            a->salt_taup1[i] = reduced.d.S;
            scratch[i] = reduced.ratio;
            skew_T[i] = reduced.skew.T;
            skew_S[i] = reduced.skew.S;
            K_33[i] = top.K_33;
            if (dissipates)
                put_losses(a, k - 1, i, &below, &here, &top, is_surface);
            floor = top;
        }
        below = here;
    }
    struct pair solved = {0, 0};
    for (count k = a->nz - 1; k >= 0; k--) {
        const count i = k * plane + column;
        const struct pair d = {a->temp_taup1[i], a->salt_taup1[i]};
        const struct pair now = plus(d, minus_c(scratch[i]), solved);
        if (dissipates && k < a->nz - 1)
            a->P_diss_iso[i] += implicit_loss(a, k, i, K_33[i], now, solved);
        a->temp_taup1[i] = now.T + skew_T[i];
        a->salt_taup1[i] = now.S + skew_S[i];
        solved = now;
    }
}

#else

/* ---- rows ---- */

/* The state of a level that is kept until the level above is known: the sums over its lateral
 * faces, and the flux through its floor. */
struct carried {
    struct lateral_sums lateral;
    struct ceiling floor;
};

/* clang-format off */
#define FACE_VALUES(VALUE)                                                                         \
    VALUE(iso.T) VALUE(iso.S) VALUE(skew.T) VALUE(skew.S)                                          \
    VALUE(here_below.s) VALUE(here_below.s2) VALUE(next_below.s) VALUE(next_below.s2)              \
    VALUE(here_above.s) VALUE(here_above.s2) VALUE(next_above.s) VALUE(next_above.s2)
#define CARRIED_VALUES(VALUE)                                                                      \
    VALUE(lateral.iso.T) VALUE(lateral.iso.S) VALUE(lateral.skew.T) VALUE(lateral.skew.S)          \
    VALUE(lateral.above.T) VALUE(lateral.above.S) VALUE(lateral.above.K)                           \
    VALUE(lateral.loss_iso) VALUE(lateral.loss_skew)                                               \
    VALUE(floor.iso.T) VALUE(floor.iso.S) VALUE(floor.skew.T) VALUE(floor.skew.S) VALUE(floor.K_33)
/* clang-format on */
enum { FACE_ROWS = FACE_VALUES(COUNT_ROW), LEVEL_ROWS = CARRIED_VALUES(COUNT_ROW) };
KEPT_IN_ROWS(neutral_face, FACE_VALUES)
KEPT_IN_ROWS(carried, CARRIED_VALUES)

/*
 * The memory of a chunk of rows, in rows of nx and planes of nz rows. Planes come in two sets, one
 * for the current row and one for the row before or after it; the sets change places from row to
 * row.
 */
enum {
    SET_PLANES = FACE_ROWS + CELL_ROWS, /* northern faces, and cells */
    COLUMN_PLANES = 4,                  /* ratios, skew diffusion of both tracers, K_33 */
    MASK_ROWS = 2,
    ROWS = FACE_ROWS + LEVEL_ROWS + MASK_ROWS + 1, /* the first are eastern faces, the last zeros */
};

struct chunk_memory {
    real *set[2];  /* SET_PLANES */
    real *column;  /* COLUMN_PLANES */
    real *east;    /* FACE_ROWS: the eastern faces of the current level */
    real *carried; /* LEVEL_ROWS */
    real *masks;   /* MASK_ROWS, as numbers (bytes.h says why) */
    real *zeros;   /* one row: the ratios beneath the bottom */
};

/* Functions of a row are called, not inlined: the first row of a chunk gets its southern faces from
 * the same instructions as any other row, so that results do not show where chunks begin. */
OF_ROW void VARIANT(cells_of_row)(const struct arguments *a, const struct neutral_level *l,
                                  count row, real *cells, count stride, bool teos)
{
    const count nx = a->nx;
    for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
        const struct span in = within(chunk(x0, nx), true, 1, nx - 1);
        if (teos)
            keep_cells(a, l, row, in, cells + in.begin, stride, true);
        else
            keep_cells(a, l, row, in, cells + in.begin, stride, false);
    }
}

OF_ROW void VARIANT(eastern_faces)(const struct arguments *arguments, const struct neutral_level *l,
                                   count row, count y, const real *cells, count stride, real *open,
                                   real *faces)
{
    const struct arguments a = *arguments;
    const struct neutral_level here = *l;
    const count nx = a.nx;
    const real *const dxu = a.dxu;
    const real cost = a.cost[y];
    as_numbers(open, a.maskU + row, nx);
    ALONG_X
    for (count x = 1; x < nx - 2; x++)
        put_neutral_face(faces + x, nx,
                         neutral_face(&a, &here, row + x, 1, open[x] / (dxu[x] * cost),
                                      get_neutral_cell(cells + x, stride),
                                      get_neutral_cell(cells + x + 1, stride)));
}

OF_ROW void VARIANT(northern_faces)(const struct arguments *arguments,
                                    const struct neutral_level *l, count row, count y,
                                    const real *cells, const real *next_cells, count stride,
                                    real *open, real *faces)
{
    const struct arguments a = *arguments;
    const struct neutral_level here = *l;
    const count nx = a.nx;
    const real per_dyu = 1 / a.dyu[y];
    as_numbers(open, a.maskV + row, nx);
    ALONG_X
    for (count x = 2; x < nx - 2; x++)
        put_neutral_face(faces + x, stride,
                         neutral_face(&a, &here, row + x, nx, open[x] * per_dyu,
                                      get_neutral_cell(cells + x, stride),
                                      get_neutral_cell(next_cells + x, stride)));
}

/* The rows that a level needs; those of planes lie `stride` apart, the others nx. */
struct level_rows {
    const real *south, *north, *east;
    real *open_T, *open_W; /* masks of the level below, as numbers */
    real *carried;
    real *column;            /* of the level below the current one */
    const real *ratio_below; /* of the level below that; zeros at the bottom */
    count deeper; /* the offset from `column`'s level to that of ratio_below; 0 at the bottom */
};

INLINED struct lateral_sums lateral_of(const struct arguments *a, struct level_rows rows,
                                       count stride, count i, count y, count x, bool dissipates)
{
    struct side west = side_in_x(a, y, x, false), east = side_in_x(a, y, x, true);
    struct side south = side_in_y(a, y, false), north = side_in_y(a, y, true);
    west.face = get_neutral_face(rows.east + x - 1, a->nx);
    east.face = get_neutral_face(rows.east + x, a->nx);
    south.face = get_neutral_face(rows.south + x, stride);
    north.face = get_neutral_face(rows.north + x, stride);
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
INLINED void advance_point(const struct arguments *a, struct level_rows rows, count stride, count k,
                           count y, count x, bool is_first, bool is_last, bool dissipates)
{
    const count nx = a->nx, plane = nx * a->ny;
    const count i = k * plane + y * nx + x, j = i - plane;
    struct carried next = {0};
    if (!is_last)
        next.lateral = lateral_of(a, rows, stride, i, y, x, dissipates);
    if (!is_first) {
        const struct carried c = get_carried(rows.carried + x, nx);
        const struct lateral_sums *const below = &c.lateral;
        const struct ceiling top =
            is_last ? CLOSED : ceiling(a, j, rows.open_W[x], below->above, next.lateral.below);
        const struct pair taup1 = {a->temp_taup1[j], a->salt_taup1[j]};
        const struct pair d = {a->temp_taup1[j - rows.deeper], a->salt_taup1[j - rows.deeper]};
        const struct reduced reduced = eliminate_both(a, k - 1, rows.open_T[x], taup1, below,
                                                      c.floor, top, rows.ratio_below[x], d);
        a->temp_taup1[j] = reduced.d.T;
        a->salt_taup1[j] = reduced.d.S;
        rows.column[x] = reduced.ratio;
        rows.column[stride + x] = reduced.skew.T;
        rows.column[2 * stride + x] = reduced.skew.S;
        rows.column[3 * stride + x] = top.K_33;
        if (dissipates)
            put_losses(a, k - 1, j, below, &next.lateral, &top, is_last);
        next.floor = top;
    }
    if (!is_last)
        put_carried(rows.carried + x, nx, next);
}

/* GCC did not vectorise this loop while its structures were declared in it. */
INLINED void advance(const struct arguments *arguments, struct level_rows rows, count stride,
                     count k, count y, bool is_first, bool is_last, bool dissipates)
{
    const struct arguments a = *arguments;
    ALONG_X
    for (count x = 2; x < a.nx - 2; x++)
        advance_point(&a, rows, stride, k, y, x, is_first, is_last, dissipates);
}

OF_ROW void VARIANT(level_of_row)(const struct arguments *a, struct level_rows rows, count stride,
                                  count k, count y, bool dissipates)
{
    const bool is_first = k == 0, is_last = k == a->nz;
    if (!is_first) {
        const count row = ((k - 1) * a->ny + y) * a->nx;
        as_numbers(rows.open_T, a->maskT + row, a->nx);
        as_numbers(rows.open_W, a->maskW + row, a->nx);
    }
    if (is_first && dissipates)
        advance(a, rows, stride, k, y, true, false, true);
    else if (is_first)
        advance(a, rows, stride, k, y, true, false, false);
    else if (is_last && dissipates)
        advance(a, rows, stride, k, y, false, true, true);
    else if (is_last)
        advance(a, rows, stride, k, y, false, true, false);
    else if (dissipates)
        advance(a, rows, stride, k, y, false, false, true);
    else
        advance(a, rows, stride, k, y, false, false, false);
}

/* The way down of the column solve: in `column` the solution replaces the skew diffusion. */
INLINED void substitute_both(const struct arguments *arguments, real *column, count stride, count k,
                             count row, bool is_top, bool dissipates)
{
    const struct arguments a = *arguments;
    const count nx = a.nx;
    real *const solved_T = column + stride, *const solved_S = column + 2 * stride;
    ALONG_X
    for (count x = 2; x < nx - 2; x++) {
        const count i = row + x;
        const struct pair above = {is_top ? 0 : solved_T[nx + x], is_top ? 0 : solved_S[nx + x]};
        const struct pair d = {a.temp_taup1[i], a.salt_taup1[i]};
        const struct pair now = plus(d, minus_c(column[x]), above);
        if (dissipates && !is_top)
            a.P_diss_iso[i] += implicit_loss(&a, k, i, column[3 * stride + x], now, above);
        a.temp_taup1[i] = now.T + solved_T[x];
        a.salt_taup1[i] = now.S + solved_S[x];
        solved_T[x] = now.T;
        solved_S[x] = now.S;
    }
}

OF_ROW void VARIANT(solve_level)(const struct arguments *a, real *column, count stride, count k,
                                 count row, bool dissipates)
{
    if (k == a->nz - 1)
        substitute_both(a, column, stride, k, row, true, false);
    else if (dissipates)
        substitute_both(a, column, stride, k, row, false, true);
    else
        substitute_both(a, column, stride, k, row, false, false);
}

/* Mixes row y, whose cells and southern faces are known. `here` is the set of this row; the other
 * set holds the southern faces, and gets the cells of the next row, whose set it then is. */
static void mix_row(const struct arguments *a, const struct chunk_memory *chunk, int here, count y,
                    bool teos, bool dissipates)
{
    const count nx = a->nx, ny = a->ny, nz = a->nz, stride = nz * nx;
    real *const cells = chunk->set[here] + FACE_ROWS * stride;
    real *const next_cells = chunk->set[!here] + FACE_ROWS * stride;
    for (count k = 0; k <= nz; k++) {
        const count at = k * nx, row = (k * ny + y) * nx;
        const struct level_rows rows = {
            .south = chunk->set[!here] + at,
            .north = chunk->set[here] + at,
            .east = chunk->east,
            .open_T = chunk->masks,
            .open_W = chunk->masks + nx,
            .carried = chunk->carried,
            .column = chunk->column + at - nx,
            .ratio_below = k > 1 ? chunk->column + at - 2 * nx : chunk->zeros,
            .deeper = k > 1 ? ny * nx : 0,
        };
        if (k < nz) {
            const struct neutral_level l = neutral_level(a, k);
            VARIANT(cells_of_row)(a, &l, row + nx, next_cells + at, stride, teos);
            VARIANT(eastern_faces)(a, &l, row, y, cells + at, stride, chunk->masks, chunk->east);
            VARIANT(northern_faces)(a, &l, row, y, cells + at, next_cells + at, stride,
                                    chunk->masks, chunk->set[here] + at);
        }
        VARIANT(level_of_row)(a, rows, stride, k, y, dissipates);
    }
    for (count k = nz - 1; k >= 0; k--)
        VARIANT(solve_level)(a, chunk->column + k * nx, stride, k, (k * ny + y) * nx, dissipates);
}

/* Mixes the rows [begin, end). The first one needs values of the row before, which are computed
 * again. */
static void mix_rows(const struct arguments *a, const struct chunk_memory *chunk, count begin,
                     count end, bool teos, bool dissipates)
{
    const count nx = a->nx, ny = a->ny, nz = a->nz, stride = nz * nx;
    real *const cells = chunk->set[0] + FACE_ROWS * stride;
    real *const cells_before = chunk->set[1] + FACE_ROWS * stride;
    for (count x = 0; x < nx; x++)
        chunk->zeros[x] = 0;
    for (count k = 0; k < nz && begin < end; k++) {
        const struct neutral_level l = neutral_level(a, k);
        const count row = (k * ny + begin) * nx, at = k * nx;
        VARIANT(cells_of_row)(a, &l, row - nx, cells_before + at, stride, teos);
        VARIANT(cells_of_row)(a, &l, row, cells + at, stride, teos);
        VARIANT(northern_faces)(a, &l, row - nx, begin - 1, cells_before + at, cells + at, stride,
                                chunk->masks, chunk->set[1] + at);
    }
    for (count y = begin; y < end; y++)
        mix_row(a, chunk, (y - begin) % 2, y, teos, dissipates);
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
        real *const set = planes + c * (SET_PLANES + COLUMN_PLANES) * plane;
        real *const row = rows + c * ROWS * nx;
        const struct chunk_memory chunk = {
            .set = {set, more_planes + c * SET_PLANES * plane},
            .column = set + SET_PLANES * plane,
            .east = row,
            .carried = row + FACE_ROWS * nx,
            .masks = row + (FACE_ROWS + LEVEL_ROWS) * nx,
            .zeros = row + (FACE_ROWS + LEVEL_ROWS + MASK_ROWS) * nx,
        };
        mix_rows(&a, &chunk, first + c * count_of_rows / chunks,
                 first + (c + 1) * count_of_rows / chunks, eq_of_state_type == 5,
                 enable_conserve_energy);
    }
#endif
}
