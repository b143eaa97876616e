/* Land: masks that the reader makes, and missing values. */
#include "guard.h"
#include "hdf5_file.h"
#include "input.h"
#include "range.h"
#include "ranks.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const enum field_id cell_masks[CELL_MASKS] = {FIELD_maskT, FIELD_maskW, FIELD_kbot};

/* ---- masks in bytes ---- */

/* A mask takes an eighth of a field's memory, so it is kept. */
static uint8_t *keep_water(struct miniapp_input *input, enum field_id id)
{
    free(input->water[id]);
    input->water[id] = malloc(miniapp_grid_points(&input->grid));
    if (!input->water[id])
        fail(MINIAPP_DEVICE, "out of memory for the water cells of '%s'", fields[id].name);
    return input->water[id];
}

/* Checks that there is memory for a mask, which is read as double and then kept in bytes, while the
 * field that needs it is in memory, too. */
static enum miniapp_status check_room(const struct miniapp_input *input, enum field_id id)
{
    char lack[MINIAPP_LACK];
    const double bytes = (sizeof(double) + 1) * (double)miniapp_grid_points(&input->grid);
    if (miniapp_host_has(bytes, lack))
        return MINIAPP_DONE;
    return fail(MINIAPP_DEVICE, "out of memory for '%s', which tells land from water: it %s",
                name_in_file(input, id), lack);
}

/* Copies a mask, or fills each column from its level in kbot up to the surface. */
static void fill_water(const struct miniapp_input *input, enum field_id id, const double *values,
                       uint8_t *water)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    for (size_t i = 0; i < plane * input->grid.nz; i++) {
        const size_t level = i / plane + 1;
        const double deepest = values[i % plane];
        water[i] = fields[id].type == MINIAPP_MASK ? values[i] != 0
                                                   : deepest > 0 && (double)level >= deepest;
    }
}

/* The water cells of a mask or of kbot that the file has. */
static enum miniapp_status read_water(struct miniapp_input *input, enum field_id id,
                                      const uint8_t **water)
{
    double *values = NULL;
    enum miniapp_status status = MINIAPP_DONE;
    if (!input->water[id]) {
        status = check_room(input, id);
        if (!status)
            status = read_field(input, id, &values);
        if (!status && !keep_water(input, id))
            status = MINIAPP_DEVICE;
        if (!status)
            fill_water(input, id, values, input->water[id]);
        free(values);
    }
    *water = input->water[id];
    return status;
}

/* ---- water by what is missing ---- */

static bool lies_on_cells(const struct miniapp_field *field)
{
    return miniapp_field_rank(field) == 3 && field->type == MINIAPP_REAL &&
           (field->wet == FIELD_maskT || field->wet == FIELD_maskW || field->wet == FIELD_kbot);
}

/* Where a field has a value, 1, or lacks one, 0; and how many it lacks. */
static enum miniapp_status read_presence(struct miniapp_input *input, enum field_id id,
                                         double **values, size_t *missing)
{
    *missing = 0;
    *values = NULL;
    enum miniapp_status status = check_room(input, id);
    if (!status)
        status = read_raw(input, id, values);
    for (size_t i = 0; i < miniapp_grid_points(&input->grid) && !status; i++) {
        *missing += isnan((*values)[i]);
        (*values)[i] = !isnan((*values)[i]);
    }
    return status;
}

/* Sets each number to the largest that a process has found in its part of the file, if several
 * share it. */
static enum miniapp_status agree_on_parts(const struct miniapp_input *input,
                                          enum miniapp_status status, double *numbers, size_t count)
{
    if (input->strips == 1)
        return status;
    guard_end(); /* waiting for other processes must not count as HDF5's time */
    status = ranks_agree_on(status, numbers, count);
    guard_start(input->path);
    return status;
}

/* Whether some values are missing, but not all, in the whole file. */
static enum miniapp_status agree_on_land(const struct miniapp_input *input,
                                         enum miniapp_status status, size_t missing, bool *tells)
{
    double counts[] = {(double)missing, (double)(miniapp_grid_points(&input->grid) - missing)};
    status = agree_on_parts(input, status, counts, sizeof(counts) / sizeof(*counts));
    *tells = !status && counts[0] > 0 && counts[1] > 0;
    return status;
}

static enum miniapp_status keep_presence(struct miniapp_input *input, enum field_id id,
                                         const double *values)
{
    const enum miniapp_status status = check_columns(input, id, values, "is missing");
    if (status)
        return status;
    if (!keep_water(input, FIELD_maskT))
        return MINIAPP_DEVICE;
    input->is_made[FIELD_maskT] = true;
    fill_water(input, FIELD_maskT, values, input->water[FIELD_maskT]);
    snprintf(input->water_source, sizeof(input->water_source), "the missing values of '%.200s'",
             name_in_file(input, id));
    return MINIAPP_DONE;
}

