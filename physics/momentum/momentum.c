/*
 * Momentum up to the external mode: u and v by Coriolis and metric terms, wind, advection of second
 * order, hydrostatic pressure, vertical friction implicit in time, lateral friction, drag and
 * sources; what friction dissipates; and the depth means from which the external mode is solved.
 * u_taup1 and v_taup1 lack the external mode, which barotropic_correction brings. momentum.h has
 * the formulas.
 *
 * They are Veros's, and odd where Veros is odd. Without slip, half of what a wall dissipates goes
 * to a face of land, and is lost unless that face has water on one side. r_bot is a rate, not a
 * velocity. A source counts as negative dissipation. Beside explicit vertical friction, the
 * implicit one only dissipates. Unlike Veros's without vertical friction, friction of one step is
 * not added to that of the last one. Explicit vertical friction, friction by eddies and biharmonic
 * friction are kernels of their own, which act after this one.
 *
 * There are two drivers, because no single nest suits both. On the host a thread goes through its
 * rows from south to north. In a row it eliminates both velocities upwards and then does all else
 * downwards, level by level. Rows of memory keep what the level below needs; the outputs keep the
 * reduced rows until they are overwritten, and the row to the north keeps what v loses in this one.
 * On a GPU a thread has a column, in three nests that fit into its registers: friction;
 * what its lateral part and drag dissipate, which are computed again for that; and the rest, which
 * needs what vertical friction of the neighbours dissipates.
 */
#define DESCRIPTION "momentum/momentum.kernel"
#define DERIVED(VALUE)                                                                             \
    VALUE(real, per_dt, enable_explicit_vert_friction ? 0 : 1 / dt_mom)                            \
    VALUE(real, conserves, enable_conserve_energy ? 1 : 0)
#include "momentum.h"
#include "prefetch.h"

#define OUTPUTS_3D(DO)                                                                             \
    DO(du) DO(dv) DO(u_taup1) DO(v_taup1) DO(K_diss_v) DO(K_diss_h) DO(K_diss_bot)

INLINED bool has_all_drag(const struct arguments *a)
{
    return a->enable_bottom_friction_var || a->enable_quadratic_bottom_friction ||
           a->enable_momentum_sources;
}

INLINED struct of_face of_u(const struct arguments *a, bool has_all)
{
    return (struct of_face){a->u, a->v, a->u_source, a->r_bot_var_u, 1, -a->nx, has_all};
}

INLINED struct of_face of_v(const struct arguments *a, bool has_all)
{
    return (struct of_face){a->v, a->u, a->v_source, a->r_bot_var_v, a->nx, -1, has_all};
}

INLINED void zero_ghosts(const struct arguments *a, count y, struct span part)
{
    const struct span inside = interior(part, y, a->nx, a->ny);
#define ZERO(name) zero_outside(a->name + row, part, inside);
    for (count k = 0; k < a->nz; k++) {
        const count row = (k * a->ny + y) * a->nx;
        OUTPUTS_3D(ZERO)
    }
#undef ZERO
    for (count x = part.begin; x < part.end; x++) {
        const count c = y * a->nx + x;
        if (x < inside.begin || x >= inside.end)
            a->du_mean[c] = a->dv_mean[c] = a->u_mean[c] = a->v_mean[c] = 0;
    }
}

#if defined(PHYSICS_OFFLOAD)

/* ---- columns ---- */

/* Reduces the rows of a column of faces. */
INLINED void eliminate_column(const struct arguments *a, const real *flow, real *ratio, real *d,
                              count column, count beside, level wet)
{
    struct reduced_row reduced = NO_ROW;
    for (count k = 0; k < a->nz; k++) {
        const count i = k * a->ny * a->nx + column;
        reduced = eliminate_face(a, flow, heights_at(a, k), k, i, beside, wet, reduced);
        ratio[i] = reduced.ratio;
        d[i] = reduced.d;
    }
}

/* A column of faces of u or v, and its loss at the level above. */
struct face_column {
    count column;
    struct spreading spreading;
    struct depths wet;
    real per_dx, per_dx_east, per_dx_west;
    real above;
};

