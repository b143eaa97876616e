/*
 * Sequences and plans on the device that the argument names: what is found by a text, what a
 * sequence does and costs, and what running it comes to.
 */
#include "device.h"
#include "invented.h"
#include "on_device.h"
#include "state.h"

#include <pthread.h>

static const struct miniapp_grid grid = {11, 9, 7};

static const struct miniapp_field *field_of(const char *name)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    assert_non_null(field);
    return field;
}

/* Whether two states hold the same bits. */
static void assert_same(struct miniapp_state *a, const char *name, struct miniapp_state *b,
                        const char *other, const char *like)
{
    const struct miniapp_grid of = miniapp_state_grid(a);
    OWN_VALUES x = values_of(a, name, like), *const y = values_of(b, other, like);
    assert_memory_equal(x, y, miniapp_field_elements(field_of(like), &of) * sizeof(*x));
}

/* ---- the table ---- */

TEST(the_table)
{
    assert_true(miniapp_sequence_count() >= miniapp_kernel_count());
    assert_null(miniapp_sequence_at(miniapp_sequence_count()));
    for (size_t place = 0; place < miniapp_sequence_count(); place++) {
        const struct miniapp_sequence *const sequence = miniapp_sequence_at(place);
        const char *const name = miniapp_sequence_name(sequence);
        assert_done(miniapp_last_failure()); /* of the bindings in it */
        assert_ptr_equal(sequence_of(name), sequence);
        assert_true(miniapp_sequence_summary(sequence)[0] != '\0');
        assert_true(miniapp_sequence_subject(sequence)[0] != '\0');
        assert_true(miniapp_sequence_step_count(sequence) > 0);
        for (size_t other = 0; other < place; other++)
            assert_string_not_equal(name, miniapp_sequence_name(miniapp_sequence_at(other)));
        if (place >= miniapp_kernel_count())
            continue;
        const struct miniapp_kernel *const kernel = miniapp_kernel_at(place);
        assert_string_equal(name, miniapp_kernel_name(kernel));
        assert_int_equal(miniapp_sequence_step_count(sequence), 1);
        assert_ptr_equal(miniapp_sequence_kernel(sequence, 0), kernel);
        for (size_t i = 0; i < miniapp_kernel_argument_count(kernel); i++)
            assert_ptr_equal(miniapp_sequence_field(sequence, 0, i),
                             miniapp_argument_field(kernel, i));
    }
}

/* ---- finding ---- */

/* The fields of triad's arguments b, c and a. */
static void assert_bound(const char *text, const char *b, const char *c, const char *a)
{
    const struct miniapp_sequence *const sequence = sequence_of(text);
    assert_string_equal(miniapp_sequence_name(sequence), text);
    assert_ptr_equal(sequence_of(text), sequence);
    assert_ptr_equal(miniapp_sequence_kernel(sequence, 0), miniapp_kernel_find("triad"));
    assert_ptr_equal(miniapp_sequence_field(sequence, 0, 0), field_of(b));
    assert_ptr_equal(miniapp_sequence_field(sequence, 0, 1), field_of(c));
    assert_ptr_equal(miniapp_sequence_field(sequence, 0, 2), field_of(a));
}

TEST(bindings)
{
    assert_bound("triad", "salt", "temp", "triad");
    assert_bound("triad:salt=temp", "temp", "temp", "triad"); /* by the field */
    assert_bound("triad:b=temp", "temp", "temp", "triad");    /* by the argument */
    assert_bound("triad:salt=temp,temp=salt", "temp", "salt", "triad");
    assert_bound("triad:b=tke, c=forc, a=dtke", "tke", "forc", "dtke");
    assert_bound("triad", "salt", "temp", "triad"); /* the table's own is as it was */
}

/* In all steps of a sequence. */
TEST(bindings_of_several_steps)
{
    const struct miniapp_sequence *const plain = sequence_of("mixing");
    const struct miniapp_sequence *const bound = sequence_of("mixing:salt=forc");
    size_t changed = 0;
    assert_int_equal(miniapp_sequence_step_count(bound), miniapp_sequence_step_count(plain));
    for (size_t s = 0; s < miniapp_sequence_step_count(plain); s++)
        for (size_t i = 0; i < miniapp_kernel_argument_count(miniapp_sequence_kernel(plain, s));
             i++) {
            const struct miniapp_field *const before = miniapp_sequence_field(plain, s, i);
            const struct miniapp_field *const after = miniapp_sequence_field(bound, s, i);
            const bool is_salt = before == field_of("salt");
            assert_ptr_equal(after, is_salt ? field_of("forc") : before);
            changed += is_salt;
        }
    assert_int_equal(changed, 2); /* of eos and isoneutral */
}

