/*
 * Windows of a file: states that are blocks of an ocean get what the state of the whole ocean gets,
 * in all their cells; processes that share a file find what is wrong in any of its rows.
 */
#include "blocks.h"
#include "invented.h"
#include "program.h"
#include "spoil.h"

#include <hdf5.h>
#include <hdf5_hl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define assert_done(call) assert_int_equal(call, MINIAPP_DONE)

static struct miniapp_device *cpu;
static char folder[PATH_MAX / 2], path[PATH_MAX], snapshot[PATH_MAX];
static size_t lines;
static char first_line[1024];

/* ---- an ocean in a file ---- */

enum land { BY_MASKS, BY_KBOT, BY_MISSING };

/* How it is stored. */
struct form {
    size_t nx, ny, nz; /* without ghosts */
    bool has_ghosts, is_cyclic;
    enum land land;
    bool is_transposed, is_surface_first, has_time, is_packed, lacks_halo;
};

/* The water of each column: with islands, and land at every depth. */
static size_t bottom_of(size_t x, size_t y, size_t nz)
{
    const size_t depth = (x * 5 + y * 3 + x * y) % (nz + 2);
    return depth > nz ? 0 : depth;
}

/* A cell by its place in the interior: beyond a closed edge lies land. */
static bool is_wet(const struct form *form, long x, long y, long z)
{
    const long nx = (long)form->nx, ny = (long)form->ny, nz = (long)form->nz;
    if (form->is_cyclic)
        x = (x + nx) % nx;
    if (x < 0 || x >= nx || y < 0 || y >= ny)
        return false;
    const size_t bottom = bottom_of((size_t)x, (size_t)y, form->nz);
    return z >= nz || (bottom > 0 && (size_t)z + 1 >= bottom);
}

static double mask_of(const struct form *form, enum field_id mask, long x, long y, long z)
{
    const bool is_beyond = mask == FIELD_maskU   ? is_wet(form, x + 1, y, z)
                           : mask == FIELD_maskV ? is_wet(form, x, y + 1, z)
                           : mask == FIELD_maskW ? is_wet(form, x, y, z + 1)
                                                 : true;
    return is_beyond && is_wet(form, x, y, z);
}

static double line_of(const struct form *form, enum field_id id, double at)
{
    switch (id) {
    case FIELD_zt: return 100 * (at - (double)form->nz) + 50;
    case FIELD_zw: return 100 * (at - (double)form->nz) + 100;
    case FIELD_dzt:
    case FIELD_dzw: return 100;
    case FIELD_cost:
    case FIELD_cosu: return 0.8 + 0.1 * sin(at);
    default: return 1e5 * (1 + 0.2 * sin(at));
    }
}

/* A number of its range, which no other element has. */
static double real_of(enum field_id id, size_t number)
{
    const double least = fmax(fields[id].valid_min, -1), most = fmin(fields[id].valid_max, 1);
    return least + (most - least) * sample_of(number * 7 + (size_t)id);
}

/* The value of an element, bottom up, by its place in the file with ghosts or without. */
static double value_of(const struct form *form, enum field_id id, const size_t *at)
{
    const long ghosts = form->has_ghosts ? MINIAPP_HALO : 0;
    const long nx = (long)form->nx, ny = (long)form->ny;
    size_t number = 0;
    long x = 0, y = 0, z = 0;
    for (int i = 0; i < miniapp_field_rank(&fields[id]); i++) {
        const enum miniapp_axis axis = fields[id].axes[i];
        long place = (long)at[i];
        if (axis == MINIAPP_X)
            x = place -= ghosts;
        if (axis == MINIAPP_Y)
            y = place -= ghosts;
        if (axis == MINIAPP_Z)
            z = place;
        if (axis == MINIAPP_X && form->is_cyclic)
            place = (place + nx) % nx;
        number = number * 16 + (size_t)(place + 2);
    }
    if (fields[id].type == MINIAPP_MASK)
        return mask_of(form, id, x, y, z);
    x = form->is_cyclic ? (x + nx) % nx : x;
    if (fields[id].type == MINIAPP_INDEX)
        return x < 0 || x >= nx || y < 0 || y >= ny
                   ? 0
                   : (double)bottom_of((size_t)x, (size_t)y, form->nz);
    if (miniapp_field_rank(&fields[id]) == 1 && fields[id].valid_min != -1)
        return line_of(form, id, fields[id].axes[0] == MINIAPP_X ? (double)x : (double)at[0]);
    const enum field_id wet = fields[id].wet;
    const bool is_land = wet && !mask_of(form, wet == FIELD_kbot ? FIELD_maskT : wet, x, y,
                                         miniapp_field_rank(&fields[id]) == 2 ? 1000 : z);
    return is_land ? NAN : real_of(id, number);
}

