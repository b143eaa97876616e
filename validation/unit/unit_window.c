/*
 * Windows of a file: states that are blocks of an ocean get what the state of the whole ocean gets,
 * in all their cells; processes that share a file find what is wrong in any of its rows.
 */
#include "blocks.h"
#include "invented.h"
#include "on_device.h"
#include "program.h"
#include "spoil.h"

#include <hdf5_hl.h>
#include <stdio.h>
#include <unistd.h>

enum { WANTED = FIELDS - 1 };
struct choice {
    const struct miniapp_field *fields[WANTED];
    size_t count;
};

/* All fields; of those alike in all that reading looks at, one; those that are spoiled. */
static struct choice every, unlike, few;
static size_t lines, water;
static char path[4096], said[4096];

/* ---- an ocean in a file ---- */

struct form {
    size_t nx, ny, nz; /* without ghosts */
    bool has_ghosts, is_cyclic;
};

static const struct form forms[] = {
    {9, 8, 5},
    {9, 8, 5, .has_ghosts = true},
    {9, 8, 5, .is_cyclic = true},
    {9, 8, 5, .has_ghosts = true, .is_cyclic = true},
    {1, 9, 2, .is_cyclic = true},
};
/* Blocks along x and y: {4, 3} has some with others on all four sides; the last two have blocks
 * narrower than ghosts. */
static const int cuts[][2] = {{1, 1}, {2, 1}, {1, 2}, {4, 3}, {9, 1}, {1, 8}};
enum { FORMS = sizeof(forms) / sizeof(*forms), CUTS = sizeof(cuts) / sizeof(*cuts) };

/* 1 + the deepest wet level of each column: with islands, and land at every depth. x and y count
 * from the first interior cell; beyond a closed edge lies land. */
static size_t bottom_of(const struct form *form, long x, long y)
{
    const long nx = (long)form->nx, ny = (long)form->ny, nz = (long)form->nz;
    if (form->is_cyclic)
        x = (x + nx) % nx;
    const long depth = (x * 5 + y * 3 + x * y) % (nz + 2);
    return x < 0 || x >= nx || y < 0 || y >= ny || depth > nz ? 0 : (size_t)depth;
}

static bool is_wet(const struct form *form, long x, long y, size_t z)
{
    const size_t bottom = bottom_of(form, x, y);
    return bottom > 0 && z + 1 >= bottom;
}

/* Whether a cell is water by a mask, or a face open. */
static bool is_open(const struct form *form, enum field_id mask, long x, long y, size_t z)
{
    return is_wet(form, x, y, z) &&
           is_wet(form, x + (mask == FIELD_maskU), y + (mask == FIELD_maskV), z);
}

/* The value of an element in the file, in its field's range and unlike any other. Ghosts of a
 * cyclic ocean are copies. */
static double value_of(const struct form *form, enum field_id id, const hsize_t *length,
                       size_t element)
{
    const struct miniapp_field *const field = &fields[id];
    long place[MINIAPP_AXES] = {[MINIAPP_Z] = (long)form->nz - 1};
    size_t number = 0;
    for (int i = miniapp_field_rank(field) - 1; i >= 0; i--) {
        const enum miniapp_axis axis = field->axes[i];
        long along = (long)(element % length[i]);
        element /= length[i];
        if (form->has_ghosts && (axis == MINIAPP_X || axis == MINIAPP_Y))
            along -= MINIAPP_HALO;
        if (form->is_cyclic && axis == MINIAPP_X)
            along = (along + (long)form->nx) % (long)form->nx;
        place[axis] = along;
        number = number * 16 + (size_t)(along + 2);
    }
    const long x = place[MINIAPP_X], y = place[MINIAPP_Y], z = place[MINIAPP_Z];
    if (field->type == MINIAPP_INDEX)
        return (double)bottom_of(form, x, y);
    if (field->type == MINIAPP_MASK)
        return is_open(form, id, x, y, (size_t)z);
    if (id == FIELD_zt || id == FIELD_zw)
        return 100 * (double)(z - (long)form->nz) + (id == FIELD_zt ? 50 : 100);
    if (id == FIELD_dzt ||
        id == FIELD_dzw) /* so far apart are these, within the factor of 2 that is checked */
        return 90 + 20 * sample_of(number * 7 + (size_t)id);
    if (field->wet && !is_open(form, field->wet, x, y, (size_t)z))
        return 0;
    const double least = fmax(field->valid_min, -1), most = fmin(field->valid_max, least + 2);
    return least + (most - least) * sample_of(number * 7 + (size_t)id);
}

