/* The budgets of steps in time, which physics/mixing/ocean.budgets describes. */
#include "constants.h"
#include "owned.h"
#include "ranks.h"
#include "sequence.h"
#include "state.h"
#include "status.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum cell_kind { T_CELLS, W_CELLS, SURFACE, DEEP_W_CELLS, DEEP_SURFACE, TOP_FACES };

enum budget_id {
#define BUDGET(name, units) BUDGET_##name,
#define CHANGE(...)
#define GAIN(...)
#include "mixing/ocean.budgets"
    BUDGETS
};
enum { TRACER_BUDGETS = MOST_TRACERS + 1 }; /* `tracer` may be stepped beside those with names */
enum {
    GAINS_OF_ENERGY = 0 /* no budget has more */
#undef BUDGET
#undef GAIN
#define BUDGET(...)
#define GAIN(budget, ...) +(BUDGET_##budget == BUDGET_energy)
#include "mixing/ocean.budgets"
};
_Static_assert(GAINS_OF_ENERGY <= (int)MINIAPP_GAINS, "program.h has fewer");
_Static_assert(BUDGETS + TRACER_BUDGETS == (int)MINIAPP_BUDGETS, "program.h has another number");

static const struct {
    const char *name, *units;
} table[] = {
#undef BUDGET
#undef GAIN
#define GAIN(...)
#define BUDGET(name, units) {#name, units},
#include "mixing/ocean.budgets"
};

/* A term of a budget: a field that changes, with its time step, or a rate. */
struct term {
    size_t budget;
    double factor;
    enum field_id field, before; /* `before` is NO_FIELD for a rate */
    enum cell_kind place;
    double time_step;
};

enum { MOST_TERMS = 96 + 3 * TRACER_BUDGETS };

/* The tracers of a sequence have budgets, too, after those of the table. */
static size_t list_tracers(const struct miniapp_sequence *sequence,
                           enum field_id tracers[TRACER_BUDGETS])
{
    size_t count = 0;
    for (size_t i = 0; i < sequence->level_count; i++)
        if (is_tracer(sequence->levels[i].before) || sequence->levels[i].before == FIELD_tracer)
            tracers[count++] = sequence->levels[i].before;
    return count;
}

/* The amount of a tracer: one unit of it in a cubic metre counts as 1. `back` is that of
 * ocean.budgets. */
static size_t list_terms_of_tracers(const struct miniapp_sequence *sequence, double time_step,
                                    double back, struct term *terms)
{
    enum field_id tracers[TRACER_BUDGETS];
    const size_t tracer_count = list_tracers(sequence, tracers);
    size_t count = 0;
    for (size_t i = 0; i < tracer_count; i++) {
        const enum field_id taup1 = field_of_tracer(tracers[i], FIELD_tracer_taup1);
        const enum field_id taum1 = field_of_tracer(tracers[i], FIELD_dtracer_taum1);
        const enum field_id tendency = field_of_tracer(tracers[i], FIELD_dtracer);
        const enum field_id surface = field_of_tracer(tracers[i], FIELD_forc_tracer_surface);
        terms[count++] = (struct term){BUDGETS + i, 1, tracers[i], taup1, T_CELLS, time_step};
        if (back != 0)
            terms[count++] = (struct term){BUDGETS + i, -back, taum1, tendency, T_CELLS, time_step};
        terms[count++] = (struct term){BUDGETS + i, 1, surface, NO_FIELD, SURFACE, 0};
    }
    return count;
}

/* Whether a step that runs with the settings has the field. */
static bool uses_field(const struct miniapp_sequence *sequence, const double *setting,
                       enum field_id id)
{
    for (size_t s = 0; s < sequence->count; s++)
        if (holds(&sequence->steps[s].condition, setting) &&
            has_argument_of(&sequence->steps[s], id))
            return true;
    return false;
}

/* The share of the eddies' dissipation that internal waves do not get in columns of one level: half
 * of it if it goes to the bottom, since that cell is half a one; if the surface takes part, that
 * part alone arrives. */
static double lost_in_shallow_columns(const double *setting)
{
    if (setting[SETTING_enable_eke_diss_bottom])
        return 0.5;
    return setting[SETTING_enable_eke_diss_surfbot] ? setting[SETTING_eke_diss_surfbot_frac] : 0;
}

