#include "fields.h"
#include "status.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A field's elements by (plane, y, x), whatever its rank: one loop nest serves them all. */
struct view {
    size_t nx, ny, planes;
};

static bool has_axis(const struct physics_field *field, enum physics_axis axis)
{
    for (const enum physics_axis *a = field->axes; *a != PHYSICS_NO_AXIS; a++)
        if (*a == axis)
            return true;
    return false;
}

static struct view view_of(const struct physics_field *field, const struct physics_grid *grid)
{
    const size_t nx = has_axis(field, PHYSICS_X) ? grid->nx : 1;
    const size_t ny = has_axis(field, PHYSICS_Y) ? grid->ny : 1;
    return (struct view){nx, ny, physics_field_elements(field, grid) / (nx * ny)};
}

enum physics_status fields_allocate(struct fields *fields, enum physics_field_id id)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &fields->grid);
    const size_t bytes = physics_element_bytes(field->type, PHYSICS_FLOAT64);
    if (elements <= PTRDIFF_MAX / bytes)
        fields->data[id] = malloc(elements * bytes);
    if (!fields->data[id])
        return fail(PHYSICS_DEVICE, "out of memory: '%s' on %zu x %zu x %zu points takes %.3g GB",
                    field->name, fields->grid.nx, fields->grid.ny, fields->grid.nz,
                    (double)elements * (double)bytes / 1e9);
    return PHYSICS_DONE;
}

void fields_release(struct fields *fields)
{
    for (int id = 0; id < PHYSICS_FIELDS; id++)
        free(fields->data[id]);
    memset(fields->data, 0, sizeof(fields->data));
}

bool same_grid(const struct physics_grid *a, const struct physics_grid *b)
{
    return a->nx == b->nx && a->ny == b->ny && a->nz == b->nz;
}

struct physics_grid grid_of_size(size_t points)
{
    const double root = cbrt((double)points);
    /* cbrt may miss a whole root by the last digit, which ceil would turn into a whole cell */
    const double whole = round(root);
    const double edge = whole * whole * whole == (double)points ? whole : root;
    const size_t n = (size_t)ceil(2 * edge);
    return (struct physics_grid){n, n, (size_t)ceil(edge / 4)};
}

struct physics_grid interior_of(const struct physics_grid *grid)
{
    return (struct physics_grid){grid->nx - 2 * PHYSICS_HALO, grid->ny - 2 * PHYSICS_HALO,
                                 grid->nz};
}

struct physics_grid with_ghosts(const struct physics_grid *interior)
{
    return (struct physics_grid){interior->nx + 2 * PHYSICS_HALO,
                                 interior->ny + 2 * PHYSICS_HALO, interior->nz};
}

/* Where a cell of an axis of `to` cells lies on an axis of `from` cells. */
struct place {
    size_t lower, upper, nearest;
    double weight; /* of upper */
};

static struct place place_on(size_t cell, size_t to, size_t from)
{
    const double middle = ((double)cell + 0.5) * (double)from / (double)to - 0.5;
    const double inside = fmin(fmax(middle, 0), (double)(from - 1));
    const size_t lower = (size_t)inside;
    const size_t upper = lower + 1 < from ? lower + 1 : lower;
    return (struct place){lower, upper, (size_t)(inside + 0.5), inside - (double)lower};
}

static double along_x(const double *row, const struct place *x)
{
    return row[x->lower] + x->weight * (row[x->upper] - row[x->lower]);
}

static double along_y(const double *plane, size_t nx, const struct place *y, const struct place *x)
{
    const double lower = along_x(plane + y->lower * nx, x);
    return lower + y->weight * (along_x(plane + y->upper * nx, x) - lower);
}

static void resample_real(const double *from, const struct view *old, double *to,
                          const struct view *new)
{
    for (size_t z = 0; z < new->planes; z++) {
        const struct place pz = place_on(z, new->planes, old->planes);
        const double *below = from + pz.lower * old->ny * old->nx;
        const double *above = from + pz.upper * old->ny * old->nx;
        for (size_t y = 0; y < new->ny; y++) {
            const struct place py = place_on(y, new->ny, old->ny);
            for (size_t x = 0; x < new->nx; x++) {
                const struct place px = place_on(x, new->nx, old->nx);
                const double lower = along_y(below, old->nx, &py, &px);
                const double upper = along_y(above, old->nx, &py, &px);
                *to++ = lower + pz.weight * (upper - lower);
            }
        }
    }
}

static void resample_nearest(const char *from, const struct view *old, char *to,
                             const struct view *new, size_t bytes)
{
    for (size_t z = 0; z < new->planes; z++) {
        const size_t oz = place_on(z, new->planes, old->planes).nearest;
        for (size_t y = 0; y < new->ny; y++) {
            const size_t oy = place_on(y, new->ny, old->ny).nearest;
            for (size_t x = 0; x < new->nx; x++, to += bytes) {
                const size_t ox = place_on(x, new->nx, old->nx).nearest;
                memcpy(to, from + ((oz * old->ny + oy) * old->nx + ox) * bytes, bytes);
            }
        }
    }
}

/* An index names the deepest wet level: it becomes the first new level that lies as high, or
 * none where all new levels lie deeper. */
static void resample_levels(int32_t *index, size_t elements, size_t old_nz, size_t new_nz)
{
    for (size_t i = 0; i < elements; i++) {
        size_t level = 0;
        while (level < new_nz && place_on(level, new_nz, old_nz).nearest + 1 < (size_t)index[i])
            level++;
        if (index[i] > 0)
            index[i] = level < new_nz ? (int32_t)(level + 1) : 0;
    }
}

