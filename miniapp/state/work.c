/*
 * The work of forces on the flow in a step of `ocean`: the tendencies of the flow before the step
 * do as much as wind and sinking water put in, less what frictions dissipate. Under a lid, this is
 * an identity of Veros's discretization; the turning of the earth, advection and pressure's
 * exchange with the density drop out.
 *
 * The levels have changed places: u_taup1 is the flow before the step, du_taum1 its tendency by all
 * but friction. Friction's follows from what the flow has gained, but for the depth mean, which the
 * external mode has replaced: momentum's own is in u_mean.
 */
#include "constants.h"
#include "owned.h"
#include "ranks.h"
#include "state.h"
#include "status.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Levels of fields on faces, then planes of them, then lines. */
enum { NOW, THEN, RATE, RATE_THEN, MASK, LEVELS, MEAN = LEVELS, STRESS, PLANES };
enum { DXT = PLANES, DXU, DYT, DYU, COST, COSU, DZT, DZW, ARRAYS };
static const char *const names[2][ARRAYS] = {
    {"u", "u_taup1", "du_taum1", "du", "maskU", "u_mean", "surface_taux", "dxt", "dxu", "dyt",
     "dyu", "cost", "cosu", "dzt", "dzw"},
    {"v", "v_taup1", "dv_taum1", "dv", "maskV", "v_mean", "surface_tauy"},
};
enum { RHO, RHO_ABOVE, W_THEN, MASK_W }; /* in the place of the first levels */

/* Integrals over a column of faces. */
struct face_depth {
    double height, transport, gained; /* of the flow before, and of that after */
    double work, size, moduli;        /* of the flow before */
};

struct work {
    struct miniapp_state *state;
    struct miniapp_grid inner;
    double *array[ARRAYS];
    double *pressure; /* of a level, at most, over rho_0 */
    struct face_depth *columns;
    bool is_shallow; /* a column of faces has one level */
    long double change, size, replaced;
    struct {
        long double value, size;
    } buoyancy, wind;
};

/* ---- what sinks ---- */

static void add_sinking(struct work *work, size_t z)
{
    const struct miniapp_grid *const g = &work->inner;
    const double per_height = GRAVITY / RHO_0 * work->array[DZW][z];
    double *const *const a = work->array;
    double densest = 0;
    for (size_t i = 0; i < g->nx * g->ny; i++) {
        const double area = a[DXT][i % g->nx] * a[DYT][i / g->nx] * a[COST][i / g->nx];
        densest = fmax(densest, fabs(a[RHO][i]));
        if (z + 1 == g->nz || a[MASK_W][i] == 0)
            continue;
        const double push = RHO_0 * area * per_height * a[W_THEN][i] / 2;
        work->buoyancy.value -= push * (a[RHO][i] + a[RHO_ABOVE][i]);
        work->buoyancy.size += fabs(push) * (fabs(a[RHO][i]) + fabs(a[RHO_ABOVE][i]));
    }
    work->pressure[z] = per_height * densest + (z + 1 < g->nz ? work->pressure[z + 1] : 0);
}

/* The density of the level before the step is made anew, and that of the last one again. */
static enum miniapp_status add_all_sinking(struct work *work)
{
    struct miniapp_state *const state = work->state;
    TRY(miniapp_run(state, "density:temp=temp_taup1,salt=salt_taup1"));
    for (size_t z = work->inner.nz; z-- > 0;) {
        double *const above = work->array[RHO];
        work->array[RHO] = work->array[RHO_ABOVE];
        work->array[RHO_ABOVE] = above;
        TRY(miniapp_state_gather(state, "rho", z, false, work->array[RHO]));
        TRY(miniapp_state_gather(state, "w_taup1", z, false, work->array[W_THEN]));
        TRY(miniapp_state_gather(state, "maskW", z, false, work->array[MASK_W]));
        if (ranks_own() == 0)
            add_sinking(work, z);
    }
    return miniapp_run(state, "density");
}

/* ---- what the flow gains ---- */

static double area_of_face(const struct work *work, bool is_v, size_t i)
{
    const size_t x = i % work->inner.nx, y = i / work->inner.nx;
    double *const *const a = work->array;
    return is_v ? a[DXT][x] * a[DYU][y] * a[COSU][y] : a[DXU][x] * a[DYT][y] * a[COST][y];
}

/* Adds a level to the columns. The size has a term for the two pressures that a gradient is the
 * difference of. */
static void add_faces_of_level(struct work *work, bool is_v, size_t z)
{
    const struct miniapp_grid *const g = &work->inner;
    const double *const setting = work->state->settings.value, dt = setting[SETTING_dt_mom];
    const double back = 0.5 + setting[SETTING_AB_eps], height = work->array[DZT][z];
    double *const *const a = work->array;
    for (size_t i = 0; i < g->nx * g->ny; i++) {
        struct face_depth *const c = &work->columns[i];
        const double now = a[NOW][i], then = a[THEN][i], rate = a[RATE][i], old = a[RATE_THEN][i];
        const double distance = is_v ? a[DYU][i / g->nx] : a[DXU][i % g->nx] * a[COST][i / g->nx];
        if (a[MASK][i] == 0)
            continue;
        c->height += height;
        c->transport += height * then;
        c->moduli += height * fabs(then);
        c->gained += height * now;
        c->work += height * then * ((now - then) / dt - back * (rate - old));
        c->size += height * fabs(then) *
                   ((fabs(now) + fabs(then)) / dt + back * (fabs(rate) + fabs(old)) +
                    2 * work->pressure[z] / distance);
        if (z + 1 == g->nz) {
            const double wind = area_of_face(work, is_v, i) * then * a[STRESS][i];
            work->wind.value += wind;
            work->wind.size += fabs(wind);
        }
    }
}