/* If this is the field that tells, water is where it has a value. */
static enum miniapp_status read_missing(struct miniapp_input *input, enum field_id id)
{
    size_t missing;
    double *values = NULL;
    bool tells = true;
    if (input->is_checking && input->is_bad[id])
        return MINIAPP_INPUT;
    enum miniapp_status status = read_presence(input, id, &values, &missing);
    if (!input->is_land_known)
        status = agree_on_land(input, status, missing, &tells);
    if (!status && tells) {
        input->telling = id;
        status = keep_presence(input, id, values);
    }
    input->is_bad[id] |= status != MINIAPP_DONE;
    free(values);
    return status;
}

static bool has_cells(const struct miniapp_input *input)
{
    bool has_one = false;
    for (size_t i = 0; i < CELL_MASKS; i++)
        has_one |= is_there(input, cell_masks[i]);
    return has_one;
}

enum miniapp_status find_telling(struct miniapp_input *input)
{
    const struct window here = window_of(input), own = own_window(input);
    enum miniapp_status status = MINIAPP_DONE;
    move_window(input, &own);
    for (enum field_id id = NO_FIELD + 1;
         id <= miniapp_field_count() && !status && !has_cells(input); id++)
        if (!input->telling && is_there(input, id) && lies_on_cells(&fields[id]))
            status = read_missing(input, id);
    input->is_land_known = !status;
    move_window(input, &here);
    return status;
}

enum miniapp_status find_water_cells(struct miniapp_input *input, const uint8_t **water)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < CELL_MASKS; i++)
        if (is_there(input, cell_masks[i])) {
            snprintf(input->water_source, sizeof(input->water_source), "'%.200s'",
                     name_in_file(input, cell_masks[i]));
            return read_water(input, cell_masks[i], water);
        }
    if (!input->is_land_known)
        status = find_telling(input);
    if (!status && input->telling && !input->water[FIELD_maskT])
        status = read_missing(input, input->telling);
    *water = input->water[FIELD_maskT];
    return status;
}

enum miniapp_status miniapp_input_count_water(struct miniapp_input *input, size_t *cells)
{
    const struct window own = own_window(input);
    const uint8_t *water = NULL;
    move_window(input, &own);
    guard_start(input->path);
    const enum miniapp_status status = find_water_cells(input, &water);
    guard_end();
    const struct cells rows = own_rows(input);
    const size_t plane = input->grid.nx * input->grid.ny;
    *cells = 0;
    for (size_t z = 0; z < input->grid.nz; z++)
        for (size_t i = 0; i < input->grid.nx * (rows.end - rows.first); i++)
            *cells += !water || water[z * plane + i];
    return status;
}

/* ---- an ocean without water ---- */

/* What tells water among the datasets that the kernels read, or that absent masks are made from. */
static enum field_id find_source(const struct miniapp_input *input)
{
    for (size_t i = 0; i < CELL_MASKS; i++)
        if (is_there(input, cell_masks[i]) && input->needed[cell_masks[i]])
            return cell_masks[i];
    for (size_t i = 0; i < CELL_MASKS && lacks_made(input); i++)
        if (is_there(input, cell_masks[i]))
            return cell_masks[i];
    return NO_FIELD;
}

/* An ocean that is all land is legal, as a part of a larger one may be, but seldom meant. A strip
 * that is checked without the others tells nothing of the whole. */
enum miniapp_status check_water(struct miniapp_input *input)
{
    const enum field_id source = find_source(input);
    const uint8_t *water;
    double deepest = 0; /* 0 where all columns are land */
    if (!source || (input->allow & MINIAPP_ALLOW_INVALID) || input->strips > ranks_count())
        return MINIAPP_DONE;
    enum miniapp_status status =
        input->deepest[source] ? MINIAPP_DONE : read_water(input, source, &water);
    for (size_t i = 0; i < input->grid.nx * input->grid.ny && !status; i++)
        deepest = fmax(deepest, input->deepest[source][i]);
    status = agree_on_parts(input, status, &deepest, 1);
    if (!status && deepest == 0)
        warn("%s: all of the ocean is land by '%s'", input->path, name_in_file(input, source));
    return status;
}

/* ---- masks that are absent ---- */

bool is_water_beyond(const struct miniapp_input *input, enum field_id mask, const uint8_t *water,
                     size_t element)
{
    const struct miniapp_grid *const grid = &input->grid;
    const size_t x = element % grid->nx, y = element / grid->nx % grid->ny;
    const size_t first = input->has_ghosts ? 2 * MINIAPP_HALO : 0;
    const size_t plane = grid->nx * grid->ny;
    const bool is_all_around = input->is_cyclic && grid->nx == input->whole.nx;
    switch (mask) {
    case FIELD_maskU:
        return x + 1 < grid->nx ? water[element + 1] : is_all_around && water[element - x + first];
    case FIELD_maskV: return y + 1 < grid->ny && water[element + grid->nx];
    case FIELD_maskW: return element / plane + 1 == grid->nz || water[element + plane];
    default: return true;
    }
}