static struct miniapp_grid grid_in_file(const struct form *form)
{
    const struct miniapp_grid grid = {form->nx, form->ny, form->nz};
    return form->has_ghosts ? miniapp_grid_with_ghosts(&grid) : grid;
}

/* ---- storing it ---- */

static bool is_stored(const struct form *form, enum field_id id)
{
    static const enum field_id absent[] = {FIELD_p, FIELD_temp_taup1, FIELD_w, FIELD_kappaH,
                                           FIELD_sample};
    for (size_t i = 0; i < sizeof(absent) / sizeof(*absent); i++)
        if (id == absent[i])
            return false;
    if (fields[id].type == MINIAPP_MASK)
        return form->land == BY_MASKS;
    return fields[id].type != MINIAPP_INDEX || form->land != BY_MISSING;
}

/* The order of a field's axes in the file, with time, which is the one after the last. */
static int order_of(const struct form *form, enum field_id id, int order[H5S_MAX_RANK])
{
    const int rank = miniapp_field_rank(&fields[id]);
    int count = 0;
    if (form->has_time && rank == 3)
        order[count++] = rank;
    for (int i = 0; i < rank; i++)
        order[count++] = form->is_transposed ? rank - 1 - i : i;
    return count;
}

static double stored_value(const struct form *form, enum field_id id, size_t *at)
{
    const int rank = miniapp_field_rank(&fields[id]);
    const bool counts_levels = form->is_surface_first && fields[id].counts == MINIAPP_Z;
    if (form->has_time && rank == 3 && at[rank] != 1)
        return -1e9; /* another record */
    for (int i = 0; i < rank; i++)
        if (form->is_surface_first && fields[id].axes[i] == MINIAPP_Z)
            at[i] = form->nz - 1 - at[i];
    const double value = value_of(form, id, at);
    return counts_levels && value > 0 ? (double)form->nz + 1 - value : value;
}

static void add_attributes(hid_t file, const struct form *form, enum field_id id, const int *order,
                           int count)
{
    const hid_t dataset = H5Dopen2(file, fields[id].name, H5P_DEFAULT);
    const int rank = miniapp_field_rank(&fields[id]);
    for (int i = 0; i < count; i++)
        H5DSset_label(dataset, (unsigned)i,
                      order[i] == rank ? "time" : miniapp_axis_name(fields[id].axes[order[i]]));
    if (form->is_packed && id == FIELD_salt) {
        const double factor = 0.5, offset = 0.25;
        H5LTset_attribute_double(file, fields[id].name, "scale_factor", &factor, 1);
        H5LTset_attribute_double(file, fields[id].name, "add_offset", &offset, 1);
    }
    H5Dclose(dataset);
}

static void store(hid_t file, const struct form *form, enum field_id id)
{
    const struct miniapp_grid grid = grid_in_file(form);
    const int rank = miniapp_field_rank(&fields[id]);
    int order[H5S_MAX_RANK];
    hsize_t length[H5S_MAX_RANK], elements = 1;
    const int count = order_of(form, id, order);
    for (int i = 0; i < count; i++) {
        length[i] = order[i] == rank ? 3 : miniapp_axis_length(fields[id].axes[order[i]], &grid);
        elements *= length[i];
    }
    double *const values = malloc(elements * sizeof(*values));
    assert_non_null(values);
    for (size_t e = 0; e < elements; e++) {
        size_t at[H5S_MAX_RANK] = {0}, left = e;
        for (int i = count - 1; i >= 0; i--) {
            at[order[i]] = left % length[i];
            left /= length[i];
        }
        values[e] = stored_value(form, id, at);
    }
    assert_true(H5LTmake_dataset_double(file, fields[id].name, count, length, values) >= 0);
    add_attributes(file, form, id, order, count);
    free(values);
}

