#include "regrid.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { X, Y, Z }; /* places of axes in struct regrid */

static size_t cells_along(bool is_there, enum miniapp_axis axis, const struct miniapp_grid *grid)
{
    return is_there ? miniapp_axis_length(axis, grid) : 1;
}

/* ---- one axis ---- */

/* The interior cell that a cell of the state's axis is, or repeats. */
static size_t source_cell(size_t cell, size_t cells, bool cyclic)
{
    const ptrdiff_t n = (ptrdiff_t)cells;
    const ptrdiff_t inside = (ptrdiff_t)cell - MINIAPP_HALO;
    if (cyclic)
        return (size_t)(((inside % n) + n) % n);
    return (size_t)(inside < 0 ? 0 : inside >= n ? n - 1 : inside);
}

/* Where the middle of one of `to` cells lies, counted in cells of an axis that has `from` of them
 * on the same length. */
static struct source_cells place_on(size_t cell, size_t to, size_t from)
{
    const double middle = ((double)cell + 0.5) * (double)from / (double)to - 0.5;
    const double inside = fmin(fmax(middle, 0), (double)(from - 1));
    const size_t lower = (size_t)inside;
    const size_t upper = lower + 1 < from ? lower + 1 : lower;
    return (struct source_cells){.lower = lower,
                                 .upper = upper,
                                 .nearest = (size_t)(inside + 0.5),
                                 .weight = inside - (double)lower};
}

/* The place of a cell of the whole ocean in the whole file. */
static struct source_cells place_between(size_t cell, const struct pair_of_axes *axes)
{
    if (axes->same)
        return (struct source_cells){cell, cell, cell, cell, 0, false};
    const bool is_ghost = cell < axes->to_ghosts || cell >= axes->to_ghosts + axes->to;
    const size_t inside = axes->to_ghosts ? source_cell(cell, axes->to, axes->cyclic) : cell;
    struct source_cells place =
        axes->resample ? place_on(inside, axes->to, axes->from)
                       : (struct source_cells){.lower = inside, .upper = inside, .nearest = inside};
    place.inside = inside;
    place.lower += axes->from_ghosts;
    place.upper += axes->from_ghosts;
    place.nearest += axes->from_ghosts;
    place.is_closed = is_ghost && !axes->cyclic;
    return place;
}

/* The places of the state's cells, in the window. */
static struct source_cells *places(const struct pair_of_axes *axes)
{
    const size_t cells = axes->part.end - axes->part.first;
    struct source_cells *all = malloc(cells * sizeof(*all));
    for (size_t i = 0; all && i < cells; i++) {
        all[i] = place_between(axes->part.first + i, axes);
        all[i].lower -= axes->window;
        all[i].upper -= axes->window;
        all[i].nearest -= axes->window;
    }
    return all;
}

static struct pair_of_axes pair_of(bool there, enum miniapp_axis axis, const struct window *from,
                                   const struct window *to, bool resample)
{
    const bool ghosts = there && axis != MINIAPP_Z;
    const size_t first = there ? first_along(axis, to) : 0;
    struct pair_of_axes pair = {
        .from = cells_along(there, axis, &from->whole),
        .to = cells_along(there, axis, &to->whole),
        .from_ghosts = ghosts && from->has_ghosts ? MINIAPP_HALO : 0,
        .to_ghosts = ghosts ? MINIAPP_HALO : 0,
        .window = there ? first_along(axis, from) : 0,
        .part = {first, first + cells_along(there, axis, &to->grid)},
        .cyclic = axis == MINIAPP_X && from->cyclic_x && to->grid.nx == to->whole.nx,
        .resample = resample && there,
        .same = !there || (!resample && (axis == MINIAPP_Z || from->has_ghosts)),
    };
    if (pair.same)
        pair.from_ghosts = pair.to_ghosts = 0;
    pair.from -= 2 * pair.from_ghosts;
    pair.to -= 2 * pair.to_ghosts;
    return pair;
}

