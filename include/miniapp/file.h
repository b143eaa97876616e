/*
 * Inputs and outputs in HDF5, which are netCDF-4 files too: docs/input.md.
 */
#ifndef MINIAPP_FILE_H
#define MINIAPP_FILE_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/grid.h>
#include <miniapp/state.h>
#include <miniapp/status.h>

MINIAPP_BEGIN

/* ---- inputs ---- */

/* How a file is to be read. */
struct miniapp_input_options;
struct miniapp_input_options *miniapp_input_options_create(void); /* NULL if memory is short */
void miniapp_input_options_free(struct miniapp_input_options *);

/* Flags of what else to accept, combined with |: NaN and Inf; values out of range. */
enum { MINIAPP_ALLOW_NONFINITE = 1, MINIAPP_ALLOW_INVALID = 2 };
void miniapp_input_options_allow(struct miniapp_input_options *, int allow);

/* Opens a file to read the wanted fields, those for which miniapp_sequence_reads is true. The
 * options may be NULL, or be freed afterwards. MINIAPP_INPUT if the file cannot be used. */
struct miniapp_input;
enum miniapp_status miniapp_input_open(const char *path, const struct miniapp_field *const *wanted,
                                       size_t count, const struct miniapp_input_options *,
                                       struct miniapp_input **);
void miniapp_input_close(struct miniapp_input *);

/* The file's grid, with ghosts. A state must have this grid to be loaded from the file. */
struct miniapp_grid miniapp_input_grid(const struct miniapp_input *);

/* Checks the wanted fields and the file's settings, with a line to the listener for each error and
 * warning; then loads them into the state, and sets whether x is cyclic. */
enum miniapp_status miniapp_state_load(struct miniapp_state *, struct miniapp_input *);

/* ---- outputs ---- */

/* An output grows in a hidden file, which replaces `path` when it is finished; until then, and if
 * anything fails, an earlier file stays. A process may have only one output open. `path` must not
 * be one of `read_files`, some of which may be NULL. */
struct miniapp_output;
enum miniapp_status miniapp_output_open(const char *path, const char *const *read_files,
                                        size_t count, struct miniapp_output **);

/* Writes a field in the precision, on a grid with or without ghosts. The dataset is called FIELD,
 * or SEQUENCE.FIELD if another sequence already wrote that field. */
enum miniapp_status miniapp_output_write(struct miniapp_output *, const char *sequence,
                                         const struct miniapp_field *, const struct miniapp_grid *,
                                         enum miniapp_precision, const double *values);

/* Whether fields of the external mode, such as psi, are written from now on as the pressure at a
 * free surface, in m2 s-2, as where enable_streamfunction is 0. */
void miniapp_output_set_surface(struct miniapp_output *, bool at_surface);

/* Writes a text attribute of the whole file. */
enum miniapp_status miniapp_output_attribute(struct miniapp_output *, const char *name,
                                             const char *text);

/* Finishing moves the file to its place, or fails if anything before has failed; discarding removes
 * it. Both free the output, whatever happens. */
enum miniapp_status miniapp_output_finish(struct miniapp_output *);
void miniapp_output_discard(struct miniapp_output *);

MINIAPP_END

#endif