/* Kernels that between them read fields of every kind. */
static const char *const kernels_of_all_kinds[] = {"ocean_step_eke", "triad", "isoneutral_skew",
                                                   "fma", "surface_forcing"};

static size_t list_wanted(const struct miniapp_field *wanted[FIELDS])
{
    size_t count = 0;
    for (size_t id = 1; id < FIELDS; id++) {
        bool is_read = false;
        for (size_t k = 0; k < sizeof(kernels_of_all_kinds) / sizeof(*kernels_of_all_kinds); k++)
            is_read |= miniapp_sequence_reads(sequence_of(kernels_of_all_kinds[k]), &fields[id]);
        if (is_read)
            wanted[count++] = &fields[id];
    }
    return count;
}

static void write_ocean(const struct form *form)
{
    const struct miniapp_field *wanted[FIELDS];
    const size_t count = list_wanted(wanted);
    const int halo = form->has_ghosts ? MINIAPP_HALO : 0, cyclic = form->is_cyclic;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (size_t i = 0; i < count; i++)
        if (is_stored(form, field_id(wanted[i])))
            store(file, form, field_id(wanted[i]));
    if (!form->lacks_halo)
        H5LTset_attribute_int(file, "/", "halo", &halo, 1);
    H5LTset_attribute_int(file, "/", "cyclic_x", &cyclic, 1);
    assert_true(H5Fclose(file) >= 0);
}

/* ---- reading it ---- */

static struct miniapp_input *open_part(const char *file, bool has_time, int number, int of)
{
    const struct miniapp_field *wanted[FIELDS];
    const size_t count = list_wanted(wanted);
    struct miniapp_input_options *const options = miniapp_input_options_create();
    struct miniapp_input *input;
    assert_non_null(options);
    if (has_time)
        miniapp_input_options_set_time(options, 1);
    if (of > 0)
        miniapp_input_options_share(options, number, of);
    miniapp_input_open(file, wanted, count, options, &input);
    miniapp_input_options_free(options);
    return input;
}

static void load_all(struct miniapp_input *input, struct miniapp_state *state, bool resample)
{
    const struct miniapp_field *wanted[FIELDS];
    const size_t count = list_wanted(wanted);
    for (size_t i = 0; i < count; i++) {
        const struct miniapp_destination target = {state, miniapp_field_name(wanted[i]), resample};
        assert_done(miniapp_input_load(input, wanted[i], &target, 1));
    }
}

/* A cell of the part, and of the whole; false for one of its ghosts that are not current. */
static bool find_place(const struct miniapp_field *field, const struct block *block,
                       const struct miniapp_grid *whole, bool has_ghosts_along_x, size_t element,
                       size_t *place)
{
    size_t size = 1;
    bool is_current = true;
    *place = 0;
    for (int i = miniapp_field_rank(field) - 1; i >= 0; i--) {
        const enum miniapp_axis axis = field->axes[i];
        const size_t cells = miniapp_axis_length(axis, &block->grid), at = element % cells;
        const size_t first = axis == MINIAPP_X ? block->x0 : axis == MINIAPP_Y ? block->y0 : 0;
        if (axis == MINIAPP_X && (at < MINIAPP_HALO || at + MINIAPP_HALO >= cells))
            is_current = has_ghosts_along_x;
        *place += (first + at) * size;
        element /= cells;
        size *= miniapp_axis_length(axis, whole);
    }
    return is_current;
}

static void compare_field(struct miniapp_state *part, struct miniapp_state *ocean,
                          const struct miniapp_field *field, const struct block *block,
                          bool lacks_ghosts)
{
    const char *const name = miniapp_field_name(field);
    const struct miniapp_grid whole = miniapp_state_grid(ocean);
    double *const some = values_of(part, name, name), *const all = values_of(ocean, name, name);
    const int along_x = lacks_ghosts && has_axis(field, MINIAPP_X) ? 0 : MINIAPP_HALO;
    const size_t elements = miniapp_field_elements(field, &block->grid);
    assert_int_equal(miniapp_state_ghosts(part, name, MINIAPP_WEST), along_x);
    assert_int_equal(miniapp_state_ghosts(part, name, MINIAPP_EAST), along_x);
    assert_int_equal(miniapp_state_ghosts(part, name, MINIAPP_SOUTH), MINIAPP_HALO);
    assert_int_equal(miniapp_state_ghosts(part, name, MINIAPP_NORTH), MINIAPP_HALO);
    for (size_t i = 0; i < elements; i++) {
        size_t place;
        if (find_place(field, block, &whole, along_x > 0, i, &place))
            assert_memory_equal(&some[i], &all[place], sizeof(double));
    }
    free(some);
    free(all);
}

