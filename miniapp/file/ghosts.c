/* Whether the outer two rings of a file are ghosts. */
#include "input.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

/* What lies in the outer two rings. */
struct rings {
    bool has_water_y; /* in the two rows at either end */
    bool has_water_x; /* in the two columns at either end */
    bool are_copies;  /* these columns are those of the interior at the other side */
};

size_t opposite_column(size_t x, size_t nx)
{
    return x < MINIAPP_HALO ? x + nx - 2 * MINIAPP_HALO : x - (nx - 2 * MINIAPP_HALO);
}

bool is_outer(size_t cell, size_t cells)
{
    return cell < MINIAPP_HALO || cell + MINIAPP_HALO >= cells;
}

/* `values`, which may be NULL, are those of a field on the cells: on water, copies have the same
 * values. */
static struct rings look_at_rings(const struct miniapp_grid *grid, const uint8_t *water,
                                  const double *values)
{
    struct rings rings = {false, false, true};
    for (size_t i = 0; i < grid->nx * grid->ny * grid->nz; i++) {
        const size_t x = i % grid->nx, y = i / grid->nx % grid->ny;
        if (is_outer(y, grid->ny)) {
            rings.has_water_y |= water[i];
        } else if (is_outer(x, grid->nx)) {
            const size_t other = i - x + opposite_column(x, grid->nx);
            rings.has_water_x |= water[i];
            rings.are_copies &=
                water[i] == water[other] && (!values || !water[i] || values[i] == values[other]);
        }
    }
    return rings;
}

static enum miniapp_status decide(struct miniapp_input *input, bool has_ghosts, const char *why)
{
    input->has_ghosts = has_ghosts;
    snprintf(input->reason, sizeof(input->reason), "%s", why);
    return MINIAPP_DONE;
}

static enum miniapp_status judge(struct miniapp_input *input, const struct rings *rings)
{
    if (!rings->has_water_y && !rings->has_water_x)
        return decide(input, true, "the outer cells are land");
    if (rings->has_water_y || !rings->are_copies)
        return decide(input, false, "the outer cells are water");
    if (input->is_cyclic)
        return decide(input, true, "the outer rows are land, the outer columns copies");
    return fail(MINIAPP_INPUT,
                "%s: attribute 'halo' is missing, and the outer columns are copies of "
                "those opposite: give halo = 2 and cyclic_x = 1 if these are ghosts, "
                "halo = 0 if they are cells",
                input->path);
}

enum miniapp_status find_ghosts(struct miniapp_input *input)
{
    static const enum field_id tracers[] = {FIELD_salt, FIELD_temp};
    const uint8_t *water = NULL;
    double *values = NULL;
    if (input->whole.nx < MINIAPP_MIN_CELLS || input->whole.ny < MINIAPP_MIN_CELLS)
        return decide(input, false, "too few cells for them");
    if (input->strips > 1)
        return fail(MINIAPP_INPUT,
                    "%s: attribute 'halo' is missing, and each of several processes reads only a "
                    "part of the file: give 0 if it has no ghost cells, 2 if its outer two rings "
                    "are ghosts",
                    input->path);
    enum miniapp_status status = find_water_cells(input, &water);
    if (status)
        return status;
    if (!water)
        return fail(MINIAPP_INPUT,
                    "%s: attribute 'halo' is missing: give 0 if the file has no ghost "
                    "cells, 2 if its outer two rings are ghosts; neither a mask nor "
                    "missing values tell",
                    input->path);
    for (size_t i = 0; i < sizeof(tracers) / sizeof(*tracers) && !values && !status; i++)
        if (is_there(input, tracers[i]))
            status = read_raw(input, tracers[i], &values);
    const struct rings rings =
        status ? (struct rings){0} : look_at_rings(&input->whole, water, values);
    free(values);
    return status ? status : judge(input, &rings);
}
