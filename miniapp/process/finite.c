#include "finite.h"
#include "status.h"
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t length_along(const struct miniapp_field *field, enum miniapp_axis axis,
                           const struct miniapp_grid *grid)
{
    for (int i = 0; i < miniapp_field_rank(field); i++)
        if (miniapp_field_axis(field, i) == axis)
            return miniapp_axis_length(axis, grid);
    return 1;
}

/* It has no branches, so that it takes no longer than reading the memory does. */
static bool is_all_finite(const double *values, size_t count)
{
    int odd = 0;
    for (size_t i = 0; i < count; i++)
        odd |= !isfinite(values[i]);
    return !odd;
}

/* The first in a plane of the state without `west` cells on both sides along x, and `south` along
 * y. The output file counts the others from `first` on. */
static void look_through(const double *plane, size_t nx, size_t ny, size_t west, size_t south,
                         size_t first, struct nonfinite *found)
{
    for (size_t y = south; y < ny - south && !found->is_there; y++) {
        const double *const row = plane + y * nx + west;
        const size_t cells = nx - 2 * west;
        size_t x = 0;
        if (is_all_finite(row, cells))
            continue;
        while (isfinite(row[x]))
            x++;
        found->is_there = true;
        found->element = first + (y - south) * cells + x;
        found->value = isnan(row[x]) ? NAN : row[x]; /* without the sign of a NaN */
    }
}

enum miniapp_status find_nonfinite(const struct miniapp_input *input, const struct row *row,
                                   const struct bound_field *output, struct nonfinite *found)
{
    const struct miniapp_field *const field = output->field;
    const size_t edge = miniapp_input_has_ghosts(input) ? 0 : MINIAPP_HALO;
    const size_t nx = length_along(field, MINIAPP_X, &row->grid);
    const size_t ny = length_along(field, MINIAPP_Y, &row->grid);
    const size_t nz = length_along(field, MINIAPP_Z, &row->grid);
    const size_t west = nx > 1 ? edge : 0, south = ny > 1 ? edge : 0;
    const size_t planes = miniapp_field_elements(field, &row->grid) / (nx * ny);
    double *const plane = malloc(nx * ny * sizeof(*plane));
    *found = (struct nonfinite){.grid = edge ? miniapp_grid_interior(&row->grid) : row->grid};
    enum miniapp_status status =
        plane ? MINIAPP_DONE
              : fail(MINIAPP_DEVICE, "out of memory for a plane of '%s'", output->name);
    for (size_t p = 0; p < planes && !status && !found->is_there; p++) {
        const size_t k = p % nz;
        const size_t place = miniapp_input_is_surface_first(input) ? p - k + nz - 1 - k : p;
        status = miniapp_state_get_part(row->state, output->name, place * nx * ny, nx * ny, plane);
        if (!status)
            look_through(plane, nx, ny, west, south, p * (nx - 2 * west) * (ny - 2 * south), found);
    }
    free(plane);
    return status;
}

void note_nonfinite(const struct row *row, const struct bound_field *output,
                    const struct nonfinite *found, size_t step, char text[NONFINITE_TEXT])
{
    const char *const name = miniapp_field_name(output->field);
    const size_t used = strlen(text), room = NONFINITE_TEXT - used;
    size_t index[MINIAPP_MAX_RANK];
    char place[INDEX_TEXT], after[40] = "";
    if (step > 0)
        snprintf(after, sizeof(after), " after step %zu", step);
    if (used == 0)
        snprintf(
            text, room, "%s%s is %g%s in %s on %s in %s", name,
            index_text(index, index_of(found->element, output->field, &found->grid, index), place),
            found->value, after, miniapp_sequence_name(row->sequence),
            miniapp_device_label(row->device), miniapp_precision_name(row->precision));
    else if (!strstr(text, name))
        snprintf(text + used, room, "%s%s", strstr(text, "; so are ") ? ", " : "; so are ", name);
}
