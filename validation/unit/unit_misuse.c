/*
 * Calls of the public headers that are wrong: NULL, such as what a failed look-up returned, and
 * extreme numbers and texts. Each is answered; none may crash, hang or read what is not there.
 */
#include "invented.h"
#include "on_device.h"

#include <float.h>
#include <unistd.h>

static const struct miniapp_grid grid = {9, 8, 5};
static double many[4 * 9 * 8 * 5];

static void assert_usage(enum miniapp_status status)
{
    assert_int_equal(status, MINIAPP_USAGE);
    assert_int_equal(miniapp_last_failure(), MINIAPP_USAGE);
}

/* ---- NULL ---- */

TEST(the_tables_answer_null)
{
    double factor = 1, least = 1, most = 1;
    assert_null(miniapp_field_find(NULL));
    assert_null(miniapp_field_name(NULL));
    assert_null(miniapp_field_units(NULL));
    assert_null(miniapp_field_long_name(NULL));
    assert_null(miniapp_field_standard_name(NULL));
    assert_int_equal(miniapp_field_type(NULL), MINIAPP_REAL);
    assert_false(miniapp_field_is_optional(NULL) || miniapp_field_is_extended(NULL) ||
                 miniapp_field_is_flow(NULL) || miniapp_field_has_wall(NULL));
    assert_null(miniapp_field_wet(NULL));
    assert_null(miniapp_field_stand_in(NULL, &factor));
    miniapp_field_range(NULL, &least, &most);
    assert_true(factor == 0 && least == 0 && most == 0);
    assert_int_equal(miniapp_field_rank(NULL), 0);
    assert_int_equal(miniapp_field_axis(NULL, 0), MINIAPP_NO_AXIS);
    assert_int_equal(miniapp_field_elements(NULL, &grid), 0);
    assert_int_equal(miniapp_field_elements(miniapp_field_find("temp"), NULL), 0);
    assert_null(miniapp_setting_find(NULL));
    assert_null(miniapp_setting_name(NULL));
    assert_null(miniapp_setting_units(NULL));
    assert_null(miniapp_setting_long_name(NULL));
    assert_true(miniapp_setting_default(NULL) == 0 && !miniapp_setting_is_whole(NULL));
    miniapp_setting_range(NULL, &least, &most);
    assert_int_equal(miniapp_grid_points(NULL), 0);
    assert_int_equal(miniapp_grid_with_ghosts(NULL).nx, 2 * MINIAPP_HALO);
    (void)miniapp_grid_interior(NULL);
    assert_int_equal(miniapp_axis_length(MINIAPP_X, NULL), 0);
    assert_string_equal(miniapp_axis_name((enum miniapp_axis)17), "");
}

TEST(kernels_and_sequences_answer_null)
{
    const struct miniapp_kernel *const eos = miniapp_kernel_find("eos");
    const struct miniapp_field *const temp = miniapp_field_find("temp");
    const struct miniapp_sequence *const sequence = sequence_of("eos"), *found = sequence;
    assert_null(miniapp_kernel_find(NULL));
    assert_null(miniapp_kernel_name(NULL));
    assert_null(miniapp_kernel_summary(NULL));
    assert_null(miniapp_kernel_citation(NULL));
    assert_null(miniapp_kernel_subject(NULL));
    assert_int_equal(miniapp_kernel_argument_count(NULL), 0);
    assert_int_equal(miniapp_kernel_setting_count(NULL), 0);
    const struct miniapp_kernel *const both[] = {NULL, eos};
    for (size_t i = 0; i < 2; i++) { /* an index beyond the last */
        assert_null(miniapp_argument_name(both[i], 1000));
        assert_null(miniapp_argument_field(both[i], 1000));
        assert_int_equal(miniapp_argument_access(both[i], 1000), MINIAPP_READ);
        assert_int_equal(miniapp_argument_ghosts(both[i], 1000, MINIAPP_WEST), 0);
        assert_null(miniapp_kernel_setting(both[i], 1000));
    }
    assert_int_equal(miniapp_argument_ghosts(eos, 0, (enum miniapp_side)17), 0);
    assert_usage(miniapp_sequence_find(NULL, &found));
    assert_null(found);
    assert_usage(miniapp_sequence_find("eos", NULL));
    assert_null(miniapp_sequence_name(NULL));
    assert_null(miniapp_sequence_summary(NULL));
    assert_int_equal(miniapp_sequence_step_count(NULL), 0);
    assert_null(miniapp_sequence_kernel(NULL, 0));
    assert_null(miniapp_sequence_kernel(sequence, 1000));
    assert_null(miniapp_sequence_field(NULL, 0, 0));
    assert_null(miniapp_sequence_field(sequence, 0, 1000));
    assert_false(miniapp_sequence_reads(NULL, temp) || miniapp_sequence_reads(sequence, NULL));
    assert_false(miniapp_sequence_writes(NULL, temp) || miniapp_sequence_writes(sequence, NULL));
}

