/* Whether water, faces and ghosts agree: faces with the cells beside them, flows with walls, ghosts
 * with what they repeat. */
#include "input.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- faces ---- */

/* Whether a face lies at the outer edge of a file with ghosts: nothing reads it. */
static bool leads_out(const struct miniapp_input *input, enum field_id mask, size_t i)
{
    const struct miniapp_grid *const grid = &input->whole;
    const size_t x = column_in_file(input, i), y = row_in_file(input, i);
    return input->has_ghosts && ((mask == FIELD_maskU && x + 1 == grid->nx) ||
                                 (mask == FIELD_maskV && y + 1 == grid->ny));
}

/* Whether a cell beside a face is one of the file's ghosts: the wall of a closed ocean may lie
 * there, with water in the ghosts. */
static bool touches_ghosts(const struct miniapp_input *input, enum field_id mask, size_t i)
{
    const struct miniapp_grid *const grid = &input->whole;
    const size_t x = column_in_file(input, i), y = row_in_file(input, i);
    return input->has_ghosts && (is_outer(x, grid->nx) || is_outer(y, grid->ny) ||
                                 is_outer(x + (mask == FIELD_maskU), grid->nx) ||
                                 is_outer(y + (mask == FIELD_maskV), grid->ny));
}

/* "eastern" or "northern" where a face lies in a wall, else NULL. */
static const char *wall_of(const struct miniapp_input *input, enum field_id mask, size_t i)
{
    if (input->has_ghosts)
        return NULL;
    if (mask == FIELD_maskV && row_in_file(input, i) + 1 == input->whole.ny)
        return "northern";
    const bool is_last = column_in_file(input, i) + 1 == input->whole.nx;
    return mask == FIELD_maskU && !input->is_cyclic && is_last ? "eastern" : NULL;
}

static enum miniapp_status refuse_wall(const struct miniapp_input *input, enum field_id id,
                                       size_t i, double value, const char *wall)
{
    return fail(MINIAPP_INPUT, "%s: %s is %g, but lies in the %s wall, which is closed%s",
                input->path, place_in_file(input, id, i), value, wall,
                wall[0] == 'e' ? ": the attribute cyclic_x = 1 would open it" : "");
}

static enum miniapp_status refuse_face(const struct miniapp_input *input, enum field_id mask,
                                       size_t i, bool is_land)
{
    const char *const wall = wall_of(input, mask, i);
    if (wall && !is_land)
        return refuse_wall(input, mask, i, 1, wall);
    return fail(MINIAPP_INPUT, "%s: %s is open, but the cell %s is land by %s", input->path,
                place_in_file(input, mask, i), is_land ? "before it" : "beyond it",
                input->water_source);
}

/* A face may be open only between cells of water. A closed face between them is legal, as a thin
 * wall is, but seldom meant. */
enum miniapp_status check_faces(struct miniapp_input *input, enum field_id mask,
                                const double *values)
{
    const uint8_t *water;
    const size_t points = miniapp_grid_points(&input->grid);
    size_t closed = 0, first = 0;
    const enum miniapp_status status = find_water_cells(input, &water);
    if (status || !water)
        return status;
    for (size_t i = 0; i < points; i++) {
        if (leads_out(input, mask, i) || is_in_margin(input, &fields[mask], i))
            continue;
        const bool is_between = water[i] && is_water_beyond(input, mask, water, i);
        if (values[i] != 0 && !is_between)
            return refuse_face(input, mask, i, !water[i]);
        if (values[i] == 0 && is_between && !touches_ghosts(input, mask, i) && closed++ == 0)
            first = i;
    }
    if (closed > 0)
        warn("%s: %zu faces of '%s' are closed between cells of water: the first is %s",
             input->path, closed, name_in_file(input, mask), place_in_file(input, mask, first));
    return MINIAPP_DONE;
}

/* ---- flows ---- */

/* If the file has no mask of the faces, its walls are closed, and nothing may flow through them. */
enum miniapp_status check_flow(struct miniapp_input *input, enum field_id id, const double *values)
{
    const enum field_id mask = fields[id].wet;
    const uint8_t *water;
    if (is_there(input, mask))
        return MINIAPP_DONE;
    const enum miniapp_status status = find_water_cells(input, &water);
    if (status || !water)
        return status;
    for (size_t i = 0; i < miniapp_grid_points(&input->grid); i++) {
        const char *const wall = values[i] != 0 && water[i] ? wall_of(input, mask, i) : NULL;
        if (wall)
            return refuse_wall(input, id, i, values[i], wall);
    }
    return MINIAPP_DONE;
}

/* ---- ghosts ---- */

static bool are_copies(const struct miniapp_field *field, double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ||
           (field->type == MINIAPP_REAL && fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)));
}

/* One line reports this for all fields, because if the ghosts are really cells, no field's are
 * copies. */
static void note_ghost(struct miniapp_input *input, enum field_id id, const double *values,
                       size_t ghost, size_t other)
{
    const size_t used = strlen(input->odd_ghosts);
    char place[SENTENCE];
    snprintf(place, sizeof(place), "%s", place_in_file(input, id, ghost));
    if (used == 0)
        snprintf(input->odd_ghost, sizeof(input->odd_ghost), "%s is %g, but %s is %g", place,
                 values[ghost], place_in_file(input, id, other), values[other]);
    snprintf(input->odd_ghosts + used, sizeof(input->odd_ghosts) - used, "%s%.64s",
             used ? ", " : "", name_in_file(input, id));
}

/* If the ocean is cyclic, the file's own ghosts must be copies of the cells at the other side. */
enum miniapp_status check_copies(struct miniapp_input *input, enum field_id id,
                                 const double *values)
{
    const struct miniapp_field *const field = &fields[id];
    const struct miniapp_grid *const grid = &input->grid; /* it has whole rows */
    const uint8_t *water = NULL;
    if (!input->has_ghosts || !input->is_cyclic || !has_axis(field, MINIAPP_X))
        return MINIAPP_DONE;
    const enum miniapp_status status = find_meaning(input, id, &water);
    if (status)
        return status;
    for (size_t i = 0; i < miniapp_field_elements(field, grid); i++) {
        const size_t x = i % grid->nx, y = row_in_file(input, i);
        const size_t other = i - x + opposite_column(x, grid->nx);
        if (!is_outer(x, grid->nx) ||
            (has_axis(field, MINIAPP_Y) && is_outer(y, input->whole.ny)) ||
            !is_water(input, field, water, i) || are_copies(field, values[i], values[other]))
            continue;
        note_ghost(input, id, values, i, other);
        return MINIAPP_INPUT;
    }
    return MINIAPP_DONE;
}

enum miniapp_status say_ghosts(const struct miniapp_input *input)
{
    if (!input->odd_ghosts[0])
        return MINIAPP_DONE;
    return fail(MINIAPP_INPUT, "%s: cyclic_x is 1, but ghosts of %s are no copies: %s", input->path,
                input->odd_ghosts, input->odd_ghost);
}
