/* The flow in which steps in time are made: how fast it is, whether it is free of divergence, and
 * whether the streamfunction fits it. */
#include "external/islands.h"
#include "owned.h"
#include "ranks.h"
#include "state.h"
#include "status.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double most_below = 1e-4, most_in_top_level = 0.05;

/* The fields that the divergence is computed from; the levels of those in three dimensions are
 * taken one at a time. */
enum { U, V, W, MASK, BELOW, LEVELS, DXT = LEVELS, DYT, COST, COSU, DZT, ARRAYS };

/* And planes of what u and v carry through eastern and northern faces of columns, and of psi. */
enum { TRANSPORT = ARRAYS, PSI = TRANSPORT + 2, ALL };
static const char *const names[ALL] = {"u",    "v",    "w",   "maskT", "w", "dxt", "dyt",
                                       "cost", "cosu", "dzt", "u",     "v", "psi"};

/* The first process looks at the whole ocean, as it does for budgets. */
struct scan {
    struct miniapp_state *state;
    bool has_psi;        /* which has to fit the flow */
    double *array[ALL];  /* with ghosts */
    double misfit[ALL];  /* of u, v, w and psi: how far a value is from the nearest in float32 */
    double size;         /* the largest sum of the magnitudes of a cell's terms */
    double transport[2]; /* of the largest terms in a level, and in all levels before */
    struct miniapp_flow *flow;
};

static enum miniapp_status take_level(struct scan *scan, size_t z)
{
    for (int a = 0; a < LEVELS; a++)
        TRY(miniapp_state_gather(scan->state, names[a], a == BELOW && z > 0 ? z - 1 : z, true,
                                 scan->array[a]));
    return MINIAPP_DONE;
}

/* The neighbour of a cell to the west or east; where the ocean is cyclic, in its interior, since a
 * block's ghosts may be old. */
static size_t cell_beside(const struct scan *scan, size_t x, size_t y, int step)
{
    const size_t nx = scan->state->whole.nx, last = nx - MINIAPP_HALO - 1;
    const bool is_round = scan->state->cyclic_x && x == (step < 0 ? (size_t)MINIAPP_HALO : last);
    return y * nx + (is_round ? last + MINIAPP_HALO - x : x + (size_t)step);
}

/* The flow through the faces of a cell, in cells a step: in the west, east, south and north, at the
 * bottom and the top. None goes through the sea floor, or counts that goes through the surface. */