TEST(wrong_bindings)
{
    const char *const shape = "'b' of kernel 'triad' cannot be '%s': it has other axes or another "
                              "type than 'salt'";
    char of_index[128], of_column[128], of_mask[128], text[200], name[100];
    snprintf(of_index, sizeof(of_index), shape, "kbot");
    snprintf(of_column, sizeof(of_column), shape, "p");
    snprintf(of_mask, sizeof(of_mask), shape, "maskT");
    const char *const wrong[][2] = {
        {"triad:", "kernels are NAME or NAME:ARGUMENT=FIELD,..., not 'triad:'"},
        {"triad: ,", "kernels are NAME or NAME:ARGUMENT=FIELD,..., not 'triad: ,'"},
        {":salt=temp", "kernels are NAME or NAME:ARGUMENT=FIELD,..., not ':salt=temp'"},
        {"triad:salt", "bindings are ARGUMENT=FIELD, ..., not 'salt'"},
        {"triad:salt=", "bindings are ARGUMENT=FIELD, ..., not 'salt='"},
        {"triad:=temp", "bindings are ARGUMENT=FIELD, ..., not '=temp'"},
        {"triad:b=temp,c", "bindings are ARGUMENT=FIELD, ..., not 'c'"},
        {"triad:b=temp,", "bindings are ARGUMENT=FIELD, ..., not 'b=temp,'"},
        {"triad:,b=temp", "bindings are ARGUMENT=FIELD, ..., not ',b=temp'"},
        {"triad:b=temp c=temp", "bindings are ARGUMENT=FIELD, ..., not 'b=temp c=temp'"},
        {"triad:b=temp,b=tke", "'b' is bound twice"},
        {"triad:b=temp,salt=tke", "'salt' is bound twice"},
        {"triad:b=tmep", "unknown field 'tmep'; the closest is 'temp'"},
        {"triad:b=a=c", "unknown field 'a=c'"},
        {"triad:tke=temp", "'triad' has no argument 'tke'"},
        {"triad:b=temp,tke=temp", "'triad' has no argument 'tke'"},
        {"mixing:sample=temp", "'mixing' has no argument 'sample'"},
        {"triad:b=kbot", of_index},
        {"triad:b=p", of_column},
        {"triad:b=maskT", of_mask},
        {"tirad:b=temp", "unknown kernel 'tirad'; the closest is 'triad'"},
        {"mixin", "unknown kernel 'mixin'; the closest is 'mixing'"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        for (int again = 0; again < 2; again++) { /* it is not known the second time */
            const struct miniapp_sequence *none = (const struct miniapp_sequence *)&none;
            assert_refused(miniapp_sequence_find(wrong[i][0], &none), MINIAPP_USAGE, wrong[i][1]);
            assert_null(none);
        }
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    const char *const too_long[] = {"%s:b=temp", "triad:%s=temp", "triad:b=%s"};
    for (size_t i = 0; i < 3; i++) {
        const struct miniapp_sequence *none;
        snprintf(text, sizeof(text), too_long[i], name);
        assert_int_equal(miniapp_sequence_find(text, &none), MINIAPP_USAGE);
        assert_null(none);
    }
}

/* ---- what it does and costs ---- */

TEST(reads_and_writes)
{
    const struct miniapp_sequence *const mixing = sequence_of("mixing");
    const char *const read_only[] = {"salt", "temp", "p", "zt", "maskW", "kbot", "tke"};
    const char *const written_only[] = {"dHdT", "K_11", "K_33", "Ai_by", "dtke", "tke_surf_corr"};
    const char *const neither[] = {"sample", "fma", "triad", "factor_a"};
    for (size_t i = 0; i < sizeof(read_only) / sizeof(*read_only); i++)
        assert_true(miniapp_sequence_reads(mixing, field_of(read_only[i])) &&
                    !miniapp_sequence_writes(mixing, field_of(read_only[i])));
    for (size_t i = 0; i < sizeof(written_only) / sizeof(*written_only); i++)
        assert_true(!miniapp_sequence_reads(mixing, field_of(written_only[i])) &&
                    miniapp_sequence_writes(mixing, field_of(written_only[i])));
    for (size_t i = 0; i < sizeof(neither) / sizeof(*neither); i++)
        assert_false(miniapp_sequence_reads(mixing, field_of(neither[i])) ||
                     miniapp_sequence_writes(mixing, field_of(neither[i])));
    assert_true(miniapp_sequence_reads(mixing, field_of("tke_taup1")) &&
                miniapp_sequence_writes(mixing, field_of("tke_taup1")));
    const struct miniapp_sequence *const renamed = sequence_of("triad:b=tke,a=forc");
    assert_true(miniapp_sequence_reads(renamed, field_of("tke")));
    assert_false(miniapp_sequence_reads(renamed, field_of("salt")));
    assert_true(miniapp_sequence_writes(renamed, field_of("forc")));
    assert_false(miniapp_sequence_writes(renamed, field_of("triad")));
}

/* What one step writes and a later one reads need not be there before. */
TEST(reads_of_what_was_written)
{
    struct step steps[2] = {sequence_of("triad")->steps[0], sequence_of("fma")->steps[0]};
    const struct miniapp_sequence both = {"both", "test", "", 2, steps};
    steps[1].field[0] = FIELD_triad;
    assert_false(miniapp_sequence_reads(&both, field_of("triad")));
    assert_true(miniapp_sequence_writes(&both, field_of("triad")));
    assert_false(miniapp_sequence_reads(&both, field_of("sample")));
    steps[0].condition = (struct condition){IF_ON, SETTING_enable_eke};
    assert_true(miniapp_sequence_reads(&both, field_of("triad")));
    steps[1].condition = steps[0].condition;
    assert_false(miniapp_sequence_reads(&both, field_of("triad")));
    assert_true(miniapp_sequence_uses(&both, miniapp_setting_find("enable_eke")));
    steps[0].field[0] = FIELD_fma; /* read first, then written */
    assert_true(miniapp_sequence_reads(&both, field_of("fma")));
    assert_true(miniapp_sequence_writes(&both, field_of("fma")));
}

/* ---- tracers ---- */

TEST(steps_of_tracers)
{
    const struct miniapp_sequence *const base = sequence_of("ocean_step");
    const struct miniapp_sequence *const one = sequence_of("tracer_step");
    const struct miniapp_sequence *const both = sequence_of("ocean_step+dye+age");
    const size_t own = miniapp_sequence_step_count(one), count = miniapp_sequence_step_count(base);
    assert_string_equal(miniapp_sequence_name(both), "ocean_step+dye+age");
    assert_ptr_equal(sequence_of("ocean_step+dye+age"), both);
    assert_int_equal(miniapp_sequence_step_count(both), count + 1 + 2 * own);
    assert_ptr_equal(miniapp_sequence_kernel(both, count), miniapp_kernel_find("isoneutral"));
    for (size_t s = 0; s < own; s++) {
        const size_t of_dye = count + 1 + s, of_age = of_dye + own;
        assert_ptr_equal(miniapp_sequence_kernel(both, of_dye), miniapp_sequence_kernel(one, s));
        assert_ptr_equal(miniapp_sequence_kernel(both, of_age), miniapp_sequence_kernel(one, s));
    }
    assert_ptr_equal(miniapp_sequence_field(both, count + 1, 0), field_of("dye"));
    assert_ptr_equal(miniapp_sequence_field(both, count + 1 + own, 0), field_of("age"));
    assert_int_equal(miniapp_sequence_level_count(both), miniapp_sequence_level_count(base) + 4);
}

TEST(fields_of_tracers)
{
    const struct miniapp_sequence *const both = sequence_of("ocean_step+dye+age");
    const char *const names[] = {"age", "age_taup1", "dage", "dage_taum1", "forc_age_surface"};
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(field_of(names[i])->name, names[i]);
        assert_string_equal(miniapp_field_units(field_of(names[i])), "");
        assert_int_equal(miniapp_field_is_optional(field_of(names[i])), i > 0);
    }
    assert_string_equal(miniapp_field_long_name(field_of("age")), "age at time level tau");
    assert_true(miniapp_sequence_reads(both, field_of("age")));
    assert_false(miniapp_sequence_reads(both, field_of("age_taup1")));
    assert_true(miniapp_sequence_carries(both, field_of("dage_taum1")));
    assert_false(miniapp_sequence_carries(both, field_of("K_11")));
    assert_false(miniapp_sequence_reads(sequence_of("ocean_step+dye"), field_of("age")));
}

TEST(wrong_tracers)
{
    const struct miniapp_sequence *none;
    assert_refused(miniapp_sequence_find("ocean_step+temp", &none), MINIAPP_USAGE,
                   "a tracer cannot be 'temp': there is a field 'temp' already");
    assert_null(none);
    assert_refused(miniapp_sequence_find("ocean_step+ink+ink", &none), MINIAPP_USAGE,
                   "tracer 'ink' is given twice");
    assert_refused(miniapp_sequence_find("eos+ink", &none), MINIAPP_USAGE,
                   "tracers need a sequence with time levels, such as ocean_step; 'eos' has none");
    assert_refused(
        miniapp_sequence_find("ocean_step+", &none), MINIAPP_USAGE,
        "'' is no name of a tracer: it begins with a letter, has at most 40 letters, digits "
        "and _, and is no dimension of outputs");
}

TEST(settings_that_are_used)
{
    for (size_t place = 0; place < miniapp_sequence_count(); place++) {
        const struct miniapp_sequence *const sequence = miniapp_sequence_at(place);
        for (size_t id = 0; id < SETTINGS; id++) {
            const bool is_step = miniapp_sequence_level_count(sequence) > 0;
            bool used = is_step && id == SETTING_start_time;
            for (size_t s = 0; s < sequence->count; s++) { /* and what starts it */
                const struct condition condition = sequence->steps[s].condition;
                used = used || (condition.when != ALWAYS && condition.setting == id);
                const struct miniapp_kernel *const kernel = sequence->steps[s].kernel;
                for (size_t i = 0; i < miniapp_kernel_setting_count(kernel); i++)
                    used = used || miniapp_kernel_setting(kernel, i) == &settings[id];
            }
            assert_int_equal(miniapp_sequence_uses(sequence, &settings[id]), used);
        }
    }
    assert_true(miniapp_sequence_uses(sequence_of("mixing"), miniapp_setting_find("c_eps")));
    assert_false(miniapp_sequence_uses(sequence_of("eos"), miniapp_setting_find("c_eps")));
}

TEST(costs)
{
    struct miniapp_settings *const values = miniapp_settings_create();
    const double points = (double)miniapp_grid_points(&grid);
    const struct miniapp_sequence *const triad = sequence_of("triad");
    const struct miniapp_kernel *const fma = miniapp_kernel_find("fma");
    const struct miniapp_kernel *const isoneutral = miniapp_kernel_find("isoneutral");
    const double flops = miniapp_kernel_flops(isoneutral, &grid, values);
    assert_true(miniapp_kernel_flops(miniapp_kernel_find("triad"), &grid, values) == 2 * points);
    assert_true(miniapp_kernel_flops(fma, &grid, values) > 2 * points);
    assert_true(miniapp_sequence_moves(triad, &grid, MINIAPP_FLOAT64, values).bytes == 24 * points);
    assert_true(miniapp_sequence_moves(triad, &grid, MINIAPP_FLOAT32, values).bytes == 12 * points);
    /* by the settings: TEOS-10 in the slopes takes much more */
    assert_done(miniapp_settings_set(values, "eq_of_state_type", 5));
    assert_true(miniapp_kernel_flops(isoneutral, &grid, values) == flops + 517 * points);
    miniapp_settings_free(values);
}

/* A kernel that runs once, before the first step, does not count. */
TEST(bytes_of_sequences)
{
    static const char *const names[] = {"mixing", "ocean_step"};
    struct miniapp_settings *const values = miniapp_settings_create();
    for (size_t n = 0; n < 2; n++) {
        const struct miniapp_sequence *const sequence = sequence_of(names[n]);
        double bytes = 0;
        for (size_t s = 0; s < miniapp_sequence_step_count(sequence); s++)
            if (miniapp_sequence_runs(sequence, s, values))
                bytes += miniapp_kernel_moves(miniapp_sequence_kernel(sequence, s), &grid,
                                              MINIAPP_FLOAT32, values)
                             .bytes;
        assert_true(miniapp_sequence_moves(sequence, &grid, MINIAPP_FLOAT32, values).bytes ==
                    bytes);
    }
    miniapp_settings_free(values);
}

static enum extent touches_a_level_of_b(const double *setting, const char *argument)
{
    return strcmp(argument, "b") == 0 ? ONE_LEVEL_OF_IT : ALL_OF_IT;
}

/* An updated field moves twice, and b by a level. */
TEST(bytes_of_updates)
{
    struct miniapp_settings *const values = miniapp_settings_create();
    const struct argument arguments[] = {
        {"a", FIELD_salt, MINIAPP_UPDATE, MINIAPP_REAL, {0}},
        {"b", FIELD_maskT, MINIAPP_READ, MINIAPP_MASK, {0}},
        {"c", FIELD_kbot, MINIAPP_READ, MINIAPP_INDEX, {0}},
    };
    const struct miniapp_kernel kernel = {
        .arguments = arguments, .argument_count = 3, .touches = touches_a_level_of_b};
    const double columns = (double)(grid.nx * grid.ny), points = columns * (double)grid.nz;
    assert_true(miniapp_kernel_moves(&kernel, &grid, MINIAPP_FLOAT64, values).bytes ==
                16 * points + 5 * columns);
    assert_true(miniapp_kernel_moves(&kernel, &grid, MINIAPP_FLOAT32, values).bytes ==
                8 * points + 5 * columns);
    assert_true(miniapp_kernel_moves(&kernel, &grid, MINIAPP_FLOAT64, values).traffic ==
                16 * points + 5 * columns);
    miniapp_settings_free(values);
}

/* ---- plans ---- */

static struct miniapp_state *state_for(const char *sequence, enum miniapp_precision precision,
                                       bool cyclic)
{
    struct miniapp_state *const state = state_on(device, precision, grid);
    miniapp_state_set_cyclic(state, cyclic);
    assert_done(miniapp_state_set_setting(state, "dt_tracer", 0.1));
    assert_done(miniapp_state_set_setting(state, "dt_mom", 0.1));
    set_inputs(state, sequence_of(sequence));
    return state;
}

static void run_with(struct miniapp_state *state, const char *sequence, const char *names)
{
    struct miniapp_plan *plan;
    assert_done(miniapp_plan_create(state, sequence_of(sequence), names, &plan));
    assert_done(miniapp_plan_run(plan));
    miniapp_plan_free(plan);
}

/* Other fields of the state in the place of the table's: isoneutral mixing of two more tracers. */
TEST(renamed_fields)
{
    OWN_STATE a = state_for("isoneutral", MINIAPP_FLOAT64, false);
    OWN_STATE b = state_for("isoneutral", MINIAPP_FLOAT64, false);
    struct miniapp_plan *plan;
    run_with(a, "isoneutral", NULL);
    assert_done(miniapp_state_add(b, "salt2", "salt"));
    assert_done(miniapp_state_add(b, "K_33#1", "K_33"));
    set_invented(b, "salt2", "salt");
    set_invented(b, "salt", "temp"); /* it is not read */
    assert_done(miniapp_plan_create(b, sequence_of("isoneutral"), "salt=salt2,K_33=K_33#1", &plan));
    const double bytes = miniapp_plan_bytes(plan);
    assert_done(miniapp_plan_run(plan));
    assert_same(a, "K_33", b, "K_33#1", "K_33");
    assert_same(a, "K_11", b, "K_11", "K_11");
    assert_same(a, "Ai_bx", b, "Ai_bx", "Ai_bx");
    assert_false(miniapp_state_has(b, "K_33"));
    assert_true(bytes == miniapp_state_bytes(a)); /* of the same shapes */
    miniapp_plan_free(plan);
}

/* An output that the settings leave untouched takes no memory, and stays what it was given. The
 * settings may change between two runs of a plan. */
TEST(untouched_outputs)
{
    const struct miniapp_sequence *const mixing = sequence_of("isoneutral_mixing");
    OWN_STATE ocean = state_for("isoneutral_mixing", MINIAPP_FLOAT64, false);
    OWN_VALUES given = invent(miniapp_field_find("B2_gm"), &grid);
    OWN_VALUES values = malloc(miniapp_grid_points(&grid) * sizeof(double));
    const size_t field = miniapp_grid_points(&grid) * sizeof(double);
    struct miniapp_plan *plan;
    assert_done(miniapp_plan_create(ocean, mixing, NULL, &plan));
    const double bytes = miniapp_plan_bytes(plan);
    assert_true(bytes == miniapp_state_bytes(ocean));
    assert_done(miniapp_state_set(ocean, "B2_gm", given));
    assert_done(miniapp_plan_run(plan));
    assert_false(miniapp_sequence_makes(mixing, field_of("B1_gm"), miniapp_state_settings(ocean)));
    assert_false(miniapp_state_has(ocean, "B1_gm"));
    assert_refused(miniapp_state_get(ocean, "B1_gm", values), MINIAPP_USAGE,
                   "field 'B1_gm' is read, but was never set");
    assert_done(miniapp_state_get(ocean, "B2_gm", values));
    assert_memory_equal(values, given, field);
    assert_true(miniapp_state_ghosts(ocean, "B2_gm", MINIAPP_EAST) == MINIAPP_HALO);
    assert_true(miniapp_plan_bytes(plan) == bytes);
    assert_done(miniapp_state_set_setting(ocean, "enable_eddy_streamfunction", 1));
    assert_done(miniapp_plan_run(plan));
    assert_true(miniapp_sequence_makes(mixing, field_of("B1_gm"), miniapp_state_settings(ocean)));
    assert_true(miniapp_state_has(ocean, "B1_gm"));
    assert_true(miniapp_plan_bytes(plan) == bytes + 2 * (double)field);
    miniapp_plan_free(plan);
}

/* Nor does an input, which has to be there once the settings let a step read it. */
TEST(untouched_inputs)
{
    const struct miniapp_sequence *const momentum = sequence_of("momentum");
    OWN_STATE ocean = state_on(device, MINIAPP_FLOAT64, grid);
    const struct miniapp_settings *const settings_of_it = miniapp_state_settings(ocean);
    struct miniapp_plan *plan;
    for (size_t id = 1; id < FIELDS; id++)
        if (miniapp_sequence_takes(momentum, &fields[id], settings_of_it))
            set_invented(ocean, fields[id].name, fields[id].name);
    assert_done(miniapp_plan_create(ocean, momentum, NULL, &plan));
    assert_done(miniapp_plan_run(plan));
    assert_false(miniapp_state_has(ocean, "u_source"));
    assert_true(miniapp_plan_bytes(plan) == miniapp_state_bytes(ocean));
    assert_done(miniapp_state_set_setting(ocean, "enable_momentum_sources", 1));
    assert_true(miniapp_sequence_takes(momentum, field_of("u_source"), settings_of_it));
    assert_refused(miniapp_plan_run(plan), MINIAPP_USAGE,
                   "field 'r_bot_var_u' is read, but was never set");
    miniapp_plan_free(plan);
}

/* A byte that goes with the memory. */
static void mark(struct miniapp_state *state)
{
    state->kept->device_bytes++;
    state->bytes++;
}

/* A plan begins with what an earlier one has kept, unless the grid or a setting of the kernel has
 * changed. */
TEST(plans_share_what_a_kernel_keeps)
{
    OWN_STATE ocean = state_for("surface_pressure", MINIAPP_FLOAT64, true);
    struct miniapp_plan *plan;
    assert_done(miniapp_plan_create(ocean, sequence_of("surface_pressure"), NULL, &plan));
    const double before = miniapp_state_bytes(ocean);
    assert_done(miniapp_plan_run(plan));
    const double with = miniapp_state_bytes(ocean);
    assert_true(with > before);
    miniapp_plan_free(plan);
    assert_true(miniapp_state_bytes(ocean) == with);
    assert_done(miniapp_plan_create(ocean, sequence_of("surface_pressure"), NULL, &plan));
    mark(ocean);
    assert_done(miniapp_plan_run(plan));
    assert_true(miniapp_state_bytes(ocean) == with + 1);
    assert_done(miniapp_state_set_setting(ocean, "enable_eddy_streamfunction", 1));
    assert_done(miniapp_plan_run(plan));
    assert_true(miniapp_state_bytes(ocean) == with + 1);
    assert_done(miniapp_state_set_setting(ocean, "dt_tracer", 1800));
    assert_done(miniapp_plan_run(plan));
    assert_true(miniapp_state_bytes(ocean) == with);
    mark(ocean);
    set_invented(ocean, "kbot", "kbot");
    assert_done(miniapp_plan_run(plan));
    assert_true(miniapp_state_bytes(ocean) == with);
    miniapp_plan_free(plan);
}

/* As the sequence's own bindings do it. */
TEST(bound_sequences_run)
{
    OWN_STATE a = state_for("triad", MINIAPP_FLOAT64, false);
    OWN_STATE b = state_for("triad", MINIAPP_FLOAT64, false);
    assert_done(miniapp_run(a, "triad:salt=temp,temp=salt,a=forc"));
    assert_false(miniapp_state_has(a, "triad"));
    run_with(b, "triad", "salt=temp, temp=salt");
    assert_same(a, "forc", b, "triad", "triad");
}

TEST(wrong_names)
{
    OWN_STATE ocean = state_for("triad", MINIAPP_FLOAT64, false);
    const char *const wrong[][2] = {
        {"salt", "bindings are ARGUMENT=FIELD, ..., not 'salt'"},
        {"salt=temp,=", "bindings are ARGUMENT=FIELD, ..., not '='"},
        {"salt=temp,salt=forc", "'salt' is bound twice"},
        {"salt=temp2", "unknown field 'temp2'; the closest is 'temp'"},
        {"salt=kbot", "'kbot' cannot stand for 'salt': it has other axes or another type"},
        {"slat=temp", "'triad' has no field 'slat'"},
        {"b=temp", "'triad' has no field 'b'"},
        {"salt=triad", "'b' and 'a' of kernel 'triad' are both 'triad', which it writes"},
        {"triad=temp", "'c' and 'a' of kernel 'triad' are both 'temp', which it writes"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct miniapp_plan *none = (struct miniapp_plan *)&none;
        enum miniapp_status status =
            miniapp_plan_create(ocean, sequence_of("triad"), wrong[i][0], &none);
        if (i >= 6) /* which of both comes first is no matter */
            assert_int_equal(status, MINIAPP_USAGE);
        else
            assert_refused(status, MINIAPP_USAGE, wrong[i][1]);
        assert_null(none);
    }
    run_with(ocean, "triad", "");          /* none */
    run_with(ocean, "triad", "salt=temp"); /* read twice */
}

/* Scratch is bound to no field: what would bind it would have no effect. */
TEST(bound_scratch)
{
    static const char *const wrong[][3] = {
        {"isoneutral_diffusion", "temp=salt", "'isoneutral_diffusion' has no field 'temp'"},
        {"isoneutral_mixing", "Ai_ez=salt", "'isoneutral_mixing' has no field 'Ai_ez'"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        OWN_STATE ocean = state_for(wrong[i][0], MINIAPP_FLOAT64, false);
        struct miniapp_plan *none;
        assert_refused(miniapp_plan_create(ocean, sequence_of(wrong[i][0]), wrong[i][1], &none),
                       MINIAPP_USAGE, wrong[i][2]);
        assert_null(none);
    }
}

TEST(aliases)
{
    OWN_STATE ocean = state_for("tke", MINIAPP_FLOAT64, false);
    const char *const refused[] = {"triad:salt=triad", "triad:a=temp", "tke:tke=tke_taup1",
                                   "tke:dtke=tke_taup1", "tke:dtke=dtke_taum1"};
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        assert_int_equal(miniapp_run(ocean, refused[i]), MINIAPP_USAGE);
        assert_non_null(strstr(miniapp_message(), " are both '"));
        assert_non_null(strstr(miniapp_message(), "', which it writes"));
    }
    assert_done(miniapp_run(ocean, "tke:forc=kappaM")); /* read twice */
}

TEST(steps_take_time)
{
    OWN_STATE ocean = state_for("mixing", MINIAPP_FLOAT64, false);
    struct miniapp_plan *plan;
    assert_done(miniapp_plan_create(ocean, sequence_of("mixing"), NULL, &plan));
    for (size_t s = 0; s < 3; s++)
        assert_true(miniapp_plan_seconds(plan, s) == 0);
    assert_done(miniapp_plan_run(plan));
    for (size_t s = 0; s < 3; s++)
        assert_true(miniapp_plan_seconds(plan, s) > 0);
    assert_true(isnan(miniapp_plan_seconds(plan, 3)));
    miniapp_plan_free(plan);
    miniapp_plan_free(NULL);
}

/* ---- ghosts between kernels ---- */

TEST(what_kernels_leave_of_ghosts)
{
    OWN_STATE ocean = state_for("mixing", MINIAPP_FLOAT32, true);
    assert_done(miniapp_run(ocean, "mixing"));
    for (size_t s = 0; s < 3; s++) {
        const struct miniapp_kernel *const kernel =
            miniapp_sequence_kernel(sequence_of("mixing"), s);
        for (size_t i = 0; i < miniapp_kernel_argument_count(kernel); i++) {
            const enum miniapp_access access = miniapp_argument_access(kernel, i);
            for (int side = 0; side < MINIAPP_SIDES; side++)
                assert_int_equal(miniapp_state_ghosts(
                                     ocean, miniapp_field_name(miniapp_argument_field(kernel, i)),
                                     (enum miniapp_side)side),
                                 access == MINIAPP_READ
                                     ? MINIAPP_HALO
                                     : miniapp_argument_ghosts(kernel, i, (enum miniapp_side)side));
        }
    }
}

/* Cells along x that lie in the ghosts become those of the other end. */
static void exchange_by_hand(double *values, size_t elements)
{
    const size_t n = grid.nx - 2 * MINIAPP_HALO;
    for (size_t row = 0; row < elements; row += grid.nx)
        for (size_t x = 0; x < MINIAPP_HALO; x++) {
            values[row + x] = values[row + x + n];
            values[row + MINIAPP_HALO + n + x] = values[row + MINIAPP_HALO + x];
        }
}

/* Two time steps: the second reads as tke, with its neighbours, what the first wrote; once by a
 * binding, once by rotating the time levels, and once by hand. */
static void two_steps_of_tke(enum miniapp_precision precision, bool cyclic)
{
    const char *const levels[] = {"tke", "tke_taup1"};
    OWN_STATE a = state_for("tke", precision, cyclic);
    OWN_STATE b = state_for("tke", precision, cyclic);
    OWN_STATE c = state_for("tke", precision, cyclic);
    const size_t points = miniapp_grid_points(&grid);
    assert_done(miniapp_run(a, "tke"));
    assert_int_equal(miniapp_state_ghosts(a, "tke_taup1", MINIAPP_WEST), 0);
    assert_done(miniapp_run(a, "tke:tke=tke_taup1,tke_taup1=tke"));
    assert_int_equal(miniapp_state_ghosts(a, "tke_taup1", MINIAPP_WEST), MINIAPP_HALO);
    for (int i = 0; i < 2; i++) {
        assert_done(miniapp_run(b, "tke"));
        assert_done(miniapp_state_rotate(b, levels, 2));
    }
    assert_done(miniapp_run(c, "tke"));
    OWN_VALUES next = values_of(c, "tke_taup1", "tke");
    OWN_VALUES old = values_of(c, "tke", "tke");
    if (cyclic)
        exchange_by_hand(next, points);
    assert_done(miniapp_state_set(c, "tke", next));
    assert_done(miniapp_state_set(c, "tke_taup1", old));
    assert_done(miniapp_run(c, "tke"));
    for (size_t i = 0; i < points; i++)
        assert_true(isfinite(next[i]));
    assert_same(a, "tke", c, "tke_taup1", "tke");
    assert_same(a, "tke_taup1", c, "tke", "tke");
    assert_same(a, "dtke", c, "dtke", "dtke");
    assert_same(b, "tke", c, "tke_taup1", "tke");
    assert_same(b, "dtke", c, "dtke", "dtke");
}

TEST(time_steps_exchange_ghosts)
{
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++)
        for (int cyclic = 0; cyclic < 2; cyclic++)
            two_steps_of_tke((enum miniapp_precision)precision, cyclic);
}

/* The same within one sequence. */
TEST(sequences_exchange_ghosts)
{
    struct step steps[] = {sequence_of("tke")->steps[0],
                           sequence_of("tke:tke=tke_taup1,tke_taup1=tke")->steps[0]};
    const struct miniapp_sequence both = {"both", "test", "", 2, steps};
    OWN_STATE a = state_for("tke", MINIAPP_FLOAT64, true);
    OWN_STATE b = state_for("tke", MINIAPP_FLOAT64, true);
    struct miniapp_plan *plan;
    assert_done(miniapp_plan_create(a, &both, NULL, &plan));
    assert_done(miniapp_plan_run(plan));
    assert_done(miniapp_run(b, "tke"));
    assert_done(miniapp_run(b, "tke:tke=tke_taup1,tke_taup1=tke"));
    assert_same(a, "tke", b, "tke", "tke");
    assert_same(a, "dtke", b, "dtke", "dtke");
    miniapp_plan_free(plan);
}

/* ---- a sequence is its kernels ---- */

TEST(mixing_is_its_kernels)
{
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++) {
        OWN_STATE a = state_for("mixing", (enum miniapp_precision)precision, true);
        OWN_STATE b = state_for("mixing", (enum miniapp_precision)precision, true);
        assert_done(miniapp_run(a, "mixing"));
        assert_done(miniapp_run(b, "eos"));
        assert_done(miniapp_run(b, "isoneutral"));
        assert_done(miniapp_run(b, "tke"));
        for (size_t id = 1; id < FIELDS; id++)
            if (miniapp_sequence_writes(sequence_of("mixing"), &fields[id]))
                assert_same(a, fields[id].name, b, fields[id].name, fields[id].name);
        assert_true(miniapp_state_bytes(a) == miniapp_state_bytes(b));
    }
}