/* Lists the terms whose factor is not 0 and whose fields the sequence has. */
static size_t list_terms(const struct miniapp_sequence *sequence, const double *setting,
                         struct term terms[MOST_TERMS])
{
    const double enable_eke = setting[SETTING_enable_eke];
    const bool is_eke_given =
        enable_eke && !miniapp_sequence_writes(sequence, &fields[FIELD_eke_taup1]);
    const bool enable_streamfunction = setting[SETTING_enable_streamfunction] != 0;
    const bool enable_TEM_friction = setting[SETTING_enable_TEM_friction] != 0;
    const double enable_store_cabbeling_heat = setting[SETTING_enable_store_cabbeling_heat];
    const double back = (0.5 + setting[SETTING_AB_eps]) * setting[SETTING_dt_tracer];
    const double tke_back = back * (setting[SETTING_enable_tke_superbee_advection] != 0 ||
                                    setting[SETTING_enable_tke_upwind_advection] != 0);
    const double eke_back = back * (setting[SETTING_enable_eke_superbee_advection] != 0 ||
                                    setting[SETTING_enable_eke_upwind_advection] != 0);
    const double iw_back = back * (setting[SETTING_enable_idemix_superbee_advection] != 0 ||
                                   setting[SETTING_enable_idemix_upwind_advection] != 0);
    const double enable_store_bottom_friction_tke =
        setting[SETTING_enable_store_bottom_friction_tke];
    const bool has_waves = setting[SETTING_enable_idemix];
    const bool is_iw_given =
        has_waves && !miniapp_sequence_writes(sequence, &fields[FIELD_E_iw_taup1]);
    const bool gets_mean = !is_eke_given && (enable_eke || !is_iw_given);
    const bool lost_by_eke = enable_eke && is_iw_given;
    const double not_moved =
        enable_eke && has_waves && !is_iw_given ? lost_in_shallow_columns(setting) : 0;
    const struct term all[] = {
#undef BUDGET
#undef CHANGE
#undef GAIN
#define BUDGET(...)
#define CHANGE(budget, factor, field, before, place, time_step)                                    \
    {BUDGET_##budget, factor, FIELD_##field, FIELD_##before, place, setting[SETTING_##time_step]},
#define GAIN(budget, factor, field, place) {BUDGET_##budget, factor, FIELD_##field, 0, place, 0},
#include "mixing/ocean.budgets"
    };
    const bool has_turbulence = uses_field(sequence, setting, FIELD_tke_taup1);
    size_t count = 0;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        const bool is_there = (has_turbulence || all[i].budget != BUDGET_energy) &&
                              uses_field(sequence, setting, all[i].field) &&
                              (!all[i].before || uses_field(sequence, setting, all[i].before));
        if (is_there && all[i].factor != 0)
            terms[count++] = all[i];
    }
    return count + list_terms_of_tracers(sequence, setting[SETTING_dt_tracer], back, terms + count);
}

/* ---- integrals ---- */

/* The whole ocean without ghosts: sizes of its cells, the breadth times the cosine, and a level of
 * a mask and of a field. */
enum { WIDTH, BREADTH, COSINE, HEIGHT_OF_T, HEIGHT_OF_W, WET, VALUES, CELL_ARRAYS };

static enum miniapp_status take_cells(struct miniapp_state *state, double **cells, double **memory)
{
    static const char *const names[CELL_ARRAYS] = {"dxt", "dyt",   "cost", "dzt",
                                                   "dzw", "maskT", "maskT"};
    const struct miniapp_grid g = miniapp_grid_interior(&state->whole);
    TRY(survey(state, names, CELL_ARRAYS, false, "budgets", cells, memory));
    if (ranks_own() > 0)
        return MINIAPP_DONE;
    for (size_t y = 0; y < g.ny; y++)
        cells[BREADTH][y] *= cells[COSINE][y];
    cells[HEIGHT_OF_W][g.nz - 1] /= 2;
    return MINIAPP_DONE;
}

/* A sum, and the sum of the magnitudes of its terms. */
struct sum {
    long double value, size;
};

static void add(struct sum *sum, double factor, struct sum other)
{
    sum->value += factor * other.value;
    sum->size += fabs(factor) * other.size;
}

/* Sums over the water of a level, weighted by area. */
static struct sum sum_level(const struct miniapp_grid *inner, double *const *cells)
{
    struct sum sum = {0, 0};
    for (size_t y = 0; y < inner->ny; y++) {
        struct sum row = {0, 0};
        for (size_t x = 0; x < inner->nx; x++) {
            const size_t i = y * inner->nx + x;
            if (cells[WET][i] == 0)
                continue;
            row.value += (long double)cells[WIDTH][x] * cells[VALUES][i];
            row.size += (long double)cells[WIDTH][x] * fabs(cells[VALUES][i]);
        }
        sum.value += cells[BREADTH][y] * row.value;
        sum.size += cells[BREADTH][y] * row.size;
    }
    return sum;
}