static void add_columns(struct work *work, bool is_v)
{
    const struct miniapp_grid *const g = &work->inner;
    const double dt = work->state->settings.value[SETTING_dt_mom];
    for (size_t i = 0; i < g->nx * g->ny; i++) {
        const struct face_depth *const c = &work->columns[i];
        const double area = area_of_face(work, is_v, i), weight = RHO_0 * area;
        const double side =
            area / (is_v ? work->array[DYU][i / g->nx]
                         : work->array[DXU][i % g->nx] * work->array[COST][i / g->nx]);
        const double mean = work->array[MEAN][i];
        if (c->height == 0)
            continue;
        const double replaced = c->gained / c->height;
        work->change += weight * (c->work + c->transport * (mean - replaced) / dt);
        work->size += weight * (c->size + c->moduli * (fabs(mean) + fabs(replaced)) / dt);
        work->replaced += 2 * side * c->height * (fabs(mean) + fabs(replaced));
        work->is_shallow |= c->height == work->array[DZT][g->nz - 1];
    }
}

static enum miniapp_status add_faces(struct work *work, bool is_v)
{
    const char *const *const name = names[is_v];
    const struct miniapp_grid *const g = &work->inner;
    memset(work->columns, 0, g->nx * g->ny * sizeof(*work->columns));
    for (int a = LEVELS; a < PLANES; a++)
        TRY(miniapp_state_gather(work->state, name[a], 0, false, work->array[a]));
    for (size_t z = 0; z < g->nz; z++) {
        for (int a = 0; a < LEVELS; a++)
            TRY(miniapp_state_gather(work->state, name[a], z, false, work->array[a]));
        if (ranks_own() == 0)
            add_faces_of_level(work, is_v, z);
    }
    if (ranks_own() == 0)
        add_columns(work, is_v);
    return MINIAPP_DONE;
}

/* ---- whether frictions dissipate what they take ---- */

/* Whether a T cell is as high as the halves of the W cells that its dissipation goes to. */
static bool heights_fit(const struct work *work)
{
    const double *const dzt = work->array[DZT], *const dzw = work->array[DZW];
    bool fit = true;
    for (size_t z = 0; z < work->inner.nz; z++)
        fit &= fabs(dzt[z] - (dzw[z] + dzw[z > 0 ? z - 1 : 0]) / 2) <= 4 * DBL_EPSILON * dzt[z];
    return fit;
}

/* Not where part of what dissipates on walls or in columns of one level is lost, as in Veros, nor
 * in a first step, whose flow is a file's. */
static bool closes(const struct work *work, size_t steps)
{
    const double *const on = work->state->settings.value;
    const bool is_lateral = on[SETTING_enable_hor_friction] != 0;
    const bool is_biharmonic = on[SETTING_enable_biharmonic_friction] != 0;
    const bool is_drag = on[SETTING_enable_ray_friction] || on[SETTING_enable_bottom_friction] ||
                         on[SETTING_enable_quadratic_bottom_friction] ||
                         on[SETTING_enable_momentum_sources];
    const bool is_at_levels = is_lateral || is_biharmonic || is_drag;
    return steps > 1 && on[SETTING_enable_streamfunction] && on[SETTING_enable_conserve_energy] &&
           !((is_lateral || is_biharmonic) && on[SETTING_enable_noslip_lateral]) &&
           !(is_lateral && is_biharmonic) &&
           !(on[SETTING_enable_implicit_vert_friction] &&
             on[SETTING_enable_explicit_vert_friction]) &&
           !(is_at_levels && (work->is_shallow || !heights_fit(work)));
}

enum miniapp_status work_add(struct miniapp_state *state, size_t steps,
                             struct miniapp_budget *budget, double *replaced)
{
    const struct miniapp_grid g = miniapp_grid_interior(&state->whole);
    OWNED double *memory = NULL, *const pressure = malloc(g.nz * sizeof(*pressure));
    OWNED struct face_depth *const columns = malloc(g.nx * g.ny * sizeof(*columns));
    struct work work = {.state = state, .inner = g, .pressure = pressure, .columns = columns};
    TRY(state_agrees(state, allocated(pressure && columns, "the work of forces")));
    TRY(survey(state, names[0], ARRAYS, false, "the work of forces", work.array, &memory));
    state->steps--; /* else density, which it runs, brings the wind of the next step */
    const enum miniapp_status status = add_all_sinking(&work);
    state->steps++;
    TRY(status);
    TRY(add_faces(&work, false));
    TRY(add_faces(&work, true));
    double sums[] = {(double)work.change,       closes(&work, steps) ? (double)work.size : INFINITY,
                     (double)work.replaced,     (double)work.wind.value,
                     (double)work.wind.size,    (double)work.buoyancy.value,
                     (double)work.buoyancy.size};
    if (state->exchange)
        ranks_broadcast(RANKS_ALL, sums, sizeof(sums));
    budget->change += sums[0];
    budget->size += sums[1];
    *replaced = sums[2];
    budget_add_gain(budget, "wind", sums[3], sums[4]);
    budget_add_gain(budget, "buoyancy", sums[5], sums[6]);
    return MINIAPP_DONE;
}