/* ---- scratch, by kernels of the test's own on the host ---- */

/* Leaves the double of its input in one scratch, its square in the other, and adds both. */
static void add_double_and_square(const struct kernel_call *call)
{
    const double *const in = call->argument[0];
    double *const twice = call->argument[1], *const square = call->argument[2];
    double *const out = call->argument[3];
    const size_t points = miniapp_grid_points(&call->grid);
    for (size_t i = 0; i < points; i++)
        twice[i] = 2 * in[i];
    for (size_t i = 0; i < 4 * points; i++)
        square[i] = in[i % points] * in[i % points];
    for (size_t i = 0; i < points; i++)
        out[i] = twice[i] + square[3 * points + i];
}

static const struct argument scratch_arguments[] = {
    {"in", FIELD_salt, MINIAPP_READ, MINIAPP_REAL, {0}},
    {"twice", FIELD_temp, MINIAPP_SCRATCH, MINIAPP_REAL, {0}},
    {"square", FIELD_Ai_ez, MINIAPP_SCRATCH, MINIAPP_REAL, {0}},
    {"out", FIELD_triad, MINIAPP_WRITE, MINIAPP_REAL, {2, 2, 2, 2}},
};

static enum extent touches_all(const double *setting, const char *argument)
{
    return ALL_OF_IT;
}

