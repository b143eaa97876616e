/*
 * Inputs, references and outputs in HDF5, which are netCDF-4 files too. docs/input.md describes
 * them.
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

struct miniapp_input;

/* How a file is to be read. Later versions may add options. */
struct miniapp_input_options;

/* NULL if memory is short. */
MINIAPP_API struct miniapp_input_options *miniapp_input_options_create(void);
MINIAPP_API void miniapp_input_options_free(struct miniapp_input_options *options);

/* What the reader accepts; these may be added up. EXTERNAL: that parts of an input lie in other
 * files, which it names by links, for raw data or as sources of virtual datasets. */
enum { MINIAPP_ALLOW_NONFINITE = 1, MINIAPP_ALLOW_INVALID = 2, MINIAPP_ALLOW_EXTERNAL = 4 };
MINIAPP_API void miniapp_input_options_allow(struct miniapp_input_options *options, int allow);

/* The record of a time axis: counted from 0, or from the end where it is negative. A time axis of
 * one record needs no choice. */
MINIAPP_API void miniapp_input_options_set_time(struct miniapp_input_options *options,
                                                long long index);

/* The dataset that holds a field, by its path in the file. MINIAPP_USAGE where there is no field of
 * that name. */
MINIAPP_API enum miniapp_status
miniapp_input_options_set_variable(struct miniapp_input_options *options, const char *field,
                                   const char *dataset);

/*
 * Opens a file, reads its settings, finds the datasets of the `count` fields that are wanted and of
 * what stands in for those that it lacks, and checks their shapes. `options` may be NULL.
 * MINIAPP_INPUT, with what was expected, where the file cannot be used.
 */
MINIAPP_API enum miniapp_status
miniapp_input_open(const char *path, const struct miniapp_field *const *wanted, size_t count,
                   const struct miniapp_input_options *options, struct miniapp_input **input);
MINIAPP_API void miniapp_input_close(struct miniapp_input *input);

/*
 * Looks at all wanted fields, and whether they agree with each other. MINIAPP_INPUT where something
 * cannot be meant: the listener gets one line for each thing that is wrong, with its first index,
 * and a warning for what is odd.
 */
MINIAPP_API enum miniapp_status miniapp_input_check(struct miniapp_input *input);

/* The grid of the file, and the same with the ghosts that kernels want. */
MINIAPP_API struct miniapp_grid miniapp_input_file_grid(const struct miniapp_input *input);
MINIAPP_API struct miniapp_grid miniapp_input_grid(const struct miniapp_input *input);
MINIAPP_API bool miniapp_input_has_ghosts(const struct miniapp_input *input);
MINIAPP_API bool miniapp_input_is_cyclic(const struct miniapp_input *input);

/* Whether the levels of the file go from the surface down: those of states go up. */
MINIAPP_API bool miniapp_input_is_surface_first(const struct miniapp_input *input);

/* The grid in words, and who says whether it has ghosts:
 * "60 x 40 x 30 points, no ghosts: the outer cells are water". */
MINIAPP_API const char *miniapp_input_grid_text(const struct miniapp_input *input);

/* What was done to what was read so far, in words: turned round, transposed, unpacked, made.
 * "" where all was taken as it is. */
MINIAPP_API const char *miniapp_input_text(struct miniapp_input *input);

/* One of the other files that hold parts of what was opened or read so far, by its true path, from
 * 0 on; NULL after the last. It is the input's. */
MINIAPP_API const char *miniapp_input_external_file(const struct miniapp_input *input,
                                                    size_t place);

/* Whether the file has a setting, and its value. */
MINIAPP_API bool miniapp_input_setting(const struct miniapp_input *input,
                                       const struct miniapp_setting *setting, double *value);

/* A field of a state that is to be filled. Where `resample` is true the field is interpolated from
 * the file's grid to the state's, else the state has the grid of miniapp_input_grid. */
struct miniapp_destination {
    struct miniapp_state *state;
    const char *name;
    bool resample;
};

