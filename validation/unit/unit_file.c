/*
 * Files by the library's own functions: what is written is read again, where it is wanted; nothing
 * is left of an output that is given up; and what callers may do wrong. Damaged files are
 * test_damage's.
 */
#include "invented.h"
#include "on_device.h"
#include "program.h"
#include "spoil.h"

#include <dirent.h>
#include <hdf5_hl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct miniapp_grid grid = {9, 8, 7};
static char folder[PATH_MAX / 2], path[PATH_MAX];

static void assert_refused_for(enum miniapp_status status, enum miniapp_status expected,
                               const char *message)
{
    assert_int_equal(status, expected);
    assert_non_null(strstr(miniapp_message(), message));
}

static int open_folder(void **state)
{
    const char *const temporary = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/unit_file.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof(path), "%s/file.h5", folder);
    return open_device(state);
}

static int close_folder(void **state)
{
    close_device(state);
    unlink(path);
    return rmdir(folder); /* fails where a test left something */
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *const listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry = readdir(listing); entry; entry = readdir(listing))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

static struct miniapp_output *output_at(const char *where)
{
    struct miniapp_output *output;
    assert_done(miniapp_output_open(where, NULL, 0, &output));
    return output;
}

static void write_field(struct miniapp_output *output, const char *name,
                        const struct miniapp_grid *of)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    double *const values = invent(field, of);
    assert_done(miniapp_output_write(output, NULL, field, of, MINIAPP_FLOAT64, values));
    free(values);
}

static void set_number(const char *attribute, double value)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(H5LTset_attribute_double(file, "/", attribute, &value, 1) >= 0);
    H5Fclose(file);
}

/* A file with salt, temp and kbot. */
static int write_file(void **state)
{
    struct miniapp_output *const output = output_at(path);
    write_field(output, "salt", &grid);
    write_field(output, "temp", &grid);
    write_field(output, "kbot", &grid);
    assert_done(miniapp_output_attribute(output, "title", "invented"));
    assert_done(miniapp_output_finish(output));
    set_number("halo", MINIAPP_HALO); /* which an output does not say */
    return 0;
}

static struct miniapp_input *input_of(size_t count)
{
    const struct miniapp_field *const wanted[] = {&fields[FIELD_salt], &fields[FIELD_kbot]};
    struct miniapp_input *input;
    assert_done(miniapp_input_open(path, wanted, count, NULL, &input));
    return input;
}

/* ---- inputs ---- */

TEST_AFTER(write_file, what_is_written_is_read)
{
    struct miniapp_input *const input = input_of(2);
    struct miniapp_state *const ocean = state_on(device, MINIAPP_FLOAT64, grid);
    struct miniapp_state *const narrow = state_on(device, MINIAPP_FLOAT32, grid);
    const struct miniapp_grid own = miniapp_input_grid(input);
    assert_memory_equal(&own, &grid, sizeof(grid));
    assert_true(miniapp_input_facts(input).has_ghosts && !miniapp_input_is_cyclic(input));
    assert_done(miniapp_state_add(narrow, "my_salt", "salt"));
    const struct miniapp_destination targets[] = {{ocean, "salt", false},
                                                  {narrow, "my_salt", false}};
    const struct miniapp_destination bottom = {ocean, "kbot", false};
    assert_done(miniapp_input_load(input, &fields[FIELD_salt], targets, 2));
    assert_done(miniapp_input_load(input, &fields[FIELD_kbot], &bottom, 1));
    assert_done(miniapp_input_load(input, &fields[FIELD_kbot], NULL, 0)); /* checks it only */
    double *const salt = values_of(ocean, "salt", "salt");
    double *const my_salt = values_of(narrow, "my_salt", "salt");
    double *const kbot = values_of(ocean, "kbot", "kbot");
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++) {
        const double value = invented(&fields[FIELD_salt], i, grid.nz);
        assert_true(salt[i] == value && my_salt[i] == (double)(float)value);
    }
    for (size_t i = 0; i < grid.nx * grid.ny; i++)
        assert_true(kbot[i] == invented(&fields[FIELD_kbot], i, grid.nz));
    free(salt);
    free(my_salt);
    free(kbot);
    miniapp_state_free(ocean);
    miniapp_state_free(narrow);
    miniapp_input_close(input);
    miniapp_input_close(NULL);
}

