/*
 * Density, potential density, dynamic enthalpy and its derivatives, and stability, in one pass over
 * the points, as in Veros's calc_eq_of_state.
 *
 * Dynamic enthalpy is the integral of specific volume v = N / D over pressure, less the same
 * integral for the reference density; so by TEOS-10
 *
 *     Hd         = 1e4 integral_0^p (v - 1 / rho_0) dp'              (1e4 Pa in a dbar)
 *     int_drhodT = -rho_0 / g dHd/dT,     int_drhodS = -rho_0 / g dHd/dS,
 *     Nsqr       = -g / rho_0 (rho(S, T of the level above, p) - rho(S, T, p)) / dzw.
 *
 * All integrals share their nodes, and their integrands share polynomials. For equations of state 1
 * to 4 they are closed expressions, which take the depth in m for the pressure in dbar.
 */
#define DESCRIPTION "eos/density.kernel"
#include "bytes.h"
#include "enthalpy.h"
#include "expansion.h"
#include "maths.h"
#include "span.h"

#include <stdbool.h>

/* The least salinity and temperature with which Veros computes dynamic enthalpy and its
 * derivatives: lower values are raised to these. */
struct floors {
    real salt, temp;
};
#define NO_FLOORS ((struct floors){-HUGE, -HUGE})
#define HUGE ((real)1e30)

/* Dynamic enthalpy and its derivatives. */
struct enthalpy {
    real Hd, int_drhodT, int_drhodS;
};

/* Values that the points of a level share. */
struct pressure_level {
    real p, per_dzw;
    struct linear_expansion linear; /* of equations of state 1 to 4 */
    struct teos10_terms here;       /* of TEOS-10 at this pressure */
};

/* ---- TEOS-10 ---- */

/* Density less V01, so that differences between levels keep their digits: D / N - V01 at the
 * pressure that the terms are about. With Clang, equal waters have the same bits. */
INLINED real anomaly(const struct teos10_terms *c, real s, real t, real r)
{
    const struct teos10 f = teos10(c, s, t, r).f;
    return -(real)V01 * f.n.p0 / (f.n.p0 + f.d.p0);
}

INLINED struct enthalpy by_teos10(real s, real t, real p, const struct integrals *level, int nodes)
{
    const struct means m = means(level, s, t, nodes);
    return (struct enthalpy){
        .Hd = (real)(1e4 / V01 * (1 - V01 / RHO_0)) * p + level->joules * m.v,
        .int_drhodT = level->joules * (real)(-RHO_0 / GRAVITY) * m.v_T,
        .int_drhodS = level->joules * (real)(-RHO_0 / GRAVITY) * m.v_S,
    };
}

/* ---- equations of state 1 to 4 ---- */

INLINED real vallis_density(real s, real t, real depth, struct linear_expansion r)
{
    const real theta = t - (real)THETA_0;
    return theta * (r.drdT + r.drdT_by_depth * depth + r.drdT_by_T * theta / 2) +
           r.drdS * (s - SALT_0) + r.dr_by_depth * depth;
}

/* How much denser the second water is at the same depth: this keeps its digits however alike the
 * waters are. */
INLINED real vallis_difference(real s, real t, real s2, real t2, real depth,
                               struct linear_expansion r)
{
    const real theta = (t + t2) / 2 - (real)THETA_0;
    return (t2 - t) * (r.drdT + r.drdT_by_depth * depth + r.drdT_by_T * theta) + r.drdS * (s2 - s);
}

/* In equation 3, Veros's dynamic enthalpy has twice the term in theta^2 that density has, so its
 * derivative by temperature does not agree with int_drhodT. We keep that. */
INLINED struct enthalpy by_vallis(real s, real t, const struct pressure_level *l)
{
    const struct linear_expansion r = l->linear;
    const real depth = l->p;
    const real theta = t - (real)THETA_0;
    const real twice = r.dr_by_depth > 0 ? 1 : (real)0.5;
    const real mean = theta * (r.drdT + twice * r.drdT_by_T * theta) + r.drdS * (s - SALT_0) +
                      (r.dr_by_depth + r.drdT_by_depth * theta) * depth / 2;
    return (struct enthalpy){
        .Hd = (real)(-GRAVITY / RHO_0) * depth * mean,
        .int_drhodT = depth * (r.drdT + r.drdT_by_T * theta + r.drdT_by_depth * depth / 2),
        .int_drhodS = depth * r.drdS,
    };
}

/* ---- rows ---- */

/* A part of a row: `above` is the distance in memory to the points of the next level. With the
 * first point's addresses, which all rules share, a GPU's thread takes fewer registers than with
 * its place. */
struct row_part {
    const real *salt, *temp;
    const uint8_t *maskT, *maskW;
    real *rho, *prho, *Hd, *int_drhodT, *int_drhodS, *Nsqr;
    count points, above;
};

/* How much denser water s2, t2 of another level is than water s, t, whose density less its constant
 * part is `rho`, both at this level's pressure. */
INLINED real excess(real s2, real t2, real rho, real s, real t, const struct pressure_level *l,
                    bool teos)
{
    if (!teos)
        return vallis_difference(s, t, s2, t2, l->p, l->linear);
    return anomaly(&l->here, s2, t2, square_root(s2)) - rho;
}

/* A row by TEOS-10 with so many nodes or, if `nodes` is 0, by another equation of state; `nodes` is
 * a literal, so that no loop has a branch. On land all outputs but the derivatives of enthalpy are
 * masked, so land takes the floors from the start. A GPU raises all water to them; the host, which
 * reuses the root of salinity, raises the little that is lower afterwards. */
