/*
 * Another C program that uses the kernels: it knows the public headers and the library only. It
 * runs every kernel of the table, on the device that its argument names, on a small ocean that is
 * made up from the table, too.
 */
#include <math.h>
#include <miniapp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct miniapp_grid grid = {12, 9, 6};
static const struct {
    const char *name;
    double value;
} needed[] = {/* or else outputs of some kernels are 0 */
              {"enable_eke", 1},
              {"enable_eke_superbee_advection", 1},
              {"enable_eke_isopycnal_diffusion", 1},
              {"enable_idemix", 1},
              {"enable_idemix_superbee_advection", 1},
              {"enable_implicit_vert_friction", 1},
              {"enable_hor_friction", 1},
              {"A_h", 1e4},
              {"enable_TEM_friction", 1},
              {"enable_biharmonic_friction", 1},
              {"A_hbi", 1e10},
              {"K_h", 1e3},
              {"kappaM_0", 1e-3},
              {"K_hbi", 1e10},
              {"enable_eddy_streamfunction", 1},
              {"enable_bottom_friction", 1},
              {"r_bot", 1e-5}};

/* A value in the middle of what the field may hold, somewhat different in each element. */
static double value_of(const struct miniapp_field *field, size_t element)
{
    const double wave = sin(0.3 * (double)element + (double)strlen(miniapp_field_name(field)));
    double least, most;
    miniapp_field_range(field, &least, &most);
    if (!miniapp_is_real(miniapp_field_type(field)))
        return 1;
    if (strcmp(miniapp_field_name(field), "coriolis_t") == 0) /* or no internal waves propagate */
        return 1e-4 * (1 + 0.1 * wave);
    if (least > -1e300 && most < 1e300)
        return least + (0.5 + 0.1 * wave) * (most - least);
    return least > 0 ? 10 + wave : wave;
}

static enum miniapp_status set_input(struct miniapp_state *state, const struct miniapp_field *field)
{
    const size_t elements = miniapp_field_elements(field, &grid);
    double *const values = malloc(elements * sizeof(*values));
    for (size_t i = 0; values && i < elements; i++)
        values[i] = value_of(field, i);
    const enum miniapp_status status =
        values ? miniapp_state_set(state, miniapp_field_name(field), values) : MINIAPP_DEVICE;
    free(values);
    return status;
}

/* Whether an output is finite and not 0 everywhere. */
static bool is_good(struct miniapp_state *state, const struct miniapp_field *field)
{
    const size_t elements = miniapp_field_elements(field, &grid);
    double *const values = malloc(elements * sizeof(*values));
    bool some = false,
         finite = values && !miniapp_state_get(state, miniapp_field_name(field), values);
    for (size_t i = 0; finite && i < elements; i++) {
        finite = isfinite(values[i]);
        some = some || values[i] != 0;
    }
    free(values);
    return finite && some;
}

static bool check_outputs(struct miniapp_state *state, const struct miniapp_sequence *sequence)
{
    const char *const precision = miniapp_precision_name(miniapp_state_precision(state));
    bool good = true;
    for (size_t i = 0; i < miniapp_field_count(); i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        if (!miniapp_sequence_writes(sequence, field) ||
            !miniapp_state_has(state, miniapp_field_name(field))) /* by a step that does not run */
            continue;
        const bool this_one = is_good(state, field);
        printf("%s %s %s: %s\n", miniapp_sequence_name(sequence), precision,
               miniapp_field_name(field), this_one ? "good" : "BAD");
        good = good && this_one;
    }
    return good;
}

static bool runs(const struct miniapp_device *device, enum miniapp_precision precision,
                 const struct miniapp_sequence *sequence)
{
    struct miniapp_state *state;
    enum miniapp_status status = miniapp_state_create(device, precision, &grid, &state);
    for (size_t i = 0; i < miniapp_field_count() && !status; i++)
        if (miniapp_sequence_reads(sequence, miniapp_field_at(i)))
            status = set_input(state, miniapp_field_at(i));
    for (size_t i = 0; i < sizeof(needed) / sizeof(*needed) && !status; i++)
        status = miniapp_state_set_setting(state, needed[i].name, needed[i].value);
    if (!status)
        status = miniapp_run(state, miniapp_sequence_name(sequence));
    if (status)
        printf("%s: BAD: %s\n", miniapp_sequence_name(sequence), miniapp_message());
    const bool good = !status && check_outputs(state, sequence);
    miniapp_state_free(state);
    return good;
}

int main(int argc, char **argv)
{
    struct miniapp_device *device;
    bool good = true;
    if (miniapp_device_open(argc > 1 ? argv[1] : "cpu", &device)) {
        printf("BAD: %s\n", miniapp_message());
        return EXIT_FAILURE;
    }
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++)
        for (size_t i = 0; i < miniapp_sequence_count(); i++)
            good = runs(device, (enum miniapp_precision)precision, miniapp_sequence_at(i)) && good;
    miniapp_device_close(device);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
