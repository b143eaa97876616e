/*
 * The tables, row by row whatever rows there are, and what physics_run refuses.
 */
#include <physics/kernel.h>

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct physics_kernel *table(void)
{
    return physics_host_kernels(PHYSICS_FLOAT64);
}

static bool is_text(const char *text)
{
    return text && text[0] != '\0' && text[0] != ' ' && text[strlen(text) - 1] != ' ' &&
           !strchr(text, '\n');
}

/* ---- fields ---- */

static void fields_are_described(void **state)
{
    (void)state;
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        assert_true(is_text(field->name) && !strchr(field->name, ' '));
        assert_true(is_text(field->units));
        assert_true(is_text(field->long_name));
        assert_true(!field->standard_name || is_text(field->standard_name));
        for (int other = 1; other < id; other++)
            assert_string_not_equal(field->name, physics_fields[other].name);
    }
}

static void axes_are_slowest_first(void **state)
{
    (void)state;
    const enum physics_axis order[] = {PHYSICS_IP, PHYSICS_JP, PHYSICS_KR,
                                       PHYSICS_Z,  PHYSICS_Y,  PHYSICS_X};
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        const int rank = physics_field_rank(field);
        size_t place = 0;
        assert_in_range(rank, 0, PHYSICS_MAX_RANK);
        for (int i = 0; i < rank; i++, place++) {
            while (place < 6 && order[place] != field->axes[i])
                place++;
            assert_true(place < 6);
        }
    }
}

static void ranges_are_ranges(void **state)
{
    (void)state;
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        assert_true(field->valid_min < field->valid_max);
        assert_true(!field->spacing || field->valid_min > 0);
        assert_true(!field->spacing || physics_field_rank(field) == 1);
        if (field->type == PHYSICS_MASK)
            assert_true(field->valid_min == 0 && field->valid_max == 1);
        if (field->type == PHYSICS_INDEX)
            assert_true(field->valid_min == 0 && field->valid_max <= INT32_MAX);
    }
}

static bool same_axes(const struct physics_field *a, const struct physics_field *b)
{
    return physics_field_rank(a) == physics_field_rank(b) &&
           memcmp(a->axes, b->axes, sizeof(*a->axes) * (size_t)physics_field_rank(a)) == 0;
}

static void fields_refer_to_fields_that_fit(void **state)
{
    (void)state;
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        if (field->wet) { /* a mask of its own points, or the deepest level of its columns */
            const struct physics_field *wet = &physics_fields[field->wet];
            assert_int_not_equal(wet->type, PHYSICS_REAL);
            assert_true(wet->type == PHYSICS_MASK
                            ? same_axes(field, wet)
                            : wet->counts == PHYSICS_Z && physics_field_rank(field) == 3 &&
                                  physics_field_rank(wet) == 2);
        }
        if (field->stand_in) {
            const struct physics_field *source = &physics_fields[field->stand_in];
            assert_true(field->optional && !source->optional);
            assert_true(field->type == PHYSICS_REAL && source->type == PHYSICS_REAL);
            assert_true(field->sampled ||
                        (same_axes(field, source) && field->stand_in_factor != 0));
        }
        if (field->sampled) /* the stand-in gives the grid: it has to have all axes */
            assert_true(physics_field_rank(&physics_fields[field->stand_in]) == 3 &&
                        field->valid_min <= 0 && field->valid_max >= 1);
        /* what is absent is 0 */
        if (field->optional && !field->stand_in)
            assert_true(field->valid_min <= 0 && field->valid_max >= 0 &&
                        field->type == PHYSICS_REAL);
    }
}

static void sizes_of_fields(void **state)
{
    (void)state;
    const struct physics_grid grid = {7, 6, 5};
    const struct physics_grid huge = {SIZE_MAX / 2, SIZE_MAX / 2, 3};
    assert_int_equal(physics_grid_points(&grid), 210);
    assert_true(physics_grid_points(&huge) == SIZE_MAX);
    assert_int_equal(physics_field_elements(&physics_fields[PHYSICS_SALT], &grid), 210);
    assert_int_equal(physics_field_elements(&physics_fields[PHYSICS_KBOT], &grid), 42);
    assert_int_equal(physics_field_elements(&physics_fields[PHYSICS_DYT], &grid), 6);
    assert_true(physics_field_elements(&physics_fields[PHYSICS_SALT], &huge) == SIZE_MAX);
    assert_int_equal(physics_element_bytes(PHYSICS_REAL, PHYSICS_FLOAT64), 8);
    assert_int_equal(physics_element_bytes(PHYSICS_REAL, PHYSICS_FLOAT32), 4);
    assert_int_equal(physics_element_bytes(PHYSICS_MASK, PHYSICS_FLOAT32), 1);
    assert_int_equal(physics_element_bytes(PHYSICS_INDEX, PHYSICS_FLOAT64), 4);
    assert_string_equal(physics_precision_name(PHYSICS_FLOAT64), "float64");
    assert_string_equal(physics_precision_name(PHYSICS_FLOAT32), "float32");
}

