#include "flow.h"
#include "finite.h"
#include "planes.h"
#include "ranks.h"
#include "status.h"
#include "stop.h"
#include "validate.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double most_below = 1e-4, most_in_top_level = 0.05;

/* The fields that the divergence is computed from; the levels of those in three dimensions are
 * taken one at a time. */
enum { U, V, W, MASK, BELOW, LEVELS, DXT = LEVELS, DYT, COST, COSU, DZT, ARRAYS };
static const char *const names[ARRAYS] = {"u",   "v",   "w",    "maskT", "w",
                                          "dxt", "dyt", "cost", "cosu",  "dzt"};

struct scan {
    const struct run *run;
    const struct row *row;
    double *memory, *array[ARRAYS];
    struct part part; /* this process's interior */
    double time_step;
    double tolerated[2]; /* below and in the top level */
    double misfit[3];    /* of u, v and w: how far a value is from the nearest in float32 */
    bool is_single;      /* one of them was in float32 */
    double size;         /* the largest sum of the magnitudes of a cell's terms */
    struct flow flow;
    struct nonfinite first; /* cell that diverges by more than is tolerated */
};

static enum miniapp_status take_memory(struct scan *scan)
{
    const struct miniapp_grid *const g = &scan->row->part;
    size_t lengths[ARRAYS] = {0}, total = 0;
    for (int a = 0; a < ARRAYS; a++) {
        lengths[a] = a < LEVELS ? g->nx * g->ny : a == DXT ? g->nx : a == DZT ? g->nz : g->ny;
        total += lengths[a];
    }
    double *next = scan->memory = malloc(total * sizeof(double));
    enum miniapp_status status =
        next ? MINIAPP_DONE : fail(MINIAPP_DEVICE, "out of memory for a level of the flow");
    for (int a = 0; a < ARRAYS && !status; next += lengths[a], a++) {
        scan->array[a] = next;
        if (a >= LEVELS)
            status = miniapp_state_get(scan->row->state, names[a], next);
    }
    return status;
}

static enum miniapp_status take_level(struct scan *scan, size_t z)
{
    const size_t elements = scan->row->part.nx * scan->row->part.ny;
    enum miniapp_status status = MINIAPP_DONE;
    for (int a = 0; a < LEVELS && !status; a++) {
        const size_t level = a == BELOW && z > 0 ? z - 1 : z;
        status = miniapp_state_get_part(scan->row->state, names[a], level * elements, elements,
                                        scan->array[a]);
    }
    return status;
}

/* The flow through the faces of a cell, in cells a step: in the west, east, south and north, at the
 * bottom and the top. None goes through the sea floor, or counts that goes through the surface. */
static void find_faces(const struct scan *scan, size_t x, size_t y, size_t z, double faces[6])
{
    double *const *const a = scan->array;
    const size_t nx = scan->row->part.nx, i = y * nx + x;
    const double along_x = scan->time_step / (a[COST][y] * a[DXT][x]);
    const double along_y = scan->time_step / (a[COST][y] * a[DYT][y]);
    const double along_z = scan->time_step / a[DZT][z];
    faces[0] = a[U][i - 1] * along_x;
    faces[1] = a[U][i] * along_x;
    faces[2] = a[V][i - nx] * a[COSU][y - 1] * along_y;
    faces[3] = a[V][i] * a[COSU][y] * along_y;
    faces[4] = z > 0 ? a[BELOW][i] * along_z : 0;
    faces[5] = z + 1 < scan->row->part.nz ? a[W][i] * along_z : 0;
}

static void look_at_cell(struct scan *scan, size_t x, size_t y, size_t z, size_t element)
{
    double faces[6], *const *const a = scan->array, size = 0, divergence = 0;
    const size_t i = y * scan->row->part.nx + x;
    const bool is_top = z + 1 == scan->row->part.nz;
    if (a[MASK][i] == 0)
        return;
    find_faces(scan, x, y, z, faces);
    for (int f = 0; f < 6; f++) {
        scan->flow.courant[f / 2] = fmax(scan->flow.courant[f / 2], fabs(faces[f]));
        divergence += f % 2 ? faces[f] : -faces[f];
        size += fabs(faces[f]);
    }
    scan->size = fmax(scan->size, size);
    for (int n = U; n <= W; n++)
        scan->misfit[n] = fmax(scan->misfit[n], fabs(a[n][i] - (double)(float)a[n][i]));
    double *const largest = is_top ? &scan->flow.top : &scan->flow.below;
    *largest = fmax(*largest, fabs(divergence));
    if (fabs(divergence) > scan->tolerated[is_top] && !scan->first.is_there) {
        scan->first.is_there = true;
        scan->first.element = element;
        scan->first.value = fabs(divergence);
    }
}

