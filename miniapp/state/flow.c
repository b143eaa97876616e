/* The flow in which steps in time are made: how fast it is, and whether it is free of divergence.
 */
#include "owned.h"
#include "ranks.h"
#include "state.h"
#include "status.h"

#include <float.h>
#include <math.h>

static const double most_below = 1e-4, most_in_top_level = 0.05;

/* The fields that the divergence is computed from; the levels of those in three dimensions are
 * taken one at a time. */
enum { U, V, W, MASK, BELOW, LEVELS, DXT = LEVELS, DYT, COST, COSU, DZT, ARRAYS };
static const char *const names[ARRAYS] = {"u",   "v",   "w",    "maskT", "w",
                                          "dxt", "dyt", "cost", "cosu",  "dzt"};

/* The first process looks at the whole ocean, as it does for budgets. */
struct scan {
    struct miniapp_state *state;
    double *array[ARRAYS]; /* with ghosts */
    double misfit[3];      /* of u, v and w: how far a value is from the nearest in float32 */
    double size;           /* the largest sum of the magnitudes of a cell's terms */
    struct miniapp_flow *flow;
};

static enum miniapp_status take_level(struct scan *scan, size_t z)
{
    for (int a = 0; a < LEVELS; a++)
        TRY(miniapp_state_gather(scan->state, names[a], a == BELOW && z > 0 ? z - 1 : z, true,
                                 scan->array[a]));
    return MINIAPP_DONE;
}

/* The flow through the faces of a cell, in cells a step: in the west, east, south and north, at the
 * bottom and the top. None goes through the sea floor, or counts that goes through the surface. */
static void find_faces(const struct scan *scan, size_t x, size_t y, size_t z, double faces[6])
{
    double *const *const a = scan->array;
    const struct miniapp_grid *const g = &scan->state->whole;
    const size_t row = y * g->nx, i = row + x;
    const bool is_round =
        x == MINIAPP_HALO && scan->state->cyclic_x; /* a block's ghosts may be old */
    const size_t west = is_round ? row + g->nx - MINIAPP_HALO - 1 : i - 1;
    const double along_x = scan->flow->time_step / (a[COST][y] * a[DXT][x]);
    const double along_y = scan->flow->time_step / (a[COST][y] * a[DYT][y]);
    const double along_z = scan->flow->time_step / a[DZT][z];
    faces[0] = a[U][west] * along_x;
    faces[1] = a[U][i] * along_x;
    faces[2] = a[V][i - g->nx] * a[COSU][y - 1] * along_y;
    faces[3] = a[V][i] * a[COSU][y] * along_y;
    faces[4] = z > 0 ? a[BELOW][i] * along_z : 0;
    faces[5] = z + 1 < g->nz ? a[W][i] * along_z : 0;
}

static void note_cell(size_t cell[3], size_t x, size_t y, size_t z)
{
    cell[0] = z;
    cell[1] = y - MINIAPP_HALO;
    cell[2] = x - MINIAPP_HALO;
}

/* Looks for the first cell of water that has water beside it in the ghosts of a closed side. */
static void look_beyond_sides(struct scan *scan, size_t x, size_t y, size_t z)
{
    const struct miniapp_grid *const g = &scan->state->whole;
    const double *const water = scan->array[MASK] + y * g->nx + x;
    const bool is_closed = !scan->state->cyclic_x;
    struct miniapp_flow *const flow = scan->flow;
    if (flow->leaks)
        return;
    flow->leaks = (y == MINIAPP_HALO && water[-(ptrdiff_t)g->nx] != 0) ||
                  (y + MINIAPP_HALO + 1 == g->ny && water[g->nx] != 0) ||
                  (is_closed && x == MINIAPP_HALO && water[-1] != 0) ||
                  (is_closed && x + MINIAPP_HALO + 1 == g->nx && water[1] != 0);
    note_cell(flow->beside, x, y, z);
}

static void look_at_cell(struct scan *scan, size_t x, size_t y, size_t z)
{
    struct miniapp_flow *const flow = scan->flow;
    double faces[6], *const *const a = scan->array, size = 0, divergence = 0;
    const size_t i = y * scan->state->whole.nx + x;
    const bool is_top = z + 1 == scan->state->whole.nz;
    if (a[MASK][i] == 0)
        return;
    look_beyond_sides(scan, x, y, z);
    find_faces(scan, x, y, z, faces);
    for (int f = 0; f < 6; f++) {
        flow->courant[f / 2] = fmax(flow->courant[f / 2], fabs(faces[f]));
        divergence += f % 2 ? faces[f] : -faces[f];
        size += fabs(faces[f]);
    }
    scan->size = fmax(scan->size, size);
    for (int n = U; n <= W; n++)
        scan->misfit[n] = fmax(scan->misfit[n], fabs(a[n][i] - (double)(float)a[n][i]));
    const double volume = a[DXT][x] * a[COST][y] * a[DYT][y] * a[DZT][z];
    flow->gained += fabs(divergence) * volume;
    flow->through += size * volume;
    double *const largest = is_top ? &flow->top : &flow->below;
    *largest = fmax(*largest, fabs(divergence));
    if (fabs(divergence) > flow->tolerated[is_top] && flow->excess == 0) {
        flow->excess = fabs(divergence);
        note_cell(flow->cell, x, y, z);
    }
}

