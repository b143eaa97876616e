/*
 * States on the device that the argument names: what is set is got, what is current is not copied,
 * ghosts, time levels, memory, and what is refused.
 */
#include "invented.h"
#include "on_device.h"
#include "state.h"

#include "program.h"

#include <stdio.h>

static const struct miniapp_grid grid = {9, 8, 7};
static const char *const kinds[] = {"salt", "maskT", "kbot", "dxt", "dyt", "zt", "Ai_ez"};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

static size_t elements_of(const char *name, const struct miniapp_grid *of)
{
    return miniapp_field_elements(miniapp_field_find(name), of);
}

/* A value of a field as a precision holds it. */
static double held(const struct miniapp_field *field, enum miniapp_precision precision,
                   double value)
{
    return !is_double(field->type, precision) && miniapp_is_real(field->type) ? (double)(float)value
                                                                              : value;
}

/* A field's elements all have that value. */
static void fill(struct miniapp_state *state, const char *name, double value)
{
    const struct miniapp_grid of = miniapp_state_grid(state);
    const size_t elements = elements_of(name, &of);
    OWN_VALUES values = malloc(elements * sizeof(*values));
    for (size_t i = 0; i < elements; i++)
        values[i] = value;
    assert_done(miniapp_state_set(state, name, values));
}

static double first_of(struct miniapp_state *state, const char *name)
{
    double value;
    assert_done(miniapp_state_get_part(state, name, 0, 1, &value));
    return value;
}

/* Runs a test in each precision. */
static void in_both(void (*test)(enum miniapp_precision precision))
{
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++)
        test((enum miniapp_precision)precision);
}

/* ---- values ---- */

static void set_and_get(enum miniapp_precision precision)
{
    OWN_STATE ocean = state_on(device, precision, grid);
    for (size_t id = 1; id < FIELDS; id++) {
        const char *const name = fields[id].name;
        OWN_VALUES values = invent(&fields[id], &grid);
        assert_false(miniapp_state_has(ocean, name));
        assert_done(miniapp_state_set(ocean, name, values));
        assert_true(miniapp_state_has(ocean, name));
    }
    for (size_t id = 1; id < FIELDS; id++) { /* none has overwritten another */
        OWN_VALUES values = values_of(ocean, fields[id].name, fields[id].name);
        for (size_t i = 0; i < elements_of(fields[id].name, &grid); i++)
            assert_true(values[i] ==
                        held(&fields[id], precision, invented(&fields[id], i, grid.nz)));
    }
}

TEST(what_is_set_is_got)
{
    in_both(set_and_get);
}

static void what_is_not_finite_is_held(enum miniapp_precision precision)
{
    const double special[] = {NAN, INFINITY, -INFINITY, -0.0, 1e-300};
    double got[5];
    OWN_STATE ocean = state_on(device, precision, grid);
    fill(ocean, "salt", 1);
    assert_done(miniapp_state_set_part(ocean, "salt", 3, 5, special));
    assert_done(miniapp_state_get_part(ocean, "salt", 3, 5, got));
    assert_true(isnan(got[0]) && got[1] == INFINITY && got[2] == -INFINITY);
    assert_true(got[3] == 0 && signbit(got[3]));
    assert_true(got[4] == (precision == MINIAPP_FLOAT64 ? 1e-300 : 0));
}

TEST(special_values)
{
    in_both(what_is_not_finite_is_held);
}

/* Longer than what is converted at a time, and no multiple of it. */
static const struct miniapp_grid large = {65, 61, 40};

static void set_in_parts(enum miniapp_precision precision)
{
    OWN_STATE ocean = state_on(device, precision, large);
    for (size_t k = 0; k < KINDS; k++) {
        const struct miniapp_field *const field = miniapp_field_find(kinds[k]);
        const size_t elements = elements_of(kinds[k], &large), part = elements / 3 + 1;
        OWN_VALUES values = invent(field, &large);
        OWN_VALUES got = malloc(elements * sizeof(*got));
        for (size_t first = 0; first < elements; first += part)
            assert_done(miniapp_state_set_part(ocean, kinds[k], first,
                                               elements - first < part ? elements - first : part,
                                               values + first));
        for (size_t first = 0; first < elements; first += part - 1)
            assert_done(miniapp_state_get_part(
                ocean, kinds[k], first, elements - first < part - 1 ? elements - first : part - 1,
                got + first));
        for (size_t i = 0; i < elements; i++)
            assert_true(got[i] == held(field, precision, values[i]));
    }
}

TEST(parts)
{
    in_both(set_in_parts);
}

/* Of what was set, written through a pointer, or computed. */
static void keep_the_rest(enum miniapp_precision precision)
{
    const double other[] = {-1, -2, -3};
    OWN_STATE ocean = state_on(device, precision, grid);
    for (int way = 0; way < 3; way++) {
        if (way == 0) {
            set_invented(ocean, "triad", "salt");
        } else if (way == 1) {
            const void *const values = miniapp_state_read(ocean, "triad");
            memmove(miniapp_state_write(ocean, "triad"), values, 1); /* the same: now the host's */
        } else {
            set_invented(ocean, "salt", "salt");
            fill(ocean, "temp", 0);
            assert_done(miniapp_run(ocean, "triad"));
        }
        assert_done(miniapp_state_set_part(ocean, "triad", 5, 3, other));
        assert_done(miniapp_state_set_part(ocean, "triad", 9, 0, other));
        OWN_VALUES values = values_of(ocean, "triad", "triad");
        for (size_t i = 0; i < elements_of("triad", &grid); i++) {
            const struct miniapp_field *const salt = &fields[FIELD_salt];
            assert_true(values[i] == (i >= 5 && i < 8
                                          ? other[i - 5]
                                          : held(salt, precision, invented(salt, i, grid.nz))));
        }
    }
}

