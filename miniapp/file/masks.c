/* Water and land: masks and kbot, read, checked by themselves, and kept as bytes that tell water
 * from land; whether they agree with each other, and whether ghosts repeat what they stand for. */
#include "input.h"
#include "owned.h"
#include "status.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where a cell of the window lies in the file, by its element in a field on (y, x) or (z, y, x). */
static size_t column_in_file(const struct miniapp_input *input, size_t element)
{
    return input->window.x0 + element % input->window.grid.nx;
}

static size_t row_in_file(const struct miniapp_input *input, size_t element)
{
    return input->window.y0 + element / input->window.grid.nx % input->window.grid.ny;
}

static bool is_in_margin(const struct miniapp_input *input, size_t element)
{
    const struct miniapp_grid *const grid = &input->window.grid, *const whole =
                                                                     &input->window.whole;
    return (element % grid->nx + 1 == grid->nx && input->window.x0 + grid->nx < whole->nx) ||
           (element / grid->nx % grid->ny + 1 == grid->ny &&
            input->window.y0 + grid->ny < whole->ny);
}

/* ---- what a mask may be ---- */

/* Masks and indices have to be whole numbers in their ranges, with no index above the surface,
 * because kernels address memory by them. */
static enum miniapp_status check_whole(const struct miniapp_input *input, enum field_id id,
                                       const double *values)
{
    const struct miniapp_field *const field = &fields[id];
    const size_t elements = miniapp_field_elements(field, &input->window.grid);
    const bool is_bounded = field->counts && input->said_by[field->counts];
    const double most = is_bounded ? (double)miniapp_axis_length(field->counts, &input->window.grid)
                                   : field->valid_max; /* no axis: what has it is missing */
    char range[RANGE_TEXT], place[ELEMENT_NAME];
    for (size_t i = 0; i < elements; i++) {
        if (values[i] != floor(values[i]) || !isfinite(values[i]))
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be whole", input->path,
                        place_in_file(input, id, i, place), values[i]);
        if (values[i] < field->valid_min || values[i] > most)
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s", input->path,
                        place_in_file(input, id, i, place), values[i],
                        range_text(field->valid_min, most, range));
    }
    return MINIAPP_DONE;
}

/* Water reaches the surface. */
static enum miniapp_status check_columns(const struct miniapp_input *input, enum field_id mask,
                                         const double *values)
{
    const size_t plane = input->window.grid.nx * input->window.grid.ny;
    char land[ELEMENT_NAME], below[ELEMENT_NAME];
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    for (size_t i = plane; i < plane * input->window.grid.nz; i++)
        if (values[i] == 0 && values[i - plane] != 0)
            return fail(
                MINIAPP_INPUT,
                "%s: %s is land, but %s below it is water: water reaches the surface, which "
                "is the last level",
                input->path, place_in_file(input, mask, i, land),
                place_in_file(input, mask, i - plane, below));
    return MINIAPP_DONE;
}

enum miniapp_status check_mask(const struct miniapp_input *input, enum field_id id,
                               const double *values)
{
    TRY(check_whole(input, id, values));
    return fields[id].type == MINIAPP_INDEX ? MINIAPP_DONE : check_columns(input, id, values);
}

/* ---- where water is ---- */

/* Copies a mask, or fills each column from its level in kbot up to the surface. */
static enum miniapp_status read_water(struct miniapp_input *input, enum field_id id, uint8_t *water)
{
    const size_t plane = input->window.grid.nx * input->window.grid.ny;
    OWNED double *const values =
        malloc(miniapp_field_elements(&fields[id], &input->window.grid) * sizeof(*values));
    TRY(allocated(values && water, "the water of '%s'", fields[id].name));
    TRY(read_dataset(input, id, values));
    TRY(check_mask(input, id, values));
    for (size_t i = 0; i < plane * input->window.grid.nz; i++) {
        const double deepest = values[i % plane]; /* of kbot */
        const size_t level = i / plane + 1;
        water[i] = fields[id].type == MINIAPP_MASK ? values[i] != 0
                                                   : deepest > 0 && (double)level >= deepest;
    }
    return MINIAPP_DONE;
}