/* Where one of `to` new cells begins, counted in cells of the file, which has `from` on the same
 * length. */
static double start_of(size_t cell, size_t from, size_t to)
{
    return (double)cell * (double)from / (double)to;
}

/* Places rise with the cells of a part, because its ghosts at the ocean's edge repeat the cell
 * beside them: so its first and last cells are enough. A spacing needs all cells of the file that
 * its cell covers. */
struct cells regrid_sources(enum miniapp_axis axis, const struct window *from,
                            const struct window *to, bool resample)
{
    if (miniapp_axis_length(axis, &to->grid) == miniapp_axis_length(axis, &to->whole))
        return (struct cells){0, miniapp_axis_length(axis, &from->whole)};
    const struct pair_of_axes axes = pair_of(true, axis, from, to, resample);
    const struct source_cells first = place_between(axes.part.first, &axes);
    const struct source_cells last = place_between(axes.part.end - 1, &axes);
    const struct cells cells = {first.lower, last.upper + 1};
    if (!resample)
        return cells;
    const double start = start_of(first.inside, axes.from, axes.to);
    const double end = start_of(last.inside + 1, axes.from, axes.to);
    const struct cells covered = {axes.from_ghosts + (size_t)start,
                                  axes.from_ghosts + (size_t)fmin(ceil(end), (double)axes.from)};
    return cells_of_both(cells, covered);
}

/* ---- a field ---- */

enum miniapp_status regrid_open(const struct miniapp_field *field, const struct window *from,
                                const struct window *to, bool resample, struct regrid *regrid)
{
    bool are_there = true;
    *regrid = (struct regrid){
        .field = field,
        .is_same = !resample && from->has_ghosts && is_same_window(from, to),
        .resamples = resample,
        .from_levels = from->grid.nz,
        .to_levels = to->grid.nz,
    };
    for (int i = X; i <= Z; i++) {
        const enum miniapp_axis axis = (enum miniapp_axis)(MINIAPP_X + i);
        const bool is_there = has_axis(field, axis);
        regrid->to[i] = cells_along(is_there, axis, &to->grid);
        regrid->from[i] = cells_along(is_there, axis, &from->grid);
        regrid->axes[i] = pair_of(is_there, axis, from, to, resample);
        regrid->at[i] = regrid->is_same ? NULL : places(&regrid->axes[i]);
        are_there &= regrid->at[i] != NULL;
    }
    regrid->plane_elements = regrid->to[X] * regrid->to[Y];
    regrid->planes = miniapp_field_elements(field, &to->grid) / regrid->plane_elements;
    if (regrid->is_same)
        return MINIAPP_DONE;
    regrid->plane = malloc(regrid->plane_elements * sizeof(*regrid->plane));
    return allocated(are_there && regrid->plane, "a plane of '%s'", field->name);
}

void regrid_close(struct regrid *regrid)
{
    for (int i = X; i <= Z; i++)
        free(regrid->at[i]);
    free(regrid->plane);
}

static double along_x(const double *row, const struct source_cells *x)
{
    return row[x->lower] + x->weight * (row[x->upper] - row[x->lower]);
}

static double along_y(const double *plane, size_t nx, const struct source_cells *y,
                      const struct source_cells *x)
{
    const double lower = along_x(plane + y->lower * nx, x);
    return lower + y->weight * (along_x(plane + y->upper * nx, x) - lower);
}

/* Whether closed ghosts hold 0: land is 0 in masks and indices, and nothing flows through a wall.
 * Other reals repeat the nearest cell. */
static bool is_zero_when_closed(const struct miniapp_field *field)
{
    return !miniapp_is_real(field->type) || field->is_flow;
}

static bool is_closed(const struct regrid *regrid, size_t y, size_t x)
{
    return regrid->at[Y][y].is_closed || regrid->at[X][x].is_closed;
}