/* Its fields and settings at once. */
TEST_AFTER(write_file, a_whole_state_is_loaded)
{
    set_number("eq_of_state_type", 4);
    struct miniapp_input *const input = input_of(2);
    struct miniapp_state *const ocean =
        state_on(device, MINIAPP_FLOAT64, miniapp_input_grid(input));
    assert_done(miniapp_state_load(ocean, input));
    double *const salt = values_of(ocean, "salt", "salt");
    assert_true(salt[17] == invented(&fields[FIELD_salt], 17, grid.nz));
    assert_true(miniapp_state_has(ocean, "kbot") && !miniapp_state_has(ocean, "temp"));
    assert_true(miniapp_settings_get(miniapp_state_settings(ocean), "eq_of_state_type") == 4);
    free(salt);
    miniapp_state_free(ocean);
    const struct miniapp_grid wide = {10, 8, 7};
    struct miniapp_state *const another = state_on(device, MINIAPP_FLOAT64, wide);
    assert_refused_for(miniapp_state_load(another, input), MINIAPP_USAGE,
                       "'salt' has another grid than the state");
    miniapp_state_free(another);
    miniapp_input_close(input);
}

/* What is refused once is refused again, and nothing of it is set. */
TEST_AFTER(write_file, a_state_is_not_loaded_in_part)
{
    set_number("eq_of_state_type", 17);
    struct miniapp_input *input = input_of(2);
    struct miniapp_state *const ocean = state_on(device, MINIAPP_FLOAT64, grid);
    assert_refused_for(miniapp_state_load(ocean, input), MINIAPP_INPUT,
                       "file.h5: setting 'eq_of_state_type' is 17");
    miniapp_input_close(input);
    set_number("eq_of_state_type", 3);
    spoil(path, "salt", 3, (const hsize_t[]){6, 4, 4}, 1e6);
    input = input_of(2);
    assert_refused_for(miniapp_state_load(ocean, input), MINIAPP_INPUT, "salt");
    assert_refused_for(miniapp_state_load(ocean, input), MINIAPP_INPUT, "cannot be used");
    assert_false(miniapp_state_has(ocean, "salt") || miniapp_state_has(ocean, "kbot"));
    miniapp_state_free(ocean);
    miniapp_input_close(input);
}

TEST_AFTER(write_file, settings_of_a_file)
{
    struct miniapp_input *const input = input_of(1);
    double value;
    for (size_t id = 0; id < SETTINGS; id++)
        assert_false(miniapp_input_setting(input, &settings[id], &value));
    miniapp_input_close(input);
}

TEST_AFTER(write_file, only_what_was_wanted_is_loaded)
{
    struct miniapp_input *const input = input_of(1);
    assert_refused_for(miniapp_input_load(input, &fields[FIELD_temp], NULL, 0), MINIAPP_USAGE,
                       "file.h5: dataset 'temp' was not wanted when the file was opened");
    miniapp_input_close(input);
}

TEST_AFTER(write_file, targets_have_to_fit)
{
    struct miniapp_input *const input = input_of(2);
    struct miniapp_state *const ocean = state_on(device, MINIAPP_FLOAT64, grid);
    struct miniapp_state *const larger =
        state_on(device, MINIAPP_FLOAT64, (struct miniapp_grid){10, 8, 7});
    const struct miniapp_destination shape = {ocean, "kbot", false},
                                     unknown = {ocean, "slat", false};
    const struct miniapp_destination other = {larger, "salt", false},
                                     resampled = {larger, "salt", true};
    assert_refused_for(miniapp_input_load(input, &fields[FIELD_salt], &shape, 1), MINIAPP_USAGE,
                       "'kbot' cannot take 'salt': it has other axes or another type");
    assert_refused_for(miniapp_input_load(input, &fields[FIELD_salt], &unknown, 1), MINIAPP_USAGE,
                       "unknown field 'slat'; the closest is 'salt'");
    assert_refused_for(
        miniapp_input_load(input, &fields[FIELD_salt], &other, 1), MINIAPP_USAGE,
        "file.h5: 'salt' has another grid than the state, and is not to be resampled");
    assert_false(miniapp_state_has(ocean, "kbot") || miniapp_state_has(larger, "salt"));
    assert_done(miniapp_input_load(input, &fields[FIELD_salt], &resampled, 1));
    assert_true(miniapp_state_has(larger, "salt"));
    miniapp_state_free(ocean);
    miniapp_state_free(larger);
    miniapp_input_close(input);
}