static const struct miniapp_kernel with_scratch = {.id = KERNELS - 1,
                                                   .name = "with_scratch",
                                                   .arguments = scratch_arguments,
                                                   .argument_count = sizeof(scratch_arguments) /
                                                                     sizeof(*scratch_arguments),
                                                   .touches = touches_all};

static const struct kernel_functions *own_functions(void)
{
    static kernel_function *run[KERNELS];
    static struct kernel_functions functions = {run, .most_turns = PTRDIFF_MAX};
    memcpy(run, host_backend.functions[MINIAPP_FLOAT64]->run, sizeof(run));
    functions.exchange_x = host_backend.functions[MINIAPP_FLOAT64]->exchange_x;
    run[KERNELS - 1] = add_double_and_square;
    return &functions;
}

static double most_bytes = INFINITY; /* of one allocation */

static void *allocate_some(int number, size_t bytes, size_t ahead)
{
    return (double)bytes <= most_bytes ? host_backend.allocate(number, bytes, ahead) : NULL;
}

static struct miniapp_sequence scratch_sequence(struct step steps[2])
{
    for (size_t s = 0; s < 2; s++) {
        steps[s].kernel = &with_scratch;
        for (size_t i = 0; i < with_scratch.argument_count; i++)
            steps[s].field[i] = scratch_arguments[i].field;
    }
    steps[1].field[0] = FIELD_triad; /* goes on with what the first wrote */
    steps[1].field[3] = FIELD_forc;
    return (struct miniapp_sequence){"scratch", "test", "", 2, steps};
}