static void store(hid_t file, const struct form *form, enum field_id id)
{
    const struct miniapp_grid inside = {form->nx, form->ny, form->nz};
    const struct miniapp_grid grid = form->has_ghosts ? miniapp_grid_with_ghosts(&inside) : inside;
    const size_t elements = miniapp_field_elements(&fields[id], &grid);
    hsize_t length[MINIAPP_MAX_RANK];
    OWN_VALUES values = malloc(elements * sizeof(*values));
    const int rank = miniapp_field_rank(&fields[id]);
    assert_non_null(values);
    for (int i = 0; i < rank; i++)
        length[i] = miniapp_axis_length(fields[id].axes[i], &grid);
    for (size_t i = 0; i < elements; i++)
        values[i] = value_of(form, id, length, i);
    assert_true(H5LTmake_dataset_double(file, fields[id].name, rank, length, values) >= 0);
}

/* Leaves out fields that others stand in for. */
static void write_ocean(const struct form *form, const struct choice *choice)
{
    const int halo = form->has_ghosts ? MINIAPP_HALO : 0, cyclic = form->is_cyclic;
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (size_t i = 0; i < choice->count; i++)
        if (!choice->fields[i]->stand_in)
            store(file, form, field_id(choice->fields[i]));
    H5LTset_attribute_int(file, "/", "halo", &halo, 1);
    H5LTset_attribute_int(file, "/", "cyclic_x", &cyclic, 1);
    assert_true(H5Fclose(file) >= 0);
}

/* ---- reading it ---- */

static struct miniapp_input *open_shared(const struct choice *choice, int number, int of)
{
    struct miniapp_input_options *const options = miniapp_input_options_create();
    struct miniapp_input *input;
    miniapp_input_options_share(options, number, of);
    if (miniapp_input_open(path, choice->fields, choice->count, options, &input))
        fail_msg("%s", miniapp_message());
    miniapp_input_options_free(options);
    return input;
}

/* Loads fields into one state, or into two together, whose window has what both need. */
static void load(struct miniapp_input *input, const struct choice *choice,
                 struct miniapp_state *state, struct miniapp_state *other, bool resample)
{
    for (size_t i = 0; i < choice->count; i++) {
        const char *const name = miniapp_field_name(choice->fields[i]);
        const struct miniapp_destination to[] = {{state, name, resample}, {other, name, resample}};
        assert_done(miniapp_input_load(input, choice->fields[i], to, other ? 2 : 1));
    }
}

static struct miniapp_state *state_of_block(const struct block *block,
                                            const struct miniapp_grid *whole)
{
    struct miniapp_state *const state = state_on(device, MINIAPP_FLOAT64, block->grid);
    assert_done(miniapp_state_place(state, whole, block->x0, block->y0));
    return state;
}