/* Reads one of the wanted fields, checks its values and puts it into each destination.
 * MINIAPP_USAGE where it is none of them, or a destination has another shape. */
MINIAPP_API enum miniapp_status miniapp_input_load(struct miniapp_input *input,
                                                   const struct miniapp_field *field,
                                                   const struct miniapp_destination *to,
                                                   size_t count);

/* Turns the levels of a field's values, on a grid from the bottom up as states have it, into the
 * order of the file, in which references and outputs are. */
MINIAPP_API void miniapp_input_restore_order(const struct miniapp_input *input,
                                             const struct miniapp_field *field,
                                             const struct miniapp_grid *grid, double *values);

/* Counts the cells that are water: all of them, where nothing in the file tells. */
MINIAPP_API enum miniapp_status miniapp_input_count_water(struct miniapp_input *input,
                                                          size_t *cells);

/* The most bytes of the host's memory that miniapp_input_load takes on the way. */
MINIAPP_API double miniapp_input_passing_bytes(const struct miniapp_input *input);

/* ---- references ---- */

/* One variable of a reference file. */
struct miniapp_reference {
    double *values; /* on the grid that was asked for */
    double rtol, atol;
};

/*
 * Reads the reference of a field on a grid. A value x agrees where |x - ref| <= atol + rtol |ref|.
 * Tolerances are the dataset's attributes rtol and atol (rtol_float32 and atol_float32 in float32),
 * or else 1e-10 (1e-4) and 1e-12 (1e-5) of its scale: the least power of 2 above 99 % of the |ref|
 * that are not 0, which a few values that are far too large do not move.
 *
 * MINIAPP_INPUT where a value is not finite or out of the field's range, unless `allow` says that
 * it may be (MINIAPP_ALLOW_*), and where rtol is above 0.1 or atol above the scale: such a
 * tolerance would pass anything.
 */
MINIAPP_API enum miniapp_status miniapp_reference_read(const char *path,
                                                       const struct miniapp_field *field,
                                                       const struct miniapp_grid *grid,
                                                       enum miniapp_precision precision, int allow,
                                                       struct miniapp_reference *reference);
MINIAPP_API void miniapp_reference_release(struct miniapp_reference *reference);

/* ---- outputs ---- */

/*
 * A file grows under another name beside its final place and takes it only when it is whole, so
 * whatever was there before stays until then; on a failure, or by miniapp_abandon, nothing is left.
 * A process has one output open at a time.
 */
struct miniapp_output;

/* Starts a file, which keeps the mode of what it replaces; links are followed. MINIAPP_USAGE where
 * `path` leads to one of the `count` files that are read, of which some may be NULL; MINIAPP_OUTPUT
 * where it cannot be written. */
MINIAPP_API enum miniapp_status miniapp_output_open(const char *path, const char *const *read_files,
                                                    size_t count, struct miniapp_output **output);

/* Names the axes as the input does, and copies its coordinates with their attributes, for fields on
 * the grid of the input's file. To be called before the first field is written. */
MINIAPP_API enum miniapp_status miniapp_output_take_coordinates(struct miniapp_output *output,
                                                                struct miniapp_input *input);

/* Writes a field on a grid, with its units, name and dimension scales. `values` are double;
 * they are stored in the precision. */
MINIAPP_API enum miniapp_status miniapp_output_write(struct miniapp_output *output,
                                                     const struct miniapp_field *field,
                                                     const struct miniapp_grid *grid,
                                                     enum miniapp_precision precision,
                                                     const double *values);

/* Writes a text attribute of the whole file. */
MINIAPP_API enum miniapp_status miniapp_output_attribute(struct miniapp_output *output,
                                                         const char *name, const char *text);

/* Moves the file to its place and frees the output, or removes what was started. */
MINIAPP_API enum miniapp_status miniapp_output_finish(struct miniapp_output *output);
MINIAPP_API void miniapp_output_discard(struct miniapp_output *output);

MINIAPP_END

#endif