/* A mask takes an eighth of a field's memory, so it is kept as long as the window stays. Faults
 * in it are reported once. */
enum miniapp_status find_water(struct miniapp_input *input, enum field_id mask,
                               const uint8_t **water)
{
    *water = input->water[mask];
    if (*water || !input->is_there[mask] || input->is_bad[mask])
        return MINIAPP_DONE;
    uint8_t *const kept = malloc(miniapp_grid_points(&input->window.grid));
    const enum miniapp_status status = read_water(input, mask, kept);
    input->is_bad[mask] = status != MINIAPP_DONE;
    if (status)
        free(kept);
    *water = input->water[mask] = status ? NULL : kept;
    return status;
}

static const enum field_id cell_masks[] = {FIELD_maskT, FIELD_maskW, FIELD_kbot};
enum { CELL_MASKS = sizeof(cell_masks) / sizeof(*cell_masks) };

/* The water cells by the first of maskT, maskW and kbot that the kernels read and is not bad. */
static enum miniapp_status find_cells(struct miniapp_input *input, const uint8_t **water,
                                      enum field_id *source)
{
    *water = NULL;
    for (size_t i = 0; i < CELL_MASKS && !*water; i++) {
        *source = cell_masks[i];
        if (input->needed[*source])
            TRY(find_water(input, *source, water));
    }
    return MINIAPP_DONE;
}

/* Whether a cell is one of the file's ghosts on a side that is closed. */
static bool is_beyond_closed_side(const struct miniapp_input *input, size_t i)
{
    return input->window.has_ghosts &&
           (is_outer(row_in_file(input, i), input->window.whole.ny) ||
            (!input->window.cyclic_x &&
             is_outer(column_in_file(input, i), input->window.whole.nx)));
}

enum { DXT, DYT, COST, DZT, TURNING, LINES };
static const enum field_id ids[LINES] = {FIELD_dxt, FIELD_dyt, FIELD_cost, FIELD_dzt,
                                         FIELD_coriolis_t};

static bool has_scales(const struct miniapp_input *input)
{
    bool has = true;
    for (int l = 0; l < TURNING; l++)
        has &= input->needed[ids[l]];
    return has;
}

static void look_at_column(double *const line[LINES], const struct miniapp_input *input, size_t i,
                           struct miniapp_water *water)
{
    const size_t x = i % input->window.grid.nx, y = i / input->window.grid.nx;
    const double spacing = fmin(line[DXT][x] * line[COST][y], line[DYT][y]);
    water->per_length = fmax(water->per_length, 1 / spacing);
    water->widest = fmax(water->widest, fmax(line[DXT][x], line[DYT][y]));
    water->turning = fmax(water->turning, line[TURNING] ? fabs(line[TURNING][i]) : 0);
    water->per_cosine = fmax(water->per_cosine, 1 / line[COST][y]);
}

static void look_at_level(const struct miniapp_input *input, const uint8_t *wet,
                          double *const line[LINES], size_t z, struct miniapp_water *water)
{
    const struct cells rows = own_rows(input);
    const size_t plane = input->window.grid.nx * input->window.grid.ny;
    for (size_t i = 0; i < input->window.grid.nx * (rows.end - rows.first); i++) {
        if (wet && !wet[z * plane + i])
            continue;
        water->cells++;
        water->beyond += wet && is_beyond_closed_side(input, z * plane + i);
        if (line[DZT] && z + 1 == input->window.grid.nz)
            look_at_column(line, input, i, water);
    }
    if (line[DZT]) {
        water->highest = fmax(water->highest, line[DZT][z]);
        water->per_height = fmax(water->per_height, 1 / line[DZT][z]);
    }
}