INLINED struct face_column face_column(const struct arguments *a, count y, count x, bool is_u)
{
    const struct momentum_row r = row_at(a, y);
    const real per_dxt = 1 / a->dxt[x], per_dxu = 1 / a->dxu[x];
    return (struct face_column){.column = y * a->nx + x,
                                .spreading = is_u ? r.u : r.v,
                                .wet = depths_at(a, y * a->nx + x, is_u ? 1 : a->nx),
                                .per_dx = is_u ? per_dxu : per_dxt,
                                .per_dx_east = is_u ? 1 / a->dxt[x + 1] : per_dxu,
                                .per_dx_west = is_u ? per_dxt : 1 / a->dxu[x - 1]};
}

INLINED struct friction friction_in(const struct arguments *a, const struct of_face *f,
                                    const struct face_column *c, struct heights h, count k,
                                    real mixed, real mixed_above)
{
    return friction_of(a, f, &c->spreading, h, k, k * a->ny * a->nx + c->column, c->column, c->wet,
                       c->per_dx, c->per_dx_east, c->per_dx_west, mixed, mixed_above);
}

/* The friction of a column of faces: the tendency goes to du or dv, and what vertical friction
 * dissipates to lost_u or lost_v. */
INLINED void rub_column(const struct arguments *a, count y, count x, bool is_u)
{
    const bool has_all = has_all_drag(a);
    const struct of_face f = is_u ? of_u(a, has_all) : of_v(a, has_all);
    const struct face_column here = face_column(a, y, x, is_u);
    real *const tendency = is_u ? a->du : a->dv, *const lost = is_u ? a->lost_u : a->lost_v;
    eliminate_column(a, f.flow, tendency, lost, here.column, f.beside, here.wet.here);
    real above = 0;
    for (count k = a->nz - 1; k >= 0; k--) {
        const count i = k * a->ny * a->nx + here.column;
        const real mixed = substitute((struct reduced_row){tendency[i], lost[i]}, above);
        const struct friction now = friction_in(a, &f, &here, heights_at(a, k), k, mixed, above);
        above = mixed;
        tendency[i] = now.mix;
        lost[i] = now.lost.vertical;
    }
}

/* The energy that a face loses by lateral friction or by drag, on the W grid. Vertical friction has
 * no part in it. */
INLINED real lose(const struct arguments *a, const struct of_face *f, struct face_column *c,
                  struct heights h, count k, bool by_drag)
{
    const struct losses lost = friction_in(a, f, c, h, k, 0, 0).lost;
    const real now = by_drag ? lost.drag : lost.lateral, above = c->above;
    c->above = now;
    return on_wgrid(a, k, h.back, c->wet.deep, now, above);
}

/* A T cell gets its shares of what two faces lose: of its own one, and of the one before it, to
 * the west or south, whose losses are computed again for that. */
INLINED void lose_column(const struct arguments *a, count y, count x, bool is_u, bool by_drag)
{
    const bool has_all = has_all_drag(a);
    const struct of_face f = is_u ? of_u(a, has_all) : of_v(a, has_all);
    const struct momentum_row r = row_at(a, y);
    const real half = 1 / (2 * a->dxt[x]);
    const real share = is_u ? half * a->dxu[x] : r.share_v;
    const real share_before = is_u ? half * a->dxu[x - 1] : r.share_v_south;
    real *const diss = by_drag ? a->K_diss_bot : a->K_diss_h;
    struct face_column here = face_column(a, y, x, is_u);
    struct face_column before = face_column(a, is_u ? y : y - 1, is_u ? x - 1 : x, is_u);
    for (count k = a->nz - 1; k >= 0; k--) {
        const count i = k * a->ny * a->nx + here.column;
        const struct heights h = heights_at(a, k);
        const real lost = share * lose(a, &f, &here, h, k, by_drag) +
                          share_before * lose(a, &f, &before, h, k, by_drag);
        diss[i] = is_u ? lost : diss[i] + lost;
    }
}