/* Adds up in the same order, whatever device runs the kernels and however the ocean is cut. */
static enum miniapp_status integrate(struct miniapp_state *state, double *const *cells,
                                     enum field_id field, enum cell_kind place, struct sum *sum)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&state->whole);
    const bool is_deep = place == DEEP_W_CELLS || place == DEEP_SURFACE;
    const bool is_surface = place == SURFACE || place == DEEP_SURFACE || place == TOP_FACES;
    const bool is_of_w = place == W_CELLS || place == DEEP_W_CELLS;
    const size_t top = inner.nz - 1, end = is_deep && top == 0 ? 0 : inner.nz;
    *sum = (struct sum){0, 0};
    for (size_t z = is_surface ? top : 0; z < end; z++) {
        const size_t level = is_surface && place != TOP_FACES ? 0 : z;
        const bool is_edge = is_deep && z == top; /* where water below makes a column deep */
        TRY(miniapp_state_gather(state, is_edge || !is_of_w ? "maskT" : "maskW",
                                 is_edge ? z - 1 : z, false, cells[WET]));
        TRY(miniapp_state_gather(state, fields[field].name, level, false, cells[VALUES]));
        if (ranks_own() == 0)
            add(sum, is_surface ? 1 : cells[is_of_w ? HEIGHT_OF_W : HEIGHT_OF_T][z],
                sum_level(&inner, cells));
    }
    if (state->exchange)
        ranks_broadcast(RANKS_ALL, sum, sizeof(*sum));
    return MINIAPP_DONE;
}

/* ---- budgets ---- */

/* Whether the gains of a budget are the same in each step: then it is judged over all steps. */
static bool gains_steadily(const struct miniapp_state *state,
                           const struct miniapp_sequence *sequence, size_t budget,
                           const struct term *terms, size_t count)
{
    bool is_steady = true;
    for (size_t i = 0; i < count; i++)
        if (terms[i].budget == budget && !terms[i].before)
            is_steady &= !miniapp_sequence_writes(sequence, &fields[terms[i].field]) &&
                         !state_is_forced(state, fields[terms[i].field].name);
    return is_steady;
}

enum miniapp_status miniapp_budgets_open(struct miniapp_state *state,
                                         const struct miniapp_sequence *sequence,
                                         struct miniapp_budget *budgets)
{
    struct term terms[MOST_TERMS];
    double *cells[CELL_ARRAYS];
    OWNED double *memory = NULL;
    const size_t count = list_terms(sequence, state->settings.value, terms);
    enum field_id tracers[TRACER_BUDGETS];
    const size_t tracer_count = list_tracers(sequence, tracers);
    memset(budgets, 0, MINIAPP_BUDGETS * sizeof(*budgets));
    for (size_t b = 0; b < BUDGETS; b++)
        budgets[b] = (struct miniapp_budget){.name = table[b].name, .units = table[b].units};
    for (size_t i = 0; i < tracer_count; i++)
        budgets[BUDGETS + i] =
            (struct miniapp_budget){.name = fields[tracers[i]].name, .units = "m3 s-1"};
    budgets[BUDGET_kinetic].is_kept = budgets[BUDGET_volume].is_kept =
        miniapp_sequence_carries(sequence, &fields[FIELD_du_taum1]);
    TRY(take_cells(state, cells, &memory));
    for (size_t i = 0; i < count; i++) {
        struct miniapp_budget *const budget = &budgets[terms[i].budget];
        struct sum sum;
        if (!terms[i].before)
            continue;
        TRY(integrate(state, cells, terms[i].field, terms[i].place, &sum));
        budget->is_kept = true;
        budget->before += (double)(terms[i].factor * sum.value);
        budget->is_of_all_steps = gains_steadily(state, sequence, terms[i].budget, terms, count);
    }
    return MINIAPP_DONE;
}

void budget_add_gain(struct miniapp_budget *budget, const char *name, double value, double size)
{
    struct miniapp_gain *gain = budget->gains;
    while (gain < budget->gains + budget->gain_count && strcmp(gain->name, name) != 0)
        gain++;
    if (gain == budget->gains + budget->gain_count)
        budget->gains[budget->gain_count++] = (struct miniapp_gain){name, 0};
    gain->value += value;
    budget->gain += value;
    budget->size += size;
    budget->gross += size;
}

/* Adds a term to the change of its budget, or to its gain; both are rates. */
static enum miniapp_status add_term(struct miniapp_state *state, double *const *cells,
                                    const struct term *term, struct miniapp_budget *budget)
{
    struct sum now, before = {0, 0};
    TRY(integrate(state, cells, term->field, term->place, &now));
    if (!term->before) {
        budget_add_gain(budget, fields[term->field].name, (double)(term->factor * now.value),
                        (double)(fabs(term->factor) * now.size));
        return MINIAPP_DONE;
    }
    const double rate = term->factor / (term->time_step * (double)budget->steps);
    if (!budget->is_of_all_steps) {
        TRY(integrate(state, cells, term->before, term->place, &before));
    } else {
        before = (struct sum){budget->before / term->factor, now.size};
        budget->before = 0; /* it is that of all terms */
    }
    budget->change += (double)(rate * (now.value - before.value));
    budget->size += (double)(fabs(rate) * (now.size + before.size));
    return MINIAPP_DONE;
}