enum miniapp_status look_at_water(struct miniapp_input *input, struct miniapp_water *water)
{
    const uint8_t *wet;
    double *line[LINES] = {NULL};
    enum field_id source;
    move_window(input, own_window(input));
    enum miniapp_status status = find_cells(input, &wet, &source);
    for (int l = 0; l < LINES && has_scales(input) && !status; l++)
        if (input->needed[ids[l]])
            status = read_field(input, ids[l], &line[l]);
    *water = (struct miniapp_water){0};
    for (size_t z = 0; z < input->window.grid.nz && !status; z++)
        look_at_level(input, wet, line, z, water);
    for (int l = 0; l < LINES; l++)
        free(line[l]);
    return status;
}

double miniapp_water_setting(const struct miniapp_water *water, const char *name, double dt)
{
    const double spacing = 1 / water->per_length;
    if (water->per_length == 0) /* all is land */
        return 0;
    if (strcmp(name, "dt_mom") == 0)
        return fmin(0.2 * spacing / MINIAPP_WAVE_SPEED, 0.3 / fmax(water->turning, 1e-9));
    if (strcmp(name, "A_h") == 0)
        return fmin(2e-11 * pow(water->widest, 3), 0.1 * spacing * spacing / dt);
    return fmin(5e-3 / water->highest, 0.1 / dt);
}

const struct miniapp_water *miniapp_input_water(const struct miniapp_input *input)
{
    return &input->seen;
}

/* ---- cells ---- */

/* Since water reaches the surface, T cells, W cells and kbot say the same of each cell. */
static enum miniapp_status check_cells(struct miniapp_input *input, enum field_id first,
                                       const uint8_t *water, enum field_id other)
{
    const uint8_t *others;
    char place[ELEMENT_NAME];
    TRY(find_water(input, other, &others));
    for (size_t i = 0; i < miniapp_grid_points(&input->window.grid) && others; i++)
        if (water[i] != others[i])
            return fail(MINIAPP_INPUT, "%s: %s is %s by '%s', but %s by '%s'", input->path,
                        place_in_file(input, FIELD_maskT, i, place), water[i] ? "water" : "land",
                        fields[first].name, water[i] ? "land" : "water", fields[other].name);
    return MINIAPP_DONE;
}

/* ---- faces ---- */

/* Whether a face, or a cell beside it, is one of the file's ghosts: nothing reads the outer edge,
 * and the wall of a closed ocean may lie among ghosts of water. */
static bool touches_ghosts(const struct miniapp_input *input, enum field_id mask, size_t i)
{
    const struct miniapp_grid *const grid = &input->window.whole;
    const size_t x = column_in_file(input, i), y = row_in_file(input, i);
    return input->window.has_ghosts && (is_outer(x, grid->nx) || is_outer(y, grid->ny) ||
                                        is_outer(x + (mask == FIELD_maskU), grid->nx) ||
                                        is_outer(y + (mask == FIELD_maskV), grid->ny));
}

/* Whether the cell beyond a face, which is not on the edge of ghosts, is water: to the east for U,
 * to the north for V. Beyond the last column lies the first one if the ocean is cyclic, or else
 * land. */
static bool is_water_beyond(const struct miniapp_input *input, enum field_id mask,
                            const uint8_t *water, size_t i)
{
    const struct miniapp_grid *const grid = &input->window.grid;
    const size_t x = i % grid->nx, y = i / grid->nx % grid->ny;
    if (mask == FIELD_maskV)
        return y + 1 < grid->ny && water[i + grid->nx];
    if (x + 1 < grid->nx)
        return water[i + 1];
    return input->window.cyclic_x && water[i - x];
}

/* A face may be open only between cells of water. A closed face between them is legal, as a thin
 * wall is, but seldom meant. The window has whole rows. */