/* All else of a column of u or v. */
INLINED void step_column(const struct arguments *a, count y, count x, bool is_u)
{
    const count nx = a->nx, plane = a->ny * nx, c = y * nx + x, beside = is_u ? 1 : nx;
    struct momentum_row r = row_at(a, y);
    const real per_dxt = 1 / a->dxt[x], per_dxu = 1 / a->dxu[x];
    const real share = is_u ? a->dxu[x] * per_dxt / 2 : r.share_v;
    const real share_before = is_u ? a->dxu[x - 1] * per_dxt / 2 : r.share_v_south;
    const real *const lost = is_u ? a->lost_u : a->lost_v;
    const level wet_t = lowest_wet(a->kbot[c]), wet_beside = lowest_wet(a->kbot[c + beside]);
    const level wet = both_wet(a->kbot[c], a->kbot[c + beside]);
    real p = 0, p_beside = 0, flux = 0;
    struct depth_sums sums = {0};
    for (count k = a->nz - 1; k >= 0; k--) {
        const count i = k * plane + c;
        enter_level(a, &r.flow, k);
        p = pressure(a, k, i, wet_t, p);
        p_beside = pressure(a, k, i + beside, wet_beside, p_beside);
        const struct where at = {k,       i,       c, 1 / a->dzt[k], a->dxt[x], a->dxt[x + 1],
                                 per_dxt, per_dxu, p, p_beside};
        if (is_u)
            step_face(a, a->u, a->du_taum1, a->du, a->u_taup1, k, i, a->dzt[k], wet,
                      tendency_of_u(a, &r.flow, at, wet, &flux), a->du[i], &sums);
        else
            step_face(a, a->v, a->dv_taum1, a->dv, a->v_taup1, k, i, a->dzt[k], wet,
                      tendency_of_v(a, &r.flow, at, wet, &flux), a->dv[i], &sums);
        a->K_diss_v[i] =
            (is_u ? 0 : a->K_diss_v[i]) + share * lost[i] + share_before * lost[i - beside];
    }
    (is_u ? a->du_mean : a->dv_mean)[c] = mean_of(sums.tendency, sums.height);
    (is_u ? a->u_mean : a->v_mean)[c] = mean_of(sums.flow, sums.height);
}

void VARIANT(momentum)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 1; y < ny - 2; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span faces = within((struct span){x0, x0 + ROW_PART(nx)}, true, 1, nx - 2);
            ALONG_X
            for (count x = faces.begin; x < faces.end; x++) {
                rub_column(&a, y, x, true);
                rub_column(&a, y, x, false);
            }
        }
    PARALLEL_COLUMNS
    for (count y = 2; y < ny - 2; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span cells = interior((struct span){x0, x0 + ROW_PART(nx)}, y, nx, ny);
            ALONG_X
            for (count x = cells.begin; x < cells.end; x++) {
                lose_column(&a, y, x, true, false);
                lose_column(&a, y, x, false, false);
                lose_column(&a, y, x, true, true);
                lose_column(&a, y, x, false, true);
            }
        }
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = {x0, x0 + ROW_PART(nx)};
            const struct span inside = interior(part, y, nx, ny);
            zero_ghosts(&a, y, part);
            ALONG_X
            for (count x = inside.begin; x < inside.end; x++) {
                step_column(&a, y, x, true);
                step_column(&a, y, x, false);
            }
        }
}

#else

/* ---- rows ---- */

/* Place x of a row of memory is x - begin + MARGIN, for a chunk that begins there. */
enum { MARGIN = 2, ROOM = ROW_CHUNK + 2 * MARGIN };

/* The faces of a row, and the values that a level leaves for the one below it. */
struct memory_of_face {
    level here[ROOM], north[ROOM], south[ROOM], deep[ROOM]; /* of struct depths */
    real mixed[ROOM], mix[ROOM], flux[ROOM];
    real vertical[ROOM], lateral[ROOM], drag[ROOM];  /* on the W grid, */
    real lateral_above[ROOM], drag_above[ROOM];      /* and where the flow is */
    double height[ROOM], tendency[ROOM], flow[ROOM]; /* sums */
};

