/*
 * The energy of internal waves: one time step of E_iw on the W grid, as in Veros (IDEMIX: Olbers
 * and Eden 2013).
 *
 * First the columns: vertical propagation and dissipation, implicit in time with step dt_tracer,
 *
 *     E_iw' = E_iw + dt_tracer (d/dz c0 tau_v d(c0 E_iw')/dz - alpha_c E_iw E_iw' + sources),
 *
 * and fluxes from the bottom and through the surface. The sources are what eddies dissipate or, if
 * these have no energy of their own, what the mean flow loses to lateral friction and to eddies;
 * and friction at the bottom. Settings move the eddies' part to the bottom, or to the bottom and
 * the surface. As in Veros, it takes P_diss_hmix and P_diss_iso where enable_store_cabbeling_heat
 * is set (tke_forcing.c), and a column of one level gets no flux through its surface, and half of
 * that from its bottom.
 *
 * Then the points: lateral propagation, the divergence of tau_h v0 grad(v0 E_iw), and advection,
 * both explicit in time (wgrid_step.h). They read E_iw at time level tau only.
 */
#define DESCRIPTION "waves/idemix.kernel"
#define STEPPED idemix
/* DERIVED_OF_STEP takes the energy, the time step of lateral diffusion, whether there is advection,
 * and whether superbee limits it. There are no others: a GPU's nest has no room for them. */
#define DERIVED(VALUE)                                                                             \
    DERIVED_OF_STEP(VALUE, E_iw, dt_tracer,                                                        \
                    enable_idemix_superbee_advection || enable_idemix_upwind_advection,            \
                    !enable_idemix_upwind_advection)

#include "maths.h"
#include "mixing/wgrid_step.h"

INLINED real lateral_diffusivity(const struct arguments *a, count i, count j)
{
    const real time = a->enable_idemix_hor_diffusion ? a->tau_h / 2 : 0;
    return time * (a->v0[i] + a->v0[j]);
}

INLINED real diffused(const struct arguments *a, count i)
{
    return a->v0[i] * a->E_iw[i];
}

/* The share of waves that dissipates in a second. */
INLINED real decay_at(const struct arguments *a, count i)
{
    return a->alpha_c[i] * larger(0, a->E_iw[i]);
}

INLINED real eddies_at(const struct arguments *a, count i)
{
    const real has_energy = a->enable_eke != 0, of_mixing = a->enable_store_cabbeling_heat != 0;
    const real lateral = a->K_diss_gm[i] + a->K_diss_h[i] - a->P_diss_skew[i] -
                         of_mixing * (a->P_diss_hmix[i] + a->P_diss_iso[i]);
    return has_energy * a->eke_diss_iw[i] + (1 - has_energy) * lateral;
}

/* The sum over columns that is to be moved is kept in the surface level of dE_iw, which the way up
 * overwrites last. */
INLINED void sum_columns_of_row(const struct arguments *a, count y, struct span inside)
{
    const count plane = a->ny * a->nx, top = a->nz - 1;
    for (count k = 0; k <= top; k++) {
        const real height = k < top ? a->dzw[k] : a->dzw[k] / 2;
        ALONG_X
        for (count x = inside.begin; x < inside.end; x++) {
            const count column = y * a->nx + x, i = k * plane + column;
            real *const sum = &a->dE_iw[top * plane + column];
            *sum = (k > 0 ? *sum : 0) + a->maskW[i] * height * a->eke_diss_iw[i];
        }
    }
}

/* Whether the eddies' part is moved; and what a level then has of the column's sum, in 1/m: the
 * lowest level with water, and any other. */
struct moved {
    bool is_any;
    real at_bottom, elsewhere;
};

INLINED struct moved moved_to(const struct arguments *a, count k)
{
    const bool is_shared = a->enable_eke_diss_surfbot && !a->enable_eke_diss_bottom;
    const real bottom = is_shared ? a->eke_diss_surfbot_frac : 1;
    const bool is_part_here = is_shared && k == a->nz - 1;
    const real surface = is_part_here ? (1 - bottom) / (a->dzw[k] / 2) : 0;
    return (struct moved){a->enable_eke && (is_shared || a->enable_eke_diss_bottom),
                          is_part_here ? surface : bottom / a->dzw[k], surface};
}