TEST(devices_answer_null)
{
    struct miniapp_device *opened = device;
    assert_usage(miniapp_device_open(NULL, &opened));
    assert_null(opened);
    assert_usage(miniapp_device_open("cpu", NULL));
    assert_null(miniapp_device_label(NULL));
    assert_null(miniapp_device_kind(NULL));
    assert_null(miniapp_device_name(NULL));
    miniapp_device_close(NULL);
    const int threads = miniapp_host_threads();
    assert_usage(miniapp_host_set_threads(-5));
    assert_usage(miniapp_host_set_threads(1000000000));
    assert_int_equal(miniapp_host_threads(), threads);
}

TEST(no_state_is_created_of_null)
{
    struct miniapp_state *state = (struct miniapp_state *)many;
    assert_usage(miniapp_state_create(NULL, MINIAPP_FLOAT64, &grid, &state));
    assert_null(state);
    assert_usage(miniapp_state_create(device, MINIAPP_FLOAT64, NULL, &state));
    assert_usage(miniapp_state_create(device, MINIAPP_FLOAT64, &grid, NULL));
    assert_usage(miniapp_state_create(device, (enum miniapp_precision)17, &grid, &state));
    assert_usage(miniapp_state_create(device, (enum miniapp_precision) - 1, &grid, &state));
    miniapp_state_free(NULL);
}

/* One of the two is NULL. */
static void refuse(struct miniapp_state *state, const char *name)
{
    const char *const names[] = {name, "salt"};
    assert_usage(miniapp_state_set_setting(state, name, 1));
    assert_usage(miniapp_state_set(state, name, many));
    assert_usage(miniapp_state_get(state, name, many));
    assert_usage(miniapp_state_get_interior(state, name, many));
    assert_null(miniapp_state_read(state, name));
    assert_null(miniapp_state_write(state, name));
    assert_usage(miniapp_state_add(state, name, "temp"));
    assert_usage(miniapp_state_add(state, "dye", name));
    assert_false(miniapp_state_has(state, name));
    assert_usage(miniapp_state_rotate(state, names, 2));
    assert_usage(miniapp_state_exchange(state, name));
    assert_usage(miniapp_run(state, state ? name : "eos"));
}

TEST(states_answer_null)
{
    OWN_STATE state = state_on(device, MINIAPP_FLOAT64, grid);
    refuse(state, NULL);
    refuse(NULL, "temp");
    assert_usage(miniapp_state_set(state, "temp", NULL));
    set_invented(state, "temp", "temp");
    assert_usage(miniapp_state_get(state, "temp", NULL));
    assert_usage(miniapp_state_get_interior(state, "temp", NULL));
    assert_usage(miniapp_state_rotate(state, NULL, 2));
    assert_usage(miniapp_state_place(state, NULL, 0, 0));
    assert_usage(miniapp_state_place(NULL, &grid, 0, 0));
    miniapp_state_set_cyclic(NULL, true);
    miniapp_state_set_checks(NULL, true);
    assert_null(miniapp_state_device(NULL));
    assert_int_equal(miniapp_state_precision(NULL), MINIAPP_FLOAT64);
    assert_int_equal(miniapp_state_grid(NULL).nx, 0);
    assert_true(miniapp_state_bytes(NULL) == 0);
}

TEST(plans_answer_null)
{
    OWN_STATE state = state_on(device, MINIAPP_FLOAT64, grid);
    struct miniapp_plan *plan = (struct miniapp_plan *)many;
    assert_usage(miniapp_plan_create(state, NULL, NULL, &plan));
    assert_null(plan);
    assert_usage(miniapp_plan_create(NULL, sequence_of("eos"), NULL, &plan));
    assert_usage(miniapp_plan_create(state, sequence_of("eos"), NULL, NULL));
    assert_usage(miniapp_plan_run(NULL));
    assert_usage(miniapp_plan_advance(NULL));
    miniapp_plan_restart(NULL);
    miniapp_plan_free(NULL);
}