struct memory {
    real per_dxt[ROOM], per_dxu[ROOM];
    level here[ROOM], north[ROOM]; /* the lowest wet levels of T cells */
    real p[ROOM], p_north[ROOM];
    struct memory_of_face u, v;
};

/* A row of a chunk. */
struct row_of_chunk {
    count y;
    struct span x;
    count first; /* the x of a memory's place 0 */
};

INLINED void find_depths(const struct arguments *a, struct memory_of_face *m, struct row_of_chunk p,
                         count beside)
{
    const count nx = a->nx, first = p.first;
    ALONG_X
    for (count x = p.x.begin - MARGIN; x < p.x.end + 1; x++) {
        const int32_t *const kbot = a->kbot + p.y * nx + x;
        m->here[x - first] = both_wet(kbot[0], kbot[beside]);
        m->north[x - first] = both_wet(kbot[nx], kbot[nx + beside]);
        m->south[x - first] = both_wet(kbot[-nx], kbot[beside - nx]);
        m->deep[x - first] = deepest(kbot[0], kbot[beside]);
    }
}

INLINED void start_face(struct memory_of_face *m, struct row_of_chunk p)
{
    for (count at = 0; at < p.x.end - p.first; at++) {
        m->mixed[at] = m->flux[at] = m->lateral_above[at] = m->drag_above[at] = 0;
        m->height[at] = m->tendency[at] = m->flow[at] = 0;
    }
}

/* Both reduced rows go to the outputs of the row `slot` further. */
OF_ROW void VARIANT(eliminate_faces)(const struct arguments *a, const level *wet, const real *flow,
                                     real *ratio, real *d, count k, struct row_of_chunk p,
                                     count from, count beside, count slot)
{
    const struct arguments m = *a;
    const struct heights h = heights_at(a, k);
    const count row = (k * m.ny + p.y) * m.nx, below = k > 0 ? m.ny * m.nx : 0;
    ALONG_X
    for (count x = from; x < p.x.end; x++) {
        const count i = row + x, j = i + slot - below;
        const struct reduced_row under = {k > 0 ? ratio[j] : 0, k > 0 ? d[j] : 0};
        const struct reduced_row reduced =
            eliminate_face(&m, flow, h, k, i, beside, wet[x - p.first], under);
        ratio[i + slot] = reduced.ratio;
        d[i + slot] = reduced.d;
    }
}

/* A point of friction_row. */
INLINED void friction_at(const struct arguments *a, const struct of_face *f,
                         const struct spreading *s, struct heights h, struct memory_of_face *m,
                         const real *ratio, const real *d, count k, count i, count column, count at,
                         count slot, real per_dx, real per_dx_east, real per_dx_west)
{
    const struct reduced_row reduced = {ratio[i + slot], d[i + slot]};
    const struct depths wet = {m->here[at],  m->here[at + 1], m->here[at - 1],
                               m->north[at], m->south[at],    m->deep[at]};
    const real above = m->mixed[at], mixed = substitute(reduced, above);
    const struct friction now =
        friction_of(a, f, s, h, k, i, column, wet, per_dx, per_dx_east, per_dx_west, mixed, above);
    m->mixed[at] = mixed;
    m->mix[at] = now.mix;
    m->vertical[at] = now.lost.vertical;
    m->lateral[at] = on_wgrid(a, k, h.back, wet.deep, now.lost.lateral, m->lateral_above[at]);
    m->drag[at] = on_wgrid(a, k, h.back, wet.deep, now.lost.drag, m->drag_above[at]);
    m->lateral_above[at] = now.lost.lateral;
    m->drag_above[at] = now.lost.drag;
}

/* The friction of a row of faces of a level. It is called, not inlined, so that the row to the
 * south of a thread's first one gets the same bits from it as from its own thread. */