static void axes_have_names(void **state)
{
    (void)state;
    for (int axis = 1; axis < PHYSICS_AXES; axis++) {
        assert_true(is_text(physics_axis_name((enum physics_axis)axis)));
        for (int other = 1; other < axis; other++)
            assert_string_not_equal(physics_axis_name((enum physics_axis)axis),
                                    physics_axis_name((enum physics_axis)other));
    }
}

/* ---- settings ---- */

static void settings_are_described(void **state)
{
    (void)state;
    struct physics_call call;
    physics_default_settings(&call);
    for (int id = 1; id < PHYSICS_SETTINGS; id++) {
        const struct physics_setting *setting = &physics_settings[id];
        assert_true(is_text(setting->name) && !strpbrk(setting->name, " ="));
        assert_true(is_text(setting->units) && is_text(setting->long_name));
        assert_true(setting->valid_min < setting->valid_max);
        assert_true(setting->value >= setting->valid_min && setting->value <= setting->valid_max);
        assert_true(!setting->whole || setting->value == floor(setting->value));
        assert_true(call.setting[id] == setting->value);
        for (int other = 1; other < id; other++)
            assert_string_not_equal(setting->name, physics_settings[other].name);
    }
}

/* ---- kernels ---- */

/* Ends within its room, knows only what there is, and names nothing twice. */
static size_t checked_list(const int *ids, size_t room, int end)
{
    size_t count = 0;
    for (; count < room && ids[count]; count++) {
        assert_in_range(ids[count], 1, end - 1);
        for (size_t other = 0; other < count; other++)
            assert_int_not_equal(ids[count], ids[other]);
    }
    assert_true(count < room);
    return count;
}

static size_t fields_in(const enum physics_field_id *list)
{
    int ids[PHYSICS_MAX_FIELDS];
    for (size_t i = 0; i < PHYSICS_MAX_FIELDS; i++)
        ids[i] = (int)list[i];
    return checked_list(ids, PHYSICS_MAX_FIELDS, PHYSICS_FIELDS);
}

static size_t settings_in(const enum physics_setting_id *list)
{
    int ids[PHYSICS_SETTINGS];
    for (size_t i = 0; i < PHYSICS_SETTINGS; i++)
        ids[i] = (int)list[i];
    return checked_list(ids, PHYSICS_SETTINGS, PHYSICS_SETTINGS);
}

static void kernels_are_described(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct physics_kernel *kernel = table(); kernel->name; kernel++, count++) {
        assert_true(is_text(kernel->name) && !strpbrk(kernel->name, " ,:"));
        assert_string_not_equal(kernel->name, "all"); /* what the command line says for every one */
        assert_true(is_text(kernel->summary) && is_text(kernel->source));
        assert_true(fields_in(kernel->inputs) > 0);
        assert_true(fields_in(kernel->outputs) > 0);
        settings_in(kernel->settings);
        assert_true(kernel->run != NULL);
        for (const struct physics_kernel *other = table(); other < kernel; other++)
            assert_string_not_equal(kernel->name, other->name);
        for (const enum physics_field_id *id = kernel->outputs; *id; id++)
            assert_int_equal(physics_fields[*id].type, PHYSICS_REAL);
    }
    assert_true(count > 0);
}

static void kernels_cost_something(void **state)
{
    (void)state;
    const struct physics_grid grid = {100, 90, 80};
    for (const struct physics_kernel *kernel = table(); kernel->name; kernel++) {
        assert_true(kernel->flops > 0);
        const double bytes = physics_kernel_bytes(kernel, &grid, PHYSICS_FLOAT64);
        /* an ocean's kernel writes a number for each point; a product of matrices does not */
        assert_true(bytes > (kernel->calibration ? 0 : 8 * (double)physics_grid_points(&grid)));
        assert_true(physics_kernel_bytes(kernel, &grid, PHYSICS_FLOAT32) < bytes);
    }
}