INLINED void density_row(struct row_part row, const struct pressure_level *l, struct floors floors,
                         int nodes)
{
    const bool teos = nodes > 0;
    const struct teos10_terms surface = teos10_terms(FROM_SURFACE);
    const struct integrals integrated = integrals(l->p, teos ? nodes : FEWEST_NODES);
    const real constant = teos ? (real)(V01 - RHO_0) : 0;
    real waters[ROW_CHUNK], open_tops[ROW_CHUNK];
    as_numbers(waters, row.maskT, row.points);
    as_numbers(open_tops, row.maskW, row.points);
    ALONG_X
    for (count x = 0; x < row.points; x++) {
        const real water = number_at(waters, row.maskT, x);
        const struct floors here = {floors.salt - water * HUGE, floors.temp - water * HUGE};
        const real s = larger(here.salt, row.salt[x]), t = larger(here.temp, row.temp[x]);
        const real rho =
            teos ? anomaly(&l->here, s, t, square_root(s)) : vallis_density(s, t, l->p, l->linear);
        const real s2 = row.salt[x + row.above], t2 = row.temp[x + row.above];
        const real open_top = number_at(open_tops, row.maskW, x);
        const real factor = (real)(-GRAVITY / RHO_0) * l->per_dzw * open_top;
        row.rho[x] = water * (constant + rho);
        row.Nsqr[x] = factor * excess(s2, t2, rho, s, t, l, teos);
        const real prho =
            teos ? anomaly(&surface, s, t, square_root(s)) : vallis_density(s, t, 0, l->linear);
        row.prho[x] = water * (constant + prho);

        const real s_high = HOST_OR_OFFLOAD(s, larger(floors.salt, s));
        const real t_high = HOST_OR_OFFLOAD(t, larger(floors.temp, t));
        const struct enthalpy w =
            teos ? by_teos10(s_high, t_high, l->p, &integrated, nodes) : by_vallis(s, t, l);
        row.Hd[x] = water * w.Hd;
        row.int_drhodT[x] = w.int_drhodT;
        row.int_drhodS[x] = w.int_drhodS;
    }
}

/* Whether some water of a part of a row lies below the floors. */
INLINED bool needs_clamp(const struct row_part *row, struct floors floors)
{
    int needs = 0;
    for (count x = 0; x < row->points; x++)
        needs |= row->maskT[x] & ((row->salt[x] < floors.salt) | (row->temp[x] < floors.temp));
    return needs;
}

/* Enthalpy of the water that lies below the floors: oceans have next to none, so this is one code
 * for all rules, point by point. */
INLINED void clamp_row(const struct row_part *row, const struct pressure_level *l,
                       struct floors floors, int nodes)
{
    const struct integrals integrated = integrals(l->p, nodes);
    ROLLED
    for (count x = 0; x < row->points; x++) {
        const real s = row->salt[x], t = row->temp[x];
        if (!row->maskT[x] || (s >= floors.salt && t >= floors.temp))
            continue;
        const struct enthalpy w =
            by_teos10(larger(floors.salt, s), larger(floors.temp, t), l->p, &integrated, nodes);
        row->Hd[x] = w.Hd;
        row->int_drhodT[x] = w.int_drhodT;
        row->int_drhodS[x] = w.int_drhodS;
    }
}

void VARIANT(density)(const struct kernel_call *call)
{
#include "unpack.h"
    const count plane = ny * nx;
    const count top = nz - 1;

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
                const struct span part = chunk(x0, nx);
                const count i = (z * ny + y) * nx + x0;
                const struct row_part row = {
                    .salt = salt + i,
                    .temp = temp + i,
                    .maskT = maskT + i,
                    .maskW = maskW + i,
                    .rho = rho + i,
                    .prho = prho + i,
                    .Hd = Hd + i,
                    .int_drhodT = int_drhodT + i,
                    .int_drhodS = int_drhodS + i,
                    .Nsqr = Nsqr + i,
                    .points = part.end - x0,
                    .above = z < top ? plane : 0,
                };
                const struct pressure_level l = {p[z], 1 / dzw[z],
                                                 linear_expansion(eq_of_state_type),
                                                 teos10_terms((struct origin){p[z], 1})};
                const struct floors floors =
                    clamp_enthalpy ? (struct floors){(real)0.1, -12} : NO_FLOORS;
                const int nodes = eq_of_state_type == 5 ? quadrature_nodes(p[z]) : 0;
                switch (nodes) {
                case 0: density_row(row, &l, NO_FLOORS, 0); break;
                case 3: density_row(row, &l, floors, 3); break;
                case 4: density_row(row, &l, floors, 4); break;
                case 5: density_row(row, &l, floors, 5); break;
                case 6: density_row(row, &l, floors, 6); break;
                case 7: density_row(row, &l, floors, 7); break;
                case 8: density_row(row, &l, floors, 8); break;
                case 10: density_row(row, &l, floors, 10); break;
                default: density_row(row, &l, floors, MOST_NODES);
                }
                if (HOST_OR_OFFLOAD(nodes > 0, false) && needs_clamp(&row, floors))
                    clamp_row(&row, &l, floors, nodes);
            }

    /* Nothing lies above the surface: Nsqr there is that of the level below. */
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            real *const surface = Nsqr + (top * ny + y) * nx;
            const real *const below = top > 0 ? surface - plane : surface;
            ALONG_X
            for (count x = x0; x < x0 + ROW_PART(nx); x++)
                surface[x] = below[x];
        }
}