INLINED void friction_row(const struct arguments *a, struct memory *m, const struct momentum_row *r,
                          bool is_u, bool has_all, count k, struct row_of_chunk p, count slot)
{
    const count row = (k * a->ny + p.y) * a->nx;
    const struct of_face f = is_u ? of_u(a, has_all) : of_v(a, has_all);
    const struct heights h = heights_at(a, k);
    const struct spreading s = is_u ? r->u : r->v;
    struct memory_of_face *const of = is_u ? &m->u : &m->v;
    const real *const ratio = is_u ? a->du : a->dv, *const d = is_u ? a->u_taup1 : a->v_taup1;
    const real *const east = is_u ? m->per_dxt + 1 : m->per_dxu;
    const real *const centre = is_u ? m->per_dxu : m->per_dxt;
    ALONG_X
    for (count x = is_u ? p.x.begin - 1 : p.x.begin; x < p.x.end; x++) {
        const count at = x - p.first;
        friction_at(a, &f, &s, h, of, ratio, d, k, row + x, p.y * a->nx + x, at, slot, centre[at],
                    east[at], east[at - 1]);
    }
}

OF_ROW void VARIANT(friction_of_faces)(const struct arguments *a, struct memory *m,
                                       const struct momentum_row *r, bool is_u, count k,
                                       struct row_of_chunk p, count slot)
{
    const struct arguments mine = *a;
    const bool has_all = has_all_drag(&mine);
    if (is_u && has_all)
        friction_row(&mine, m, r, true, true, k, p, slot);
    else if (is_u)
        friction_row(&mine, m, r, true, false, k, p, slot);
    else if (has_all)
        friction_row(&mine, m, r, false, true, k, p, slot);
    else
        friction_row(&mine, m, r, false, false, k, p, slot);
}

/* Leaves the losses of v in a row to the row to the north, too, which finds them in its outputs. */
INLINED void leave_losses(const struct arguments *a, const struct memory_of_face *v, count k,
                          struct row_of_chunk p)
{
    const count row = (k * a->ny + p.y + 1) * a->nx;
    ALONG_X
    for (count x = p.x.begin; x < p.x.end; x++) {
        a->K_diss_v[row + x] = v->vertical[x - p.first];
        a->K_diss_h[row + x] = v->lateral[x - p.first];
        a->K_diss_bot[row + x] = v->drag[x - p.first];
    }
}

/* Each T cell gets shares of what its four faces lose. The outputs hold what v loses to the south.
 */
INLINED void put_friction_losses(const struct arguments *a, const struct memory *m,
                                 const struct momentum_row *r, count k, struct row_of_chunk p)
{
    const count row = (k * a->ny + p.y) * a->nx;
    ALONG_X
    for (count x = p.x.begin; x < p.x.end; x++) {
        const count at = x - p.first, i = row + x;
        const real half = m->per_dxt[at] / 2, east = half * a->dxu[x], west = half * a->dxu[x - 1];
#define PUT(output, lost)                                                                          \
    a->output[i] = east * m->u.lost[at] + west * m->u.lost[at - 1] + r->share_v * m->v.lost[at] +  \
                   r->share_v_south * a->output[i];
        PUT(K_diss_v, vertical)
        PUT(K_diss_h, lateral)
        PUT(K_diss_bot, drag)
#undef PUT
    }
}

INLINED void pressure_row(const struct arguments *a, struct memory *m, count k,
                          struct row_of_chunk p)
{
    const count row = (k * a->ny + p.y) * a->nx;
    ALONG_X
    for (count x = p.x.begin; x < p.x.end + 1; x++) {
        const count at = x - p.first, i = row + x;
        m->p[at] = pressure(a, k, i, m->here[at], m->p[at]);
        m->p_north[at] = pressure(a, k, i + a->nx, m->north[at], m->p_north[at]);
    }
}