/* Under a lid, no cell gains water: the sum of what each gains or loses is rounding, of a flow
 * whose depth mean has been replaced, too. */
static enum miniapp_status add_divergence(struct miniapp_state *state,
                                          const struct miniapp_sequence *sequence, double replaced,
                                          struct miniapp_budget *budget)
{
    struct miniapp_flow flow;
    TRY(miniapp_flow_measure(state, sequence, &flow));
    budget->change = flow.gained / flow.time_step;
    budget->gross = flow.through / flow.time_step;
    budget->size = budget->gross + replaced;
    return MINIAPP_DONE;
}

/* The most by which a solver that ends at its tolerance changes the volume, as a rate: in each
 * cell, so much of the equation's diagonal times twice the largest pressure. */
static enum miniapp_status bound_volume(struct miniapp_state *state, double *const *cells,
                                        double *bound)
{
    const struct miniapp_grid g = miniapp_grid_interior(&state->whole);
    const double *const setting = state->settings.value, *const cosine = cells[COSINE];
    const double dt = setting[SETTING_dt_mom], per_dt2 = 1 / (dt * setting[SETTING_dt_tracer]);
    double largest = 0, diagonals = 0;
    TRY(miniapp_state_gather(state, "psi", 0, false, cells[VALUES]));
    for (size_t i = 0; i < g.nx * g.ny && ranks_own() == 0; i++)
        largest = fmax(largest, fabs(cells[VALUES][i]));
    for (size_t z = 0; z < g.nz; z++) {
        TRY(miniapp_state_gather(state, "maskT", z, false, cells[WET]));
        for (size_t i = 0; i < g.nx * g.ny && ranks_own() == 0; i++) {
            const double width = cells[WIDTH][i % g.nx], breadth = cells[BREADTH][i / g.nx];
            const double shape = width / breadth * cosine[i / g.nx] * cosine[i / g.nx];
            const double sides = 4 * cells[HEIGHT_OF_T][z] * (shape + 1 / shape);
            const double rise = z + 1 == g.nz ? width * breadth / GRAVITY * per_dt2 : 0;
            diagonals += cells[WET][i] * (sides + rise);
        }
    }
    *bound += 2 * setting[SETTING_solver_tolerance] * dt * largest * diagonals;
    if (state->exchange)
        ranks_broadcast(RANKS_ALL, bound, sizeof(*bound));
    return MINIAPP_DONE;
}

/* In each step a field is rounded four times, each time by at most half a unit in the last place,
 * and `size` counts the field twice. Salinity in float32 comes near this bound: where only little
 * is added to 35, all roundings go the same way. The constant allows for rates, which are sums of
 * other fields. */
static double bound_in_roundings(size_t steps)
{
    return 8 + (double)steps;
}

enum miniapp_status miniapp_budgets_close(struct miniapp_state *state,
                                          const struct miniapp_sequence *sequence, size_t steps,
                                          struct miniapp_budget *budgets)
{
    const double rounding = state->precision == MINIAPP_FLOAT64 ? DBL_EPSILON : FLT_EPSILON;
    struct term terms[MOST_TERMS];
    double *cells[CELL_ARRAYS];
    OWNED double *memory = NULL;
    const size_t count = list_terms(sequence, state->settings.value, terms);
    TRY(take_cells(state, cells, &memory));
    for (size_t b = 0; b < MINIAPP_BUDGETS; b++) {
        struct miniapp_budget *const budget = &budgets[b];
        budget->steps = budget->is_of_all_steps ? steps : 1;
        budget->change = budget->gain = budget->size = budget->gross = 0;
        budget->gain_count = 0;
    }
    const bool has_flow = budgets[BUDGET_kinetic].is_kept;
    double replaced = 0;
    if (has_flow)
        TRY(work_add(state, steps, &budgets[BUDGET_kinetic], &replaced));
    if (has_flow && is_under_lid(state))
        TRY(add_divergence(state, sequence, replaced, &budgets[BUDGET_volume]));
    for (size_t i = 0; i < count; i++)
        if (budgets[terms[i].budget].is_kept)
            TRY(add_term(state, cells, &terms[i], &budgets[terms[i].budget]));
    for (size_t b = 0; b < MINIAPP_BUDGETS; b++) {
        budgets[b].residual = budgets[b].change - budgets[b].gain;
        budgets[b].bound = rounding * bound_in_roundings(budgets[b].steps) * budgets[b].size;
    }
    return has_flow && !is_under_lid(state)
               ? bound_volume(state, cells, &budgets[BUDGET_volume].bound)
               : MINIAPP_DONE;
}
