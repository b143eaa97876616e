/* Fields on other grids: shapes, resampling, ghost cells. */
#include "on_device.h"
#include "regrid.h"
#include "shape.h"

#include <miniapp.h>

/* ---- shapes ---- */

/* From Python: math.ceil(2 * n ** (1 / 3)) and math.ceil(0.25 * n ** (1 / 3)). There the root of
 * 4096 is 15.999999999999998, which ceil makes 32 and 4. */
static const struct {
    size_t points, horizontal, vertical;
} shapes[] = {
    {1, 2, 1},          {8, 4, 1},          {27, 6, 1},          {64, 8, 1},
    {125, 10, 2},       {343, 14, 2},       {1000, 20, 3},       {1001, 21, 3},
    {4095, 32, 4},      {4096, 32, 4},      {4097, 33, 5},       {16384, 51, 7},
    {32768, 64, 8},     {65536, 81, 11},    {262144, 128, 16},   {1000000, 200, 25},
    {1048576, 204, 26}, {4194304, 323, 41}, {16777216, 512, 64}, {1000000000, 2000, 250},
};

TEST(shapes_are_those_of_pyhpc)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        const struct miniapp_grid grid = grid_of_size(shapes[i].points);
        assert_int_equal(grid.nx, shapes[i].horizontal);
        assert_int_equal(grid.ny, shapes[i].horizontal);
        assert_int_equal(grid.nz, shapes[i].vertical);
    }
}

/* Every whole cube: no cell more than its root. */
TEST(shapes_of_cubes)
{
    for (size_t root = 1; root <= 100000; root++) {
        const struct miniapp_grid grid = grid_of_size(root * root * root);
        assert_int_equal(grid.nx, 2 * root);
        assert_int_equal(grid.nz, (root + 3) / 4);
    }
}

TEST(interiors)
{
    const struct miniapp_grid grid = {9, 8, 7};
    const struct miniapp_grid inside = miniapp_grid_interior(&grid);
    const struct miniapp_grid again = miniapp_grid_with_ghosts(&inside);
    assert_int_equal(inside.nx, 5);
    assert_int_equal(inside.ny, 4);
    assert_int_equal(inside.nz, 7);
    assert_true(same_grid(&again, &grid));
    assert_false(same_grid(&inside, &grid));
}

/* ---- an ocean ---- */

/* Fields as a file has them, or as a state is to get them: all elements are double. */
struct ocean {
    struct miniapp_grid grid;
    double *data[FIELDS];
};

/* One field of each kind. */
static const enum field_id kinds[] = {
    FIELD_salt, FIELD_forc_tke_surface, FIELD_zt,   FIELD_cost, FIELD_dxt, FIELD_dyu,
    FIELD_dzw,  FIELD_u_wgrid,          FIELD_kbot, FIELD_maskT};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static size_t elements_of(enum field_id id, const struct ocean *ocean)
{
    return miniapp_field_elements(&fields[id], &ocean->grid);
}

static void give(struct ocean *ocean, enum field_id id)
{
    ocean->data[id] = calloc(elements_of(id, ocean), sizeof(double));
    assert_non_null(ocean->data[id]);
}

static void drop(struct ocean *ocean)
{
    for (size_t id = 0; id < FIELDS; id++)
        free(ocean->data[id]);
}

/* An uneven bottom: every number of wet levels from 0 to nz, in neighbouring columns. */
static void add_topography(struct ocean *ocean)
{
    const struct miniapp_grid *grid = &ocean->grid;
    const size_t columns = grid->nx * grid->ny;
    double *const kbot = ocean->data[FIELD_kbot], *const mask = ocean->data[FIELD_maskT];
    for (size_t c = 0; c < columns; c++)
        kbot[c] = (double)(c * 7 % (grid->nz + 1));
    for (size_t z = 0; z < grid->nz; z++)
        for (size_t c = 0; c < columns; c++)
            mask[z * columns + c] = kbot[c] > 0 && (double)(z + 1) >= kbot[c];
}

/* The values are all different. */
static struct ocean make(size_t nx, size_t ny, size_t nz)
{
    struct ocean ocean = {.grid = {nx, ny, nz}};
    for (size_t f = 0; f < KINDS; f++) {
        give(&ocean, kinds[f]);
        for (size_t i = 0; i < elements_of(kinds[f], &ocean); i++)
            ocean.data[kinds[f]][i] = 1 + (double)f + sin((double)(i * (f + 1)) * 0.7);
    }
    add_topography(&ocean);
    return ocean;
}