/* A point of step_flow_row. */
INLINED void step_at(const struct arguments *a, const struct momentum_row *r, struct memory *m,
                     real dz, bool is_u, count k, count i, count x, count at, count column)
{
    struct memory_of_face *const of = is_u ? &m->u : &m->v;
    const struct where here = {.k = k,
                               .i = i,
                               .column = column,
                               .per_dz = 1 / dz,
                               .dx = a->dxt[x],
                               .dx_east = a->dxt[x + 1],
                               .per_dxt = m->per_dxt[at],
                               .per_dxu = m->per_dxu[at],
                               .p = m->p[at],
                               .p_beside = is_u ? m->p[at + 1] : m->p_north[at]};
    const level wet = of->here[at];
    real flux = of->flux[at];
    struct depth_sums sums = {of->height[at], of->tendency[at], of->flow[at]};
    if (is_u)
        step_face(a, a->u, a->du_taum1, a->du, a->u_taup1, k, i, dz, wet,
                  tendency_of_u(a, &r->flow, here, wet, &flux), of->mix[at], &sums);
    else
        step_face(a, a->v, a->dv_taum1, a->dv, a->v_taup1, k, i, dz, wet,
                  tendency_of_v(a, &r->flow, here, wet, &flux), of->mix[at], &sums);
    of->flux[at] = flux;
    of->height[at] = sums.height;
    of->tendency[at] = sums.tendency;
    of->flow[at] = sums.flow;
}

INLINED void step_flow_row(const struct arguments *a, const struct momentum_row *r,
                           struct memory *m, bool is_u, count k, struct row_of_chunk p)
{
    const count row = (k * a->ny + p.y) * a->nx;
    const real dz = a->dzt[k];
    ALONG_X
    for (count x = p.x.begin; x < p.x.end; x++)
        step_at(a, r, m, dz, is_u, k, row + x, x, x - p.first, p.y * a->nx + x);
}

INLINED void put_means(const struct arguments *a, const struct memory_of_face *of, double *tendency,
                       double *flow, struct row_of_chunk p)
{
    const count row = p.y * a->nx;
    ALONG_X
    for (count x = p.x.begin; x < p.x.end; x++) {
        tendency[row + x] = mean_of(of->tendency[x - p.first], of->height[x - p.first]);
        flow[row + x] = mean_of(of->flow[x - p.first], of->height[x - p.first]);
    }
}

/* The southern half of what row p.y + 1 has to know, in the outputs of that row. */
INLINED void start_rows(const struct arguments *a, struct memory *m, struct row_of_chunk p)
{
    const struct momentum_row r = row_at(a, p.y);
    find_depths(a, &m->v, p, a->nx);
    start_face(&m->v, p);
    for (count k = 0; k < a->nz; k++)
        VARIANT(eliminate_faces)(a, m->v.here, a->v, a->dv, a->v_taup1, k, p, p.x.begin, a->nx,
                                 a->nx);
    for (count k = a->nz - 1; k >= 0; k--) {
        VARIANT(friction_of_faces)(a, m, &r, false, k, p, a->nx);
        leave_losses(a, &m->v, k, p);
    }
}

/* Prefetches what elimination and what comes after it read from memory, two levels ahead: the
 * hardware prefetches along a row, and a row of a level is too short for that. */
enum { AHEAD = 2 };

INLINED void prefetch_up(const struct arguments *a, count k, struct row_of_chunk p)
{
    const count row = ((k + AHEAD) * a->ny + p.y) * a->nx + p.x.begin;
    const count bytes = (p.x.end - p.x.begin) * (count)sizeof(real);
    if (k + AHEAD >= a->nz)
        return;
    prefetch(a->u + row, bytes);
    prefetch(a->v + row, bytes);
    prefetch(a->kappaM + row + a->nx, bytes);
    prefetch(a->du + row, bytes);
    prefetch(a->dv + row, bytes);
    prefetch(a->u_taup1 + row, bytes);
    prefetch(a->v_taup1 + row, bytes);
}

INLINED void prefetch_down(const struct arguments *a, count k, struct row_of_chunk p)
{
    const count row = ((k - AHEAD) * a->ny + p.y) * a->nx + p.x.begin, north = row + a->nx;
    const count bytes = (p.x.end - p.x.begin) * (count)sizeof(real);
    if (k < AHEAD)
        return;
    prefetch(a->u + north, bytes);
    prefetch(a->v + north, bytes);
    prefetch(a->w + row, bytes);
    prefetch(a->w + north, bytes);
    prefetch(a->rho + north, bytes);
    prefetch(a->du_taum1 + row, bytes);
    prefetch(a->dv_taum1 + row, bytes);
    prefetch(a->K_diss_v + north, bytes);
    prefetch(a->K_diss_h + north, bytes);
    prefetch(a->K_diss_bot + north, bytes);
}

