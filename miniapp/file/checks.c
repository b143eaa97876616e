/* Whether what a file holds is plausible: masks, spacings, all fields. */
#include "input.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

/* Whether all the water of a mask would reach the surface if the file's levels were turned round.
 */
static bool is_upside_down(const struct miniapp_grid *grid, const double *mask)
{
    const size_t plane = grid->nx * grid->ny;
    for (size_t i = plane; i < plane * grid->nz; i++)
        if (mask[i] != 0 && mask[i - plane] == 0)
            return false;
    return true;
}

enum miniapp_status check_columns(struct miniapp_input *input, enum field_id id, const double *mask,
                                  const char *land)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    for (size_t i = plane; i < plane * input->grid.nz; i++)
        if (mask[i] == 0 && mask[i - plane] != 0) {
            char below[SENTENCE];
            input->is_upside_down |= is_upside_down(&input->grid, mask);
            snprintf(below, sizeof(below), "%s", place_in_file(input, id, i - plane));
            return fail(MINIAPP_INPUT,
                        "%s: %s %s, but %s below it is not: water reaches the surface "
                        "(levels go from the bottom up, where 'zt' does not fall)",
                        input->path, place_in_file(input, id, i), land, below);
        }
    return MINIAPP_DONE;
}

/* 1 + the lowest level that is water in each column, or 0. */
static void find_deepest(const struct miniapp_grid *grid, const double *mask, int32_t *deepest)
{
    const size_t plane = grid->nx * grid->ny;
    memset(deepest, 0, plane * sizeof(*deepest));
    for (size_t i = plane * grid->nz; i-- > 0;)
        if (mask[i] != 0)
            deepest[i % plane] = (int32_t)(i / plane) + 1;
}

static int level_in_file(const struct miniapp_input *input, int32_t level)
{
    return level > 0 && input->is_surface_first ? (int)input->grid.nz + 1 - level : level;
}

static enum miniapp_status compare_deepest(struct miniapp_input *input, enum field_id a,
                                           enum field_id b)
{
    const int32_t *const by_a = input->deepest[a], *const by_b = input->deepest[b];
    if (!by_a || !by_b || a == b || input->is_bad[b])
        return MINIAPP_DONE;
    for (size_t i = 0; i < input->grid.nx * input->grid.ny; i++)
        if (by_a[i] != by_b[i]) {
            input->is_bad[b] = true; /* one of them is, and neither is reported again */
            return fail(MINIAPP_INPUT,
                        "%s: '%s' contradicts '%s' in the column [%zu, %zu]: its "
                        "deepest wet level is %d by the one, %d by the other",
                        input->path, name_in_file(input, a), name_in_file(input, b),
                        row_in_file(input, i), column_in_file(input, i),
                        level_in_file(input, by_a[i]), level_in_file(input, by_b[i]));
        }
    return MINIAPP_DONE;
}

static enum miniapp_status keep_deepest(struct miniapp_input *input, enum field_id id,
                                        const double *values)
{
    const size_t plane = input->grid.nx * input->grid.ny;
    free(input->deepest[id]);
    input->deepest[id] = malloc(plane * sizeof(**input->deepest));
    if (!input->deepest[id])
        return fail(MINIAPP_DEVICE, "out of memory for the depth of columns");
    if (fields[id].type == MINIAPP_MASK)
        find_deepest(&input->grid, values, input->deepest[id]);
    for (size_t i = 0; i < plane && fields[id].type == MINIAPP_INDEX; i++)
        input->deepest[id][i] = (int32_t)values[i];
    return MINIAPP_DONE;
}

/* Checks that a column is as deep by kbot as by the masks of its cells. */
static enum miniapp_status check_depth(struct miniapp_input *input, enum field_id id,
                                       const double *values)
{
    enum miniapp_status status = keep_deepest(input, id, values);
    for (size_t i = 0; i < CELL_MASKS && !status; i++)
        status = compare_deepest(input, id, cell_masks[i]);
    return status;
}

/* Compares a line of the grid with others. */
static enum miniapp_status check_line(struct miniapp_input *input, enum field_id id,
                                      const double *values)
{
    switch (id) {
    case FIELD_dzt:
    case FIELD_dzw: return check_spacings(input, id, values);
    case FIELD_p: return check_pressure(input, values);
    case FIELD_zw: return check_upper_faces(input, values);
    case FIELD_dxu: return check_distances(input, id, FIELD_dxt, values);
    case FIELD_dyu: return check_distances(input, id, FIELD_dyt, values);
    case FIELD_cosu: return check_cosines(input, values);
    default: return MINIAPP_DONE;
    }
}

enum miniapp_status check_agreement(struct miniapp_input *input, enum field_id id,
                                    const double *values)
{
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    enum miniapp_status status = check_line(input, id, values);
    if (fields[id].type == MINIAPP_MASK)
        status = check_columns(input, id, values, "is land");
    if (!status && (id == FIELD_maskT || id == FIELD_maskW || id == FIELD_kbot))
        status = check_depth(input, id, values);
    return status;
}

/* ---- all of it ---- */

/* Checks what only other fields or other cells can show. */
static enum miniapp_status check_walls(struct miniapp_input *input, enum field_id id,
                                       const double *values)
{
    enum miniapp_status status = MINIAPP_DONE;
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    if (id == FIELD_maskU || id == FIELD_maskV || id == FIELD_maskW)
        status = check_faces(input, id, values);
    if (fields[id].is_flow)
        status = check_flow(input, id, values);
    return status ? status : check_copies(input, id, values);
}

/* Whether the file has the field, or what stands in for it. */
static bool has_values(const struct miniapp_input *input, enum field_id id)
{
    return is_there(input, id) || (fields[id].stand_in && is_there(input, fields[id].stand_in));
}

static enum miniapp_status check_field(struct miniapp_input *input, enum field_id id)
{
    double *values;
    enum miniapp_status status = read_field(input, id, &values);
    if (!status && is_there(input, id))
        status = check_walls(input, id, values);
    input->is_bad[id] |= status != MINIAPP_DONE;
    free(values);
    return status;
}

/* Checks cells before faces, so that what is wrong with cells is not reported for their faces, too.
 * If levels are in the wrong order, nothing more is reported. */
enum miniapp_status check_fields(struct miniapp_input *input)
{
    enum miniapp_status status = MINIAPP_DONE;
    input->is_checking = true;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count() && goes_on(status); id++)
        if (input->needed[id] && has_values(input, id) && !input->is_bad[id] &&
            !input->is_upside_down) {
            const enum miniapp_status found = check_field(input, id);
            status = first_of(status, found);
        }
    input->is_checking = false;
    say_ghosts(input);
    return status;
}