TEST(outputs_refuse_lengths_that_no_grid_has)
{
    char path[] = "/tmp/misuse.XXXXXX";
    const struct miniapp_grid odd[] = {{0, 9, 5},        {9, 0, 5},         {9, 9, 0},
                                       {SIZE_MAX, 9, 5}, {1UL << 31, 9, 5}, {1 << 30, 1 << 30, 9}};
    struct miniapp_output *output;
    close(mkstemp(path));
    assert_done(miniapp_output_open(path, NULL, 0, &output));
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++)
        assert_usage(miniapp_output_write(output, NULL, miniapp_field_find("temp"), &odd[i],
                                          MINIAPP_FLOAT64, many));
    miniapp_output_discard(output);
    unlink(path);
}

TEST(files_answer_null)
{
    char path[] = "/tmp/misuse.XXXXXX";
    const struct miniapp_field *const temp = miniapp_field_find("temp");
    const struct miniapp_field *const wanted[] = {temp, miniapp_field_find("tempp")};
    struct miniapp_input *input = (struct miniapp_input *)many;
    struct miniapp_output *output = (struct miniapp_output *)many;
    close(mkstemp(path));
    assert_usage(miniapp_input_open(path, wanted, 2, NULL, &input));
    assert_null(input);
    assert_usage(miniapp_input_open(NULL, wanted, 1, NULL, &input));
    assert_usage(miniapp_input_open(path, NULL, 1, NULL, &input));
    assert_usage(miniapp_input_open(path, wanted, 1, NULL, NULL));
    miniapp_input_options_allow(NULL, MINIAPP_ALLOW_INVALID);
    miniapp_input_options_free(NULL);
    assert_int_equal(miniapp_input_grid(NULL).nx, 0);
    miniapp_input_close(NULL);
    assert_usage(miniapp_state_load(NULL, NULL));
    assert_usage(miniapp_output_open(NULL, NULL, 0, &output));
    assert_null(output);
    assert_usage(miniapp_output_open(path, NULL, 1, &output));
    assert_usage(miniapp_output_open(path, NULL, 0, NULL));
    assert_done(miniapp_output_open(path, NULL, 0, &output));
    assert_usage(miniapp_output_write(output, NULL, wanted[1], &grid, MINIAPP_FLOAT64, many));
    assert_usage(miniapp_output_write(output, NULL, temp, NULL, MINIAPP_FLOAT64, many));
    assert_usage(miniapp_output_write(output, NULL, temp, &grid, MINIAPP_FLOAT64, NULL));
    assert_usage(miniapp_output_write(NULL, NULL, temp, &grid, MINIAPP_FLOAT64, many));
    assert_usage(miniapp_output_write(output, NULL, temp, &grid, (enum miniapp_precision)17, many));
    assert_usage(miniapp_output_attribute(output, NULL, "text"));
    assert_usage(miniapp_output_attribute(output, "name", NULL));
    assert_usage(miniapp_output_attribute(NULL, "name", "text"));
    assert_usage(miniapp_output_finish(NULL));
    miniapp_output_discard(NULL);
    assert_done(miniapp_output_finish(output)); /* as if nothing had been */
    unlink(path);
}

/* ---- texts ---- */

TEST(bindings_are_bindings)
{
    static const char *const bad[] = {"temp",           "temp=",           "=temp",
                                      "temp=salt,",     ",temp=salt",      "temp=salt,,p=p",
                                      "temp=salt salt", "temp=a,temp=b",   "temp=salt,temp=salt",
                                      "temp==salt",     "temp=salt,salt=", "temp=salt, ,salt=temp"};
    static const char *const good[] = {"", "salt=temp,temp=salt", " salt=temp, temp=salt "};
    OWN_STATE state = state_on(device, MINIAPP_FLOAT64, grid);
    struct miniapp_plan *plan;
    assert_done(miniapp_state_add(state, "a", "temp"));
    assert_done(miniapp_state_add(state, "b", "temp"));
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const struct miniapp_sequence *sequence;
        char text[80] = "eos:";
        assert_usage(miniapp_plan_create(state, sequence_of("eos"), bad[i], &plan));
        assert_usage(miniapp_sequence_find(strcat(text, bad[i]), &sequence));
    }
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_int_equal(miniapp_plan_create(state, sequence_of("eos"), good[i], &plan), 0);
        miniapp_plan_free(plan);
    }
}