TEST(a_part_keeps_the_rest)
{
    in_both(keep_the_rest);
}

TEST(parts_beyond_the_end)
{
    double values[8] = {0};
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    fill(ocean, "zt", 3);
    assert_refused(miniapp_state_set_part(ocean, "zt", 1, 7, values), MINIAPP_USAGE,
                   "'zt' has 7 elements, not 7 from number 1 on");
    assert_refused(miniapp_state_get_part(ocean, "zt", 8, 0, values), MINIAPP_USAGE,
                   "'zt' has 7 elements, not 0 from number 8 on");
    assert_int_equal(miniapp_state_get_part(ocean, "zt", 2, SIZE_MAX, values), MINIAPP_USAGE);
    assert_int_equal(miniapp_state_set_part(ocean, "zt", SIZE_MAX, 2, values), MINIAPP_USAGE);
    assert_true(first_of(ocean, "zt") == 3);
}

static bool is_inside(size_t cell, size_t cells)
{
    return cell >= MINIAPP_HALO && cell + MINIAPP_HALO < cells;
}

/* By its axes, slowest first, whatever they are. */
static bool is_interior(const struct miniapp_field *field, size_t element)
{
    for (int i = miniapp_field_rank(field) - 1; i >= 0; i--) {
        const size_t length = miniapp_axis_length(field->axes[i], &grid);
        const bool has_ghosts = field->axes[i] == MINIAPP_X || field->axes[i] == MINIAPP_Y;
        if (has_ghosts && !is_inside(element % length, length))
            return false;
        element /= length;
    }
    return true;
}

static void get_interior(enum miniapp_precision precision)
{
    OWN_STATE ocean = state_on(device, precision, grid);
    const struct miniapp_grid inside = miniapp_grid_interior(&grid);
    for (size_t id = 1; id < FIELDS; id++) {
        const struct miniapp_field *const field = &fields[id];
        const size_t left = miniapp_field_elements(field, &inside);
        OWN_VALUES found = malloc(left * sizeof(*found));
        size_t place = 0;
        set_invented(ocean, field->name, field->name);
        assert_done(miniapp_state_get_interior(ocean, field->name, found));
        for (size_t i = 0; i < miniapp_field_elements(field, &grid); i++)
            if (is_interior(field, i))
                assert_true(found[place++] == held(field, precision, invented(field, i, grid.nz)));
        assert_int_equal(place, left);
    }
}

TEST(interiors)
{
    in_both(get_interior);
}

/* ---- what is current is not copied ---- */

static double to_device, from_device; /* bytes that crossed */

static bool count_to_device(int number, void *memory, const void *host, size_t bytes)
{
    to_device += (double)bytes;
    return device->backend->to_device(number, memory, host, bytes);
}

static bool count_from_device(int number, void *host, const void *memory, size_t bytes)
{
    from_device += (double)bytes;
    return device->backend->from_device(number, host, memory, bytes);
}

/* The device, with a count of what crosses from now on. */
static const struct miniapp_device *counted_device(void)
{
    static struct backend backend;
    static struct miniapp_device counted;
    backend = *device->backend;
    backend.to_device = count_to_device;
    backend.from_device = count_from_device;
    counted = *device;
    counted.backend = &backend;
    to_device = from_device = 0;
    return &counted;
}

/* No bytes cross where the device is the host. */
static void assert_crossed(double to, double from)
{
    assert_true(to_device == (on_host ? 0 : to));
    assert_true(from_device == (on_host ? 0 : from));
}

static void copy_once(enum miniapp_precision precision)
{
    OWN_STATE ocean = state_on(counted_device(), precision, grid);
    const size_t points = miniapp_grid_points(&grid);
    const double bytes = (double)(points * miniapp_element_bytes(MINIAPP_REAL, precision));
    set_invented(ocean, "salt", "salt");
    set_invented(ocean, "temp", "temp");
    assert_crossed(2 * bytes, 0);
    for (int i = 0; i < 3; i++) /* both inputs are there */
        assert_done(miniapp_run(ocean, "triad"));
    assert_crossed(2 * bytes, 0);
    const void *const read = miniapp_state_read(ocean, "triad");
    assert_crossed(2 * bytes, bytes);
    assert_ptr_equal(miniapp_state_read(ocean, "triad"), read);
    free(values_of(ocean, "triad", "triad")); /* the host has it */
    assert_crossed(2 * bytes, bytes);
    assert_done(miniapp_run(ocean, "triad")); /* it has an old one */
    assert_non_null(miniapp_state_read(ocean, "triad"));
    assert_crossed(2 * bytes, 2 * bytes);
    free(values_of(ocean, "salt", "salt")); /* never read */
    assert_crossed(2 * bytes, 3 * bytes);
}

TEST(current_copies_are_not_copied_again)
{
    in_both(copy_once);
}