/* The same fields on another grid, which has ghosts. */
static struct ocean regrid(const struct ocean *from, bool has_ghosts, bool cyclic,
                           const struct miniapp_grid *to, bool resample)
{
    const struct window file = {from->grid, from->grid, 0, 0, has_ghosts, cyclic};
    const struct window all = {.grid = *to, .whole = *to};
    struct ocean ocean = {.grid = *to};
    for (size_t id = 1; id < FIELDS; id++) {
        struct regrid plan;
        if (!from->data[id])
            continue;
        give(&ocean, (enum field_id)id);
        assert_done(regrid_open(&fields[id], &file, &all, resample, &plan));
        assert_int_equal(plan.planes * plan.plane_elements, elements_of((enum field_id)id, &ocean));
        for (size_t p = 0; p < plan.planes; p++)
            memcpy(ocean.data[id] + p * plan.plane_elements, regrid_plane(&plan, from->data[id], p),
                   plan.plane_elements * sizeof(double));
        regrid_close(&plan);
    }
    return ocean;
}

/* The same without ghosts: a state takes them off. */
static struct ocean inside_of(const struct ocean *with)
{
    struct ocean ocean = {.grid = miniapp_grid_interior(&with->grid)};
    struct miniapp_state *state;
    assert_done(miniapp_state_create(device, MINIAPP_FLOAT64, &with->grid, &state));
    for (size_t id = 1; id < FIELDS; id++) {
        if (!with->data[id])
            continue;
        give(&ocean, (enum field_id)id);
        assert_done(miniapp_state_set(state, fields[id].name, with->data[id]));
        assert_done(miniapp_state_get_interior(state, fields[id].name, ocean.data[id]));
    }
    miniapp_state_free(state);
    return ocean;
}

/* Resampled to an interior of that size. */
static struct ocean resampled(const struct ocean *from, const struct miniapp_grid *interior)
{
    const struct miniapp_grid to = miniapp_grid_with_ghosts(interior);
    struct ocean with = regrid(from, false, false, &to, true);
    const struct ocean without = inside_of(&with);
    drop(&with);
    return without;
}

static void assert_same_fields(const struct ocean *a, const struct ocean *b)
{
    assert_true(same_grid(&a->grid, &b->grid));
    for (size_t id = 1; id < FIELDS; id++) {
        assert_true(!a->data[id] == !b->data[id]);
        if (a->data[id])
            assert_memory_equal(a->data[id], b->data[id],
                                elements_of((enum field_id)id, a) * sizeof(double));
    }
}

static double sum_of(const struct ocean *ocean, enum field_id id)
{
    double sum = 0;
    for (size_t i = 0; i < elements_of(id, ocean); i++)
        sum += ocean->data[id][i];
    return sum;
}

static void range_of(const struct ocean *ocean, enum field_id id, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = 0; i < elements_of(id, ocean); i++) {
        assert_false(isnan(ocean->data[id][i]));
        range[0] = fmin(range[0], ocean->data[id][i]);
        range[1] = fmax(range[1], ocean->data[id][i]);
    }
}

/* ---- resampling ---- */

static const struct miniapp_grid new_grids[] = {
    {9, 8, 7}, {18, 16, 14}, {5, 3, 2}, {1, 1, 1}, {10, 7, 8}, {31, 1, 50}, {4, 4, 3}, {90, 80, 1},
};
enum { NEW_GRIDS = sizeof(new_grids) / sizeof(*new_grids) };

TEST(resampling_to_the_same_grid_changes_nothing)
{
    struct ocean from = make(9, 8, 7), to = resampled(&from, &from.grid);
    assert_same_fields(&from, &to);
    drop(&from);
    drop(&to);
}

/* The ghosts of the file have no part in what is resampled. */
TEST(resampling_a_file_with_ghosts)
{
    for (size_t g = 0; g < NEW_GRIDS; g++)
        for (int cyclic = 0; cyclic < 2; cyclic++) {
            struct ocean from = make(9, 8, 7);
            const struct miniapp_grid larger = miniapp_grid_with_ghosts(&from.grid);
            const struct miniapp_grid wanted = miniapp_grid_with_ghosts(&new_grids[g]);
            struct ocean with = regrid(&from, false, cyclic, &larger, false);
            struct ocean a = regrid(&from, false, cyclic, &wanted, true);
            struct ocean b = regrid(&with, true, cyclic, &wanted, true);
            assert_same_fields(&a, &b);
            drop(&from);
            drop(&with);
            drop(&a);
            drop(&b);
        }
}