TEST(scratch)
{
    struct step steps[2] = {0};
    const struct miniapp_sequence sequence = scratch_sequence(steps);
    struct backend backend = host_backend;
    backend.functions[MINIAPP_FLOAT64] = own_functions();
    const struct miniapp_device own = {.label = "own", .backend = &backend};
    OWN_STATE ocean = state_on(&own, MINIAPP_FLOAT64, grid);
    const double field = 8 * (double)miniapp_grid_points(&grid);
    struct miniapp_plan *plan, *again;
    set_invented(ocean, "salt", "salt");
    assert_done(miniapp_plan_create(ocean, &sequence, NULL, &plan));
    assert_true(miniapp_plan_bytes(plan) == (3 + 1 + 4) * field); /* shared by the steps */
    assert_true(miniapp_state_bytes(ocean) == miniapp_plan_bytes(plan));
    assert_done(miniapp_plan_create(ocean, &sequence, NULL, &again));
    assert_true(miniapp_state_bytes(ocean) == miniapp_plan_bytes(plan)); /* and by plans */
    assert_done(miniapp_plan_run(again));
    assert_done(miniapp_plan_run(plan));
    OWN_VALUES out = values_of(ocean, "forc", "forc");
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++) {
        const double in = invented(&fields[FIELD_salt], i, grid.nz);
        const double first = 2 * in + in * in;
        assert_true(fabs(out[i] - (2 * first + first * first)) < 1e-14 * out[i]);
    }
    assert_false(miniapp_state_has(ocean, "temp")); /* the shape of a scratch is no field */
    assert_false(miniapp_sequence_reads(&sequence, field_of("temp")));
    assert_false(miniapp_sequence_writes(&sequence, field_of("Ai_ez")));
    miniapp_plan_free(plan);
    miniapp_plan_free(again);
}