/* The same numbers in every run. */
static size_t below(size_t end)
{
    static uint64_t last = 37;
    last = last * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(last >> 33) % end;
}

TEST(any_text_has_an_answer)
{
    static const char *const words[] = {"eos", ":",    "+",  "=",      ",",       " ",
                                        "dye", "temp", "zt", "triad",  "salt",    "b",
                                        "%s",  "\n",   "é",  "\x1b[m", "maskT",   "ocean_step",
                                        "",    "kbot", "w",  "dHdT",   "isolate", "tracer_step"};
    OWN_STATE state = state_on(device, MINIAPP_FLOAT32, grid);
    for (int i = 0; i < 20000; i++) {
        const struct miniapp_sequence *sequence;
        struct miniapp_plan *plan;
        char text[256] = "";
        for (size_t word = below(8); word > 0; word--)
            strcat(text, words[below(sizeof(words) / sizeof(*words))]);
        const enum miniapp_status found = miniapp_sequence_find(text, &sequence);
        assert_true(found == MINIAPP_USAGE || (found == MINIAPP_DONE && sequence));
        const enum miniapp_status made =
            miniapp_plan_create(state, sequence_of("eos"), text, &plan);
        assert_true(made == MINIAPP_USAGE || (made == MINIAPP_DONE && plan));
        miniapp_plan_free(plan);
    }
    char *const longest = memset(calloc(1, 1 << 20), '%', (1 << 20) - 1);
    assert_usage(miniapp_run(state, longest));
    assert_usage(miniapp_state_set(state, longest, many));
    assert_usage(
        miniapp_plan_create(state, sequence_of("eos"), longest, &(struct miniapp_plan *){0}));
    free(longest);
}

/* ---- numbers ---- */

TEST(no_index_is_beyond_the_levels)
{
    static const double bad[] = {6, 1000, 1e9, 2147483647, 1e300, -1, 2.5, NAN, INFINITY};
    OWN_STATE state = state_on(device, MINIAPP_FLOAT64, grid);
    double kbot[9 * 8] = {0};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        kbot[70] = bad[i];
        assert_int_equal(miniapp_state_set(state, "kbot", kbot), MINIAPP_INPUT);
    }
    kbot[70] = 5; /* the levels of the grid */
    assert_done(miniapp_state_set(state, "kbot", kbot));
}

TEST(numbers_fit_the_precision)
{
    OWN_STATE state = state_on(device, MINIAPP_FLOAT32, grid);
    const double heights[] = {1, 1, 1e-300, 1, 1}; /* 0 in float32, by which kernels would divide */
    assert_int_equal(miniapp_state_set(state, "dzt", heights), MINIAPP_INPUT);
    set_inputs(state, sequence_of("tracer_mixing"));
    assert_usage(miniapp_state_set_setting(state, "dt_tracer", NAN));
    assert_done(miniapp_state_set_setting(state, "dt_tracer", 1e-300));
    assert_usage(miniapp_run(state, "tracer_mixing"));
}

/* Each kernel, on fields of numbers that no ocean has. */
TEST(extreme_fields_end_no_process)
{
    static const double values[] = {0,      1,        -1,  1e9,  1e300, -1e300,
                                    1e-300, INFINITY, NAN, 1e38, 35,    5};
    enum { VALUES = sizeof(values) / sizeof(*values) };
    for (int round = 0; round < 6; round++) {
        OWN_STATE state = state_on(device, round % 2, grid);
        for (size_t f = 0; f < miniapp_field_count(); f++) {
            const struct miniapp_field *const field = miniapp_field_at(f);
            const size_t elements = miniapp_field_elements(field, &grid);
            for (size_t i = 0; i < elements && i < sizeof(many) / sizeof(*many); i++)
                many[i] = values[below(VALUES)];
            const enum miniapp_status status =
                miniapp_state_set(state, miniapp_field_name(field), many);
            assert_true(status == MINIAPP_DONE || status == MINIAPP_INPUT);
            if (status)
                set_invented(state, miniapp_field_name(field), miniapp_field_name(field));
        }
        for (size_t k = 0; k < miniapp_kernel_count(); k++) {
            const enum miniapp_status status =
                miniapp_run(state, miniapp_kernel_name(miniapp_kernel_at(k)));
            assert_true(status == MINIAPP_DONE || status == MINIAPP_USAGE);
        }
    }
}

RUN_TESTS(open_device, close_device)
