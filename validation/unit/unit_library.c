/*
 * The tables, row by row whatever rows there are, and what states and plans refuse. The kernels
 * here count their calls instead of computing, but for the last test.
 */
#include "device.h"
#include "invented.h"
#include "state.h"

#include <float.h>

static bool is_text(const char *text)
{
    return text && text[0] != '\0' && text[0] != ' ' && text[strlen(text) - 1] != ' ' &&
           !strchr(text, '\n');
}

/* ---- fields ---- */

TEST(fields_are_described)
{
    assert_int_equal(miniapp_field_count(), FIELDS - 1);
    assert_null(miniapp_field_at(FIELDS - 1));
    assert_null(miniapp_field_find("no field"));
    assert_null(miniapp_field_find(""));
    for (size_t place = 0; place < miniapp_field_count(); place++) {
        const struct miniapp_field *field = miniapp_field_at(place);
        const char *const name = miniapp_field_name(field);
        assert_true(is_text(name) && !strpbrk(name, " ,:=") && strlen(name) < MOST_NAME);
        assert_true(is_text(miniapp_field_units(field)));
        assert_true(is_text(miniapp_field_long_name(field)));
        assert_true(!miniapp_field_standard_name(field) ||
                    is_text(miniapp_field_standard_name(field)));
        assert_ptr_equal(miniapp_field_find(name), field);
        const struct miniapp_field *const wet = miniapp_field_wet(field);
        assert_true(!wet || !miniapp_is_real(miniapp_field_type(wet)));
        double factor;
        const struct miniapp_field *const other = miniapp_field_stand_in(field, &factor);
        assert_true(!other || (other != field && miniapp_field_is_optional(field)));
        assert_true(!miniapp_field_is_extended(field) || wet == miniapp_field_find("maskT"));
        assert_true(!miniapp_field_is_flow(field) || wet || miniapp_field_rank(field) == 2);
        for (size_t before = 0; before < place; before++)
            assert_string_not_equal(name, miniapp_field_name(miniapp_field_at(before)));
    }
}

TEST(axes_are_slowest_first)
{
    const enum miniapp_axis order[] = {MINIAPP_IP, MINIAPP_JP, MINIAPP_KR,
                                       MINIAPP_Z,  MINIAPP_Y,  MINIAPP_X};
    for (size_t id = 1; id < FIELDS; id++) {
        const int rank = miniapp_field_rank(&fields[id]);
        size_t place = 0;
        assert_in_range(rank, 0, MINIAPP_MAX_RANK);
        for (int i = 0; i < rank; i++, place++) {
            while (place < 6 && order[place] != miniapp_field_axis(&fields[id], i))
                place++;
            assert_true(place < 6);
        }
        assert_int_equal(miniapp_field_axis(&fields[id], rank), MINIAPP_NO_AXIS);
        assert_int_equal(miniapp_field_axis(&fields[id], -1), MINIAPP_NO_AXIS);
    }
}

TEST(ranges_are_ranges)
{
    for (size_t id = 1; id < FIELDS; id++) {
        const struct miniapp_field *field = &fields[id];
        double least, most;
        miniapp_field_range(field, &least, &most);
        assert_true(least == field->valid_min && most == field->valid_max);
        assert_true(least < most);
        assert_true(least >= -1e30 && most <= 1e30); /* below what stands for missing values */
        assert_true(!field->is_spacing || least > 0);
        assert_true(!field->is_spacing || miniapp_field_rank(field) == 1);
        if (field->type == MINIAPP_MASK)
            assert_true(least == 0 && most == 1);
        if (field->type == MINIAPP_INDEX)
            assert_true(least == 0 && most <= INT32_MAX);
    }
}

static bool same_axes(const struct miniapp_field *a, const struct miniapp_field *b)
{
    return memcmp(a->axes, b->axes, sizeof(a->axes)) == 0;
}