/* Ghosts along x that the part lacks are marked as not current; all else is the whole's. */
static void compare_field(struct miniapp_state *part, struct miniapp_state *ocean,
                          const struct miniapp_field *field, const struct block *block,
                          bool lacks_ghosts)
{
    const char *const name = miniapp_field_name(field);
    const struct miniapp_grid whole = miniapp_state_grid(ocean);
    const size_t first[MINIAPP_AXES] = {[MINIAPP_X] = block->x0, [MINIAPP_Y] = block->y0};
    OWN_VALUES some = values_of(part, name, name), *const all = values_of(ocean, name, name);
    const int along_x = lacks_ghosts && has_axis(field, MINIAPP_X) ? 0 : MINIAPP_HALO;
    for (enum miniapp_side side = MINIAPP_WEST; side <= MINIAPP_NORTH; side++)
        assert_int_equal(miniapp_state_ghosts(part, name, side),
                         side <= MINIAPP_EAST ? along_x : MINIAPP_HALO);
    for (size_t i = 0; i < miniapp_field_elements(field, &block->grid); i++) {
        size_t place = 0, size = 1, left = i;
        bool is_current = true;
        for (int a = miniapp_field_rank(field) - 1; a >= 0; a--) {
            const enum miniapp_axis axis = field->axes[a];
            const size_t cells = miniapp_axis_length(axis, &block->grid), at = left % cells;
            if (axis == MINIAPP_X && (at < MINIAPP_HALO || at + MINIAPP_HALO >= cells))
                is_current = along_x > 0;
            place += (first[axis] + at) * size;
            left /= cells;
            size *= miniapp_axis_length(axis, &whole);
        }
        if (is_current)
            assert_memory_equal(&some[i], &all[place], sizeof(double));
    }
}

/* Every other block is loaded together with the first. */
static void compare_blocks(struct miniapp_input *input, const struct choice *choice,
                           struct miniapp_state *ocean, const int cut[2], bool resample)
{
    const struct miniapp_grid whole = miniapp_state_grid(ocean);
    const struct miniapp_facts facts = miniapp_input_facts(input);
    const bool lacks_ghosts =
        miniapp_input_is_cyclic(input) && cut[0] > 1 && (resample || !facts.has_ghosts);
    struct blocks blocks;
    assert_done(blocks_cut(&whole, cut[0] * cut[1], cut[0], cut[1], &blocks));
    const struct block corner = block_of(&blocks, 0);
    OWN_STATE first = state_of_block(&corner, &whole);
    for (int rank = 0; rank < cut[0] * cut[1]; rank++) {
        const struct block block = block_of(&blocks, rank);
        OWN_STATE part = state_of_block(&block, &whole);
        load(input, choice, part, rank % 2 ? first : NULL, resample);
        for (size_t i = 0; i < choice->count; i++)
            compare_field(part, ocean, choice->fields[i], &block, lacks_ghosts);
    }
}

/* Blocks of an ocean with the file's grid or, resampled, with another. What is loaded does not
 * change which rows a process checks. */
static void compare_cuts(const struct choice *choice, const struct miniapp_grid *resampled)
{
    struct miniapp_input *const input = open_shared(&every, 1, 3);
    const struct miniapp_grid grid = resampled ? *resampled : miniapp_input_grid(input);
    const struct miniapp_grid inside = miniapp_grid_interior(&grid);
    struct miniapp_state *const ocean = state_on(device, MINIAPP_FLOAT64, grid);
    load(input, choice, ocean, NULL, resampled);
    for (size_t i = 0; i < CUTS; i++)
        if ((size_t)cuts[i][0] <= inside.nx && (size_t)cuts[i][1] <= inside.ny)
            compare_blocks(input, choice, ocean, cuts[i], resampled);
    assert_done(miniapp_input_check(input));
    miniapp_state_free(ocean);
    miniapp_input_close(input);
}

TEST(blocks_are_parts_of_the_ocean)
{
    const struct miniapp_grid finer = {24, 17, 9}, coarser = {9, 8, 3};
    for (size_t i = 0; i < FORMS; i++) {
        write_ocean(&forms[i], &every);
        compare_cuts(i == 0 ? &every : &unlike, NULL);
        compare_cuts(&unlike, &finer);
        compare_cuts(&unlike, &coarser);
    }
}

/* ---- sharing a file ---- */

static void note_line(enum miniapp_status status, const char *line)
{
    lines++;
    strncat(said, line, sizeof(said) - strlen(said) - 1);
}

/* How many of so many processes find something; how many cells of water they count together. */
static int check_shared(const struct choice *choice, int of)
{
    int found = 0;
    const miniapp_listener before = miniapp_listen(note_line);
    lines = water = said[0] = 0;
    for (int number = 0; number < of; number++) {
        struct miniapp_input *const input = open_shared(choice, number, of);
        found += miniapp_input_check(input) != MINIAPP_DONE;
        water += miniapp_input_water(input)->cells;
        miniapp_input_close(input);
    }
    miniapp_listen(before);
    return found;
}