static struct miniapp_state *state_of_block(const struct block *block,
                                            const struct miniapp_grid *whole)
{
    struct miniapp_state *const state = state_on(cpu, MINIAPP_FLOAT64, block->grid);
    assert_done(miniapp_state_place(state, whole, block->x0, block->y0));
    return state;
}

/* The last has blocks narrower than ghosts, and blocks with others on all four sides. */
static const int cuts[][2] = {{1, 1}, {2, 1}, {1, 2}, {4, 3}}, narrow[][2] = {{9, 1}, {1, 8}};
enum { CUTS = sizeof(cuts) / sizeof(*cuts), NARROW = sizeof(narrow) / sizeof(*narrow) };

/* Whether an ocean is narrow enough for so many blocks. */
static bool can_be_cut(const struct miniapp_grid *whole, const int cut[2])
{
    const struct miniapp_grid inner = miniapp_grid_interior(whole);
    return (size_t)cut[0] <= inner.nx && (size_t)cut[1] <= inner.ny;
}

static void compare_blocks(struct miniapp_input *input, struct miniapp_state *ocean,
                           const int cut[2], bool resample)
{
    const struct miniapp_field *wanted[FIELDS];
    const size_t count = list_wanted(wanted);
    const struct miniapp_grid whole = miniapp_state_grid(ocean);
    const bool is_around = miniapp_input_is_cyclic(input) && cut[0] > 1;
    const bool lacks_ghosts = is_around && (resample || !miniapp_input_has_ghosts(input));
    struct blocks blocks;
    if (!can_be_cut(&whole, cut))
        return;
    assert_done(blocks_cut(&whole, cut[0] * cut[1], cut[0], cut[1], &blocks));
    for (int rank = 0; rank < cut[0] * cut[1]; rank++) {
        const struct block block = block_of(&blocks, rank);
        struct miniapp_state *const part = state_of_block(&block, &whole);
        load_all(input, part, resample);
        for (size_t i = 0; i < count; i++)
            compare_field(part, ocean, wanted[i], &block, lacks_ghosts);
        miniapp_state_free(part);
    }
}

/* Of an ocean with the file's grid or, resampled, with another. */
static void compare_cuts(const char *file, const struct form *form, const struct miniapp_grid *to,
                         const int (*list)[2], size_t count)
{
    struct miniapp_input *const input = open_part(file, form->has_time, 0, 0);
    assert_non_null(input);
    const struct miniapp_grid own = miniapp_input_grid(input);
    struct miniapp_state *const ocean = state_on(cpu, MINIAPP_FLOAT64, to ? *to : own);
    load_all(input, ocean, to);
    for (size_t i = 0; i < count; i++)
        compare_blocks(input, ocean, list[i], to);
    miniapp_state_free(ocean);
    miniapp_input_close(input);
}

/* ---- blocks ---- */

static void blocks_of_the_stored_grid(void **state)
{
    (void)state;
    const struct form plain = {0};
    const struct miniapp_grid coarse = {27, 17, 6};
    const int cut[][2] = {{3, 2}};
    compare_cuts(INPUTS "/grid.h5", &plain, NULL, cut, 1);
    compare_cuts(INPUTS "/grid.h5", &plain, &coarse, cut, 1);
}