/* What a file with ghosts holds is taken as it is, whatever its ghosts hold. */
TEST(files_with_ghosts_stay_as_they_are)
{
    struct ocean from = make(9, 8, 7), to = regrid(&from, true, true, &from.grid, false);
    assert_same_fields(&from, &to);
    drop(&from);
    drop(&to);
}

TEST(spacings_keep_their_sum)
{
    const enum field_id ids[] = {FIELD_dxt, FIELD_dyu, FIELD_dzw};
    for (size_t g = 0; g < NEW_GRIDS; g++) {
        struct ocean from = make(9, 8, 7), to = resampled(&from, &new_grids[g]);
        for (size_t i = 0; i < 3; i++) {
            double range[2];
            range_of(&to, ids[i], range);
            assert_true(range[0] > 0);
            assert_true(fabs(sum_of(&to, ids[i]) - sum_of(&from, ids[i])) <
                        1e-13 * sum_of(&from, ids[i]));
        }
        drop(&from);
        drop(&to);
    }
}

TEST(resampled_values_stay_in_range)
{
    const enum field_id ids[] = {FIELD_salt, FIELD_zt, FIELD_cost, FIELD_forc_tke_surface};
    for (size_t g = 0; g < NEW_GRIDS; g++) {
        struct ocean from = make(9, 8, 7), to = resampled(&from, &new_grids[g]);
        for (size_t i = 0; i < 4; i++) {
            double old[2], new[2];
            range_of(&from, ids[i], old);
            range_of(&to, ids[i], new);
            assert_true(new[0] >= old[0] - 1e-15 && new[1] <= old[1] + 1e-15);
        }
        drop(&from);
        drop(&to);
    }
}

/* A plane through the ocean stays one, away from the edges. */
TEST(resampling_is_linear)
{
    struct ocean from = {.grid = {8, 6, 4}};
    give(&from, FIELD_salt);
    for (size_t i = 0; i < 8 * 6 * 4; i++)
        from.data[FIELD_salt][i] = ((double)(i % 8) + 0.5) / 8 +
                                   10 * ((double)(i / 8 % 6) + 0.5) / 6 +
                                   100 * ((double)(i / 48) + 0.5) / 4;
    const struct miniapp_grid grid = {16, 18, 8};
    struct ocean to = resampled(&from, &grid);
    for (size_t z = 1; z < 7; z++)
        for (size_t y = 2; y < 16; y++)
            for (size_t x = 1; x < 15; x++) {
                const double expected = ((double)x + 0.5) / 16 + 10 * ((double)y + 0.5) / 18 +
                                        100 * ((double)z + 0.5) / 8;
                const double found = to.data[FIELD_salt][(z * 18 + y) * 16 + x];
                assert_true(fabs(found - expected) < 1e-12);
            }
    drop(&from);
    drop(&to);
}

/* kbot is 1 + the deepest wet level of maskT, and 0 where there is none. */
TEST(levels_fit_the_mask)
{
    for (size_t g = 0; g < NEW_GRIDS; g++) {
        struct ocean from = make(9, 8, 7), to = resampled(&from, &new_grids[g]);
        const size_t columns = to.grid.nx * to.grid.ny;
        const double *const mask = to.data[FIELD_maskT];
        for (size_t c = 0; c < columns; c++) {
            size_t deepest = 0;
            for (size_t z = to.grid.nz; z-- > 0;) {
                assert_true(mask[z * columns + c] == 0 || mask[z * columns + c] == 1);
                if (mask[z * columns + c] == 1)
                    deepest = z + 1;
            }
            assert_true(to.data[FIELD_kbot][c] == (double)deepest);
        }
        drop(&from);
        drop(&to);
    }
}

/* ---- ghosts ---- */

/* The cell of the interior that a ghost shows. */
static size_t shown_by(size_t cell, size_t cells, bool cyclic)
{
    const long place = (long)cell - MINIAPP_HALO, count = (long)cells;
    if (cyclic)
        return (size_t)((place + 10 * count) % count);
    return (size_t)(place < 0 ? 0 : place < count ? place : count - 1);
}