TEST(fields_refer_to_fields_that_fit)
{
    for (size_t id = 1; id < FIELDS; id++) {
        const struct miniapp_field *field = &fields[id];
        if (field->wet) { /* a mask of its own points, or the deepest level of its columns */
            const struct miniapp_field *wet = &fields[field->wet];
            assert_false(miniapp_is_real(wet->type));
            assert_true(wet->type == MINIAPP_MASK
                            ? same_axes(field, wet)
                            : wet->counts == MINIAPP_Z && miniapp_field_rank(field) >= 2 &&
                                  miniapp_field_rank(wet) == 2);
        }
        /* land: what enters averages has water above */
        assert_true(!field->is_extended || (field->wet && miniapp_field_rank(field) == 3));
        assert_true(!field->is_nearest || field->wet);
        if (field->stand_in) {
            const struct miniapp_field *source = &fields[field->stand_in];
            assert_true(field->is_optional && !source->is_optional);
            assert_true(miniapp_is_real(field->type) && source->type == MINIAPP_REAL);
            assert_true(field->is_sampled ||
                        (same_axes(field, source) && field->stand_in_factor != 0));
        }
        if (field->is_sampled) /* the stand-in gives the grid: it has to have all axes */
            assert_true(miniapp_field_rank(&fields[field->stand_in]) == 3 &&
                        field->valid_min <= 0 && field->valid_max >= 1);
        /* what is absent is 0 */
        assert_int_equal(miniapp_field_is_optional(field), field->is_optional);
        if (field->is_optional && !field->stand_in)
            assert_true(field->valid_min <= 0 && field->valid_max >= 0 &&
                        miniapp_is_real(field->type));
    }
}

TEST(sizes_of_fields)
{
    const struct miniapp_grid grid = {7, 6, 5};
    const struct miniapp_grid huge = {SIZE_MAX / 2, SIZE_MAX / 2, 3};
    assert_int_equal(miniapp_grid_points(&grid), 210);
    assert_true(miniapp_grid_points(&huge) == SIZE_MAX);
    assert_int_equal(miniapp_field_elements(&fields[FIELD_salt], &grid), 210);
    assert_int_equal(miniapp_field_elements(&fields[FIELD_kbot], &grid), 42);
    assert_int_equal(miniapp_field_elements(&fields[FIELD_dyt], &grid), 6);
    assert_true(miniapp_field_elements(&fields[FIELD_salt], &huge) == SIZE_MAX);
    assert_int_equal(miniapp_element_bytes(MINIAPP_REAL, MINIAPP_FLOAT64), 8);
    assert_int_equal(miniapp_element_bytes(MINIAPP_REAL, MINIAPP_FLOAT32), 4);
    assert_int_equal(miniapp_element_bytes(MINIAPP_DOUBLE, MINIAPP_FLOAT32), 8);
    assert_int_equal(miniapp_element_bytes(MINIAPP_MASK, MINIAPP_FLOAT32), 1);
    assert_int_equal(miniapp_element_bytes(MINIAPP_INDEX, MINIAPP_FLOAT64), 4);
    assert_string_equal(miniapp_precision_name(MINIAPP_FLOAT64), "float64");
    assert_string_equal(miniapp_precision_name(MINIAPP_FLOAT32), "float32");
}

TEST(axes_have_names)
{
    for (int axis = 1; axis < MINIAPP_AXES; axis++) {
        assert_true(is_text(miniapp_axis_name((enum miniapp_axis)axis)));
        for (int other = 1; other < axis; other++)
            assert_string_not_equal(miniapp_axis_name((enum miniapp_axis)axis),
                                    miniapp_axis_name((enum miniapp_axis)other));
    }
}

/* ---- settings ---- */

TEST(settings_are_described)
{
    struct miniapp_settings *const values = miniapp_settings_create();
    assert_int_equal(miniapp_setting_count(), SETTINGS);
    assert_null(miniapp_setting_at(SETTINGS));
    for (size_t place = 0; place < miniapp_setting_count(); place++) {
        const struct miniapp_setting *setting = miniapp_setting_at(place);
        const char *const name = miniapp_setting_name(setting);
        const double value = miniapp_setting_default(setting);
        double least, most;
        miniapp_setting_range(setting, &least, &most);
        assert_true(is_text(name) && !strpbrk(name, " ="));
        assert_true(is_text(miniapp_setting_units(setting)));
        assert_true(is_text(miniapp_setting_long_name(setting)));
        assert_true(least < most);
        assert_true(value >= least && value <= most);
        assert_true(!miniapp_setting_is_whole(setting) || value == floor(value));
        assert_true(miniapp_settings_get(values, name) == value);
        assert_ptr_equal(miniapp_setting_find(name), setting);
        for (size_t other = 0; other < place; other++)
            assert_string_not_equal(name, miniapp_setting_name(miniapp_setting_at(other)));
    }
    miniapp_settings_free(values);
}