/* What is written through a pointer goes to the device when it is wanted there. */
static void write_and_run(enum miniapp_precision precision)
{
    OWN_STATE ocean = state_on(counted_device(), precision, grid);
    const size_t points = miniapp_grid_points(&grid);
    const size_t bytes = points * miniapp_element_bytes(MINIAPP_REAL, precision);
    void *const salt = miniapp_state_write(ocean, "salt");
    fill(ocean, "temp", 2);
    for (size_t i = 0; i < points; i++)
        if (precision == MINIAPP_FLOAT64)
            ((double *)salt)[i] = (double)i;
        else
            ((float *)salt)[i] = (float)i;
    assert_true(miniapp_state_has(ocean, "salt"));
    free(values_of(ocean, "salt", "salt")); /* of the host's copy */
    assert_crossed((double)bytes, 0);
    assert_done(miniapp_run(ocean, "triad"));
    assert_done(miniapp_run(ocean, "triad"));
    assert_crossed(2 * (double)bytes, 0);
    double *const a = values_of(ocean, "triad", "triad");
    for (size_t i = 0; i < points; i++)
        assert_true(a[i] == (double)i + 3 * 2);
    free(a);
    /* a second filling replaces the first, and is not lost by a read */
    memset(miniapp_state_write(ocean, "salt"), 0, bytes);
    const char *const read = miniapp_state_read(ocean, "salt");
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(read[i], 0);
    assert_true(first_of(ocean, "salt") == 0);
}

TEST(what_is_written_is_used)
{
    in_both(write_and_run);
}

/* In the state's precision and the field's type. */
TEST(pointers)
{
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++) {
        OWN_STATE ocean = state_on(device, (enum miniapp_precision)precision, grid);
        const double real[] = {0.1}, mask[] = {1}, index[] = {6};
        fill(ocean, "salt", 0);
        fill(ocean, "maskT", 0);
        fill(ocean, "kbot", 0);
        assert_done(miniapp_state_set_part(ocean, "salt", 1, 1, real));
        assert_done(miniapp_state_set_part(ocean, "maskT", 1, 1, mask));
        assert_done(miniapp_state_set_part(ocean, "kbot", 1, 1, index));
        if (precision == MINIAPP_FLOAT64)
            assert_true(((const double *)miniapp_state_read(ocean, "salt"))[1] == 0.1);
        else
            assert_true(((const float *)miniapp_state_read(ocean, "salt"))[1] == 0.1f);
        assert_int_equal(((const uint8_t *)miniapp_state_read(ocean, "maskT"))[1], 1);
        assert_int_equal(((const int32_t *)miniapp_state_read(ocean, "kbot"))[1], 6);
        assert_int_equal(((const int32_t *)miniapp_state_read(ocean, "kbot"))[2], 0);
    }
}

/* ---- fields of the state's own ---- */

TEST(added_fields)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT32, grid);
    for (size_t k = 0; k < KINDS; k++) {
        char name[MOST_NAME];
        snprintf(name, sizeof(name), "my_%s", kinds[k]);
        assert_done(miniapp_state_add(ocean, name, kinds[k]));
        assert_false(miniapp_state_has(ocean, name));
        set_invented(ocean, name, kinds[k]);
        set_invented(ocean, kinds[k], kinds[k]);
        OWN_VALUES a = values_of(ocean, name, kinds[k]);
        OWN_VALUES b = values_of(ocean, kinds[k], kinds[k]);
        assert_memory_equal(a, b, elements_of(kinds[k], &grid) * sizeof(*a));
    }
}

TEST(names_that_cannot_be_added)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    char name[MOST_NAME + 1];
    memset(name, 'x', MOST_NAME);
    name[MOST_NAME] = '\0';
    const char *const bad[] = {"", "a=b", "a:b", "a,b", "a b", name};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(miniapp_state_add(ocean, bad[i], "salt"), MINIAPP_USAGE);
        assert_non_null(strstr(miniapp_message(), "is no name of a field: it has 1 to 63 "));
    }
    name[MOST_NAME - 1] = '\0';
    assert_done(miniapp_state_add(ocean, name, "salt"));
    assert_int_equal(miniapp_state_add(ocean, name, "salt"), MINIAPP_USAGE);
    assert_done(miniapp_state_add(ocean, "another", name));
    assert_refused(miniapp_state_add(ocean, "temp", "salt"), MINIAPP_USAGE,
                   "there is a field 'temp' already");
    assert_refused(miniapp_state_add(ocean, "salt2", "slat"), MINIAPP_USAGE,
                   "unknown field 'slat'; the closest is 'salt'");
}

/* ---- time levels ---- */

static struct slot *slot_of(struct miniapp_state *state, const char *name)
{
    struct slot *const slot = state_slot(state, name);
    assert_non_null(slot);
    return slot;
}

static void some_ghosts(struct miniapp_state *state, const char *name, signed char west)
{
    const signed char ghosts[MINIAPP_SIDES] = {west};
    state_written(slot_of(state, name), ghosts);
}

TEST(rotation)
{
    const char *const levels[] = {"tke", "tke_taup1", "tke_before"};
    OWN_STATE ocean = state_on(counted_device(), MINIAPP_FLOAT64, grid);
    assert_done(miniapp_state_add(ocean, "tke_before", "tke"));
    fill(ocean, "tke", 1);
    fill(ocean, "tke_taup1", 2);
    some_ghosts(ocean, "tke_taup1", 1);
    const void *const memory[] = {slot_of(ocean, "tke")->device,
                                  slot_of(ocean, "tke_taup1")->device};
    const double before = to_device + from_device;
    assert_done(miniapp_state_rotate(ocean, levels, 3));
    assert_true(to_device + from_device == before);
    /* the values, the memory and what is known of them went along */
    assert_true(first_of(ocean, "tke") == 2 && first_of(ocean, "tke_before") == 1);
    assert_false(miniapp_state_has(ocean, "tke_taup1"));
    assert_ptr_equal(slot_of(ocean, "tke")->device, memory[1]);
    assert_ptr_equal(slot_of(ocean, "tke_before")->device, memory[0]);
    assert_int_equal(miniapp_state_ghosts(ocean, "tke", MINIAPP_WEST), 1);
    assert_int_equal(miniapp_state_ghosts(ocean, "tke", MINIAPP_EAST), 0);
    assert_int_equal(miniapp_state_ghosts(ocean, "tke_before", MINIAPP_EAST), MINIAPP_HALO);
    assert_done(miniapp_state_rotate(ocean, levels, 3));
    assert_done(miniapp_state_rotate(ocean, levels, 3));
    assert_true(first_of(ocean, "tke") == 1 && first_of(ocean, "tke_taup1") == 2);
    assert_done(miniapp_state_rotate(ocean, levels, 1));
    assert_done(miniapp_state_rotate(ocean, levels, 0));
    assert_true(first_of(ocean, "tke") == 1 && first_of(ocean, "tke_taup1") == 2);
    assert_true(to_device + from_device == before + (on_host ? 0 : 6 * 8));
}