static void interpolate(const struct regrid *regrid, const double *block,
                        const struct source_cells *z)
{
    const bool zero = is_zero_when_closed(regrid->field);
    const size_t level = regrid->from[Y] * regrid->from[X];
    const double *const below = block + z->lower * level;
    const double *const above = block + z->upper * level;
    double *to = regrid->plane;
    for (size_t y = 0; y < regrid->to[Y]; y++)
        for (size_t x = 0; x < regrid->to[X]; x++) {
            const double lower =
                along_y(below, regrid->from[X], &regrid->at[Y][y], &regrid->at[X][x]);
            const double upper =
                along_y(above, regrid->from[X], &regrid->at[Y][y], &regrid->at[X][x]);
            const double value = lower + z->weight * (upper - lower);
            *to++ = zero && is_closed(regrid, y, x) ? 0 : value;
        }
}

static void take_nearest(const struct regrid *regrid, const double *block,
                         const struct source_cells *z)
{
    const bool zero = is_zero_when_closed(regrid->field);
    const double *const level = block + z->nearest * regrid->from[Y] * regrid->from[X];
    double *to = regrid->plane;
    for (size_t y = 0; y < regrid->to[Y]; y++) {
        const double *const row = level + regrid->at[Y][y].nearest * regrid->from[X];
        for (size_t x = 0; x < regrid->to[X]; x++)
            *to++ = zero && is_closed(regrid, y, x) ? 0 : row[regrid->at[X][x].nearest];
    }
}

/* An index names the deepest wet level: it becomes the lowest new level that lies as high or
 * higher, or 0 if all new levels lie deeper. */
static void regrid_levels(double *index, size_t elements, size_t from_nz, size_t to_nz)
{
    for (size_t i = 0; i < elements; i++) {
        size_t level = 0;
        while (level < to_nz && (double)place_on(level, to_nz, from_nz).nearest + 1 < index[i])
            level++;
        if (index[i] > 0)
            index[i] = level < to_nz ? (double)(level + 1) : 0;
    }
}

/* The sum of the window's spacings that lie in one new cell, or of their parts in it. */
static double spacing_of(const double *from, const struct pair_of_axes *axes, size_t cell)
{
    const double start = start_of(cell, axes->from, axes->to);
    const double end = start_of(cell + 1, axes->from, axes->to);
    double sum = 0;
    for (size_t j = (size_t)start; j < axes->from && (double)j < end; j++)
        sum += from[j + axes->from_ghosts - axes->window] *
               (fmin(end, (double)(j + 1)) - fmax(start, (double)j));
    return sum;
}

static void fill_spacing(const struct regrid *regrid, const double *values, size_t plane)
{
    const bool along_z = has_axis(regrid->field, MINIAPP_Z);
    const int along = along_z ? Z : has_axis(regrid->field, MINIAPP_X) ? X : Y;
    const struct source_cells *const at = &regrid->at[along][along_z ? plane : 0];
    for (size_t i = 0; i < regrid->plane_elements; i++)
        regrid->plane[i] = spacing_of(values, &regrid->axes[along], at[i].inside);
}

const double *regrid_plane(struct regrid *regrid, const double *values, size_t plane)
{
    if (regrid->is_same)
        return values + plane * regrid->plane_elements;
    const struct miniapp_field *const field = regrid->field;
    const size_t block =
        plane / regrid->to[Z] * regrid->from[Z] * regrid->from[Y] * regrid->from[X];
    const struct source_cells *const z = &regrid->at[Z][plane % regrid->to[Z]];
    if (field->is_spacing && regrid->resamples)
        fill_spacing(regrid, values, plane);
    else if (miniapp_is_real(field->type) && !field->is_nearest && regrid->resamples)
        interpolate(regrid, values + block, z); /* mixes in land, unless is_nearest */
    else
        take_nearest(regrid, values + block, z);
    if (field->type == MINIAPP_INDEX && regrid->resamples)
        regrid_levels(regrid->plane, regrid->plane_elements, regrid->from_levels,
                      regrid->to_levels);
    return regrid->plane;
}
