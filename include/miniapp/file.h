/*
 * Inputs, references and outputs in HDF5, which are netCDF-4 files too: docs/input.md.
 */
#ifndef MINIAPP_FILE_H
#define MINIAPP_FILE_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/grid.h>
#include <miniapp/setting.h>
#include <miniapp/state.h>
#include <miniapp/status.h>

MINIAPP_BEGIN

/* ---- inputs ---- */

/* How a file is to be read. */
struct miniapp_input_options;
struct miniapp_input_options *miniapp_input_options_create(void); /* NULL if memory is short */
void miniapp_input_options_free(struct miniapp_input_options *);

/* What else to accept: NaN and Inf, values out of range, and parts in other files. Combine them
 * with |. */
enum { MINIAPP_ALLOW_NONFINITE = 1, MINIAPP_ALLOW_INVALID = 2, MINIAPP_ALLOW_EXTERNAL = 4 };
void miniapp_input_options_allow(struct miniapp_input_options *, int allow);

/* Selects the record of a time axis. A negative index counts from the end. */
void miniapp_input_options_set_time(struct miniapp_input_options *, long long index);

/* The dataset that holds a field, by its path in the file. */
enum miniapp_status miniapp_input_options_set_variable(struct miniapp_input_options *,
                                                       const char *field, const char *dataset);

/* Opens a file, reads its settings, and finds the datasets of the wanted fields, those that
 * miniapp_sequence_reads, or what they can be made of. The options may be NULL, or be freed
 * afterwards. Returns MINIAPP_INPUT if the file cannot be used. */
struct miniapp_input;
enum miniapp_status miniapp_input_open(const char *path, const struct miniapp_field *const *wanted,
                                       size_t count, const struct miniapp_input_options *,
                                       struct miniapp_input **);
void miniapp_input_close(struct miniapp_input *);

/* Checks all wanted fields, alone and against each other: a line for each error, with the first bad
 * index, and a warning for anything suspicious. */
enum miniapp_status miniapp_input_check(struct miniapp_input *);

/* The grid as the file stores it; and the same, always with ghosts. */
struct miniapp_grid miniapp_input_file_grid(const struct miniapp_input *);
struct miniapp_grid miniapp_input_grid(const struct miniapp_input *);
bool miniapp_input_has_ghosts(const struct miniapp_input *);
bool miniapp_input_is_cyclic(const struct miniapp_input *);
bool miniapp_input_is_surface_first(const struct miniapp_input *);

/* Whether the file has a setting, and its value, or 0. */
bool miniapp_input_setting(const struct miniapp_input *, const struct miniapp_setting *,
                           double *value);

/* A field of a state to be filled. The state's grid, or that of the ocean it is a part of, has to
 * be that of miniapp_input_grid, unless `resample` asks for interpolation. */
struct miniapp_destination {
    struct miniapp_state *state;
    const char *name;
    bool resample;
};

/* Reads a wanted field, checks it, and stores it in each destination. It makes that state cyclic if
 * the file is, but sets no settings. Of the file it reads what the states are parts of. Western and
 * eastern ghosts of a part of a cyclic ocean are not current, unless the file has them or the part
 * has whole rows. */
enum miniapp_status miniapp_input_load(struct miniapp_input *, const struct miniapp_field *,
                                       const struct miniapp_destination *, size_t count);

/* Turns the levels of a field into the file's order. References and outputs are on the file's grid:
 * get a field with or without ghosts, as the file has it, and turn it. */
void miniapp_input_restore_order(const struct miniapp_input *, const struct miniapp_field *,
                                 const struct miniapp_grid *, double *values);

/* Counts the cells that are water: all of them where the file has neither masks nor missing values.
 */
enum miniapp_status miniapp_input_count_water(struct miniapp_input *, size_t *cells);

/* ---- references ---- */

/* A value x agrees where |x - ref| <= atol + rtol |ref|. */
struct miniapp_reference {
    double *values;
    double rtol, atol;
};

/* Reads the reference of a field that a sequence writes: the dataset SEQUENCE.FIELD, or else FIELD;
 * the sequence may be NULL. `allow` may hold NONFINITE and INVALID. MINIAPP_INPUT if a value is out
 * of range or a tolerance too loose: docs/measuring.md. */
enum miniapp_status miniapp_reference_read(const char *path, const char *sequence,
                                           const struct miniapp_field *,
                                           const struct miniapp_grid *, enum miniapp_precision,
                                           int allow, struct miniapp_reference *);
void miniapp_reference_release(struct miniapp_reference *);

/* ---- outputs ---- */

/* An output grows in a hidden file, which replaces `path` when it is finished; until then, and if
 * anything fails, an earlier file stays. A process may have one open. `path` must not be one of
 * `read_files`, of which some may be NULL. */
struct miniapp_output;
enum miniapp_status miniapp_output_open(const char *path, const char *const *read_files,
                                        size_t count, struct miniapp_output **);

/* Names the axes as the input does, and copies its coordinates. Call it before a field is written.
 */
enum miniapp_status miniapp_output_take_coordinates(struct miniapp_output *,
                                                    struct miniapp_input *);

/* Writes a field with its units, names and dimension scales, in the precision. The dataset is
 * called FIELD, or SEQUENCE.FIELD if another sequence already wrote that field. */
enum miniapp_status miniapp_output_write(struct miniapp_output *, const char *sequence,
                                         const struct miniapp_field *, const struct miniapp_grid *,
                                         enum miniapp_precision, const double *values);

/* Writes a text attribute of the whole file. */
enum miniapp_status miniapp_output_attribute(struct miniapp_output *, const char *name,
                                             const char *text);

/* Finishing moves the file to its place; discarding removes it. Both free the output, whatever
 * happens. */
enum miniapp_status miniapp_output_finish(struct miniapp_output *);
void miniapp_output_discard(struct miniapp_output *);

MINIAPP_END

#endif