/* Scratch that grows serves older plans, too; where it cannot grow they go on with what there is.
 */
TEST(growing_scratch)
{
    struct step steps[2] = {0}, small[2] = {0};
    const struct miniapp_sequence sequence = scratch_sequence(steps);
    struct miniapp_sequence swapped = scratch_sequence(small);
    struct argument arguments[4];
    struct miniapp_kernel other = with_scratch;
    struct backend backend = host_backend;
    backend.functions[MINIAPP_FLOAT64] = own_functions();
    backend.allocate = allocate_some;
    const struct miniapp_device own = {.label = "own", .backend = &backend};
    OWN_STATE ocean = state_on(&own, MINIAPP_FLOAT64, grid);
    const double field = 8 * (double)miniapp_grid_points(&grid);
    struct miniapp_plan *plan, *none;
    memcpy(arguments, scratch_arguments, sizeof(arguments));
    arguments[1].field = FIELD_Ai_ez; /* more for the first scratch */
    other.arguments = arguments;
    small[0].kernel = small[1].kernel = &other;
    small[0].field[1] = small[1].field[1] = FIELD_Ai_ez;
    set_invented(ocean, "salt", "salt");
    assert_done(miniapp_plan_create(ocean, &sequence, NULL, &plan));
    const double before = miniapp_state_bytes(ocean);
    most_bytes = field;
    assert_refused(miniapp_plan_create(ocean, &swapped, NULL, &none), MINIAPP_DEVICE,
                   "device 'own' is out of memory: 'scratch' takes 2.22e-05 GB");
    assert_null(none);
    assert_true(miniapp_state_bytes(ocean) == before);
    assert_done(miniapp_plan_run(plan));
    most_bytes = INFINITY;
    assert_done(miniapp_plan_create(ocean, &swapped, NULL, &none));
    assert_true(miniapp_state_bytes(ocean) == before + 3 * field);
    assert_done(miniapp_plan_run(plan));
    assert_done(miniapp_plan_run(none));
    miniapp_plan_free(plan);
    miniapp_plan_free(none);
}