TEST(sums)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    fill(ocean, "Nsqr", -1e17);
    fill(ocean, "tke", 1e17);
    fill(ocean, "tke_taup1", 3);
    assert_done(miniapp_state_add_up(ocean, "Nsqr", "tke", "tke_taup1"));
    assert_true(first_of(ocean, "Nsqr") == 3); /* one after the other: 1e17 + 3 is 1e17 */
    assert_done(miniapp_state_add_up(ocean, "Nsqr", "tke_taup1", NULL));
    assert_true(first_of(ocean, "Nsqr") == 6 && first_of(ocean, "tke_taup1") == 3);
    fill(ocean, "zt", 1);
    assert_refused(miniapp_state_add_up(ocean, "Nsqr", "tke_tau", NULL), MINIAPP_USAGE,
                   "unknown field 'tke_tau'; the closest is 'tke_taup1'");
    assert_refused(miniapp_state_add_up(ocean, "Nsqr", "tke", "zt"), MINIAPP_USAGE,
                   "'zt' cannot be added to 'Nsqr'");
    assert_refused(miniapp_state_add_up(ocean, "zt", "zt", NULL), MINIAPP_USAGE,
                   "'zt' cannot be added to 'zt'");
    assert_refused(miniapp_state_add_up(ocean, "kbot", "kbot", NULL), MINIAPP_USAGE,
                   "'kbot' cannot be added to 'kbot'");
    assert_refused(miniapp_state_add_up(ocean, "Nsqr", "salt", NULL), MINIAPP_USAGE,
                   "field 'salt' is read, but was never set");
    assert_true(first_of(ocean, "Nsqr") == 6);
}

/* A host's copy that the device lacks goes along, too. */
TEST(rotation_of_what_the_host_has)
{
    const char *const levels[] = {"tke", "tke_taup1"};
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    double *const tke = miniapp_state_write(ocean, "tke");
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++)
        tke[i] = 5;
    fill(ocean, "tke_taup1", 6);
    assert_done(miniapp_state_rotate(ocean, levels, 2));
    assert_ptr_equal(miniapp_state_read(ocean, "tke_taup1"), tke);
    assert_true(first_of(ocean, "tke_taup1") == 5 && first_of(ocean, "tke") == 6);
}

TEST(rotations_that_are_none)
{
    const char *const unknown[] = {"tke", "tke_tau"};
    const char *const axes[] = {"tke", "kbot"};
    const char *const twice[] = {"tke", "tke_taup1", "tke"};
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    fill(ocean, "tke", 1);
    fill(ocean, "tke_taup1", 2);
    assert_refused(miniapp_state_rotate(ocean, unknown, 2), MINIAPP_USAGE,
                   "unknown field 'tke_tau'; the closest is 'tke_taup1'");
    assert_refused(miniapp_state_rotate(ocean, axes, 2), MINIAPP_USAGE,
                   "'tke' and 'kbot' have other axes or types: they cannot be rotated");
    assert_refused(miniapp_state_rotate(ocean, twice, 3), MINIAPP_USAGE,
                   "'tke' cannot be rotated with itself");
    assert_true(first_of(ocean, "tke") == 1 && first_of(ocean, "tke_taup1") == 2);
}

/* A plan goes on with what its fields hold now, and gives memory to one that has none. */
TEST(rotation_under_a_plan)
{
    const char *const levels[] = {"triad", "older"};
    struct miniapp_plan *plan;
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    fill(ocean, "salt", 1);
    fill(ocean, "temp", 2);
    assert_done(miniapp_state_add(ocean, "older", "triad"));
    assert_done(miniapp_plan_create(ocean, sequence_of("triad"), NULL, &plan));
    assert_done(miniapp_plan_run(plan));
    assert_done(miniapp_state_rotate(ocean, levels, 2));
    fill(ocean, "salt", 10);
    assert_done(miniapp_plan_run(plan));
    assert_true(first_of(ocean, "older") == 7 && first_of(ocean, "triad") == 16);
    miniapp_plan_free(plan);
}

/* ---- ghosts ---- */

static const signed char no_ghosts[MINIAPP_SIDES];

/* The cell of the interior that a cell along x is, in an ocean whose east meets its west. */
static size_t cell_of(size_t x, size_t nx)
{
    const size_t inside = nx - 2 * MINIAPP_HALO;
    return MINIAPP_HALO + (x + MINIAPP_HALO * (inside - 1)) % inside;
}

/* Ghosts along x are copies, in the corners, too; those along y stay, as all do where the sides are
 * closed, and in a field without x. */
