/*
 * Writing the outputs. The file grows under another name beside its final place and takes it
 * only when it is whole, so whatever was there before stays until then; on a failure or a signal
 * nothing is left.
 */
#ifndef MINIAPP_OUTPUT_H
#define MINIAPP_OUTPUT_H

#include "provenance.h"

#include <hdf5.h>
#include <physics/kernel.h>

struct output {
    const char *path;
    hid_t file;
};

/* Starts the file. PHYSICS_USAGE where `path` is one of the files that are read,
 * PHYSICS_OUTPUT where it cannot be written. */
enum physics_status output_open(const char *path, const char *input, const char *reference,
                                struct output *output);

/* Writes a field on a grid, with its units, name and dimension scales. `values` are double;
 * they are stored in the precision. */
enum physics_status output_write(struct output *output, enum physics_field_id id,
                                 const struct physics_grid *grid,
                                 enum physics_precision precision, const double *values);

/* Writes the provenance and moves the file to its place. */
enum physics_status output_finish(struct output *output, const struct provenance *provenance);

/* Removes what was started. Does nothing after output_finish. */
void output_discard(struct output *output);

/* Removes the unfinished file, if there is one. For signal handlers. */
void output_abandon(void);

#endif
