/* Fields on other grids: shapes, resampling, ghost cells. */
#include "fields.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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

static void shapes_are_those_of_pyhpc(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        const struct physics_grid grid = grid_of_size(shapes[i].points);
        assert_int_equal(grid.nx, shapes[i].horizontal);
        assert_int_equal(grid.ny, shapes[i].horizontal);
        assert_int_equal(grid.nz, shapes[i].vertical);
    }
}

/* Every whole cube: no cell more than its root. */
static void shapes_of_cubes(void **state)
{
    (void)state;
    for (size_t root = 1; root <= 100000; root++) {
        const struct physics_grid grid = grid_of_size(root * root * root);
        assert_int_equal(grid.nx, 2 * root);
        assert_int_equal(grid.nz, (root + 3) / 4);
    }
}

static void interiors(void **state)
{
    (void)state;
    const struct physics_grid grid = {9, 8, 7};
    const struct physics_grid inside = interior_of(&grid);
    assert_int_equal(inside.nx, 5);
    assert_int_equal(inside.ny, 4);
    assert_int_equal(inside.nz, 7);
}

/* ---- an ocean ---- */

static size_t elements_of(enum physics_field_id id, const struct fields *fields)
{
    return physics_field_elements(&physics_fields[id], &fields->grid);
}

static double *reals(struct fields *fields, enum physics_field_id id)
{
    assert_int_equal(fields_allocate(fields, id), PHYSICS_DONE);
    return fields->data[id];
}

/* An uneven bottom: every number of wet levels from 0 to nz, in neighbouring columns. */
static void add_topography(struct fields *fields)
{
    const struct physics_grid *grid = &fields->grid;
    const size_t columns = grid->nx * grid->ny;
    fields_allocate(fields, PHYSICS_KBOT);
    fields_allocate(fields, PHYSICS_MASK_T);
    int32_t *kbot = fields->data[PHYSICS_KBOT];
    uint8_t *mask = fields->data[PHYSICS_MASK_T];
    for (size_t c = 0; c < columns; c++)
        kbot[c] = (int32_t)(c * 7 % (grid->nz + 1));
    for (size_t z = 0; z < grid->nz; z++)
        for (size_t c = 0; c < columns; c++)
            mask[z * columns + c] = kbot[c] > 0 && (int32_t)(z + 1) >= kbot[c];
}

/* One field of each kind, with values that are all different. */
static struct fields ocean(size_t nx, size_t ny, size_t nz)
{
    const enum physics_field_id ids[] = {
        PHYSICS_SALT, PHYSICS_FORC_TKE_SURFACE, PHYSICS_ZT, PHYSICS_COST, PHYSICS_DXT, PHYSICS_DYU,
        PHYSICS_DZW};
    struct fields fields = {.grid = {nx, ny, nz}};
    for (size_t f = 0; f < sizeof(ids) / sizeof(*ids); f++) {
        double *values = reals(&fields, ids[f]);
        for (size_t i = 0; i < elements_of(ids[f], &fields); i++)
            values[i] = 1 + (double)f + sin((double)(i * (f + 1)) * 0.7);
    }
    add_topography(&fields);
    return fields;
}

static double sum_of(const struct fields *fields, enum physics_field_id id)
{
    double sum = 0;
    for (size_t i = 0; i < elements_of(id, fields); i++)
        sum += ((const double *)fields->data[id])[i];
    return sum;
}

static void range_of(const struct fields *fields, enum physics_field_id id, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = 0; i < elements_of(id, fields); i++) {
        range[0] = fmin(range[0], ((const double *)fields->data[id])[i]);
        range[1] = fmax(range[1], ((const double *)fields->data[id])[i]);
    }
}

/* ---- resampling ---- */

static const struct physics_grid new_grids[] = {
    {9, 8, 7}, {18, 16, 14}, {5, 3, 2}, {1, 1, 1}, {10, 7, 8}, {31, 1, 50}, {4, 4, 3}, {90, 80, 1},
};
enum { NEW_GRIDS = sizeof(new_grids) / sizeof(*new_grids) };

static void resampling_to_the_same_grid_changes_nothing(void **state)
{
    (void)state;
    struct fields from = ocean(9, 8, 7), to;
    assert_int_equal(fields_resample(&from, &from.grid, &to), PHYSICS_DONE);
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        assert_true(!from.data[id] == !to.data[id]);
        if (from.data[id])
            assert_memory_equal(from.data[id], to.data[id],
                                elements_of((enum physics_field_id)id, &from) *
                                    physics_element_bytes(field->type, PHYSICS_FLOAT64));
    }
    fields_release(&from);
    fields_release(&to);
}