TEST_AFTER(write_file, inputs_that_are_none)
{
    const struct miniapp_field *const wanted[] = {&fields[FIELD_salt], &fields[FIELD_zt]};
    struct miniapp_input *none = (struct miniapp_input *)&none;
    assert_refused_for(miniapp_input_open(path, wanted, 2, NULL, &none), MINIAPP_INPUT,
                       "file.h5: dataset 'zt'");
    assert_null(none);
    assert_refused_for(miniapp_input_open(folder, wanted, 1, NULL, &none), MINIAPP_INPUT,
                       "not an HDF5 file, nor any regular file");
    assert_null(none);
}

/* ---- references ---- */

TEST_AFTER(write_file, references)
{
    struct miniapp_references *references;
    struct miniapp_reference reference;
    const struct miniapp_grid other = {9, 8, 6};
    assert_done(miniapp_references_open(path, &references));
    assert_done(miniapp_reference_read(references, NULL, &fields[FIELD_salt], &grid,
                                       MINIAPP_FLOAT32, 0, &reference));
    for (size_t i = 0; i < miniapp_grid_points(&grid); i++)
        assert_true(reference.values[i] == invented(&fields[FIELD_salt], i, grid.nz));
    assert_true(reference.rtol == 1e-4 && reference.atol == 1e-5 * 2);
    miniapp_reference_release(&reference);
    miniapp_reference_release(&reference); /* nothing is left of it */
    assert_refused_for(miniapp_reference_read(references, NULL, &fields[FIELD_salt], &other,
                                              MINIAPP_FLOAT64, 0, &reference),
                       MINIAPP_INPUT,
                       "file.h5: dataset 'salt' has 7 cells along z, but the input has 6");
    assert_null(reference.values);
    assert_refused_for(miniapp_reference_read(references, NULL, &fields[FIELD_dHdT], &grid,
                                              MINIAPP_FLOAT64, 0, &reference),
                       MINIAPP_INPUT,
                       "file.h5: dataset 'dHdT' is missing, so it cannot be validated");
    miniapp_references_close(references);
    assert_done(miniapp_references_open(folder, &references)); /* it has a file for each sequence */
    assert_refused_for(miniapp_reference_read(references, "none", &fields[FIELD_salt], &grid,
                                              MINIAPP_FLOAT64, 0, &reference),
                       MINIAPP_INPUT, "none.h5: ");
    miniapp_references_close(references);
    assert_refused_for(miniapp_references_open("/dev/null", &references), MINIAPP_INPUT,
                       "not an HDF5 file, nor any regular file");
    assert_null(references);
}

/* Of a field that several sequences write, each has its own. */
TEST_AFTER(write_file, references_of_sequences)
{
    const char *const sequences[] = {"first", "second", "third"};
    const struct miniapp_field *const field = &fields[FIELD_expsum];
    struct miniapp_output *const output = output_at(path);
    for (int s = 0; s < 3; s++) {
        const double value = s + 1;
        assert_done(
            miniapp_output_write(output, sequences[s], field, &grid, MINIAPP_FLOAT64, &value));
    }
    assert_done(miniapp_output_finish(output));
    struct miniapp_references *references;
    assert_done(miniapp_references_open(path, &references));
    for (int s = 0; s < 4; s++) {
        struct miniapp_reference reference;
        assert_done(miniapp_reference_read(references, s < 3 ? sequences[s] : "fourth", field,
                                           &grid, MINIAPP_FLOAT64, 0, &reference));
        assert_true(reference.values[0] == (s < 3 ? s + 1 : 1));
        miniapp_reference_release(&reference);
    }
    miniapp_references_close(references);
}

/* ---- outputs ---- */

/* What was there stays until the new file is whole. */
TEST_AFTER(write_file, what_is_discarded_leaves_nothing)
{
    struct stat before, after;
    assert_int_equal(stat(path, &before), 0);
    struct miniapp_output *const output = output_at(path);
    write_field(output, "forc", &grid);
    assert_int_equal(files_in_folder(), 2);
    miniapp_output_discard(output);
    miniapp_output_discard(NULL);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, before.st_ino);
}

TEST_AFTER(write_file, what_is_abandoned_leaves_nothing)
{
    struct miniapp_output *const output = output_at(path);
    assert_int_equal(files_in_folder(), 2);
    miniapp_abandon();
    assert_int_equal(files_in_folder(), 1);
    assert_refused_for(miniapp_output_finish(output), MINIAPP_OUTPUT,
                       "file.h5: cannot be written: ");
    assert_int_equal(files_in_folder(), 1);
    miniapp_abandon(); /* nothing is unfinished */
    assert_int_equal(files_in_folder(), 1);
}