static void check_exchange(const char *name, enum miniapp_precision precision, size_t nx,
                           bool cyclic)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    const struct miniapp_grid narrow = {nx, 6, 3};
    const size_t elements = miniapp_field_elements(field, &narrow);
    OWN_STATE ocean = state_on(device, precision, narrow);
    miniapp_state_set_cyclic(ocean, cyclic);
    set_invented(ocean, name, name);
    state_written(slot_of(ocean, name), no_ghosts);
    assert_int_equal(miniapp_state_ghosts(ocean, name, MINIAPP_EAST), 0);
    assert_done(miniapp_state_exchange(ocean, name));
    for (int side = 0; side < MINIAPP_SIDES; side++)
        assert_int_equal(miniapp_state_ghosts(ocean, name, (enum miniapp_side)side), MINIAPP_HALO);
    OWN_VALUES values = values_of(ocean, name, name);
    for (size_t i = 0; i < elements; i++) {
        const bool copies = cyclic && has_axis(field, MINIAPP_X);
        const size_t from = copies ? i - i % nx + cell_of(i % nx, nx) : i;
        assert_true(values[i] == held(field, precision, invented(field, from, narrow.nz)));
    }
}

TEST(exchanges)
{
    for (size_t nx = MINIAPP_MIN_CELLS; nx <= 13; nx++)
        for (size_t k = 0; k < KINDS; k++)
            for (int cyclic = 0; cyclic < 2; cyclic++) {
                check_exchange(kinds[k], MINIAPP_FLOAT64, nx, cyclic);
                check_exchange(kinds[k], MINIAPP_FLOAT32, nx, cyclic);
            }
}

/* An exchange leaves ghosts along a closed x alone, so those of an ocean that becomes cyclic are
 * not current. */
TEST(becoming_cyclic)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    set_invented(ocean, "salt", "salt");
    set_invented(ocean, "dyt", "dyt"); /* without x */
    state_written(slot_of(ocean, "salt"), no_ghosts);
    assert_done(miniapp_state_exchange(ocean, "salt"));
    OWN_VALUES before = values_of(ocean, "salt", "salt");
    miniapp_state_set_cyclic(ocean, true);
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_WEST), 0);
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_NORTH), MINIAPP_HALO);
    assert_int_equal(miniapp_state_ghosts(ocean, "dyt", MINIAPP_EAST), MINIAPP_HALO);
    assert_done(miniapp_state_exchange(ocean, "salt"));
    miniapp_state_set_cyclic(ocean, true);
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_EAST), MINIAPP_HALO);
    OWN_VALUES after = values_of(ocean, "salt", "salt");
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++)
        assert_true(after[i] == before[i - i % grid.nx + cell_of(i % grid.nx, grid.nx)]);
}

/* A part has the ghosts that it was given, since no exchange can give it others. */
TEST(a_part_becoming_cyclic)
{
    const struct miniapp_grid whole = {grid.nx + 3, grid.ny, grid.nz};
    OWN_STATE part = state_on(device, MINIAPP_FLOAT64, grid);
    assert_done(miniapp_state_place(part, &whole, 1, 0));
    set_invented(part, "salt", "salt");
    miniapp_state_set_cyclic(part, true);
    assert_int_equal(miniapp_state_ghosts(part, "salt", MINIAPP_WEST), MINIAPP_HALO);
}

/* An elliptic problem is one of all parts. */
TEST(a_part_without_the_rest)
{
    const struct miniapp_grid whole = {grid.nx + 3, grid.ny, grid.nz};
    OWN_STATE part = state_on(device, MINIAPP_FLOAT64, grid);
    assert_done(miniapp_state_place(part, &whole, 1, 0));
    set_inputs(part, sequence_of("surface_pressure"));
    assert_refused(miniapp_run(part, "surface_pressure"), MINIAPP_USAGE,
                   "kernel 'surface_pressure' needs the whole ocean, of which this is a part");
}

/* Its kernel keeps levels of the elliptic problem, in memory of the state's device. */
TEST(a_plan_is_freed_after_its_state)
{
    struct miniapp_state *const ocean = state_on(device, MINIAPP_FLOAT64, grid);
    struct miniapp_plan *plan;
    set_inputs(ocean, sequence_of("surface_pressure"));
    const double without = miniapp_state_bytes(ocean);
    assert_done(miniapp_plan_create(ocean, sequence_of("surface_pressure"), NULL, &plan));
    miniapp_plan_run(plan); /* the invented problem may have no solution */
    assert_true(miniapp_state_bytes(ocean) > without);
    miniapp_state_free(ocean); /* before the plan, so not at the end of the scope */
    miniapp_plan_free(plan);
}

/* What was set has its ghosts, whatever they are; what has none gets them when they are needed. */
TEST(only_what_is_needed_is_exchanged)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    miniapp_state_set_cyclic(ocean, true);
    set_inputs(ocean, sequence_of("isoneutral"));
    OWN_VALUES before = values_of(ocean, "salt", "salt");
    assert_done(miniapp_run(ocean, "isoneutral"));
    OWN_VALUES same = values_of(ocean, "salt", "salt");
    assert_memory_equal(before, same, miniapp_grid_points(&grid) * sizeof(*same));
    some_ghosts(ocean, "salt", 2); /* not so in the east */
    some_ghosts(ocean, "dxu", 1);  /* all that is needed of it */
    OWN_VALUES spacings = values_of(ocean, "dxu", "dxu");
    assert_done(miniapp_run(ocean, "isoneutral"));
    OWN_VALUES after = values_of(ocean, "salt", "salt");
    OWN_VALUES as_before = values_of(ocean, "dxu", "dxu");
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++)
        assert_true(after[i] == before[i - i % grid.nx + cell_of(i % grid.nx, grid.nx)]);
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_EAST), MINIAPP_HALO);
    assert_memory_equal(spacings, as_before, grid.nx * sizeof(*spacings));
    assert_int_equal(miniapp_state_ghosts(ocean, "dxu", MINIAPP_WEST), 1);
    assert_int_equal(miniapp_state_ghosts(ocean, "dxu", MINIAPP_EAST), 0);
}

