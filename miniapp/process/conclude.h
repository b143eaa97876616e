/* The end of a run: the files that it writes, its report, and whether what it found is right. */
#ifndef CONCLUDE_H
#define CONCLUDE_H

#include "run.h"

/* Starts an output, which must not be one of the files that are read. */
enum miniapp_status start_output(const struct run *run, const char *path,
                                 struct miniapp_output **output);

/* Starts the final output of the run, run->output, with the axes of the input. */
enum miniapp_status start_end(struct run *run);

/* Adds the provenance to an output, and puts it in its place. It is closed, whatever happens. */
enum miniapp_status finish_output(const struct run *run, struct miniapp_output *output);

/* Opens the files that results go to, which must not be among those that are read. The first
 * process writes them. */
enum miniapp_status open_outputs(struct run *run);

/* Writes, reports and judges what a run gave that is done, or that a signal ended. The first
 * process does it. */
enum miniapp_status conclude(struct run *run);

#endif
