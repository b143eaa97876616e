/* The files that a run writes. */
#ifndef FILES_H
#define FILES_H

#include "run.h"

/* Lists all files that the run reads, where nothing may be written; returns how many. */
size_t list_read_files(const struct run *run, const char *list[2]);

/* Starts an output, which must not be one of the files that are read. */
enum miniapp_status start_output(const struct run *run, const char *path,
                                 struct miniapp_output **output);

/* Starts the final output of the run, run->output, with the axes of the input. */
enum miniapp_status start_end(struct run *run);

/* Adds the provenance to an output, and puts it in its place. It is closed, whatever happens. */
enum miniapp_status finish_output(const struct run *run, struct miniapp_output *output);

#endif
