/* The calls of the library that do not depend on precision or target. */
#include <physics/kernel.h>

#include <stdint.h>
#include <string.h>

const struct physics_layout physics_layout = {
    .fields = PHYSICS_FIELDS,
    .settings = PHYSICS_SETTINGS,
    .kernel_fields = PHYSICS_MAX_FIELDS,
    .field_bytes = sizeof(struct physics_field),
    .setting_bytes = sizeof(struct physics_setting),
    .kernel_bytes = sizeof(struct physics_kernel),
    .call_bytes = sizeof(struct physics_call),
};

extern const struct physics_kernel physics_kernels_host_float64[];
extern const struct physics_kernel physics_kernels_host_float32[];

const struct physics_kernel *physics_host_kernels(enum physics_precision precision)
{
    return precision == PHYSICS_FLOAT64 ? physics_kernels_host_float64
                                        : physics_kernels_host_float32;
}

const struct physics_kernel *physics_find_kernel(const struct physics_kernel *table,
                                                 const char *name)
{
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

static double bytes_of(const enum physics_field_id *fields, const struct physics_grid *grid,
                       enum physics_precision precision)
{
    double bytes = 0;
    for (; *fields != PHYSICS_NO_FIELD; fields++) {
        const struct physics_field *field = &physics_fields[*fields];
        bytes += (double)physics_field_elements(field, grid) *
                 (double)physics_element_bytes(field->type, precision);
    }
    return bytes;
}

double physics_kernel_bytes(const struct physics_kernel *kernel, const struct physics_grid *grid,
                            enum physics_precision precision)
{
    return bytes_of(kernel->inputs, grid, precision) + bytes_of(kernel->outputs, grid, precision);
}

void physics_default_settings(struct physics_call *call)
{
    for (int i = 0; i < PHYSICS_SETTINGS; i++)
        call->setting[i] = physics_settings[i].value;
}

static bool in_range(size_t cells, size_t least)
{
    return cells >= least && cells <= PHYSICS_MAX_CELLS;
}

/* Every element can be indexed by ptrdiff_t and addressed in bytes. */
static bool indexable(const enum physics_field_id *fields, const struct physics_grid *grid)
{
    for (; *fields != PHYSICS_NO_FIELD; fields++)
        if (physics_field_elements(&physics_fields[*fields], grid) > PTRDIFF_MAX / sizeof(double))
            return false;
    return true;
}

enum physics_status physics_run(const struct physics_kernel *kernel,
                                const struct physics_call *call)
{
    if (!kernel || !in_range(call->grid.nx, PHYSICS_MIN_CELLS) ||
        !in_range(call->grid.ny, PHYSICS_MIN_CELLS) || !in_range(call->grid.nz, 1))
        return PHYSICS_USAGE;
    if (physics_grid_points(&call->grid) > PTRDIFF_MAX / sizeof(double))
        return PHYSICS_USAGE;
    if (!indexable(kernel->inputs, &call->grid) || !indexable(kernel->outputs, &call->grid))
        return PHYSICS_USAGE;
    for (const enum physics_field_id *id = kernel->inputs; *id != PHYSICS_NO_FIELD; id++)
        if (!call->input[*id])
            return PHYSICS_USAGE;
    for (const enum physics_field_id *id = kernel->outputs; *id != PHYSICS_NO_FIELD; id++)
        if (!call->output[*id])
            return PHYSICS_USAGE;
    kernel->run(call);
    return PHYSICS_DONE;
}
