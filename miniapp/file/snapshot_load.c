/* Going on from a snapshot (snapshot.c), and giving fields the form that they have after one. */
#include "hdf5_file.h"
#include "input.h"
#include "output.h"
#include "state.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOT_RANK = 4 };

/* The axes of a field's dataset: Time, and those of the field. Returns how many. */
static int lengths_in_snapshot(const struct miniapp_field *field, const struct miniapp_grid *inner,
                               hsize_t lengths[SNAPSHOT_RANK])
{
    const int flat = has_axis(field, MINIAPP_Z) ? 0 : 1, rank = SNAPSHOT_RANK - flat;
    const hsize_t all[] = {1, inner->nz, inner->ny, inner->nx};
    memcpy(lengths, all + flat, (size_t)rank * sizeof(*lengths));
    lengths[0] = 1;
    return rank;
}

/* The part of a dataset that is level z of an interior which begins at cell (x0, y0). */
static struct box box_of_level(const struct miniapp_field *field, size_t z, size_t x0, size_t y0,
                               const struct miniapp_grid *inner)
{
    struct box box = {.rank = lengths_in_snapshot(field, inner, box.count)};
    if (box.rank == SNAPSHOT_RANK) {
        box.first[1] = z;
        box.count[1] = 1;
    }
    box.first[box.rank - 2] = y0;
    box.first[box.rank - 1] = x0;
    return box;
}

static enum miniapp_status get_level(struct miniapp_state *state, const struct miniapp_field *field,
                                     size_t z, double *values)
{
    struct slot *const slot = state_slot(state, field->name);
    return slot ? state_get_interior(state, slot, z, 1, values) : MINIAPP_USAGE;
}

static enum miniapp_status get_mask(struct miniapp_state *state, const struct miniapp_field *field,
                                    size_t z, double *values)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->grid);
    const struct miniapp_field *const mask = mask_for(field);
    if (mask)
        return get_level(state, mask, z, values);
    for (size_t i = 0; i < inner.nx * inner.ny; i++)
        values[i] = 1;
    return MINIAPP_DONE;
}

static bool is_part(const struct miniapp_state *state)
{
    return state->grid.nx != state->whole.nx || state->grid.ny != state->whole.ny;
}

/* Puts the interior of a level into a plane with ghosts, which are land or copies; those of a part
 * of an ocean come from other parts later. */
static void add_ghosts(const struct miniapp_state *state, const struct levels_of *level)
{
    const struct miniapp_grid *const grid = &state->grid;
    const struct miniapp_grid inner = miniapp_grid_interior(grid);
    memset(level->plane, 0, grid->nx * grid->ny * sizeof(double));
    for (size_t y = 0; y < inner.ny; y++) {
        double *const row = level->plane + (y + MINIAPP_HALO) * grid->nx;
        memcpy(row + MINIAPP_HALO, level->values + y * inner.nx, inner.nx * sizeof(double));
        for (size_t x = 0; x < grid->nx && state->cyclic_x && !is_part(state); x++)
            if (is_outer(x, grid->nx))
                row[x] = row[opposite_column(x, grid->nx)];
    }
}

/* Stores a level: its water, and 0 on land. */
static enum miniapp_status set_level(struct miniapp_state *state, const struct miniapp_field *field,
                                     size_t z, const struct levels_of *level)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->grid);
    const size_t plane = state->grid.nx * state->grid.ny;
    for (size_t i = 0; i < inner.nx * inner.ny; i++)
        level->values[i] = level->mask[i] != 0 ? level->values[i] : 0;
    add_ghosts(state, level);
    return miniapp_state_set_part(state, field->name, z * plane, plane, level->plane);
}

static void mark_ghosts(struct miniapp_state *state, const struct miniapp_field *field)
{
    static const signed char none[MINIAPP_SIDES];
    if (is_part(state))
        state_written(state_slot(state, field->name), none);
}

static enum miniapp_status read_levels(const char *path, hid_t dataset, struct miniapp_state *state,
                                       const struct miniapp_field *field,
                                       const struct levels_of *level)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->grid);
    for (size_t z = 0; z < level_count(field, &inner); z++) {
        const struct box box = box_of_level(field, z, state->x0, state->y0, &inner);
        TRY(get_mask(state, field, z, level->mask));
        TRY(read_box(dataset, path, field->name, &box, level->values));
        TRY(set_level(state, field, z, level));
    }
    bool has_wall = true;
    if (lies_on_corners(field, state))
        TRY(read_wall(dataset, path, state, field, field->name, 0, &has_wall));
    if (!has_wall)
        return fail(MINIAPP_INPUT, "%s: cannot continue from it: '%s' has no southern_wall", path,
                    field->name);
    mark_ghosts(state, field);
    return MINIAPP_DONE;
}