static const struct form forms[] = {
    {9, 8, 5, .land = BY_MASKS},
    {9, 8, 5, .land = BY_MISSING},
    {9, 8, 5, .has_ghosts = true, .land = BY_KBOT},
    {9, 8, 5, .has_ghosts = true, .land = BY_MISSING, .is_transposed = true},
    {9, 8, 5, .is_cyclic = true, .land = BY_MASKS, .is_packed = true, .has_time = true},
    {9, 8, 5, .is_cyclic = true, .land = BY_MISSING, .is_surface_first = true},
    {9, 8, 5, .is_cyclic = true, .land = BY_KBOT, .is_transposed = true, .has_time = true},
    {9, 8, 5, .is_cyclic = true, .has_ghosts = true, .land = BY_MASKS, .is_surface_first = true},
    {9, 8, 5, .is_cyclic = true, .has_ghosts = true, .land = BY_MISSING, .has_time = true},
    {9, 8, 5, .is_cyclic = true, .has_ghosts = true, .land = BY_KBOT, .is_packed = true},
    {1, 9, 2, .is_cyclic = true, .land = BY_MASKS},
};
enum { FORMS = sizeof(forms) / sizeof(*forms) };

/* Every other form is resampled to a finer grid, the rest to a coarser one: of closed and of cyclic
 * ones, and of those with ghosts and without, there are both. */
static void blocks_of_all_forms(void **state)
{
    (void)state;
    const struct miniapp_grid finer = {24, 17, 9}, coarser = {9, 8, 3};
    for (size_t i = 0; i < FORMS; i++) {
        write_ocean(&forms[i]);
        compare_cuts(path, &forms[i], NULL, cuts, CUTS);
        compare_cuts(path, &forms[i], NULL, narrow, NARROW);
        compare_cuts(path, &forms[i], i % 2 ? &finer : &coarser, cuts, CUTS);
    }
}

/* States of several sizes take one window that has what each of them needs. */
static void blocks_of_several_sizes(void **state)
{
    (void)state;
    const struct miniapp_grid own = {13, 12, 5}, finer = {24, 17, 9};
    struct blocks cut, fine_cut;
    write_ocean(&forms[1]);
    struct miniapp_input *const input = open_part(path, false, 0, 0);
    assert_done(blocks_cut(&own, 6, 3, 2, &cut));
    assert_done(blocks_cut(&finer, 6, 3, 2, &fine_cut));
    struct miniapp_state *const ocean = state_on(cpu, MINIAPP_FLOAT64, own);
    struct miniapp_state *const fine_ocean = state_on(cpu, MINIAPP_FLOAT64, finer);
    load_all(input, ocean, false);
    load_all(input, fine_ocean, true);
    for (int rank = 0; rank < 6; rank++) {
        const struct block block = block_of(&cut, rank), fine = block_of(&fine_cut, rank);
        struct miniapp_state *const part = state_of_block(&block, &own);
        struct miniapp_state *const fine_part = state_of_block(&fine, &finer);
        const struct miniapp_destination targets[] = {{part, "u", false}, {fine_part, "u", true}};
        assert_done(miniapp_input_load(input, &fields[FIELD_u], targets, 2));
        compare_field(part, ocean, &fields[FIELD_u], &block, false);
        compare_field(fine_part, fine_ocean, &fields[FIELD_u], &fine, false);
        miniapp_state_free(part);
        miniapp_state_free(fine_part);
    }
    miniapp_state_free(ocean);
    miniapp_state_free(fine_ocean);
    miniapp_input_close(input);
}

static void parts_have_to_be_of_the_ocean(void **state)
{
    (void)state;
    const struct miniapp_grid larger = {14, 12, 5}, grid = {7, 12, 5};
    write_ocean(&forms[0]);
    struct miniapp_input *const input = open_part(path, false, 0, 0);
    struct miniapp_state *const part = state_on(cpu, MINIAPP_FLOAT64, grid);
    const struct miniapp_destination target = {part, "salt", false};
    assert_done(miniapp_state_place(part, &larger, 0, 0));
    assert_int_equal(miniapp_input_load(input, &fields[FIELD_salt], &target, 1), MINIAPP_USAGE);
    assert_non_null(strstr(miniapp_message(), "'salt' has another grid than the state"));
    assert_false(miniapp_state_has(part, "salt"));
    miniapp_state_free(part);
    miniapp_input_close(input);
}

/* ---- sharing a file ---- */

static void note_line(enum miniapp_status status, const char *line)
{
    (void)status;
    if (lines++ == 0)
        snprintf(first_line, sizeof(first_line), "%s", line);
}