/* A field that a mask makes valid is checked by that mask, which has to be there. */
static void kernels_read_the_masks_of_their_fields(void **state)
{
    (void)state;
    for (const struct physics_kernel *kernel = table(); kernel->name; kernel++)
        for (const enum physics_field_id *id = kernel->inputs; *id; id++) {
            const enum physics_field_id wet = physics_fields[*id].wet;
            bool found = !wet;
            for (const enum physics_field_id *other = kernel->inputs; *other; other++)
                found = found || *other == wet;
            assert_true(found);
        }
}

static void tables_of_precisions_agree(void **state)
{
    (void)state;
    const struct physics_kernel *wide = table();
    const struct physics_kernel *narrow = physics_host_kernels(PHYSICS_FLOAT32);
    for (; wide->name && narrow->name; wide++, narrow++) {
        assert_memory_equal(wide->inputs, narrow->inputs, sizeof(wide->inputs));
        assert_memory_equal(wide->outputs, narrow->outputs, sizeof(wide->outputs));
        assert_memory_equal(wide->settings, narrow->settings, sizeof(wide->settings));
        assert_string_equal(wide->name, narrow->name);
        assert_string_equal(wide->summary, narrow->summary);
        assert_string_equal(wide->source, narrow->source);
        assert_true(wide->flops == narrow->flops);
        assert_ptr_not_equal(wide->run, narrow->run);
        assert_ptr_equal(physics_find_kernel(table(), wide->name), wide);
    }
    assert_true(!wide->name && !narrow->name);
    assert_null(physics_find_kernel(table(), "no kernel"));
    assert_null(physics_find_kernel(table(), ""));
}

/* ---- runs ---- */

static int runs;

static void count_runs(const struct physics_call *call)
{
    (void)call;
    runs++;
}

/* A kernel of the table that counts instead of computing, and a call that it accepts. */
static struct physics_kernel counting(const struct physics_kernel *kernel,
                                      struct physics_call *call)
{
    static double array[1];
    struct physics_kernel copy = *kernel;
    copy.run = count_runs;
    *call = (struct physics_call){.grid = {PHYSICS_MIN_CELLS, PHYSICS_MIN_CELLS, 1}};
    for (const enum physics_field_id *id = kernel->inputs; *id; id++)
        call->input[*id] = array;
    for (const enum physics_field_id *id = kernel->outputs; *id; id++)
        call->output[*id] = array;
    runs = 0;
    return copy;
}

static void run_accepts_what_is_whole(void **state)
{
    (void)state;
    for (const struct physics_kernel *kernel = table(); kernel->name; kernel++) {
        struct physics_call call;
        const struct physics_kernel copy = counting(kernel, &call);
        assert_int_equal(physics_run(&copy, &call), PHYSICS_DONE);
        assert_int_equal(runs, 1);
    }
}

static void run_refuses_no_kernel(void **state)
{
    (void)state;
    struct physics_call call;
    counting(table(), &call);
    assert_int_equal(physics_run(NULL, &call), PHYSICS_USAGE);
    assert_int_equal(physics_run(physics_find_kernel(table(), "eso"), &call), PHYSICS_USAGE);
}

static void run_refuses_missing_arrays(void **state)
{
    (void)state;
    for (const struct physics_kernel *kernel = table(); kernel->name; kernel++) {
        struct physics_call call;
        for (const enum physics_field_id *id = kernel->inputs; *id; id++) {
            const struct physics_kernel copy = counting(kernel, &call);
            call.input[*id] = NULL;
            assert_int_equal(physics_run(&copy, &call), PHYSICS_USAGE);
            assert_int_equal(runs, 0);
        }
        for (const enum physics_field_id *id = kernel->outputs; *id; id++) {
            const struct physics_kernel copy = counting(kernel, &call);
            call.output[*id] = NULL;
            assert_int_equal(physics_run(&copy, &call), PHYSICS_USAGE);
            assert_int_equal(runs, 0);
        }
    }
}

