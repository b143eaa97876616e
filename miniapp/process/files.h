/* The files that a run writes. */
#ifndef FILES_H
#define FILES_H

#include "run.h"

/* All files that the run reads: nothing may be written there. The caller frees the list. */
const char **list_read_files(const struct run *run, size_t *count);

/* Starts an output, which must not be one of the files that are read. */
enum miniapp_status start_output(const struct run *run, const char *path,
                                 struct miniapp_output **output);

/* Starts the final output of the run, run->output, with the axes of the input. */
enum miniapp_status start_end(struct run *run);

/* Adds the provenance to an output, and puts it in its place. It is closed, whatever happens. */
enum miniapp_status finish_output(const struct run *run, struct miniapp_output *output);

#endif
