/* References. */
#include "guard.h"
#include "hdf5_file.h"
#include "status.h"
#include "values.h"

#include <math.h>
#include <miniapp/file.h>
#include <stdio.h>
#include <stdlib.h>

/* A tolerance of the dataset, or the default where it has none. */
static enum miniapp_status read_tolerance(hid_t dataset, const char *path, const char *name,
                                          enum miniapp_precision precision, double otherwise,
                                          double *tolerance)
{
    char attribute[32];
    bool found;
    snprintf(attribute, sizeof(attribute), "%s%s", name,
             precision == MINIAPP_FLOAT32 ? "_float32" : "");
    *tolerance = otherwise;
    const enum miniapp_status status = read_attribute(dataset, path, attribute, &found, tolerance);
    if (!status && !(*tolerance >= 0 && isfinite(*tolerance)))
        return fail(MINIAPP_INPUT, "%s: attribute '%s' is %g, but a tolerance is at least 0", path,
                    attribute, *tolerance);
    return status;
}

static double largest_magnitude(const double *values, size_t elements)
{
    double largest = 0;
    for (size_t i = 0; i < elements; i++)
        if (isfinite(values[i]) && fabs(values[i]) > largest)
            largest = fabs(values[i]);
    return largest;
}

static enum miniapp_status
read_reference_dataset(hid_t dataset, const char *path, const struct scales *scales,
                       const struct miniapp_field *field, const struct miniapp_grid *grid,
                       enum miniapp_precision precision, struct outside *outside,
                       struct miniapp_reference *reference)
{
    const size_t elements = miniapp_field_elements(field, grid);
    struct axes axes = {0};
    for (int axis = MINIAPP_X; axis < MINIAPP_AXES; axis++) {
        axes.length[axis] = miniapp_axis_length((enum miniapp_axis)axis, grid);
        axes.said_by[axis] = "the input";
    }
    struct time_choice only = {0};
    struct layout layout;
    enum miniapp_status status =
        read_layout(dataset, path, field->name, field, scales, &only, &layout);
    if (!status)
        status = check_shape(&layout, path, field->name, field, &axes);
    if (!status)
        status = read_values(dataset, path, field->name, field, &layout, outside,
                             &reference->values, NULL);
    if (status)
        return status;
    const bool wide = precision == MINIAPP_FLOAT64;
    const double largest = largest_magnitude(reference->values, elements);
    status =
        read_tolerance(dataset, path, "rtol", precision, wide ? 1e-10 : 1e-4, &reference->rtol);
    if (!status)
        status = read_tolerance(dataset, path, "atol", precision, (wide ? 1e-12 : 1e-5) * largest,
                                &reference->atol);
    return status;
}

static enum miniapp_status find_reference(hid_t file, const char *path,
                                          const struct miniapp_field *field,
                                          const struct miniapp_grid *grid,
                                          enum miniapp_precision precision, struct outside *outside,
                                          struct miniapp_reference *reference)
{
    const char *const name = field->name;
    struct scales scales;
    hid_t dataset;
    if (!has_dataset(file, name, outside))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing, so it cannot be validated", path,
                    name);
    enum miniapp_status status = open_dataset(file, path, name, outside, &dataset);
    if (status)
        return status;
    read_scales(file, &scales);
    status =
        read_reference_dataset(dataset, path, &scales, field, grid, precision, outside, reference);
    release_scales(&scales);
    H5Dclose(dataset);
    return status;
}

enum miniapp_status miniapp_reference_read(const char *path, const struct miniapp_field *field,
                                           const struct miniapp_grid *grid,
                                           enum miniapp_precision precision,
                                           struct miniapp_reference *reference)
{
    hid_t file;
    struct outside outside;
    *reference = (struct miniapp_reference){0};
    guard_start(path);
    enum miniapp_status status = open_file(path, &file);
    if (!status) {
        status = outside_open(path, false, &outside)
                     ? find_reference(file, path, field, grid, precision, &outside, reference)
                     : fail(MINIAPP_DEVICE, "out of memory for a reference");
        outside_close(&outside);
        H5Fclose(file);
    }
    guard_end();
    if (status)
        miniapp_reference_release(reference);
    return status;
}

void miniapp_reference_release(struct miniapp_reference *reference)
{
    free(reference->values);
    reference->values = NULL;
}