/* The old cells are cut at the edges of the new ones, so that extents add up to what they were. */
static void resample_spacing(const double *from, size_t old_cells, double *to, size_t new_cells)
{
    for (size_t i = 0; i < new_cells; i++) {
        const double start = (double)i * (double)old_cells / (double)new_cells;
        const double end = (double)(i + 1) * (double)old_cells / (double)new_cells;
        to[i] = 0;
        for (size_t j = (size_t)start; j < old_cells && (double)j < end; j++)
            to[i] += from[j] * (fmin(end, (double)(j + 1)) - fmax(start, (double)j));
    }
}

enum physics_status fields_resample(const struct fields *from, const struct physics_grid *grid,
                                    struct fields *to)
{
    *to = (struct fields){.grid = *grid};
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        if (!from->data[id])
            continue;
        enum physics_status status = fields_allocate(to, (enum physics_field_id)id);
        if (status)
            return status;
        const struct view old = view_of(field, &from->grid);
        const struct view new = view_of(field, grid);
        if (field->spacing)
            resample_spacing(from->data[id], physics_axis_length(field->axes[0], &from->grid),
                             to->data[id], physics_axis_length(field->axes[0], grid));
        else if (field->type == PHYSICS_REAL && !field->wet) /* land has no part in water */
            resample_real(from->data[id], &old, to->data[id], &new);
        else
            resample_nearest(from->data[id], &old, to->data[id], &new,
                             physics_element_bytes(field->type, PHYSICS_FLOAT64));
        if (field->type == PHYSICS_INDEX)
            resample_levels(to->data[id], new.nx * new.ny * new.planes, from->grid.nz, grid->nz);
    }
    return PHYSICS_DONE;
}

/* The cell that a cell of the padded axis repeats. */
static size_t source_cell(size_t padded, size_t cells, bool cyclic)
{
    const ptrdiff_t n = (ptrdiff_t)cells;
    const ptrdiff_t cell = (ptrdiff_t)padded - PHYSICS_HALO;
    if (cyclic)
        return (size_t)(((cell % n) + n) % n);
    return (size_t)(cell < 0 ? 0 : cell >= n ? n - 1 : cell);
}

static bool is_ghost(size_t cell, size_t cells)
{
    return cell < PHYSICS_HALO || cell + PHYSICS_HALO >= cells;
}

static void pad(const char *from, const struct view *old, char *to, const struct view *new,
                size_t bytes, bool cyclic_x, bool land_when_closed)
{
    const bool pad_x = new->nx != old->nx;
    const bool pad_y = new->ny != old->ny;
    for (size_t z = 0; z < new->planes; z++)
        for (size_t y = 0; y < new->ny; y++) {
            const size_t oy = pad_y ? source_cell(y, old->ny, false) : y;
            for (size_t x = 0; x < new->nx; x++, to += bytes) {
                const size_t ox = pad_x ? source_cell(x, old->nx, cyclic_x) : x;
                const bool closed = (pad_x && !cyclic_x && is_ghost(x, new->nx)) ||
                                    (pad_y && is_ghost(y, new->ny));
                if (closed && land_when_closed)
                    memset(to, 0, bytes);
                else
                    memcpy(to, from + ((z * old->ny + oy) * old->nx + ox) * bytes, bytes);
            }
        }
}

enum physics_status fields_add_ghosts(const struct fields *from, bool cyclic_x, struct fields *to)
{
    *to = (struct fields){.grid = with_ghosts(&from->grid)};
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        if (!from->data[id])
            continue;
        enum physics_status status = fields_allocate(to, (enum physics_field_id)id);
        if (status)
            return status;
        const struct view old = view_of(field, &from->grid);
        const struct view new = view_of(field, &to->grid);
        pad(from->data[id], &old, to->data[id], &new,
            physics_element_bytes(field->type, PHYSICS_FLOAT64), cyclic_x,
            field->type != PHYSICS_REAL);
    }
    return PHYSICS_DONE;
}

void *strip_ghosts(const void *data, const struct physics_field *field,
                   const struct physics_grid *grid, size_t bytes)
{
    const struct physics_grid interior = interior_of(grid);
    const struct view old = view_of(field, grid);
    const struct view new = view_of(field, &interior);
    const size_t row = new.nx * bytes;
    const size_t skip_x = (old.nx - new.nx) / 2;
    const size_t skip_y = (old.ny - new.ny) / 2;
    char *stripped = malloc(new.planes * new.ny * row);
    char *to = stripped;
    for (size_t z = 0; stripped && z < new.planes; z++)
        for (size_t y = 0; y < new.ny; y++, to += row)
            memcpy(to,
                   (const char *)data + ((z * old.ny + y + skip_y) * old.nx + skip_x) * bytes,
                   row);
    return stripped;
}

enum physics_status fields_interior(const struct fields *from, struct fields *to)
{
    *to = (struct fields){.grid = interior_of(&from->grid)};
    for (int id = 1; id < PHYSICS_FIELDS; id++) {
        const struct physics_field *field = &physics_fields[id];
        if (!from->data[id])
            continue;
        to->data[id] = strip_ghosts(from->data[id], field, &from->grid,
                                    physics_element_bytes(field->type, PHYSICS_FLOAT64));
        if (!to->data[id])
            return fail(PHYSICS_DEVICE, "out of memory for '%s' without ghost cells",
                        field->name);
    }
    return PHYSICS_DONE;
}