static void spacings_keep_their_sum(void **state)
{
    (void)state;
    const enum physics_field_id ids[] = {PHYSICS_DXT, PHYSICS_DYU, PHYSICS_DZW};
    for (size_t g = 0; g < NEW_GRIDS; g++) {
        struct fields from = ocean(9, 8, 7), to;
        assert_int_equal(fields_resample(&from, &new_grids[g], &to), PHYSICS_DONE);
        for (size_t i = 0; i < 3; i++) {
            double range[2];
            range_of(&to, ids[i], range);
            assert_true(range[0] > 0);
            assert_true(fabs(sum_of(&to, ids[i]) - sum_of(&from, ids[i])) <
                        1e-13 * sum_of(&from, ids[i]));
        }
        fields_release(&from);
        fields_release(&to);
    }
}

static void resampled_values_stay_in_range(void **state)
{
    (void)state;
    const enum physics_field_id ids[] = {PHYSICS_SALT, PHYSICS_ZT, PHYSICS_COST,
                                         PHYSICS_FORC_TKE_SURFACE};
    for (size_t g = 0; g < NEW_GRIDS; g++) {
        struct fields from = ocean(9, 8, 7), to;
        assert_int_equal(fields_resample(&from, &new_grids[g], &to), PHYSICS_DONE);
        for (size_t i = 0; i < 4; i++) {
            double old[2], new[2];
            range_of(&from, ids[i], old);
            range_of(&to, ids[i], new);
            assert_true(new[0] >= old[0] - 1e-15 && new[1] <= old[1] + 1e-15);
        }
        fields_release(&from);
        fields_release(&to);
    }
}

/* A plane through the ocean stays one, away from the edges. */
static void resampling_is_linear(void **state)
{
    (void)state;
    struct fields from = {.grid = {8, 6, 4}}, to;
    double *salt = reals(&from, PHYSICS_SALT);
    for (size_t i = 0; i < 8 * 6 * 4; i++)
        salt[i] = ((double)(i % 8) + 0.5) / 8 + 10 * ((double)(i / 8 % 6) + 0.5) / 6 +
                  100 * ((double)(i / 48) + 0.5) / 4;
    const struct physics_grid grid = {16, 18, 8};
    assert_int_equal(fields_resample(&from, &grid, &to), PHYSICS_DONE);
    for (size_t z = 1; z < 7; z++)
        for (size_t y = 2; y < 16; y++)
            for (size_t x = 1; x < 15; x++) {
                const double expected = ((double)x + 0.5) / 16 + 10 * ((double)y + 0.5) / 18 +
                                        100 * ((double)z + 0.5) / 8;
                const double found = ((double *)to.data[PHYSICS_SALT])[(z * 18 + y) * 16 + x];
                assert_true(fabs(found - expected) < 1e-12);
            }
    fields_release(&from);
    fields_release(&to);
}

/* kbot is 1 + the deepest wet level of maskT, and 0 where there is none. */
static void levels_fit_the_mask(void **state)
{
    (void)state;
    for (size_t g = 0; g < NEW_GRIDS; g++) {
        struct fields from = ocean(9, 8, 7), to;
        assert_int_equal(fields_resample(&from, &new_grids[g], &to), PHYSICS_DONE);
        const size_t columns = to.grid.nx * to.grid.ny;
        const uint8_t *mask = to.data[PHYSICS_MASK_T];
        for (size_t c = 0; c < columns; c++) {
            int32_t deepest = 0;
            for (size_t z = to.grid.nz; z-- > 0;) {
                assert_in_range(mask[z * columns + c], 0, 1);
                if (mask[z * columns + c])
                    deepest = (int32_t)z + 1;
            }
            assert_int_equal(((int32_t *)to.data[PHYSICS_KBOT])[c], deepest);
        }
        fields_release(&from);
        fields_release(&to);
    }
}

/* ---- ghosts ---- */

/* The cell of the interior that a ghost shows. */
static size_t shown_by(size_t cell, size_t cells, bool cyclic)
{
    const long place = (long)cell - PHYSICS_HALO, count = (long)cells;
    if (cyclic)
        return (size_t)((place + 10 * count) % count);
    return (size_t)(place < 0 ? 0 : place < count ? place : count - 1);
}

