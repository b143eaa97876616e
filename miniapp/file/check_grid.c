/* Whether lines of a grid agree with each other: pressure with heights, widths with distances. */
#include "input.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>

/* The values of another field that the file has, or NULL. */
static enum miniapp_status read_other(struct miniapp_input *input, enum field_id id,
                                      double **values)
{
    *values = NULL;
    return is_there(input, id) ? read_field(input, id, values) : MINIAPP_DONE;
}

/* Whether two numbers agree within a factor of 2, which no stretched grid comes near. A number that
 * is not finite gets here only if the user allowed it. */
static bool are_alike(double value, double expected)
{
    return !isfinite(value) || !isfinite(expected) ||
           (value >= expected / 2 && value <= 2 * expected);
}

/* ---- along z ---- */

/* The distance between two T points is dzw, and the mean of their dzt. */
enum miniapp_status check_spacings(struct miniapp_input *input, enum field_id id,
                                   const double *values)
{
    double *zt;
    enum miniapp_status status = read_other(input, FIELD_zt, &zt);
    for (size_t k = 0; zt && k + 1 < input->grid.nz && !status; k++) {
        const double apart = zt[k + 1] - zt[k];
        const double spacing = id == FIELD_dzw ? values[k] : (values[k] + values[k + 1]) / 2;
        if (!are_alike(spacing, apart))
            status = fail(MINIAPP_INPUT, "%s: %s is %g, but 'zt' goes from %g to %g there",
                          input->path, place_in_file(input, id, k), values[k], zt[k], zt[k + 1]);
    }
    free(zt);
    return status;
}

/* Pressure in dbar is about the depth in m, even under a bar of air, in brine or in a lake. */
enum miniapp_status check_pressure(struct miniapp_input *input, const double *p)
{
    const double air = 20;
    double *zt;
    enum miniapp_status status = read_other(input, FIELD_zt, &zt);
    for (size_t k = 0; zt && k < input->grid.nz && !status; k++)
        if (isfinite(p[k]) && (p[k] < -zt[k] / 2 - air || p[k] > -2 * zt[k] + air))
            status = fail(MINIAPP_INPUT,
                          "%s: %s is %g, but 'zt' is %g there: pressure in dbar is about the depth "
                          "in m",
                          input->path, place_in_file(input, FIELD_p, k), p[k], zt[k]);
        else if (k > 0 && isfinite(p[k]) && p[k] > p[k - 1])
            status = fail(MINIAPP_INPUT,
                          "%s: %s is %g, but %g in the level below, where pressure is higher",
                          input->path, place_in_file(input, FIELD_p, k), p[k], p[k - 1]);
    free(zt);
    return status;
}

/* A W point is the upper face of its T cell, so it lies between two T points. */
static enum miniapp_status check_between(struct miniapp_input *input, const double *zw)
{
    double *zt;
    enum miniapp_status status = read_other(input, FIELD_zt, &zt);
    for (size_t k = 0; zt && k < input->grid.nz && !status; k++) {
        const double above = k + 1 < input->grid.nz ? zt[k + 1] : INFINITY;
        if (isfinite(zw[k]) && (zw[k] <= zt[k] || zw[k] >= above))
            status = fail(MINIAPP_INPUT, "%s: %s is %g, but 'zt' is %g there, and %g above",
                          input->path, place_in_file(input, FIELD_zw, k), zw[k], zt[k], above);
    }
    free(zt);
    return status;
}

/* The distance between two W points is the thickness of the T cell between them. */
enum miniapp_status check_upper_faces(struct miniapp_input *input, const double *zw)
{
    double *dzt = NULL;
    enum miniapp_status status = check_between(input, zw);
    if (!status)
        status = read_other(input, FIELD_dzt, &dzt);
    for (size_t k = 1; dzt && k < input->grid.nz && !status; k++)
        if (!are_alike(dzt[k], zw[k] - zw[k - 1]))
            status = fail(MINIAPP_INPUT, "%s: %s is %g, but '%s' goes from %g to %g there",
                          input->path, place_in_file(input, FIELD_dzt, k), dzt[k],
                          name_in_file(input, FIELD_zw), zw[k - 1], zw[k]);
    free(dzt);
    return status;
}

/* ---- along x and y ---- */

/* The distance between two T points is the mean width of their cells. */
enum miniapp_status check_distances(struct miniapp_input *input, enum field_id id,
                                    enum field_id widths, const double *distance)
{
    const size_t cells = miniapp_axis_length(fields[id].axes[0], &input->grid);
    double *width;
    enum miniapp_status status = read_other(input, widths, &width);
    for (size_t i = 0; width && i + 1 < cells && !status; i++)
        if (!are_alike(distance[i], (width[i] + width[i + 1]) / 2))
            status = fail(MINIAPP_INPUT, "%s: %s is %g, but '%s' is %g and %g on its sides",
                          input->path, place_in_file(input, id, i), distance[i],
                          name_in_file(input, widths), width[i], width[i + 1]);
    free(width);
    return status;
}

/* A face lies between two T points, so its cosine is about one of theirs, or between them. */
enum miniapp_status check_cosines(struct miniapp_input *input, const double *cosu)
{
    double *cost;
    enum miniapp_status status = read_other(input, FIELD_cost, &cost);
    for (size_t y = 0; cost && y + 1 < input->grid.ny && !status; y++)
        if (isfinite(cosu[y]) &&
            (cosu[y] < fmin(cost[y], cost[y + 1]) / 2 || cosu[y] > 2 * fmax(cost[y], cost[y + 1])))
            status = fail(MINIAPP_INPUT, "%s: %s is %g, but '%s' is %g and %g on its sides",
                          input->path, place_in_file(input, FIELD_cosu, y), cosu[y],
                          name_in_file(input, FIELD_cost), cost[y], cost[y + 1]);
    free(cost);
    return status;
}