/* Looks at all cells of the process in the order of the file. */
static enum miniapp_status look(struct scan *scan)
{
    const struct part *const part = &scan->part;
    const struct miniapp_grid *const grid = &scan->first.grid;
    const size_t ghosts = miniapp_input_has_ghosts(scan->run->input) ? MINIAPP_HALO : 0;
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t z = 0; z < scan->row->part.nz && !status; z++) {
        status = take_level(scan, z);
        for (size_t y = 0; y < part->ny && !status; y++)
            for (size_t x = 0; x < part->nx; x++)
                look_at_cell(scan, part->x0 + x, part->y0 + y, z,
                             (z * grid->ny + part->whole_y0 + y + ghosts) * grid->nx +
                                 part->whole_x0 + x + ghosts);
    }
    return status;
}

static enum miniapp_status measure(struct scan *scan)
{
    struct flow *const flow = &scan->flow;
    enum miniapp_status status = look(scan);
    status = agree_on(status, flow->courant, 3);
    status = agree_on(status, scan->misfit, 3);
    double numbers[] = {flow->below, flow->top, scan->size};
    status = agree_on(status, numbers, 3);
    flow->is_there = true;
    flow->below = numbers[0];
    flow->top = numbers[1];
    scan->size = numbers[2];
    scan->is_single = scan->misfit[U] == 0 || scan->misfit[V] == 0 || scan->misfit[W] == 0;
    return status;
}

/* The most that sums of values may be off by which were rounded when they were written. */
static double rounding_of(const struct scan *scan)
{
    return fmin(most_below, 4096 * scan->size * (scan->is_single ? FLT_EPSILON : DBL_EPSILON));
}

static enum miniapp_status refuse(struct scan *scan, double below)
{
    size_t index[MINIAPP_MAX_RANK];
    char place[INDEX_TEXT];
    const struct miniapp_field *const mask = miniapp_field_find("maskT");
    scan->tolerated[0] = below;
    scan->tolerated[1] = most_in_top_level;
    enum miniapp_status status = look(scan);
    struct nonfinite *const first = &scan->first;
    status = agree_on_first(status, &first->is_there, &first->element, &first->value);
    if (status)
        return status;
    const char *const text =
        index_text(index, index_of(first->element, mask, &first->grid, index), place);
    return fail(MINIAPP_INPUT,
                "%s: the flow is not free of divergence: in a step of %g s, cell %s gains or loses "
                "%.3g of its volume, where %.2g is accepted below the top level and %g in it "
                "(--allow-divergent accepts it)",
                scan->run->options.input, scan->time_step, text, first->value, below,
                most_in_top_level);
}

static bool takes_flow(const struct miniapp_sequence *sequence)
{
    bool takes = true;
    for (int a = 0; a < ARRAYS; a++)
        takes &= miniapp_sequence_reads(sequence, miniapp_field_find(names[a]));
    return takes;
}

enum miniapp_status flow_check(const struct run *run, struct row *row)
{
    const struct block block = block_of(&row->blocks, ranks_own());
    const bool is_judged = run->options.shapes[0].nx == 0 && !run->options.allow_divergent;
    struct scan scan = {
        .run = run,
        .row = row,
        .part = part_of_block(&row->blocks, &block, true, true, false),
        .time_step = miniapp_settings_get(miniapp_state_settings(row->state), "dt_tracer"),
        .tolerated = {INFINITY, INFINITY},
        .first = {.grid = miniapp_input_has_ghosts(run->input) ? row->grid
                                                               : miniapp_grid_interior(&row->grid)},
    };
    if (!takes_flow(row->sequence))
        return MINIAPP_DONE;
    enum miniapp_status status = agree(take_memory(&scan));
    if (!status)
        status = measure(&scan);
    row->flow = scan.flow;
    const double below = rounding_of(&scan);
    if (!status && is_judged && (scan.flow.below > below || scan.flow.top > most_in_top_level))
        status = refuse(&scan, below);
    free(scan.memory);
    return status;
}

const char *courant_text(const struct flow *flow, char text[FLOW_TEXT])
{
    text[0] = '\0';
    if (flow->is_there)
        snprintf(text, FLOW_TEXT, "Courant numbers %.3g, %.3g and %.3g", flow->courant[0],
                 flow->courant[1], flow->courant[2]);
    return text;
}