TEST(what_is_right_passes_in_all_strips)
{
    const int counts[] = {1, 2, 3, 14}; /* the last are more than rows */
    for (size_t i = 0; i < FORMS; i++) {
        size_t all = 0;
        write_ocean(&forms[i], &every);
        for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
            assert_int_equal(check_shared(&every, counts[c]), 0);
            assert_int_equal(lines, 0);
            all = c == 0 ? water : all;
            assert_int_equal(water, all);
        }
    }
}

/* Spoils a value: at least one process finds it, and its neighbour may, too. */
static void assert_found(const char *name, int rank, const hsize_t *at, double value,
                         const char *text)
{
    const int counts[] = {1, 3, 8};
    write_ocean(&forms[0], &few);
    spoil(path, name, rank, at, value);
    for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
        const int found = check_shared(&few, counts[i]);
        if (!(found == 1 || found == 2) || !strstr(said, text))
            fail_msg("%d of %d processes: %s; not %s", found, counts[i], said, text);
    }
}

/* The cell beyond a face may be in the next strip: the process that has the face knows it. A third
 * of the cells, since the row alone says whose a cell is. */
TEST(errors_are_found_in_all_rows)
{
    for (size_t cell = 0; cell < 9 * 8; cell++) {
        const int x = (int)cell % 9, y = (int)cell / 9;
        const hsize_t top[] = {4, (hsize_t)y, (hsize_t)x};
        const bool is_shallow = bottom_of(&forms[0], x, y) == 5;
        char text[64];
        if (x % 3 != y % 3 || !is_wet(&forms[0], x, y, 4))
            continue;
        snprintf(text, sizeof(text), "salt[4, %d, %d] is 1000, but must be", y, x);
        assert_found("salt", 3, top, 1000, text);
        snprintf(text, sizeof(text), ", %d, %d] is %s by 'maskT', but", y, x,
                 is_shallow ? "land" : "water");
        assert_found("kbot", 2, &top[1], is_shallow ? 4 : 5, text);
        if (is_wet(&forms[0], x, y + 1, 4))
            continue;
        snprintf(text, sizeof(text), "maskV[4, %d, %d] is open, but the %s beyond it is land", y, x,
                 y == 7 ? "wall" : "cell");
        assert_found("maskV", 3, top, 1, text);
    }
}

static bool are_read_alike(const struct miniapp_field *one, const struct miniapp_field *other)
{
    return one->type == other->type && memcmp(one->axes, other->axes, sizeof(one->axes)) == 0 &&
           one->wet == other->wet && one->is_extended == other->is_extended &&
           one->is_nearest == other->is_nearest && one->is_optional == other->is_optional &&
           one->stand_in == other->stand_in && one->is_sampled == other->is_sampled &&
           one->is_flow == other->is_flow && one->has_wall == other->has_wall &&
           one->is_spacing == other->is_spacing && one->counts == other->counts;
}

static int make_file(void **state)
{
    const char *const temporary = getenv("TMPDIR");
    for (size_t i = 0; i < WANTED; i++) {
        const struct miniapp_field *const field = every.fields[every.count++] = &fields[i + 1];
        size_t other = 0;
        while (other < unlike.count && !are_read_alike(field, unlike.fields[other]))
            other++;
        if (other == unlike.count)
            unlike.fields[unlike.count++] = field;
    }
    few = (struct choice){{&fields[FIELD_kbot], &fields[FIELD_maskT], &fields[FIELD_maskU],
                           &fields[FIELD_maskV], &fields[FIELD_salt]},
                          5};
    miniapp_host_set_threads(1); /* oceans are so small that threads would only wait */
    snprintf(path, sizeof(path), "%s/unit_window.XXXXXX", temporary ? temporary : "/tmp");
    return mkstemp(path) < 0 || open_device(state);
}

static int remove_file(void **state)
{
    close_device(state);
    return unlink(path);
}

RUN_TESTS(make_file, remove_file)
