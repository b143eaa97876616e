/*
 * Another C program that uses the kernels: it knows the public headers and the library only. It
 * runs every kernel of the table on a small ocean that is made up from the table, too.
 */
#include <physics/field.h>
#include <physics/grid.h>
#include <physics/kernel.h>
#include <physics/setting.h>
#include <physics/status.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const struct physics_grid grid = {12, 9, 6};

/* A value in the middle of what the field may hold, somewhat different in each element. */
static double value_of(const struct physics_field *field, size_t element)
{
    const double wave = sin(0.3 * (double)element);
    if (field->valid_min > -1e300 && field->valid_max < 1e300)
        return field->valid_min + (0.5 + 0.1 * wave) * (field->valid_max - field->valid_min);
    return field->valid_min > 0 ? 10 + wave : wave;
}

static void *make_input(enum physics_field_id id, enum physics_precision precision)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &grid);
    void *const data = malloc(elements * physics_element_bytes(field->type, precision));
    for (size_t i = 0; data && i < elements; i++)
        switch (field->type) {
        case PHYSICS_MASK: ((uint8_t *)data)[i] = 1; break;
        case PHYSICS_INDEX: ((int32_t *)data)[i] = 1; break;
        case PHYSICS_REAL:
            if (precision == PHYSICS_FLOAT64)
                ((double *)data)[i] = value_of(field, i);
            else
                ((float *)data)[i] = (float)value_of(field, i);
        }
    return data;
}

static double element(const void *data, enum physics_precision precision, size_t i)
{
    return precision == PHYSICS_FLOAT64 ? ((const double *)data)[i]
                                        : (double)((const float *)data)[i];
}

/* Whether an output is finite and not 0 everywhere. */
static bool is_good(const void *data, enum physics_field_id id, enum physics_precision precision)
{
    bool some = false;
    for (size_t i = 0; i < physics_field_elements(&physics_fields[id], &grid); i++) {
        if (!isfinite(element(data, precision, i)))
            return false;
        some = some || element(data, precision, i) != 0;
    }
    return some;
}

static bool runs(const struct physics_kernel *kernel, enum physics_precision precision)
{
    struct physics_call call = {.grid = grid};
    bool good = true;
    physics_default_settings(&call);
    for (const enum physics_field_id *id = kernel->inputs; *id; id++)
        call.input[*id] = make_input(*id, precision);
    for (const enum physics_field_id *id = kernel->outputs; *id; id++)
        call.output[*id] = calloc(physics_field_elements(&physics_fields[*id], &grid),
                                  physics_element_bytes(PHYSICS_REAL, precision));
    if (physics_run(kernel, &call) != PHYSICS_DONE)
        good = false;
    for (const enum physics_field_id *id = kernel->outputs; *id; id++) {
        const bool this_one = good && is_good(call.output[*id], *id, precision);
        printf("%s %s %s: %s\n", kernel->name, physics_precision_name(precision),
               physics_fields[*id].name, this_one ? "good" : "BAD");
        good = good && this_one;
    }
    for (int id = 0; id < PHYSICS_FIELDS; id++) {
        free((void *)call.input[id]);
        free(call.output[id]);
    }
    return good;
}

int main(void)
{
    bool good = true;
    for (int precision = 0; precision < PHYSICS_PRECISIONS; precision++)
        for (const struct physics_kernel *kernel =
                 physics_host_kernels((enum physics_precision)precision);
             kernel->name; kernel++)
            good = runs(kernel, (enum physics_precision)precision) && good;
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
