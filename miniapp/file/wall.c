/* The southern wall: input.h says what it is. */
#include "hdf5_file.h"
#include "input.h"
#include "output.h"
#include "owned.h"
#include "ranks.h"
#include "state.h"
#include "status.h"
#include "text.h"

#include <hdf5_hl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char wall_name[] = "southern_wall";

bool lies_on_corners(const struct miniapp_field *field, const struct miniapp_state *state)
{
    return field->has_wall && is_under_lid(state);
}

/* Gathers the wall's values, which become an attribute of the field's dataset. */
enum miniapp_status miniapp_output_wall(struct miniapp_output *output, struct miniapp_state *state,
                                        const struct miniapp_field *field, const char *name)
{
    const struct miniapp_grid *const whole = &state->whole;
    const size_t cells = ranks_own() == 0 ? whole->nx * whole->ny : 1;
    const size_t wall = (MINIAPP_HALO - 1) * whole->nx + MINIAPP_HALO;
    if (!lies_on_corners(field, state))
        return MINIAPP_DONE;
    OWNED double *const plane = malloc(cells * sizeof(*plane));
    TRY(state_ends_all(state, plane ? MINIAPP_DONE
                                    : fail(MINIAPP_OUTPUT, "out of memory for '%s'", name)));
    TRY(miniapp_state_gather(state, name, 0, true, plane));
    const bool is_written =
        !output || H5LTset_attribute_double(output->dataset, ".", wall_name, plane + wall,
                                            whole->nx - 2 * MINIAPP_HALO) >= 0;
    return is_written ? MINIAPP_DONE : output_failed(output);
}

/* Puts a row of the whole ocean's interior, and its ghosts along x, into a state that has it. */
static enum miniapp_status set_wall(struct miniapp_state *state, const char *name,
                                    const double *wall)
{
    const size_t nx = state->grid.nx, all = state->whole.nx, y = MINIAPP_HALO - 1;
    OWNED double *const row = calloc(nx, sizeof(*row));
    TRY(allocated(row, "a row of '%s'", name));
    for (size_t x = 0; x < nx; x++) {
        const size_t column = state->x0 + x, inside = is_outer(column, all) && state->cyclic_x
                                                          ? opposite_column(column, all)
                                                          : column;
        row[x] = is_outer(inside, all) ? 0 : wall[inside - MINIAPP_HALO];
    }
    return state->y0 <= y ? miniapp_state_set_part(state, name, (y - state->y0) * nx, nx, row)
                          : MINIAPP_DONE;
}

/* The numbers are like those of the field itself. */
static enum miniapp_status check_wall(const char *path, const struct miniapp_field *field,
                                      const double *wall, size_t cells, int allow)
{
    char range[RANGE_TEXT];
    for (size_t i = 0; i < cells; i++)
        if (isfinite(wall[i])
                ? !(allow & MINIAPP_ALLOW_INVALID) &&
                      !is_in_range(wall[i], field->valid_min, field->valid_max, MINIAPP_FLOAT64)
                : !(allow & MINIAPP_ALLOW_NONFINITE))
            return fail(MINIAPP_INPUT, "%s: attribute '%s' of '%s' holds %g, but must be %s", path,
                        wall_name, field->name, wall[i],
                        range_text(field->valid_min, field->valid_max, range));
    return MINIAPP_DONE;
}

enum miniapp_status read_wall(hid_t dataset, const char *path, struct miniapp_state *state,
                              const struct miniapp_field *field, const char *name, int allow,
                              bool *found)
{
    const size_t cells = state->whole.nx - 2 * MINIAPP_HALO;
    *found = H5Aexists(dataset, wall_name) > 0;
    OWNED double *const wall = calloc(cells, sizeof(*wall));
    TRY(allocated(wall, "a row of '%s'", name));
    if (*found && !read_numbers(dataset, wall_name, cells, wall))
        return fail(MINIAPP_INPUT, "%s: attribute '%s' of '%s' must hold %zu numbers", path,
                    wall_name, name, cells);
    TRY(check_wall(path, field, wall, cells, allow));
    return set_wall(state, name, wall);
}