static void check_ghosts_of(const struct ocean *from, const struct ocean *to, bool cyclic)
{
    const size_t nx = from->grid.nx, ny = from->grid.ny, nz = from->grid.nz;
    for (size_t z = 0; z < nz; z++)
        for (size_t y = 0; y < to->grid.ny; y++)
            for (size_t x = 0; x < to->grid.nx; x++) {
                const size_t oy = shown_by(y, ny, false), ox = shown_by(x, nx, cyclic);
                const size_t new = (z * to->grid.ny + y) * to->grid.nx + x;
                const size_t old = (z * ny + oy) * nx + ox;
                const size_t new_column = new % (to->grid.nx * to->grid.ny);
                const bool in_y = y >= MINIAPP_HALO && y < ny + MINIAPP_HALO;
                const bool in_x = cyclic || (x >= MINIAPP_HALO && x < nx + MINIAPP_HALO);
                assert_true(to->data[FIELD_salt][new] == from->data[FIELD_salt][old]);
                assert_true(to->data[FIELD_u_wgrid][new] ==
                            (in_x && in_y ? from->data[FIELD_u_wgrid][old] : 0));
                assert_true(to->data[FIELD_maskT][new] ==
                            (in_x && in_y ? from->data[FIELD_maskT][old] : 0));
                assert_true(to->data[FIELD_kbot][new_column] ==
                            (in_x && in_y ? from->data[FIELD_kbot][old % (nx * ny)] : 0));
                assert_true(to->data[FIELD_dxt][x] == from->data[FIELD_dxt][ox]);
                assert_true(to->data[FIELD_dyu][y] == from->data[FIELD_dyu][oy]);
            }
    assert_memory_equal(from->data[FIELD_zt], to->data[FIELD_zt], nz * sizeof(double));
}

/* With the ghosts of a state, as they are or resampled to the same size. */
static void check_ghosts(size_t nx, size_t ny, size_t nz, bool cyclic)
{
    struct ocean from = make(nx, ny, nz);
    const struct miniapp_grid grid = miniapp_grid_with_ghosts(&from.grid);
    assert_int_equal(grid.nx, nx + 2 * MINIAPP_HALO);
    assert_int_equal(grid.ny, ny + 2 * MINIAPP_HALO);
    assert_int_equal(grid.nz, nz);
    for (int resample = 0; resample < 2; resample++) {
        struct ocean to = regrid(&from, false, cyclic, &grid, resample);
        check_ghosts_of(&from, &to, cyclic);
        drop(&to);
    }
    drop(&from);
}

TEST(ghosts)
{
    for (int cyclic = 0; cyclic < 2; cyclic++) {
        check_ghosts(9, 8, 7, cyclic);
        check_ghosts(1, 1, 1, cyclic); /* the only cell, five times */
        check_ghosts(2, 3, 2, cyclic);
        check_ghosts(3, 1, 4, cyclic);
    }
}

TEST(ghosts_come_off_again)
{
    struct ocean from = make(9, 8, 7);
    const struct miniapp_grid grid = miniapp_grid_with_ghosts(&from.grid);
    struct ocean with = regrid(&from, false, true, &grid, false), without = inside_of(&with);
    assert_same_fields(&from, &without);
    drop(&from);
    drop(&with);
    drop(&without);
}

/* Every field of the table, whatever its rank, is stripped to the size that it says, in order. */
TEST(every_field_can_be_stripped)
{
    struct ocean from = {.grid = {9, 8, 72}}; /* kbot is at most the levels */
    for (size_t id = 1; id < FIELDS; id++) {
        give(&from, (enum field_id)id);
        for (size_t i = 0; i < elements_of((enum field_id)id, &from); i++)
            from.data[id][i] = fields[id].type == MINIAPP_MASK ? 1 : (double)i;
    }
    struct ocean inside = inside_of(&from);
    for (size_t id = 1; id < FIELDS; id++) {
        const size_t left = elements_of((enum field_id)id, &inside);
        if (fields[id].type == MINIAPP_MASK)
            continue;
        for (size_t i = 1; i < left; i++)
            assert_true(inside.data[id][i] > inside.data[id][i - 1]);
        assert_true(inside.data[id][left - 1] < (double)elements_of((enum field_id)id, &from));
    }
    drop(&from);
    drop(&inside);
}

RUN_TESTS(open_device, close_device)