TEST(settings_are_set_in_their_range)
{
    struct miniapp_settings *const values = miniapp_settings_create();
    for (size_t id = 0; id < SETTINGS; id++) {
        const char *const name = settings[id].name;
        const double most = settings[id].valid_max;
        assert_done(miniapp_settings_set(values, name, most));
        assert_true(miniapp_settings_get(values, name) == most);
        assert_int_equal(miniapp_settings_set(values, name, NAN), MINIAPP_USAGE);
        assert_int_equal(miniapp_settings_set(values, name, INFINITY), MINIAPP_USAGE);
        assert_non_null(strstr(miniapp_message(), name));
        if (settings[id].is_whole)
            assert_int_equal(miniapp_settings_set(values, name, settings[id].valid_min + 0.5),
                             MINIAPP_USAGE);
        assert_true(miniapp_settings_get(values, name) == most);
    }
    assert_int_equal(miniapp_settings_set(values, "c_epsilon", 1), MINIAPP_USAGE);
    assert_string_equal(miniapp_message(), "unknown setting 'c_epsilon'; the closest is 'c_eps'");
    assert_true(isnan(miniapp_settings_get(values, "c_epsilon")));
    miniapp_settings_free(values);
}

/* ---- kernels ---- */

static bool is_written(const struct miniapp_kernel *kernel, size_t argument)
{
    const enum miniapp_access access = miniapp_argument_access(kernel, argument);
    return access == MINIAPP_WRITE || access == MINIAPP_UPDATE;
}

static bool is_read(const struct miniapp_kernel *kernel, size_t argument)
{
    const enum miniapp_access access = miniapp_argument_access(kernel, argument);
    return access == MINIAPP_READ || access == MINIAPP_UPDATE;
}

/* Each has a name of its own, a field that no other is bound to, and that field's type; and says of
 * no more ghosts than there are. */
static void check_arguments(const struct miniapp_kernel *kernel)
{
    const size_t count = miniapp_kernel_argument_count(kernel);
    size_t read = 0, written = 0;
    for (size_t i = 0; i < count; i++) {
        const char *const name = miniapp_argument_name(kernel, i);
        const struct miniapp_field *const field = miniapp_argument_field(kernel, i);
        const bool is_scratch = miniapp_argument_access(kernel, i) == MINIAPP_SCRATCH;
        read += is_read(kernel, i);
        written += is_written(kernel, i);
        assert_true(is_text(name) && !strpbrk(name, " ,:=") && strlen(name) < MOST_NAME);
        assert_in_range(field_id(field), 1, FIELDS - 1);
        assert_int_equal(kernel->arguments[i].type, miniapp_field_type(field));
        if (is_written(kernel, i))
            assert_true(miniapp_is_real(miniapp_field_type(field)));
        for (int side = 0; side < MINIAPP_SIDES; side++)
            assert_in_range(miniapp_argument_ghosts(kernel, i, (enum miniapp_side)side), 0,
                            is_scratch ? 0 : MINIAPP_HALO);
        for (size_t other = 0; other < i; other++) {
            assert_string_not_equal(name, miniapp_argument_name(kernel, other));
            assert_true(is_scratch || field != miniapp_argument_field(kernel, other) ||
                        miniapp_argument_access(kernel, other) == MINIAPP_SCRATCH);
            /* a name that is another's field would bind both; scratch is not bound */
            assert_true(is_scratch || miniapp_argument_access(kernel, other) == MINIAPP_SCRATCH ||
                        (strcmp(name, miniapp_field_name(miniapp_argument_field(kernel, other))) &&
                         strcmp(miniapp_argument_name(kernel, other), miniapp_field_name(field))));
        }
    }
    assert_true(count <= MOST_ARGUMENTS && read > 0 && written > 0);
}

static void check_settings(const struct miniapp_kernel *kernel)
{
    for (size_t i = 0; i < miniapp_kernel_setting_count(kernel); i++) {
        assert_in_range(kernel->settings[i], 0, SETTINGS - 1);
        assert_ptr_equal(miniapp_kernel_setting(kernel, i), &settings[kernel->settings[i]]);
        for (size_t other = 0; other < i; other++)
            assert_int_not_equal(kernel->settings[i], kernel->settings[other]);
    }
}

TEST(kernels_are_described)
{
    assert_true(miniapp_kernel_count() > 0);
    assert_null(miniapp_kernel_at(miniapp_kernel_count()));
    assert_null(miniapp_kernel_find("no kernel"));
    assert_null(miniapp_kernel_find(""));
    for (size_t k = 0; k < miniapp_kernel_count(); k++) {
        const struct miniapp_kernel *const kernel = miniapp_kernel_at(k);
        const char *const name = miniapp_kernel_name(kernel);
        assert_true(is_text(name) && !strpbrk(name, " ,:") && strlen(name) < MOST_NAME);
        assert_string_not_equal(name, "all"); /* what the command line says for every one */
        assert_true(is_text(miniapp_kernel_summary(kernel)));
        assert_true(is_text(miniapp_kernel_citation(kernel)));
        assert_true(is_text(miniapp_kernel_subject(kernel)));
        assert_int_equal(kernel->id, k);
        assert_ptr_equal(miniapp_kernel_find(name), kernel);
        check_arguments(kernel);
        check_settings(kernel);
        for (size_t other = 0; other < k; other++)
            assert_string_not_equal(name, miniapp_kernel_name(miniapp_kernel_at(other)));
    }
}