/* As Veros has it: a face is water where both cells are. */
static bool is_open(const struct miniapp_input *input, enum field_id mask, const uint8_t *water,
                    size_t element)
{
    return water[element] && is_water_beyond(input, mask, water, element);
}

static void make_levels(const struct miniapp_input *input, const uint8_t *water, double *levels)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    for (size_t column = 0; column < plane; column++) {
        size_t k = 0;
        while (k < input->grid.nz && !water[k * plane + column])
            k++;
        levels[column] = k < input->grid.nz ? (double)(k + 1) : 0;
    }
}

enum miniapp_status make_mask(struct miniapp_input *input, enum field_id id, double *values)
{
    const uint8_t *water;
    const enum miniapp_status status = find_water_cells(input, &water);
    if (status)
        return status;
    if (!water)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing", input->path, fields[id].name);
    if (fields[id].type == MINIAPP_MASK)
        for (size_t i = 0; i < miniapp_grid_points(&input->grid); i++)
            values[i] = is_open(input, id, water, i);
    else
        make_levels(input, water, values);
    input->is_made[id] = true;
    return MINIAPP_DONE;
}

/* ---- values on land ---- */

enum miniapp_status find_meaning(struct miniapp_input *input, enum field_id id,
                                 const uint8_t **water)
{
    const enum field_id wet = fields[id].wet;
    enum miniapp_status status = MINIAPP_DONE;
    *water = NULL;
    if (!wet)
        return MINIAPP_DONE;
    if (is_there(input, wet) || input->water[wet])
        return read_water(input, wet, water);
    status = find_water_cells(input, water);
    if (status || !*water || wet == FIELD_maskT || wet == FIELD_kbot)
        return status; /* cells, not faces */
    uint8_t *const faces = keep_water(input, wet);
    if (!faces)
        return MINIAPP_DEVICE;
    for (size_t i = 0; i < miniapp_grid_points(&input->grid); i++)
        faces[i] = is_open(input, wet, *water, i);
    *water = faces;
    return MINIAPP_DONE;
}

bool is_water(const struct miniapp_input *input, const struct miniapp_field *field,
              const uint8_t *water, size_t element)
{
    const size_t below =
        miniapp_field_rank(field) == 3 ? 0 : (input->grid.nz - 1) * input->grid.nx * input->grid.ny;
    return !water || water[below + element];
}

static bool is_accepted(const struct miniapp_input *input, const struct miniapp_field *field,
                        double value)
{
    if (!isfinite(value))
        return input->allow & MINIAPP_ALLOW_NONFINITE;
    return (input->allow & MINIAPP_ALLOW_INVALID) ||
           is_in_range(value, field->valid_min, field->valid_max, input->precision);
}

/* Zero or, if averages on water include the cell, the value of the lowest water above it. */
static double value_on_land(const struct miniapp_input *input, const struct miniapp_field *field,
                            const uint8_t *water, const double *values, size_t element)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    size_t above = element + plane;
    if (!field->is_extended)
        return 0;
    while (above < plane * input->grid.nz && !water[above])
        above += plane;
    return above < plane * input->grid.nz ? values[above] : 0;
}

static enum miniapp_status refuse(const struct miniapp_input *input, enum field_id id,
                                  size_t element, double value)
{
    const struct miniapp_field *const field = &fields[id];
    const char *const place = place_in_file(input, id, element);
    char range[RANGE_TEXT];
    if (isnan(value) && input->treatment[id].has_missing)
        return fail(MINIAPP_INPUT, "%s: %s is missing%s (--allow-nonfinite accepts it as NaN)",
                    input->path, place, field->wet ? " on water" : "");
    if (!isfinite(value))
        return fail(MINIAPP_INPUT, "%s: %s is %g (--allow-nonfinite accepts it)", input->path,
                    place, value);
    if (is_in_range(value, field->valid_min, field->valid_max, MINIAPP_FLOAT64))
        return fail(MINIAPP_INPUT, "%s: %s is %g, which %s cannot hold", input->path, place, value,
                    miniapp_precision_name(input->precision));
    return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s%s", input->path, place, value,
                range_text(field->valid_min, field->valid_max, range),
                field->wet ? " on water" : "");
}

enum miniapp_status settle_land(struct miniapp_input *input, enum field_id id, double *values,
                                size_t elements)
{
    const struct miniapp_field *const field = &fields[id];
    const uint8_t *water = NULL;
    size_t first = 0;
    while (first < elements && is_accepted(input, field, values[first]))
        first++;
    if (first == elements)
        return MINIAPP_DONE;
    const enum miniapp_status status = find_meaning(input, id, &water);
    if (status)
        return status;
    for (size_t i = first; i < elements; i++) {
        if (is_accepted(input, field, values[i]))
            continue;
        if (is_water(input, field, water, i)) {
            if (water && is_in_margin(input, field, i))
                continue;
            return refuse(input, id, i, values[i]);
        }
        const double replaced = values[i];
        values[i] = value_on_land(input, field, water, values, i);
        input->has_land[id] |= values[i] != replaced;
    }
    return MINIAPP_DONE;
}