/* ---- threads ---- */

enum { THREADS = 2, TIMES = 5 };

/* A state of its own, made, filled, run and freed; and names that no one has looked for before. */
static void *compute(void *argument)
{
    double *const result = argument;
    const struct miniapp_sequence *sequence;
    struct miniapp_state *state = NULL;
    const size_t points = miniapp_grid_points(&grid);
    double *const ones = malloc(points * sizeof(*ones));
    for (size_t i = 0; i < points; i++)
        ones[i] = 1;
    *result = NAN;
    for (int i = 0; i < TIMES; i++) {
        miniapp_state_free(state);
        if (miniapp_sequence_find(i % 2 ? "triad:b=kappaM" : "triad:b=mxl", &sequence) ||
            miniapp_sequence_find("tirad", &sequence) != MINIAPP_USAGE ||
            miniapp_state_create(device, MINIAPP_FLOAT64, &grid, &state) ||
            miniapp_state_set(state, "salt", ones) || miniapp_state_set(state, "temp", ones) ||
            miniapp_run(state, "triad") || miniapp_state_get_part(state, "triad", 3, 1, result))
            break;
    }
    miniapp_state_free(state);
    free(ones);
    return NULL;
}

TEST(threads_with_states_of_their_own)
{
    pthread_t threads[THREADS];
    double results[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute, &results[i]), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < THREADS; i++)
        assert_true(results[i] == 4);
}

RUN_TESTS(open_device, close_device)