static bool has_shape(hid_t dataset, const struct miniapp_field *field,
                      const struct miniapp_grid *whole)
{
    hsize_t wanted[SNAPSHOT_RANK], lengths[H5S_MAX_RANK];
    const int rank = lengths_in_snapshot(field, whole, wanted);
    CLOSED const hid_t space = H5Dget_space(dataset);
    return H5Sget_simple_extent_dims(space, lengths, NULL) == rank &&
           memcmp(lengths, wanted, (size_t)rank * sizeof(*wanted)) == 0;
}

/* Why a dataset does not hold what the program wrote, or NULL. */
static const char *misfit(hid_t dataset, const struct miniapp_field *field,
                          const struct miniapp_grid *whole)
{
    CLOSED const hid_t type = H5Dget_type(dataset);
    if (!has_shape(dataset, field, whole))
        return "has another shape";
    return H5Tget_class(type) == H5T_FLOAT ? NULL : "has no floating-point numbers";
}

static enum miniapp_status read_carried(hid_t file, const char *path, struct miniapp_state *state,
                                        const struct miniapp_field *field,
                                        const struct levels_of *level)
{
    const struct miniapp_grid whole = miniapp_grid_interior(&state->whole);
    CLOSED hid_t dataset = H5I_INVALID_HID;
    TRY(open_dataset(file, path, field->name, &dataset));
    const char *const why = misfit(dataset, field, &whole);
    if (why)
        return fail(MINIAPP_INPUT, "%s: cannot continue from it: '%s' %s", path, field->name, why);
    TRY(check_written(dataset, path, field->name));
    return read_levels(path, dataset, state, field, level);
}

/* NAN if the file has none. */
static enum miniapp_status read_step(hid_t file, const char *path, double *step)
{
    bool has_step;
    *step = NAN;
    return read_attribute(file, path, STEP_NAME, &has_step, step);
}

static enum miniapp_status read_all(hid_t file, const char *path, struct miniapp_state *state,
                                    const struct miniapp_sequence *sequence, size_t step)
{
    struct levels_of level;
    double number;
    TRY(read_step(file, path, &number));
    if (number != (double)step)
        return fail(MINIAPP_INPUT, "%s: cannot continue from it: its '%s' is %.15g, not %zu", path,
                    STEP_NAME, number, step);
    enum miniapp_status status = make_levels(&state->grid, &level);
    for (size_t id = 1; id <= miniapp_field_count() && !status; id++)
        if (miniapp_sequence_carries(sequence, &fields[id]))
            status = read_carried(file, path, state, &fields[id], &level);
    free(level.plane);
    return status;
}

static enum miniapp_status settle_levels(struct miniapp_state *state,
                                         const struct miniapp_field *field,
                                         const struct levels_of *level)
{
    for (size_t z = 0; z < level_count(field, &state->grid); z++) {
        TRY(get_mask(state, field, z, level->mask));
        TRY(get_level(state, field, z, level->values));
        TRY(set_level(state, field, z, level));
    }
    mark_ghosts(state, field);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_snapshot_settle(struct miniapp_state *state,
                                            const struct miniapp_sequence *sequence)
{
    struct levels_of level;
    enum miniapp_status status = make_levels(&state->grid, &level);
    state->steps = 0;
    for (size_t id = 1; id <= miniapp_field_count() && !status; id++)
        if (miniapp_sequence_carries(sequence, &fields[id]) && mask_for(&fields[id]))
            status = settle_levels(state, &fields[id], &level);
    free(level.plane);
    return state_agrees(state, status);
}

enum miniapp_status miniapp_snapshot_load(const char *path, struct miniapp_state *state,
                                          const struct miniapp_sequence *sequence, size_t step)
{
    CLOSED hid_t file = H5I_INVALID_HID;
    TRY(open_file(path, &file));
    state->steps = step;
    return read_all(file, path, state, sequence, step);
}

enum miniapp_status miniapp_snapshot_step(const char *path, size_t *step)
{
    CLOSED hid_t file = H5I_INVALID_HID;
    double number;
    TRY(open_file(path, &file));
    TRY(read_step(file, path, &number));
    *step = number > 0 && number < 1e15 ? (size_t)number : 0;
    return *step > 0 ? MINIAPP_DONE
                     : fail(MINIAPP_INPUT, "%s: cannot continue from it: its '%s' is %.15g", path,
                            STEP_NAME, number);
}

enum miniapp_status miniapp_snapshot_texts(const char *path, size_t count, const char *const *names,
                                           char texts[][MINIAPP_TEXT])
{
    CLOSED hid_t file = H5I_INVALID_HID;
    TRY(open_file(path, &file));
    for (size_t i = 0; i < count; i++)
        if (find_text(file, names[i], MINIAPP_TEXT, texts[i]) <= 0)
            return fail(MINIAPP_INPUT, "%s: cannot continue from it: its '%s' is no text", path,
                        names[i]);
    return MINIAPP_DONE;
}