/* How many of so many processes find something; the first line of all is kept. */
static int check_shared(const struct form *form, int of)
{
    int found = 0;
    for (int number = 0; number < of; number++) {
        struct miniapp_input *const input = open_part(path, form->has_time, number, of);
        assert_non_null(input);
        found += miniapp_input_check(input) != MINIAPP_DONE;
        miniapp_input_close(input);
    }
    return found;
}

static void what_is_right_passes_in_all_strips(void **state)
{
    (void)state;
    const int counts[] = {1, 2, 3, 14}; /* the last are more than rows */
    const miniapp_listener before = miniapp_listen(note_line);
    for (size_t i = 0; i < FORMS; i++) {
        write_ocean(&forms[i]);
        for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
            if (forms[i].land == BY_MISSING && counts[c] > 3)
                continue; /* strips of land only: here they cannot agree with others */
            lines = 0;
            assert_int_equal(check_shared(&forms[i], counts[c]), 0);
            assert_int_equal(lines, 0);
        }
    }
    miniapp_listen(before);
}

/* At least one process finds it, and its neighbour may, too. */
static void assert_found(const struct form *form, const char *text)
{
    const miniapp_listener before = miniapp_listen(note_line);
    const int counts[] = {1, 3, (int)form->ny};
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        const int of = counts[i];
        lines = 0;
        const int found = check_shared(form, of);
        if (!(found == 1 || found == 2) || !strstr(first_line, text))
            fail_msg("%d of %d processes: %s; not %s", found, of, first_line, text);
    }
    miniapp_listen(before);
}

static void errors_are_found_in_all_rows(void **state)
{
    (void)state;
    struct form form = forms[0];
    for (hsize_t y = 0; y < form.ny; y++) {
        char text[64];
        hsize_t x = 0;
        while (x < form.nx && !is_wet(&form, (long)x, (long)y, 4))
            x++;
        if (x == form.nx)
            continue; /* this row is land */
        write_ocean(&form);
        spoil(path, "salt", 3, (const hsize_t[]){4, y, x}, 1000);
        snprintf(text, sizeof(text), "salt[4, %d, %d] is 1000, but must be", (int)y, (int)x);
        assert_found(&form, text);
        write_ocean(&form);
        spoil(path, "kbot", 2, (const hsize_t[]){y, x}, bottom_of(x, y, 5) == 5 ? 4 : 5);
        snprintf(text, sizeof(text), "contradicts 'maskT' in the column [%d, %d]", (int)y, (int)x);
        assert_found(&form, text);
        write_ocean(&form);
        spoil(path, "dyt", 1, &y, -1);
        snprintf(text, sizeof(text), "dyt[%d] is -1, but must be", (int)y);
        assert_found(&form, text);
    }
}

/* The cell beyond a face may be in the next strip: the process that has the face knows it. */
static void faces_are_known_between_strips(void **state)
{
    (void)state;
    struct form form = forms[0];
    for (size_t y = 0; y < form.ny; y++) {
        char text[64];
        size_t x = 0;
        while (x < form.nx &&
               (!is_wet(&form, (long)x, (long)y, 4) || is_wet(&form, (long)x, (long)y + 1, 4)))
            x++;
        if (x == form.nx)
            continue; /* no such face in this row */
        write_ocean(&form);
        spoil(path, "maskV", 3, (const hsize_t[]){4, y, x}, 1);
        snprintf(text, sizeof(text),
                 y + 1 < form.ny ? "maskV[4, %d, %d] is open, but the cell beyo"
                                 : "maskV[4, %d, %d] is 1, but lies in the nor",
                 (int)y, (int)x);
        assert_found(&form, text);
    }
}

static void levels_are_named_as_in_the_file(void **state)
{
    (void)state;
    struct form form = forms[7];
    size_t x = MINIAPP_HALO + 2;
    while (!is_wet(&form, (long)x - MINIAPP_HALO, 6, 4))
        x++;
    write_ocean(&form);
    spoil(path, "temp", 3, (const hsize_t[]){0, 8, x}, 99);
    char text[64];
    snprintf(text, sizeof(text), "temp[0, 8, %d] is 99, but must be", (int)x);
    assert_found(&form, text);
}