/* A part that is set changes nothing of what is known, where the rest is there. */
TEST(ghosts_of_parts)
{
    const double value[] = {1};
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    assert_done(miniapp_state_set_part(ocean, "salt", 3, 1, value));
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_NORTH), MINIAPP_HALO);
    state_written(slot_of(ocean, "salt"), no_ghosts);
    assert_done(miniapp_state_set_part(ocean, "salt", 4, 1, value));
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_NORTH), 0);
    set_invented(ocean, "salt", "salt");
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_NORTH), MINIAPP_HALO);
    state_written(slot_of(ocean, "salt"), no_ghosts);
    assert_non_null(miniapp_state_write(ocean, "salt"));
    assert_int_equal(miniapp_state_ghosts(ocean, "salt", MINIAPP_NORTH), MINIAPP_HALO);
}

TEST(parts_of_an_ocean)
{
    const struct miniapp_grid whole = {14, 13, 7}, deeper = {14, 13, 8}, narrower = {8, 13, 7};
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    assert_done(miniapp_state_place(ocean, &grid, 0, 0));
    assert_done(miniapp_state_place(ocean, &whole, 5, 5));
    assert_int_equal(miniapp_state_place(ocean, &whole, 5, 6), MINIAPP_USAGE);
    assert_refused(miniapp_state_place(ocean, &whole, 6, 5), MINIAPP_USAGE,
                   "9 x 8 x 7 points from (6, 5) on are no part of an ocean of 14 x 13 x 7");
    assert_int_equal(miniapp_state_place(ocean, &whole, SIZE_MAX, 0), MINIAPP_USAGE);
    assert_int_equal(miniapp_state_place(ocean, &whole, 0, 14), MINIAPP_USAGE);
    assert_int_equal(miniapp_state_place(ocean, &deeper, 0, 0), MINIAPP_USAGE);
    assert_int_equal(miniapp_state_place(ocean, &narrower, 0, 0), MINIAPP_USAGE);
    /* it runs as long as its ghosts are those that were set */
    set_inputs(ocean, sequence_of("tke"));
    assert_done(miniapp_run(ocean, "tke"));
    const char *const others =
        "the ghosts of 'tke' are not current, and come from other parts of the ocean, which this "
        "library does not exchange";
    state_written(slot_of(ocean, "tke"), no_ghosts);
    assert_refused(miniapp_run(ocean, "tke"), MINIAPP_USAGE, others);
    assert_refused(miniapp_state_exchange(ocean, "tke"), MINIAPP_USAGE, others);
}

/* ---- memory ---- */

TEST(a_field_is_held_once)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT32, grid);
    const double field = 4 * (double)miniapp_grid_points(&grid);
    struct miniapp_plan *plan, *other;
    assert_true(miniapp_state_bytes(ocean) == 0);
    set_invented(ocean, "salt", "salt");
    set_invented(ocean, "salt", "salt");
    assert_true(miniapp_state_bytes(ocean) == field);
    assert_done(miniapp_plan_create(ocean, sequence_of("triad"), NULL, &plan));
    assert_true(miniapp_state_bytes(ocean) == 3 * field);
    assert_true(miniapp_plan_bytes(plan) == 3 * field);
    assert_done(miniapp_plan_create(ocean, sequence_of("eos"), NULL, &other));
    assert_true(miniapp_state_bytes(ocean) == 4 * field + 4 * (double)grid.nz);
    assert_true(miniapp_plan_bytes(other) == 3 * field + 4 * (double)grid.nz);
    set_invented(ocean, "temp", "temp");
    set_invented(ocean, "p", "p");
    assert_done(miniapp_plan_run(plan));
    assert_done(miniapp_plan_run(other));
    assert_non_null(miniapp_state_read(ocean, "dHdT"));
    assert_true(miniapp_state_bytes(ocean) == 4 * field + 4 * (double)grid.nz);
    miniapp_plan_free(plan);
    miniapp_plan_free(other);
}

/* The device with kernels that count so far. */
static const struct miniapp_device *device_that_counts_to(ptrdiff_t most_turns)
{
    static struct kernel_functions counting;
    static struct backend backend;
    static struct miniapp_device counter;
    counting = *device->backend->functions[MINIAPP_FLOAT64];
    counting.most_turns = most_turns;
    backend = *device->backend;
    backend.functions[MINIAPP_FLOAT64] = backend.functions[MINIAPP_FLOAT32] = &counting;
    counter = *device;
    counter.backend = &backend;
    return &counter;
}

/* Accepted, and far more than any address space. */
TEST(no_memory)
{
    const struct miniapp_grid huge = {(size_t)1 << 20, (size_t)1 << 20, 1 << 10};
    const double value = 0;
    char expected[256];
    struct miniapp_plan *plan = (struct miniapp_plan *)&plan;
    OWN_STATE ocean = state_on(device_that_counts_to(PTRDIFF_MAX), MINIAPP_FLOAT64, huge);
    snprintf(expected, sizeof(expected), "device '%s' is out of memory: 'salt' takes 9.01e+06 GB",
             miniapp_device_label(device));
    assert_refused(miniapp_state_set_part(ocean, "salt", 0, 1, &value), MINIAPP_DEVICE, expected);
    assert_false(miniapp_state_has(ocean, "salt"));
    assert_int_equal(miniapp_plan_create(ocean, sequence_of("triad"), NULL, &plan), MINIAPP_DEVICE);
    assert_null(plan);
    assert_null(miniapp_state_write(ocean, "salt"));
    assert_int_equal(miniapp_last_failure(), MINIAPP_DEVICE);
    assert_false(miniapp_state_has(ocean, "salt"));
    assert_true(miniapp_state_bytes(ocean) == 0);
}