static enum miniapp_status check_faces(struct miniapp_input *input, enum field_id mask,
                                       enum field_id cells, const uint8_t *water)
{
    const uint8_t *open;
    size_t closed = 0, first = 0;
    char place[ELEMENT_NAME];
    TRY(find_water(input, mask, &open));
    for (size_t i = 0; i < miniapp_grid_points(&input->window.grid) && open; i++) {
        const size_t beyond = mask == FIELD_maskU
                                  ? column_in_file(input, i) + 1 - input->window.whole.nx
                                  : row_in_file(input, i) + 1 - input->window.whole.ny;
        if (is_in_margin(input, i) || (input->window.has_ghosts && beyond == 0))
            continue;
        const bool is_between = water[i] && is_water_beyond(input, mask, water, i);
        if (open[i] && !is_between)
            return fail(MINIAPP_INPUT, "%s: %s is open, but %s it is land by '%s'%s", input->path,
                        place_in_file(input, mask, i, place),
                        water[i] ? beyond == 0 ? "the wall beyond" : "the cell beyond"
                                 : "the cell before",
                        fields[cells].name,
                        water[i] && beyond == 0 && mask == FIELD_maskU
                            ? ", unless the attribute cyclic_x is 1"
                            : "");
        if (!open[i] && is_between && !touches_ghosts(input, mask, i) && closed++ == 0)
            first = i;
    }
    if (closed > 0)
        warn("%s: %zu faces of '%s' are closed between cells of water%s: the first is %s",
             input->path, closed, fields[mask].name, input->strips > 1 ? " in this part" : "",
             place_in_file(input, mask, first, place));
    return MINIAPP_DONE;
}

/* Masks that the kernels do not read are not looked at, unless a value hangs on them. */
enum miniapp_status check_masks(struct miniapp_input *input)
{
    const uint8_t *water;
    enum field_id source;
    TRY(find_cells(input, &water, &source));
    for (size_t i = 0; i < CELL_MASKS && water; i++)
        if (input->needed[cell_masks[i]] && cell_masks[i] != source)
            TRY(check_cells(input, source, water, cell_masks[i]));
    for (enum field_id mask = FIELD_maskU; mask <= FIELD_maskV && water; mask++)
        if (input->needed[mask])
            TRY(check_faces(input, mask, source, water));
    return MINIAPP_DONE;
}

/* ---- ghosts ---- */

static bool are_copies(const struct miniapp_field *field, double a, double b)
{
    return a == b || (isnan(a) && isnan(b)) ||
           (miniapp_is_real(field->type) && fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b)));
}

/* Ghosts on land may hold anything: the mask of a field tells, where it is known. */
enum miniapp_status check_ghosts(struct miniapp_input *input, enum field_id id,
                                 const double *values)
{
    const struct miniapp_field *const field = &fields[id];
    const size_t nx = input->window.grid.nx,
                 plane = nx * input->window.grid.ny; /* it has whole rows */
    const size_t top = miniapp_field_rank(field) == 3 ? 0 : (input->window.grid.nz - 1) * plane;
    const bool has_y = has_axis(field, MINIAPP_Y);
    const uint8_t *water = NULL;
    char ghost[ELEMENT_NAME], cell[ELEMENT_NAME];
    if (!input->window.has_ghosts || !input->window.cyclic_x || !has_axis(field, MINIAPP_X))
        return MINIAPP_DONE;
    if (field->wet)
        TRY(find_water(input, field->wet, &water));
    const size_t elements = miniapp_field_elements(field, &input->window.grid);
    const size_t to_east = nx - 2 * MINIAPP_HALO + 1; /* from the last ghost in the west of a row */
    for (size_t i = 0; i < elements; i += i % nx == MINIAPP_HALO - 1 ? to_east : 1) {
        const size_t x = i % nx;
        if ((has_y && is_outer(row_in_file(input, i), input->window.whole.ny)) ||
            (water && !water[top + i]))
            continue;
        const size_t other = i - x + opposite_column(x, nx);
        if (!are_copies(field, values[i], values[other]))
            return fail(MINIAPP_INPUT, "%s: cyclic_x is 1, but the ghost %s is %g, while %s is %g",
                        input->path, place_in_file(input, id, i, ghost), values[i],
                        place_in_file(input, id, other, cell), values[other]);
    }
    return MINIAPP_DONE;
}