static bool writes_each_point(const struct miniapp_kernel *kernel)
{
    for (size_t a = 0; a < miniapp_kernel_argument_count(kernel); a++) {
        const enum miniapp_access access = miniapp_argument_access(kernel, a);
        if ((access == MINIAPP_WRITE || access == MINIAPP_UPDATE) &&
            miniapp_field_rank(miniapp_argument_field(kernel, a)) >= 3)
            return true;
    }
    return false;
}

TEST(kernels_cost_something)
{
    const struct miniapp_grid grid = {100, 90, 80};
    struct miniapp_settings *const values = miniapp_settings_create();
    for (size_t k = 0; k < KERNELS; k++) {
        const struct miniapp_kernel *const kernel = miniapp_kernel_at(k);
        const double bytes = miniapp_kernel_moves(kernel, &grid, MINIAPP_FLOAT64, values).bytes;
        const char *const name = miniapp_kernel_name(kernel);
        const bool computes =
            strcmp(name, "copy") != 0 && strcmp(name, "convective_adjustment") != 0;
        const double flops = miniapp_kernel_flops(kernel, &grid, values);
        const double of_iteration = miniapp_kernel_flops_of_iteration(kernel, &grid);
        assert_true((flops + of_iteration > 0) == computes);
        assert_true(flops == 0 || of_iteration == 0);
        assert_true((of_iteration > 0) ==
                    (strcmp(miniapp_kernel_subject(kernel), "external") == 0));
        assert_true(bytes >
                    (writes_each_point(kernel) ? 8 * (double)miniapp_grid_points(&grid) : 0));
        assert_true(miniapp_kernel_moves(kernel, &grid, MINIAPP_FLOAT32, values).bytes < bytes);
    }
    miniapp_settings_free(values);
}

TEST(precisions_have_functions_of_their_own)
{
    const struct kernel_functions *const wide = host_backend.functions[MINIAPP_FLOAT64];
    const struct kernel_functions *const narrow = host_backend.functions[MINIAPP_FLOAT32];
    assert_true(wide->exchange_x && narrow->exchange_x);
    for (size_t k = 0; k < KERNELS; k++) {
        assert_true(wide->run[k] && narrow->run[k] && wide->run[k] != narrow->run[k]);
        for (size_t other = 0; other < k; other++)
            assert_true(wide->run[k] != wide->run[other] && narrow->run[k] != narrow->run[other]);
    }
}

/* ---- calls ---- */

static int runs;

static void count_runs(const struct kernel_call *call)
{
    runs++;
}

static const struct kernel_functions *counting_functions(void)
{
    static kernel_function *run[KERNELS];
    static struct kernel_functions functions = {run, .most_turns = PTRDIFF_MAX};
    functions.exchange_x = host_backend.functions[MINIAPP_FLOAT64]->exchange_x;
    for (size_t k = 0; k < KERNELS; k++)
        run[k] = count_runs;
    return &functions;
}

/* All fields have one memory, whatever their sizes: nothing is computed. */
static void *take_little(int number, size_t bytes, size_t ahead)
{
    static double memory[1];
    return memory;
}

static void keep(int number, void *memory)
{
}

static struct backend counting;
static const struct miniapp_device device = {.label = "counting", .backend = &counting};

static int make_backend(void **state)
{
    counting = host_backend;
    counting.functions[MINIAPP_FLOAT64] = counting_functions();
    counting.allocate = take_little;
    counting.release = keep;
    return 0;
}

/* A state in which all that a kernel reads is there, but for one argument. */
static struct miniapp_state *state_without(const struct miniapp_kernel *kernel, size_t lacking,
                                           struct miniapp_grid grid)
{
    struct miniapp_state *const state = state_on(&device, MINIAPP_FLOAT64, grid);
    for (size_t i = 0; i < kernel->argument_count; i++)
        if (is_read(kernel, i) && i != lacking)
            assert_non_null(miniapp_state_write(state, fields[kernel->arguments[i].field].name));
    runs = 0;
    return state;
}

static const struct miniapp_grid smallest = {MINIAPP_MIN_CELLS, MINIAPP_MIN_CELLS, 1};