static void check_ghosts(size_t nx, size_t ny, size_t nz, bool cyclic)
{
    struct fields from = ocean(nx, ny, nz), to;
    assert_int_equal(fields_add_ghosts(&from, cyclic, &to), PHYSICS_DONE);
    assert_int_equal(to.grid.nx, nx + 2 * PHYSICS_HALO);
    assert_int_equal(to.grid.ny, ny + 2 * PHYSICS_HALO);
    assert_int_equal(to.grid.nz, nz);
    const double *salt = from.data[PHYSICS_SALT], *padded = to.data[PHYSICS_SALT];
    const uint8_t *mask = from.data[PHYSICS_MASK_T], *wet = to.data[PHYSICS_MASK_T];
    const int32_t *kbot = from.data[PHYSICS_KBOT], *level = to.data[PHYSICS_KBOT];
    const double *dx = from.data[PHYSICS_DXT], *dy = from.data[PHYSICS_DYU];
    for (size_t z = 0; z < nz; z++)
        for (size_t y = 0; y < to.grid.ny; y++)
            for (size_t x = 0; x < to.grid.nx; x++) {
                const size_t oy = shown_by(y, ny, false), ox = shown_by(x, nx, cyclic);
                const size_t new = (z * to.grid.ny + y) * to.grid.nx + x;
                const size_t old = (z * ny + oy) * nx + ox;
                const bool in_y = y >= PHYSICS_HALO && y < ny + PHYSICS_HALO;
                const bool in_x = cyclic || (x >= PHYSICS_HALO && x < nx + PHYSICS_HALO);
                assert_true(padded[new] == salt[old]);
                assert_int_equal(wet[new], in_x && in_y ? mask[old] : 0);
                assert_int_equal(level[new % (to.grid.nx * to.grid.ny)],
                                 in_x && in_y ? kbot[old % (nx * ny)] : 0);
                assert_true(((double *)to.data[PHYSICS_DXT])[x] == dx[ox]);
                assert_true(((double *)to.data[PHYSICS_DYU])[y] == dy[oy]);
            }
    assert_memory_equal(from.data[PHYSICS_ZT], to.data[PHYSICS_ZT], nz * sizeof(double));
    fields_release(&from);
    fields_release(&to);
}

static void ghosts(void **state)
{
    (void)state;
    for (int cyclic = 0; cyclic < 2; cyclic++) {
        check_ghosts(9, 8, 7, cyclic);
        check_ghosts(1, 1, 1, cyclic); /* the only cell, five times */
        check_ghosts(2, 3, 2, cyclic);
        check_ghosts(3, 1, 4, cyclic);
    }
}

static void ghosts_come_off_again(void **state)
{
    (void)state;
    struct fields from = ocean(9, 8, 7), with, without;
    assert_int_equal(fields_add_ghosts(&from, true, &with), PHYSICS_DONE);
    assert_int_equal(fields_interior(&with, &without), PHYSICS_DONE);
    assert_memory_equal(&from.grid, &without.grid, sizeof(from.grid));
    for (int id = 1; id < PHYSICS_FIELDS; id++)
        if (from.data[id])
            assert_memory_equal(
                from.data[id], without.data[id],
                elements_of((enum physics_field_id)id, &from) *
                    physics_element_bytes(physics_fields[id].type, PHYSICS_FLOAT64));
    fields_release(&from);
    fields_release(&with);
    fields_release(&without);
}

/* Every field of the table, whatever its rank, is stripped to the size that it says. */
static void every_field_can_be_stripped(void **state)
{
    (void)state;
    const struct physics_grid grid = {9, 8, 3};
    const struct physics_grid inside = interior_of(&grid);
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        const size_t elements = physics_field_elements(field, &grid);
        double *data = malloc(elements * sizeof(*data));
        for (size_t i = 0; i < elements; i++)
            data[i] = (double)i;
        double *stripped = strip_ghosts(data, field, &grid, sizeof(*data));
        const size_t left = physics_field_elements(field, &inside);
        assert_non_null(stripped);
        for (size_t i = 1; i < left; i++)
            assert_true(stripped[i] > stripped[i - 1]);
        assert_true(stripped[left - 1] < (double)elements);
        free(data);
        free(stripped);
    }
}

/* ---- memory ---- */

static void no_memory(void **state)
{
    (void)state;
    struct fields fields = {.grid = {(size_t)1 << 31, (size_t)1 << 31, 1}};
    assert_int_equal(fields_allocate(&fields, PHYSICS_SALT), PHYSICS_DEVICE);
    assert_null(fields.data[PHYSICS_SALT]);
    fields.grid.nz = (size_t)1 << 31; /* the number of points overflows */
    assert_int_equal(fields_allocate(&fields, PHYSICS_SALT), PHYSICS_DEVICE);
    fields_release(&fields);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_those_of_pyhpc),
        cmocka_unit_test(shapes_of_cubes),
        cmocka_unit_test(interiors),
        cmocka_unit_test(resampling_to_the_same_grid_changes_nothing),
        cmocka_unit_test(spacings_keep_their_sum),
        cmocka_unit_test(resampled_values_stay_in_range),
        cmocka_unit_test(resampling_is_linear),
        cmocka_unit_test(levels_fit_the_mask),
        cmocka_unit_test(ghosts),
        cmocka_unit_test(ghosts_come_off_again),
        cmocka_unit_test(every_field_can_be_stripped),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