TEST(several_states)
{
    enum { STATES = 6 };
    struct miniapp_state *oceans[STATES];
    for (size_t i = 0; i < STATES; i++) {
        const struct miniapp_grid own = {5 + i, 9, 1 + i / 2};
        oceans[i] = state_on(device, i % 2 ? MINIAPP_FLOAT32 : MINIAPP_FLOAT64, own);
        fill(oceans[i], "salt", (double)i);
        assert_ptr_equal(miniapp_state_device(oceans[i]), device);
        assert_int_equal(miniapp_state_precision(oceans[i]), i % 2);
        assert_int_equal(miniapp_state_grid(oceans[i]).nx, own.nx);
    }
    for (size_t i = 0; i < STATES; i++)
        fill(oceans[i], "temp", 1);
    miniapp_state_free(oceans[2]);
    for (size_t i = 0; i < STATES; i++) {
        if (i == 2)
            continue;
        assert_done(miniapp_run(oceans[i], "triad"));
        assert_true(first_of(oceans[i], "triad") == (double)i + 3);
        assert_false(miniapp_state_has(oceans[i], "dHdT"));
    }
    for (size_t i = 0; i < STATES; i++)
        if (i != 2)
            miniapp_state_free(oceans[i]);
    miniapp_state_free(NULL);
}

/* ---- what is refused ---- */