/*
 * The way up of the column solve. Times the heights of the cells, the columns of its matrix have
 * positive sums, not its rows: from one level to the next goes exchange c0 E_iw. So what eliminates
 * without cancellation is the sum of a column of the matrix: what stays of a level's energy and of
 * what it got from those below,
 *
 *     stays = height (1 + decay) + exchange below * c0 * (stays / pivot) of the level below,
 *     pivot = stays + exchange above * c0,
 *
 * where all terms have one sign. The outputs keep the reduced rows E' = d + ratio E'[k+1]: d in
 * E_iw_taup1, the ratio in dE_iw, and stays / pivot in iw_diss. On land and below the lowest water
 * E_iw_taup1 keeps its value.
 */
INLINED void eliminate_row(const struct arguments *a, count k, count y, struct span inside)
{
    const count plane = a->ny * a->nx, top = a->nz - 1;
    const count below = k > 0 ? plane : 0, above = k < top ? plane : 0;
    const real height = k < top ? a->dzw[k] : a->dzw[k] / 2;
    const real exchange = a->dt_tracer * a->tau_v / 2;
    const real per_below = k > 0 ? exchange / a->dzt[k] : 0;
    const real per_above = k < top ? exchange / a->dzt[k + 1] : 0;
    const real per_surface = k < top ? 0 : 1 / height, per_bottom = 1 / a->dzw[k];
    const struct moved moved = moved_to(a, k);
    const real takes_drag = !a->enable_store_bottom_friction_tke;
    if (k == 0 && moved.is_any)
        sum_columns_of_row(a, y, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count column = y * a->nx + x, i = k * plane + column;
        const count ks = a->kbot[column] - 1; /* the lowest level with water; -1 on land */
        const bool wet = ks >= 0 && k >= ks, is_lowest = k == ks;
        const real of_column = moved.is_any ? a->dE_iw[top * plane + column] : 0;
        const real eddies = moved.is_any
                                ? of_column * (is_lowest ? moved.at_bottom : moved.elsewhere)
                                : eddies_at(a, i);
        const real flux = is_lowest ? per_bottom * a->forc_iw_bottom[column]
                                    : per_surface * a->forc_iw_surface[column];
        const real right =
            a->E_iw[i] + a->dt_tracer * (eddies + takes_drag * a->K_diss_bot[i] + flux);
        const real down = k <= ks ? 0 : per_below * (a->c0[i - below] + a->c0[i]);
        const real up = wet ? per_above * (a->c0[i] + a->c0[i + above]) : 0;
        const real stayed = a->iw_diss[i - below], reduced = a->E_iw_taup1[i - below];
        const real remains = k > 0 ? stayed : 0, under = k > 0 ? reduced : 0;
        const real stays = height * (1 + a->dt_tracer * decay_at(a, i)) + down * a->c0[i] * remains;
        const real per_pivot = 1 / (stays + up * a->c0[i]);
        const real solved = (height * right + down * a->c0[i - below] * under) * per_pivot;
        a->E_iw_taup1[i] = wet ? solved : a->E_iw_taup1[i];
        a->dE_iw[i] = up * a->c0[i + above] * per_pivot;
        a->iw_diss[i] = stays * per_pivot;
    }
}

INLINED void substitute_row(const struct arguments *a, count k, count y, struct span part,
                            struct span inside)
{
    const count plane = a->ny * a->nx, row = k * plane + y * a->nx;
    const count above = k < a->nz - 1 ? plane : 0;
    zero_outside(a->iw_diss + row, part, inside);
    ALONG_X
    for (count x = inside.begin; x < inside.end; x++) {
        const count i = row + x, ks = a->kbot[y * a->nx + x] - 1;
        const bool wet = ks >= 0 && k >= ks;
        const real solved = a->E_iw_taup1[i] + a->dE_iw[i] * a->E_iw_taup1[i + above];
        a->E_iw_taup1[i] = solved;
        a->iw_diss[i] = wet ? decay_at(a, i) * solved : 0;
    }
}

INLINED void finish_row(const struct arguments *a, count y, struct span part, struct span inside)
{
    (void)a, (void)y, (void)part, (void)inside; /* the surface needs no correction */
}

#include "mixing/wgrid_columns.h"