TEST(run_accepts_what_is_whole)
{
    for (size_t k = 0; k < KERNELS; k++) {
        OWN_STATE whole = state_without(&kernels[k], SIZE_MAX, smallest);
        assert_done(miniapp_run(whole, kernels[k].name));
        assert_int_equal(runs, 1);
    }
}

TEST(run_refuses_no_kernel)
{
    OWN_STATE whole = state_without(&kernels[0], SIZE_MAX, smallest);
    assert_int_equal(miniapp_run(whole, "eso"), MINIAPP_USAGE);
    assert_string_equal(miniapp_message(), "unknown kernel 'eso'; the closest is 'eos'");
    assert_int_equal(miniapp_run(whole, ""), MINIAPP_USAGE);
    assert_int_equal(runs, 0);
}

/* Fields that are read have to be there; one that is only written, or that the settings leave
 * untouched, needs no more than a name. */
TEST(run_refuses_missing_fields)
{
    for (size_t k = 0; k < KERNELS; k++)
        for (size_t i = 0; i < kernels[k].argument_count; i++) {
            OWN_STATE part = state_without(&kernels[k], i, smallest);
            const enum miniapp_status status = miniapp_run(part, kernels[k].name);
            const char *const name = fields[kernels[k].arguments[i].field].name;
            const bool is_needed =
                is_read(&kernels[k], i) &&
                kernels[k].touches(part->settings.value, kernels[k].arguments[i].name) != NOTHING;
            assert_int_equal(status, is_needed ? MINIAPP_USAGE : MINIAPP_DONE);
            assert_int_equal(runs, is_needed ? 0 : 1);
            if (status)
                assert_non_null(strstr(miniapp_message(), name));
        }
}

TEST(states_refuse_unusable_grids)
{
    const struct miniapp_grid grids[] = {
        {0, 0, 0},
        {4, 5, 1},
        {5, 4, 1},
        {5, 5, 0},
        {0, 9, 9},
        {9, 0, 9},
        {9, 9, 0},
        {MINIAPP_MAX_CELLS + (size_t)1, 5, 1},
        {5, MINIAPP_MAX_CELLS + (size_t)1, 1},
        {5, 5, MINIAPP_MAX_CELLS + (size_t)1},
        {SIZE_MAX, 5, 1},
        {5, SIZE_MAX, 1},
        {(size_t)1 << 32, (size_t)1 << 32, 1}, /* 2^64: the product is 0 */
        {(size_t)1 << 22, (size_t)1 << 21, (size_t)1 << 21},
        {(size_t)1 << 20, (size_t)1 << 20, (size_t)1 << 20}, /* 2^63 bytes */
        {(size_t)1 << 20, (size_t)1 << 20, (size_t)1 << 19}, /* 2^64 of a field with triads */
    };
    for (size_t i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
        struct miniapp_state *none = (struct miniapp_state *)&none;
        assert_int_equal(miniapp_state_create(&device, MINIAPP_FLOAT64, &grids[i], &none),
                         MINIAPP_USAGE);
        assert_null(none);
    }
}

/* Along each axis, of as few points as that leaves. */
TEST(run_accepts_the_longest_grids)
{
    const struct miniapp_grid grids[] = {
        {MINIAPP_MAX_CELLS, MINIAPP_MIN_CELLS, 1},
        {MINIAPP_MIN_CELLS, MINIAPP_MAX_CELLS, 1},
        {MINIAPP_MIN_CELLS, MINIAPP_MIN_CELLS, MINIAPP_MAX_CELLS},
    };
    for (size_t i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
        OWN_STATE long_one = state_without(&kernels[0], SIZE_MAX, grids[i]);
        assert_done(miniapp_run(long_one, kernels[0].name));
        assert_int_equal(runs, 1);
    }
}

/* The smallest grid: kernels run on it for real, on ones. */
TEST(kernels_run_on_the_smallest_grid)
{
    const struct miniapp_device cpu = {.label = "cpu", .backend = &host_backend};
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++)
        for (size_t k = 0; k < KERNELS; k++) {
            OWN_STATE small = state_on(&cpu, (enum miniapp_precision)precision, smallest);
            for (size_t i = 0; i < kernels[k].argument_count; i++) {
                double ones[4 * MINIAPP_MIN_CELLS * MINIAPP_MIN_CELLS];
                for (size_t j = 0; j < sizeof(ones) / sizeof(*ones); j++)
                    ones[j] = 1;
                if (is_read(&kernels[k], i))
                    assert_done(
                        miniapp_state_set(small, fields[kernels[k].arguments[i].field].name, ones));
            }
            assert_done(miniapp_run(small, kernels[k].name));
        }
}

RUN_TESTS(make_backend, NULL)