TEST_AFTER(write_file, one_output_at_a_time)
{
    struct miniapp_output *none = (struct miniapp_output *)&none;
    struct miniapp_output *const output = output_at(path);
    assert_refused_for(miniapp_output_open(path, NULL, 0, &none), MINIAPP_OUTPUT,
                       "file.h5: cannot be written: another output is unfinished");
    assert_null(none);
    write_field(output, "salt", &grid); /* the first goes on */
    assert_done(miniapp_output_finish(output));
    assert_int_equal(files_in_folder(), 1);
}

/* An output of which a part failed does not take the place of the earlier file. */
static void refuses_to_finish(struct miniapp_output *output, const struct stat *before)
{
    struct stat after;
    assert_refused_for(miniapp_output_finish(output), MINIAPP_OUTPUT,
                       "file.h5: cannot be written: a part of it could not be written");
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_ino, before->st_ino);
}

TEST_AFTER(write_file, what_is_spoilt_leaves_nothing)
{
    const double value = 1;
    struct stat before;
    assert_int_equal(stat(path, &before), 0);
    struct miniapp_output *output = output_at(path);
    assert_refused_for(miniapp_output_attribute(output, "", ""), MINIAPP_OUTPUT,
                       "file.h5: cannot be written");
    write_field(output, "salt", &grid);
    refuses_to_finish(output, &before);
    output = output_at(path);
    for (int turn = 0; turn < 2; turn++) /* under FIELD, then under SEQUENCE.FIELD */
        assert_done(miniapp_output_write(output, "third", &fields[FIELD_expsum], &grid,
                                         MINIAPP_FLOAT64, &value));
    assert_refused_for(miniapp_output_write(output, "third", &fields[FIELD_expsum], &grid,
                                            MINIAPP_FLOAT64, &value),
                       MINIAPP_OUTPUT, "file.h5: cannot be written");
    refuses_to_finish(output, &before);
}

TEST_AFTER(write_file, outputs_that_cannot_be)
{
    const char *const read_files[] = {NULL, path};
    char missing[PATH_MAX], longer[PATH_MAX + 10];
    struct miniapp_output *none = (struct miniapp_output *)&none;
    assert_refused_for(miniapp_output_open(path, read_files, 2, &none), MINIAPP_USAGE,
                       "file.h5' is a file that is read");
    assert_null(none);
    snprintf(missing, sizeof(missing), "%s/missing/file.h5", folder);
    assert_refused_for(miniapp_output_open(missing, NULL, 0, &none), MINIAPP_OUTPUT,
                       "cannot be written: No such file or directory");
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_refused_for(miniapp_output_open(longer, NULL, 0, &none), MINIAPP_OUTPUT,
                       "cannot be written: the path is too long");
    assert_refused_for(miniapp_output_open(folder, NULL, 0, &none), MINIAPP_OUTPUT,
                       "cannot be written: it exists and is not a regular file");
    assert_null(none);
    assert_int_equal(files_in_folder(), 1);
}

TEST_AFTER(write_file, the_external_mode_at_a_free_surface)
{
    char units[16];
    struct miniapp_output *const output = output_at(path);
    write_field(output, "psi", &grid);
    miniapp_output_set_surface(output, true);
    write_field(output, "psi_taum1", &grid);
    write_field(output, "salt", &grid);
    miniapp_output_set_surface(NULL, true);
    assert_done(miniapp_output_finish(output));
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const char *const expected[][2] = {
        {"psi", "m3 s-1"}, {"psi_taum1", "m2 s-2"}, {"salt", "g kg-1"}};
    for (int i = 0; i < 3; i++) {
        assert_true(H5LTget_attribute_string(file, expected[i][0], "units", units) >= 0);
        assert_string_equal(units, expected[i][1]);
    }
    H5Fclose(file);
}

TEST_AFTER(write_file, a_field_twice)
{
    struct miniapp_output *const output = output_at(path);
    const double value = 1;
    write_field(output, "salt", &grid);
    assert_done(miniapp_output_write(output, NULL, &fields[FIELD_expsum], &grid, MINIAPP_FLOAT32,
                                     &value)); /* no axes */
    assert_refused_for(
        miniapp_output_write(output, NULL, &fields[FIELD_expsum], &grid, MINIAPP_FLOAT32, &value),
        MINIAPP_OUTPUT, "file.h5: cannot be written: ");
    miniapp_output_discard(output);
    assert_int_equal(files_in_folder(), 1);
}

RUN_TESTS(open_folder, close_folder)