/* A row whose outputs hold what v has lost to its south. */
INLINED void advance_row(const struct arguments *a, struct memory *m, struct row_of_chunk p,
                         bool is_last)
{
    struct momentum_row r = row_at(a, p.y);
    find_depths(a, &m->u, p, 1);
    find_depths(a, &m->v, p, a->nx);
    start_face(&m->u, p);
    start_face(&m->v, p);
    for (count x = p.x.begin; x < p.x.end + 1; x++) {
        m->here[x - p.first] = lowest_wet(a->kbot[p.y * a->nx + x]);
        m->north[x - p.first] = lowest_wet(a->kbot[(p.y + 1) * a->nx + x]);
        m->p[x - p.first] = m->p_north[x - p.first] = 0;
    }
    for (count k = 0; k < a->nz; k++) {
        prefetch_up(a, k, p);
        VARIANT(eliminate_faces)(a, m->u.here, a->u, a->du, a->u_taup1, k, p, p.x.begin - 1, 1, 0);
        VARIANT(eliminate_faces)(a, m->v.here, a->v, a->dv, a->v_taup1, k, p, p.x.begin, a->nx, 0);
    }
    for (count k = a->nz - 1; k >= 0; k--) {
        enter_level(a, &r.flow, k);
        prefetch_down(a, k, p);
        pressure_row(a, m, k, p);
        VARIANT(friction_of_faces)(a, m, &r, true, k, p, 0);
        VARIANT(friction_of_faces)(a, m, &r, false, k, p, 0);
        step_flow_row(a, &r, m, true, k, p);
        step_flow_row(a, &r, m, false, k, p);
        put_friction_losses(a, m, &r, k, p);
        if (!is_last)
            leave_losses(a, &m->v, k, p);
    }
    put_means(a, &m->u, a->du_mean, a->u_mean, p);
    put_means(a, &m->v, a->dv_mean, a->v_mean, p);
}

/* Chunks go from east to west: the reduced rows west of a chunk lie in outputs of the next one. */
INLINED void advance_rows(const struct arguments *a, count begin, count end)
{
    const count nx = a->nx, cells = nx - 2 * MINIAPP_HALO;
    struct memory m;
    for (count x0 = (cells - 1) / ROW_CHUNK * ROW_CHUNK; x0 >= 0; x0 -= ROW_CHUNK) {
        const count x = x0 + MINIAPP_HALO;
        const struct span in = {x, clamp(x + ROW_CHUNK, x, nx - MINIAPP_HALO)};
        struct row_of_chunk p = {begin - 1, in, x - MARGIN};
        for (count n = in.begin - 1; n < in.end + 1; n++) {
            m.per_dxt[n - p.first] = 1 / a->dxt[n];
            m.per_dxu[n - p.first] = 1 / a->dxu[n];
        }
        start_rows(a, &m, p);
        for (p.y = begin; p.y < end; p.y++) {
            advance_row(a, &m, p, p.y == end - 1);
            if (x0 == 0)
                zero_ghosts(a, p.y, (struct span){0, nx});
        }
    }
}

void VARIANT(momentum)(const struct kernel_call *call)
{
#include "unpack.h"
    const count threads = omp_get_max_threads(), rows = ny - 2 * MINIAPP_HALO;
    PARALLEL_COLUMNS
    for (count thread = 0; thread < threads; thread++) {
        const struct arguments a = {
#include "gather.h"
        };
        const count begin = MINIAPP_HALO + rows * thread / threads;
        const count end = MINIAPP_HALO + rows * (thread + 1) / threads;
        if (begin < end)
            advance_rows(&a, begin, end);
        if (thread == 0)
            for (count y = 0; y < MINIAPP_HALO; y++) {
                zero_ghosts(&a, y, (struct span){0, nx});
                zero_ghosts(&a, ny - 1 - y, (struct span){0, nx});
            }
    }
}

#endif