TEST(unknown_names)
{
    double values[1] = {0};
    const char *const message = "unknown field 'tmep'; the closest is 'temp'";
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    assert_refused(miniapp_state_set(ocean, "tmep", values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_get(ocean, "tmep", values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_set_part(ocean, "tmep", 0, 1, values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_get_part(ocean, "tmep", 0, 1, values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_get_interior(ocean, "tmep", values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_exchange(ocean, "tmep"), MINIAPP_USAGE, message);
    assert_null(miniapp_state_read(ocean, "tmep"));
    assert_null(miniapp_state_write(ocean, "tmep"));
    assert_false(miniapp_state_has(ocean, "tmep"));
    assert_int_equal(miniapp_state_ghosts(ocean, "tmep", MINIAPP_WEST), 0);
    assert_refused(miniapp_state_set_setting(ocean, "dt_tracr", 1), MINIAPP_USAGE,
                   "unknown setting 'dt_tracr'; the closest is 'dt_tracer'");
}

TEST(what_was_never_set_is_not_read)
{
    double values[9 * 8 * 7];
    const char *const message = "field 'temp' is read, but was never set";
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    assert_refused(miniapp_state_get(ocean, "temp", values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_get_interior(ocean, "temp", values), MINIAPP_USAGE, message);
    assert_refused(miniapp_state_exchange(ocean, "temp"), MINIAPP_USAGE, message);
    assert_null(miniapp_state_read(ocean, "temp"));
    assert_false(miniapp_state_has(ocean, "temp"));
    assert_int_equal(miniapp_state_ghosts(ocean, "temp", MINIAPP_WEST), 0);
    assert_true(miniapp_state_bytes(ocean) == 0); /* nor does it take memory */
    set_invented(ocean, "salt", "salt");
    assert_refused(miniapp_run(ocean, "triad"), MINIAPP_USAGE, message);
    assert_false(miniapp_state_has(ocean, "triad"));
}

/* Refused is a field with that third element; what was there before stays. */
static void check_misfit(enum miniapp_precision precision, const char *name, double value,
                         const char *message)
{
    OWN_STATE ocean = state_on(device, precision, grid);
    const size_t elements = elements_of(name, &grid);
    OWN_VALUES values = calloc(elements, sizeof(*values));
    values[2] = value;
    assert_refused(miniapp_state_set(ocean, name, values), MINIAPP_INPUT, message);
    assert_false(miniapp_state_has(ocean, name));
    fill(ocean, name, 1);
    assert_refused(miniapp_state_set(ocean, name, values), MINIAPP_INPUT, message);
    assert_refused(miniapp_state_set_part(ocean, name, 1, 2, values + 1), MINIAPP_INPUT, message);
    OWN_VALUES got = values_of(ocean, name, name);
    for (size_t i = 0; i < elements; i++)
        assert_true(got[i] == 1);
}

TEST(values_that_do_not_fit)
{
    const enum miniapp_precision wide = MINIAPP_FLOAT64, narrow = MINIAPP_FLOAT32;
    check_misfit(narrow, "salt", 1e39, "'salt' holds 1e+39, which float32 cannot");
    check_misfit(narrow, "salt", -3.5e38, "'salt' holds -3.5e+38, which float32 cannot");
    check_misfit(wide, "maskT", 2, "'maskT' holds 2, which a mask cannot");
    check_misfit(narrow, "maskT", 0.5, "'maskT' holds 0.5, which a mask cannot");
    check_misfit(wide, "maskT", NAN, "'maskT' holds nan, which a mask cannot");
    check_misfit(wide, "kbot", -1, "'kbot' holds -1, which an index cannot");
    check_misfit(wide, "kbot", 1.5, "'kbot' holds 1.5, which an index cannot");
    check_misfit(narrow, "kbot", 2147483648.0, "'kbot' holds 2.14748e+09, which an index cannot");
    check_misfit(narrow, "kbot", INFINITY, "'kbot' holds inf, which an index cannot");
}

/* ---- settings ---- */

TEST(settings_of_a_state)
{
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT32, grid);
    const struct miniapp_settings *const values = miniapp_state_settings(ocean);
    struct miniapp_plan *plan, *none;
    assert_true(miniapp_settings_get(values, "dt_mom") == settings[SETTING_dt_mom].value);
    assert_done(miniapp_state_set_setting(ocean, "dt_mom", 4800));
    assert_true(miniapp_settings_get(values, "dt_mom") == 4800);
    assert_int_equal(miniapp_state_set_setting(ocean, "dt_mom", 0), MINIAPP_USAGE);
    assert_true(miniapp_settings_get(values, "dt_mom") == 4800);
    /* what float32 cannot hold, where a kernel reads it */
    set_inputs(ocean, sequence_of("tke"));
    assert_done(miniapp_plan_create(ocean, sequence_of("tke"), NULL, &plan));
    assert_done(miniapp_state_set_setting(ocean, "c_eps", 1e-60));
    assert_done(miniapp_state_set_setting(ocean, "iso_dslope", 1e-300));
    const char *const message = "tke: setting 'c_eps' is 1e-60, which float32 cannot hold";
    assert_refused(miniapp_plan_run(plan), MINIAPP_USAGE, message);
    assert_refused(miniapp_plan_create(ocean, sequence_of("tke"), NULL, &none), MINIAPP_USAGE,
                   message);
    assert_done(miniapp_state_set_setting(ocean, "c_eps", 0));
    assert_done(miniapp_plan_run(plan));
    miniapp_plan_free(plan);
}

/* ---- times of copies ---- */

TEST(times_of_copies)
{
    const char *const names[] = {"salt", "temp"}, *const unknown[] = {"slat"};
    double seconds = -1;
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    set_invented(ocean, "salt", "salt");
    fill(ocean, "temp", 3);
    for (int to = 0; to < 2; to++)
        for (int pinned = 0; pinned < 2; pinned++) {
            assert_done(miniapp_state_time_copies(ocean, names, 2, to, pinned, &seconds));
            assert_true(on_host ? seconds == 0 : pinned ? seconds >= 0 : seconds > 0);
            assert_true(isfinite(seconds));
        }
    OWN_VALUES salt = values_of(ocean, "salt", "salt");
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++)
        assert_true(salt[i] == invented(&fields[FIELD_salt], i, grid.nz));
    assert_true(first_of(ocean, "temp") == 3);
    if (!on_host)
        assert_int_equal(miniapp_state_time_copies(ocean, unknown, 1, true, false, &seconds),
                         MINIAPP_USAGE);
}

/* ---- devices ---- */

TEST(devices)
{
    struct miniapp_device *none = (struct miniapp_device *)&none;
    const char *const bad[] = {"",       "cpus",           "cpu:0",  "gpu:", "gpu:x",
                               "gpu:-1", "gpu:1000000000", "auto:1", ":1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(miniapp_device_open(bad[i], &none), MINIAPP_USAGE);
        assert_null(none);
    }
    none = (struct miniapp_device *)&none;
    assert_int_equal(miniapp_device_open("gpu:999", &none), MINIAPP_DEVICE);
    assert_null(none);
    assert_non_null(strstr(miniapp_message(), "device 'gpu:999' cannot be used: "));
    assert_string_equal(miniapp_device_label(device), on_host ? "cpu" : "gpu:0");
    const bool is_emulated = strcmp(miniapp_device_kind(device), "emulated") == 0;
    assert_int_equal(miniapp_device_takes_host_memory(device), on_host || is_emulated);
    assert_true(on_host ? miniapp_device_empty_call(device) == 0
                        : miniapp_device_empty_call(device) > 0);
    assert_true(miniapp_device_cache(device) == 0 || !(on_host || is_emulated));
    int blocks, threads;
    miniapp_device_geometry(device, 100, &blocks, &threads);
    assert_int_equal(blocks > 0 && threads > 0, !on_host);
    assert_true(miniapp_device_name(device)[0] != '\0');
}

/* A grid with more turns than a build's nests count is refused: one of points; one of ghosts, 16
 * for each of 700 rows; and one with a single level, where the fields with eight corners have most.
 */
TEST(grids_beyond_the_count)
{
    const struct {
        struct miniapp_grid grid;
        ptrdiff_t turns;
    } cases[] = {{{100, 100, 7}, 70000}, {{5, 100, 7}, 11200}, {{100, 5, 1}, 3200}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct miniapp_state *state;
        const struct miniapp_grid *const of = &cases[i].grid;
        assert_done(miniapp_state_create(device_that_counts_to(cases[i].turns), MINIAPP_FLOAT64, of,
                                         &state));
        miniapp_state_free(state);
        assert_int_equal(miniapp_state_create(device_that_counts_to(cases[i].turns - 1),
                                              MINIAPP_FLOAT64, of, &state),
                         MINIAPP_DEVICE);
        assert_null(state);
    }
    char expected[256];
    snprintf(
        expected, sizeof(expected),
        "a grid of 100 x 5 x 1 points is too large for device '%s', which counts to 3199: a build "
        "with -DMINIAPP_WIDE_COUNT=ON counts further",
        miniapp_device_label(device));
    assert_string_equal(miniapp_message(), expected);
}

RUN_TESTS(open_device, close_device)