static void find_faces(const struct scan *scan, size_t x, size_t y, size_t z, double faces[6])
{
    double *const *const a = scan->array;
    const struct miniapp_grid *const g = &scan->state->whole;
    const size_t i = y * g->nx + x;
    const double along_x = scan->flow->time_step / (a[COST][y] * a[DXT][x]);
    const double along_y = scan->flow->time_step / (a[COST][y] * a[DYT][y]);
    const double along_z = scan->flow->time_step / a[DZT][z];
    faces[0] = a[U][cell_beside(scan, x, y, -1)] * along_x;
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

/* Adds what flows through the eastern and northern face of a cell of water, if they are open. */
static void add_transports(struct scan *scan, size_t x, size_t y, size_t z)
{
    double *const *const a = scan->array;
    const size_t nx = scan->state->whole.nx, i = y * nx + x;
    const size_t beyond[] = {cell_beside(scan, x, y, 1), i + nx};
    const double width[] = {a[DYT][y], a[DXT][x] * a[COSU][y]};
    for (int n = U; n <= V; n++) {
        const double flow = a[MASK][beyond[n]] != 0 ? a[n][i] * width[n] * a[DZT][z] : 0;
        a[TRANSPORT + n][i] += flow;
        scan->transport[0] = fmax(scan->transport[0], fabs(flow));
    }
}

static double distance_from_float(double value)
{
    return fabs(value - (double)(float)value);
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
    add_transports(scan, x, y, z);
    find_faces(scan, x, y, z, faces);
    for (int f = 0; f < 6; f++) {
        const double number = isnan(faces[f]) ? INFINITY : fabs(faces[f]); /* fmax drops NaN */
        flow->courant[f / 2] = fmax(flow->courant[f / 2], number);
        divergence += f % 2 ? faces[f] : -faces[f];
        size += fabs(faces[f]);
    }
    scan->size = fmax(scan->size, size);
    for (int n = U; n <= W; n++)
        scan->misfit[n] = fmax(scan->misfit[n], distance_from_float(a[n][i]));
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

/* The most that sums of values may be off by, as a share of their terms, if some were rounded when
 * they were written; `roundings` is how many last places that is. */
static double rounding_of(const struct scan *scan, int last, double roundings)
{
    bool is_single = scan->misfit[last] == 0;
    for (int n = U; n <= V; n++)
        is_single |= scan->misfit[n] == 0;
    return roundings * (is_single ? FLT_EPSILON : DBL_EPSILON);
}

/* Looks for the open face of a column whose flow is farthest from what psi has between the face's
 * ends, if rounding does not explain it. */
static void compare_with_psi(struct scan *scan)
{
    double *const *const a = scan->array, *const psi = a[PSI];
    const struct miniapp_grid *const g = &scan->state->whole;
    struct miniapp_flow *const flow = scan->flow;
    double largest = 0;
    for (size_t y = MINIAPP_HALO; y < g->ny - MINIAPP_HALO; y++)
        for (size_t x = MINIAPP_HALO; x < g->nx - MINIAPP_HALO; x++) {
            const size_t i = y * g->nx + x, beyond[] = {cell_beside(scan, x, y, 1), i + g->nx};
            const bool is_at_wall =
                x == MINIAPP_HALO && !scan->state->cyclic_x; /* psi is 0 there */
            const double west = is_at_wall ? 0 : psi[cell_beside(scan, x, y, -1)];
            const double by_psi[] = {psi[i - g->nx] - psi[i], psi[i] - west};
            largest = fmax(largest, fabs(psi[i]));
            scan->misfit[PSI] = fmax(scan->misfit[PSI], distance_from_float(psi[i]));
            for (int n = U; n <= V; n++) {
                const double off = fabs(a[TRANSPORT + n][i] - by_psi[n]);
                if (a[MASK][i] == 0 || a[MASK][beyond[n]] == 0 || !(off > flow->unfit))
                    continue;
                flow->unfit = off;
                flow->transport[0] = a[TRANSPORT + n][i];
                flow->transport[1] = by_psi[n];
                flow->is_of_v = n == V;
                note_cell(flow->face, x, y, 0);
            }
        }
    if (flow->unfit <= rounding_of(scan, PSI, 16) * (scan->transport[1] + largest))
        flow->unfit = 0;
}

/* Looks at all cells in the order of the file, and tells the other processes. */
static enum miniapp_status look(struct scan *scan)
{
    struct miniapp_state *const state = scan->state;
    const struct miniapp_grid *const g = &state->whole;
    const bool is_other = state->exchange && ranks_own() > 0;
    if (scan->has_psi)
        TRY(miniapp_state_gather(state, "psi", 0, true, scan->array[PSI]));
    scan->flow->gained = scan->flow->through = scan->transport[1] = 0;
    memset(scan->array[TRANSPORT], 0, 2 * g->nx * g->ny * sizeof(double));
    for (size_t z = 0; z < g->nz; z++) {
        TRY(take_level(scan, z));
        if (is_other)
            continue;
        for (size_t y = MINIAPP_HALO; y < g->ny - MINIAPP_HALO; y++)
            for (size_t x = MINIAPP_HALO; x < g->nx - MINIAPP_HALO; x++)
                look_at_cell(scan, x, y, z);
        scan->transport[1] += scan->transport[0];
        scan->transport[0] = 0;
    }
    scan->flow->tolerated[0] = fmin(most_below, scan->size * rounding_of(scan, W, 4096));
    scan->flow->tolerated[1] = most_in_top_level;
    if (scan->has_psi && !is_other)
        compare_with_psi(scan);
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

bool has_psi(const struct miniapp_state *state, const struct miniapp_sequence *sequence)
{
    return is_under_lid(state) && miniapp_sequence_carries(sequence, &fields[FIELD_psi]);
}

enum miniapp_status miniapp_flow_measure(struct miniapp_state *state,
                                         const struct miniapp_sequence *sequence,
                                         struct miniapp_flow *flow)
{
    struct scan scan = {.state = state,
                        .has_psi = has_psi(state, sequence) && miniapp_state_has(state, "psi"),
                        .flow = flow};
    OWNED double *memory = NULL;
    *flow = (struct miniapp_flow){.is_there = takes_flow(sequence),
                                  .time_step = state->settings.value[SETTING_dt_tracer],
                                  .tolerated = {INFINITY, INFINITY}};
    if (!flow->is_there)
        return MINIAPP_DONE;
    TRY(survey(state, names, ALL, true, "a level of the flow", scan.array, &memory));
    TRY(look(&scan));
    flow->is_from_rest = state->is_from_rest && flow->courant[2] == 0; /* unless a file has w */
    if (flow->below > flow->tolerated[0] || flow->top > flow->tolerated[1])
        TRY(look(&scan)); /* for the first cell that diverges so much */
    return MINIAPP_DONE;
}

/* Finds the land masses of the ocean, around which all is land. */
static void map_masses(const struct scan *scan, struct land_map *map)
{
    const struct miniapp_grid *const g = &scan->state->whole;
    const size_t ring = MINIAPP_HALO - 1;
    double *const water = scan->array[MASK];
    for (size_t y = 0; y < g->ny; y++)
        for (size_t x = 0; x < g->nx; x++)
            if (x <= ring || x + ring + 1 >= g->nx || y <= ring || y + ring + 1 >= g->ny)
                water[y * g->nx + x] = 0;
    map->nx = (ptrdiff_t)g->nx - 2 * MINIAPP_HALO;
    map->ny = (ptrdiff_t)g->ny - 2 * MINIAPP_HALO;
    map->stride = (ptrdiff_t)g->nx;
    map->water = water + ring * (g->nx + 1);
    map->is_cyclic = scan->state->cyclic_x;
    number_masses(map);
}

/* Adds what flows through columns from the northern wall on, where the streamfunction is 0. On the
 * coast of other land it is the sum of the first corner, because those of others differ by
 * rounding, which steps would keep; inside land it is 0. Ghosts repeat what a cyclic ocean has at
 * the other side. */
static void add_up_psi(const struct scan *scan, const struct land_map *map)
{
    const struct miniapp_grid *const g = &scan->state->whole;
    const size_t nx = g->nx, columns = nx - 2 * MINIAPP_HALO, ring = MINIAPP_HALO - 1;
    double *const sum = scan->array[TRANSPORT + U], *const psi = scan->array[PSI];
    double *const on_coast = scan->array[TRANSPORT + V]; /* of a mass; no longer needed for v */
    for (size_t i = 0; i < nx * g->ny; i++)
        on_coast[i] = i > 1 ? NAN : 0; /* the northern wall is 1, and what is inside land 0 */
    for (size_t y = g->ny - MINIAPP_HALO - 1; y >= MINIAPP_HALO; y--)
        for (size_t x = MINIAPP_HALO; x < MINIAPP_HALO + columns; x++) {
            const size_t corner = (y - 1) * nx + x;
            const int32_t kind = kind_of_corner(map, (ptrdiff_t)(corner - ring * (nx + 1)));
            if (y + MINIAPP_HALO + 1 < g->ny)
                sum[y * nx + x] += sum[(y + 1) * nx + x];
            if (kind > 0 && isnan(on_coast[kind]))
                on_coast[kind] = sum[y * nx + x];
            psi[corner] = kind == IN_WATER ? sum[y * nx + x] : on_coast[kind];
        }
    for (size_t i = 0; i < nx * g->ny && scan->state->cyclic_x; i++)
        if (i % nx < MINIAPP_HALO)
            psi[i] = psi[i + columns];
        else if (i % nx >= MINIAPP_HALO + columns)
            psi[i] = psi[i - columns];
}

enum miniapp_status state_make_psi(struct miniapp_state *state)
{
    struct miniapp_flow flow = {.tolerated = {INFINITY, INFINITY}};
    struct scan scan = {.state = state, .flow = &flow};
    const struct miniapp_grid *const g = &state->grid, *const whole = &state->whole;
    const size_t bytes = whole->nx * whole->ny * sizeof(double);
    OWNED double *memory = NULL;
    OWNED int32_t *const mass = calloc(whole->nx * whole->ny, sizeof(*mass));
    OWNED ptrdiff_t *const stack = malloc(whole->nx * whole->ny * sizeof(*stack));
    struct land_map map = {.mass = mass, .stack = stack};
    TRY(state_agrees(state, allocated(mass && stack, "land masses")));
    TRY(survey(state, names, ALL, true, "a level of the flow", scan.array, &memory));
    TRY(look(&scan));
    memset(scan.array[PSI], 0, bytes);
    if (!state->exchange || ranks_own() == 0) {
        map_masses(&scan, &map);
        add_up_psi(&scan, &map);
    }
    if (state->exchange)
        ranks_broadcast(RANKS_ALL, scan.array[PSI], bytes);
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t y = 0; y < g->ny && !status; y++)
        status = miniapp_state_set_part(state, "psi", y * g->nx, g->nx,
                                        scan.array[PSI] + (state->y0 + y) * whole->nx + state->x0);
    return state_agrees(state, status);
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
    if (flow->is_from_rest)
        return MINIAPP_DONE;
    if (flow->excess > 0)
        return fail(
            MINIAPP_INPUT,
            "%s%sthe flow is not free of divergence: in a step of %g s, cell [%zu, %zu, %zu] "
            "gains or loses %.3g of its volume, where %.2g is accepted below the top level and "
            "%g in it (%s accepts it)",
            path, path[0] ? ": " : "", flow->time_step, flow->cell[0], flow->cell[1] + ghosts,
            flow->cell[2] + ghosts, flow->excess, flow->tolerated[0], flow->tolerated[1], remedy);
    if (flow->unfit > 0)
        return fail(
            MINIAPP_INPUT,
            "%s%spsi does not fit u and v: through the column's face at [%zu, %zu], %s "
            "carries %.6g m3 s-1, but %.6g by psi, which would replace it (%s accepts that; "
            "where psi is absent, it is made from u)",
            path, path[0] ? ": " : "", flow->face[1] + ghosts, flow->face[2] + ghosts,
            flow->is_of_v ? "v" : "u", flow->transport[0], flow->transport[1], remedy);
    return MINIAPP_DONE;
}