static void water_is_counted_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        size_t expected = 0, cells = 0;
        const struct form *const form = &forms[i];
        write_ocean(form);
        for (size_t e = 0; e < form->nx * form->ny * form->nz; e++)
            expected += is_wet(form, (long)(e % form->nx), (long)(e / form->nx % form->ny),
                               (long)(e / (form->nx * form->ny)));
        for (int number = 0; number < 3; number++) {
            size_t own;
            struct miniapp_input *const input = open_part(path, false, number, 3);
            assert_done(miniapp_input_count_water(input, &own));
            cells += own;
            miniapp_input_close(input);
        }
        assert_int_equal(cells, expected);
    }
}

/* What tells was agreed on when the file was opened: a block of nothing but land, or but water,
 * decides nothing. */
static void land_is_known_in_all_windows(void **state)
{
    (void)state;
    const struct miniapp_grid own = {13, 12, 5};
    struct blocks cut;
    write_ocean(&forms[1]);
    struct miniapp_input *const whole = open_part(path, false, 0, 0);
    struct miniapp_input *const shared = open_part(path, false, 1, 3);
    struct miniapp_state *const ocean = state_on(cpu, MINIAPP_FLOAT64, own);
    load_all(whole, ocean, false);
    assert_done(blocks_cut(&own, 72, 9, 8, &cut));
    for (int rank = 0; rank < 72; rank++) {
        const struct block block = block_of(&cut, rank);
        struct miniapp_state *const part = state_of_block(&block, &own);
        const struct miniapp_destination target = {part, "maskU", false};
        assert_done(miniapp_input_load(shared, &fields[FIELD_maskU], &target, 1));
        compare_field(part, ocean, &fields[FIELD_maskU], &block, false);
        miniapp_state_free(part);
    }
    assert_done(miniapp_input_check(shared)); /* of its own rows again */
    miniapp_state_free(ocean);
    miniapp_input_close(whole);
    miniapp_input_close(shared);
}

static void a_part_takes_less_memory(void **state)
{
    (void)state;
    const struct form form = {40, 40, 5, .land = BY_MASKS};
    const struct miniapp_grid whole = {44, 44, 5};
    struct blocks cut;
    write_ocean(&form);
    struct miniapp_input *const one = open_part(path, false, 0, 0);
    struct miniapp_input *const shared = open_part(path, false, 3, 8);
    assert_done(blocks_cut(&whole, 8, 2, 4, &cut));
    const struct block block = block_of(&cut, 3);
    struct miniapp_state *const part = state_of_block(&block, &whole);
    const double column = 4 * 5 * sizeof(double); /* a column of the largest field, of slopes */
    assert_true(miniapp_input_passing_bytes(one) == 40 * 40 * column);
    assert_true(miniapp_input_passing_bytes(shared) == 40 * 6 * column); /* 5 rows, and the next */
    load_all(shared, part, false);
    assert_true(miniapp_input_passing_bytes(shared) == 22 * 15 * column); /* a row beyond */
    const struct miniapp_grid grid = miniapp_input_grid(shared);
    assert_memory_equal(&grid, &whole, sizeof(whole));
    miniapp_state_free(part);
    miniapp_input_close(one);
    miniapp_input_close(shared);
}

static void ghosts_of_a_shared_file_have_to_be_said(void **state)
{
    (void)state;
    struct form form = forms[0];
    form.lacks_halo = true;
    write_ocean(&form);
    assert_null(open_part(path, false, 0, 2));
    assert_non_null(strstr(miniapp_message(), "attribute 'halo' is missing, and each of several "
                                              "processes reads only a part"));
    struct miniapp_input *const input = open_part(path, false, 0, 1);
    assert_non_null(input);
    miniapp_input_close(input);
}

/* ---- snapshots ---- */

static void write_snapshot(struct miniapp_state *ocean, const struct miniapp_sequence *sequence)
{
    struct miniapp_output *output;
    assert_done(miniapp_output_open(snapshot, NULL, 0, &output));
    assert_done(miniapp_output_snapshot(output, NULL, ocean, sequence, 3));
    assert_done(miniapp_output_finish(output));
}

