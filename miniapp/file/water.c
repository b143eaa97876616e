/* Masks and kbot: read, checked by themselves, and kept as bytes that tell water from land. */
#include "input.h"
#include "range.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>

enum miniapp_status read_dataset(struct miniapp_input *input, enum field_id id, double *values)
{
    const char *const name = input->source[id];
    const struct box box = box_in_file(input, &fields[id]);
    hid_t dataset;
    enum miniapp_status status = open_dataset(input->file, input->path, name, &dataset);
    if (status)
        return status;
    status = read_box(dataset, input->path, name, &box, values);
    H5Dclose(dataset);
    return status;
}

/* ---- what a mask may be ---- */

/* Masks and indices have to be whole numbers in their ranges, with no index above the surface,
 * because kernels address memory by them. */
static enum miniapp_status check_whole(const struct miniapp_input *input, enum field_id id,
                                       const double *values)
{
    const struct miniapp_field *const field = &fields[id];
    const size_t elements = miniapp_field_elements(field, &input->grid);
    const bool is_bounded = field->counts && input->said_by[field->counts];
    const double most = is_bounded ? (double)miniapp_axis_length(field->counts, &input->grid)
                                   : field->valid_max; /* no axis: what has it is missing */
    char range[RANGE_TEXT], place[ELEMENT_NAME];
    for (size_t i = 0; i < elements; i++) {
        if (values[i] != floor(values[i]) || !isfinite(values[i]))
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be whole", input->path,
                        place_in_file(input, id, i, place), values[i]);
        if (values[i] < field->valid_min || values[i] > most)
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s", input->path,
                        place_in_file(input, id, i, place), values[i],
                        range_text(field->valid_min, most, range));
    }
    return MINIAPP_DONE;
}

/* Water reaches the surface. */
static enum miniapp_status check_columns(const struct miniapp_input *input, enum field_id mask,
                                         const double *values)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    char land[ELEMENT_NAME], below[ELEMENT_NAME];
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    for (size_t i = plane; i < plane * input->grid.nz; i++)
        if (values[i] == 0 && values[i - plane] != 0)
            return fail(
                MINIAPP_INPUT,
                "%s: %s is land, but %s below it is water: water reaches the surface, which "
                "is the last level",
                input->path, place_in_file(input, mask, i, land),
                place_in_file(input, mask, i - plane, below));
    return MINIAPP_DONE;
}

enum miniapp_status check_mask(const struct miniapp_input *input, enum field_id id,
                               const double *values)
{
    const enum miniapp_status status = check_whole(input, id, values);
    return status || fields[id].type == MINIAPP_INDEX ? status : check_columns(input, id, values);
}

/* ---- water ---- */

/* Copies a mask, or fills each column from its level in kbot up to the surface. */
static void fill_water(const struct miniapp_input *input, enum field_id id, const double *values,
                       uint8_t *water)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    for (size_t i = 0; i < plane * input->grid.nz; i++) {
        const double deepest = values[i % plane]; /* of kbot */
        const size_t level = i / plane + 1;
        water[i] = fields[id].type == MINIAPP_MASK ? values[i] != 0
                                                   : deepest > 0 && (double)level >= deepest;
    }
}

/* A mask takes an eighth of a field's memory, so it is kept as long as the window stays. Faults
 * in it are reported once. */
enum miniapp_status find_water(struct miniapp_input *input, enum field_id mask,
                               const uint8_t **water)
{
    *water = input->water[mask];
    if (*water || !input->is_there[mask] || input->is_bad[mask])
        return MINIAPP_DONE;
    double *const values =
        malloc(miniapp_field_elements(&fields[mask], &input->grid) * sizeof(*values));
    uint8_t *const kept = malloc(miniapp_grid_points(&input->grid));
    enum miniapp_status status =
        values && kept
            ? read_dataset(input, mask, values)
            : fail(MINIAPP_DEVICE, "out of memory for the water of '%s'", fields[mask].name);
    if (!status)
        status = check_mask(input, mask, values);
    if (!status)
        fill_water(input, mask, values, kept);
    free(values);
    input->is_bad[mask] = status != MINIAPP_DONE;
    if (status)
        free(kept);
    *water = input->water[mask] = status ? NULL : kept;
    return status;
}