/* The most that sums of values may be off by which were rounded when they were written. */
static double rounding_of(const struct scan *scan)
{
    const bool is_single = scan->misfit[U] == 0 || scan->misfit[V] == 0 || scan->misfit[W] == 0;
    return fmin(most_below, 4096 * scan->size * (is_single ? FLT_EPSILON : DBL_EPSILON));
}

/* Looks at all cells in the order of the file, and tells the other processes. */
static enum miniapp_status look(struct scan *scan)
{
    struct miniapp_state *const state = scan->state;
    const struct miniapp_grid *const g = &state->whole;
    scan->flow->gained = scan->flow->through = 0;
    for (size_t z = 0; z < g->nz; z++) {
        TRY(take_level(scan, z));
        if (state->exchange && ranks_own() > 0)
            continue;
        for (size_t y = MINIAPP_HALO; y < g->ny - MINIAPP_HALO; y++)
            for (size_t x = MINIAPP_HALO; x < g->nx - MINIAPP_HALO; x++)
                look_at_cell(scan, x, y, z);
    }
    scan->flow->tolerated[0] = rounding_of(scan);
    scan->flow->tolerated[1] = most_in_top_level;
    if (state->exchange)
        ranks_broadcast(RANKS_ALL, scan->flow, sizeof(*scan->flow));
    return MINIAPP_DONE;
}

static bool takes_flow(const struct miniapp_sequence *sequence)
{
    bool takes = true;
    for (int a = 0; a < ARRAYS; a++)
        takes &= miniapp_sequence_reads(sequence, miniapp_field_find(names[a]));
    return takes;
}

enum miniapp_status miniapp_flow_measure(struct miniapp_state *state,
                                         const struct miniapp_sequence *sequence,
                                         struct miniapp_flow *flow)
{
    struct scan scan = {.state = state, .flow = flow};
    OWNED double *memory = NULL;
    *flow = (struct miniapp_flow){.is_there = takes_flow(sequence),
                                  .time_step = state->settings.value[SETTING_dt_tracer],
                                  .tolerated = {INFINITY, INFINITY}};
    if (!flow->is_there)
        return MINIAPP_DONE;
    TRY(survey(state, names, ARRAYS, true, "a level of the flow", scan.array, &memory));
    TRY(look(&scan));
    if (flow->below > flow->tolerated[0] || flow->top > flow->tolerated[1])
        TRY(look(&scan)); /* for the first cell that diverges so much */
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_flow_speed(struct miniapp_state *state, double *speed)
{
    const struct miniapp_grid *const g = &state->grid;
    enum miniapp_status status = MINIAPP_DONE;
    *speed = 0;
    for (int a = U; a <= V && !status; a++) {
        struct slot *const slot = state_slot(state, names[a]);
        status = slot ? state_to_device(state, slot) : MINIAPP_USAGE;
        const double largest =
            status ? 0 : functions_for(state, slot)->largest(slot->device, g->nx, g->ny, g->nz);
        *speed = fmax(*speed, isnan(largest) ? INFINITY : largest);
    }
    if (state->exchange)
        ranks_reduce(RANKS_LARGEST, speed, 1);
    return status;
}

enum miniapp_status miniapp_flow_judge(const struct miniapp_flow *flow, size_t ghosts,
                                       const char *path, const char *remedy)
{
    if (flow->leaks)
        return fail(MINIAPP_INPUT,
                    "%s%sthe ghost beside cell [%zu, %zu, %zu] is water, though that side of the "
                    "ocean is closed: maskT has to be 0 there (%s accepts it)",
                    path, path[0] ? ": " : "", flow->beside[0], flow->beside[1] + ghosts,
                    flow->beside[2] + ghosts, remedy);
    if (flow->excess == 0)
        return MINIAPP_DONE;
    return fail(MINIAPP_INPUT,
                "%s%sthe flow is not free of divergence: in a step of %g s, cell [%zu, %zu, %zu] "
                "gains or loses %.3g of its volume, where %.2g is accepted below the top level and "
                "%g in it (%s accepts it)",
                path, path[0] ? ": " : "", flow->time_step, flow->cell[0], flow->cell[1] + ghosts,
                flow->cell[2] + ghosts, flow->excess, flow->tolerated[0], flow->tolerated[1],
                remedy);
}