static void run_refuses_unusable_grids(void **state)
{
    (void)state;
    const struct physics_grid grids[] = {
        {0, 0, 0},
        {4, 5, 1},
        {5, 4, 1},
        {5, 5, 0},
        {0, 9, 9},
        {9, 0, 9},
        {9, 9, 0},
        {PHYSICS_MAX_CELLS + (size_t)1, 5, 1},
        {5, PHYSICS_MAX_CELLS + (size_t)1, 1},
        {5, 5, PHYSICS_MAX_CELLS + (size_t)1},
        {SIZE_MAX, 5, 1},
        {5, SIZE_MAX, 1},
        {(size_t)1 << 32, (size_t)1 << 32, 1}, /* 2^64: the product is 0 */
        {(size_t)1 << 22, (size_t)1 << 21, (size_t)1 << 21},
        {(size_t)1 << 20, (size_t)1 << 20, (size_t)1 << 20}, /* 2^63 bytes */
    };
    for (const struct physics_kernel *kernel = table(); kernel->name; kernel++)
        for (size_t i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
            struct physics_call call;
            const struct physics_kernel copy = counting(kernel, &call);
            call.grid = grids[i];
            assert_int_equal(physics_run(&copy, &call), PHYSICS_USAGE);
            assert_int_equal(runs, 0);
        }
}

/* Along each axis, of as few points as that leaves. */
static void run_accepts_the_longest_grids(void **state)
{
    (void)state;
    const struct physics_grid grids[] = {
        {PHYSICS_MAX_CELLS, PHYSICS_MIN_CELLS, 1},
        {PHYSICS_MIN_CELLS, PHYSICS_MAX_CELLS, 1},
        {PHYSICS_MIN_CELLS, PHYSICS_MIN_CELLS, PHYSICS_MAX_CELLS},
    };
    for (size_t i = 0; i < sizeof(grids) / sizeof(*grids); i++) {
        struct physics_call call;
        const struct physics_kernel copy = counting(table(), &call);
        call.grid = grids[i];
        assert_int_equal(physics_run(&copy, &call), PHYSICS_DONE);
        assert_int_equal(runs, 1);
    }
}

/* The smallest grid: kernels run on it for real, on zeros and ones. */
static void kernels_run_on_the_smallest_grid(void **state)
{
    (void)state;
    const struct physics_grid grid = {PHYSICS_MIN_CELLS, PHYSICS_MIN_CELLS, 1};
    for (int precision = 0; precision < PHYSICS_PRECISIONS; precision++)
        for (const struct physics_kernel *kernel =
                 physics_host_kernels((enum physics_precision)precision);
             kernel->name; kernel++) {
            void *arrays[2 * PHYSICS_MAX_FIELDS];
            size_t count = 0;
            struct physics_call call = {.grid = grid};
            physics_default_settings(&call);
            for (const enum physics_field_id *id = kernel->inputs; *id; id++) {
                const size_t elements = physics_field_elements(&physics_fields[*id], &grid);
                arrays[count] = calloc(elements, sizeof(double));
                for (size_t i = 0; i < elements; i++) {
                    if (physics_fields[*id].type == PHYSICS_MASK)
                        ((uint8_t *)arrays[count])[i] = 1;
                    else if (physics_fields[*id].type == PHYSICS_INDEX)
                        ((int32_t *)arrays[count])[i] = 1;
                    else if (precision == PHYSICS_FLOAT64)
                        ((double *)arrays[count])[i] = 1;
                    else
                        ((float *)arrays[count])[i] = 1;
                }
                call.input[*id] = arrays[count++];
            }
            for (const enum physics_field_id *id = kernel->outputs; *id; id++) {
                arrays[count] =
                    malloc(physics_field_elements(&physics_fields[*id], &grid) *
                           physics_element_bytes(PHYSICS_REAL, (enum physics_precision)precision));
                call.output[*id] = arrays[count++];
            }
            assert_int_equal(physics_run(kernel, &call), PHYSICS_DONE);
            while (count > 0)
                free(arrays[--count]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_described),
        cmocka_unit_test(axes_are_slowest_first),
        cmocka_unit_test(ranges_are_ranges),
        cmocka_unit_test(fields_refer_to_fields_that_fit),
        cmocka_unit_test(sizes_of_fields),
        cmocka_unit_test(axes_have_names),
        cmocka_unit_test(settings_are_described),
        cmocka_unit_test(kernels_are_described),
        cmocka_unit_test(kernels_cost_something),
        cmocka_unit_test(kernels_read_the_masks_of_their_fields),
        cmocka_unit_test(tables_of_precisions_agree),
        cmocka_unit_test(run_accepts_what_is_whole),
        cmocka_unit_test(run_refuses_no_kernel),
        cmocka_unit_test(run_refuses_missing_arrays),
        cmocka_unit_test(run_refuses_unusable_grids),
        cmocka_unit_test(run_accepts_the_longest_grids),
        cmocka_unit_test(kernels_run_on_the_smallest_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
