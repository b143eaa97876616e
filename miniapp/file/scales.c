/* The scales of an ocean's grid, from which time steps and friction follow where nobody chose them.
 */
#include "input.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>

enum { DXT, DYT, COST, DZT, TURNING, KBOT, LINES };
static const enum field_id ids[LINES] = {FIELD_dxt, FIELD_dyt,        FIELD_cost,
                                         FIELD_dzt, FIELD_coriolis_t, FIELD_kbot};

static void look_at_water(const struct miniapp_grid *grid, double *const line[LINES],
                          struct miniapp_scales *scales)
{
    for (size_t i = 0; i < grid->nx * grid->ny; i++) {
        const size_t x = i % grid->nx, y = i / grid->nx;
        if (line[KBOT][i] == 0)
            continue;
        scales->least_dx = fmin(scales->least_dx, line[DXT][x] * line[COST][y]);
        scales->least_dy = fmin(scales->least_dy, line[DYT][y]);
        scales->widest = fmax(scales->widest, fmax(line[DXT][x], line[DYT][y]));
        scales->turning = fmax(scales->turning, fabs(line[TURNING][i]));
    }
    for (size_t z = 0; z < grid->nz; z++)
        scales->highest = fmax(scales->highest, line[DZT][z]);
}

enum miniapp_status miniapp_input_scales(struct miniapp_input *input, struct miniapp_scales *scales)
{
    double *line[LINES] = {NULL};
    enum miniapp_status status = MINIAPP_DONE;
    *scales = (struct miniapp_scales){.least_dx = INFINITY, .least_dy = INFINITY};
    for (int i = 0; i < LINES && !status; i++)
        status = read_field(input, ids[i], &line[i]);
    if (!status)
        look_at_water(&input->grid, line, scales);
    for (int i = 0; i < LINES; i++)
        free(line[i]);
    return status;
}