/* Both have the same inside, and the part has no ghosts. */
static void compare_interior(struct miniapp_state *part, struct miniapp_state *ocean,
                             const struct miniapp_field *field, const struct block *block)
{
    const char *const name = miniapp_field_name(field);
    const struct miniapp_grid whole = miniapp_state_grid(ocean), grid = block->grid;
    double *const some = values_of(part, name, name), *const all = values_of(ocean, name, name);
    for (int side = 0; side < MINIAPP_SIDES; side++)
        assert_int_equal(miniapp_state_ghosts(part, name, (enum miniapp_side)side), 0);
    for (size_t i = 0; i < miniapp_field_elements(field, &grid); i++) {
        const size_t x = i % grid.nx, y = i / grid.nx % grid.ny, z = i / (grid.nx * grid.ny);
        const bool is_ghost = x < MINIAPP_HALO || x + MINIAPP_HALO >= grid.nx || y < MINIAPP_HALO ||
                              y + MINIAPP_HALO >= grid.ny;
        const double other = all[(z * whole.ny + block->y0 + y) * whole.nx + block->x0 + x];
        assert_true(some[i] == (is_ghost ? 0 : other));
    }
    free(some);
    free(all);
}

static void snapshots_of_blocks(void **state)
{
    (void)state;
    const struct miniapp_sequence *const sequence = sequence_of("ocean_step_eke");
    const struct miniapp_grid whole = {13, 12, 5};
    struct blocks cut;
    write_ocean(&forms[4]);
    struct miniapp_input *const input = open_part(path, true, 0, 0);
    struct miniapp_state *const ocean = state_on(cpu, MINIAPP_FLOAT64, whole);
    load_all(input, ocean, false);
    write_snapshot(ocean, sequence);
    assert_done(miniapp_snapshot_settle(ocean, sequence));
    assert_done(blocks_cut(&whole, 6, 3, 2, &cut));
    for (int rank = 0; rank < 6; rank++) {
        const struct block block = block_of(&cut, rank);
        struct miniapp_state *const part = state_of_block(&block, &whole);
        load_all(input, part, false);
        for (int loads = 0; loads < 2; loads++) {
            assert_done(loads ? miniapp_snapshot_load(snapshot, part, sequence, 3)
                              : miniapp_snapshot_settle(part, sequence));
            for (size_t id = 1; id < FIELDS; id++)
                if (miniapp_sequence_carries(sequence, &fields[id]))
                    compare_interior(part, ocean, &fields[id], &block);
        }
        miniapp_state_free(part);
    }
    miniapp_state_free(ocean);
    miniapp_input_close(input);
}

/* ---- what fails ends all agreements: the last test ---- */

static void a_failure_is_agreed_on(void **state)
{
    (void)state;
    write_ocean(&forms[1]);
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    H5LTset_attribute_string(file, "salt", "_FillValue", "none");
    H5Fclose(file);
    assert_null(open_part(path, false, 0, 2));
    assert_non_null(
        strstr(miniapp_message(), "attribute '_FillValue' of dataset 'salt' must be a"));
}

static int open_folder(void **state)
{
    const char *const temporary = getenv("TMPDIR");
    (void)state;
    snprintf(folder, sizeof(folder), "%s/unit_window.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/file.h5", folder);
    snprintf(snapshot, sizeof(snapshot), "%s/snapshot.h5", folder);
    return miniapp_device_open("cpu", &cpu);
}

static int close_folder(void **state)
{
    (void)state;
    miniapp_device_close(cpu);
    unlink(path);
    unlink(snapshot);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_the_stored_grid),
        cmocka_unit_test(blocks_of_all_forms),
        cmocka_unit_test(blocks_of_several_sizes),
        cmocka_unit_test(parts_have_to_be_of_the_ocean),
        cmocka_unit_test(what_is_right_passes_in_all_strips),
        cmocka_unit_test(errors_are_found_in_all_rows),
        cmocka_unit_test(faces_are_known_between_strips),
        cmocka_unit_test(levels_are_named_as_in_the_file),
        cmocka_unit_test(water_is_counted_once),
        cmocka_unit_test(land_is_known_in_all_windows),
        cmocka_unit_test(a_part_takes_less_memory),
        cmocka_unit_test(ghosts_of_a_shared_file_have_to_be_said),
        cmocka_unit_test(snapshots_of_blocks),
        cmocka_unit_test(a_failure_is_agreed_on),
    };
    miniapp_host_set_threads(1); /* oceans are so small that threads would only wait */
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
