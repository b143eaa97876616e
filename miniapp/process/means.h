/* Means over time of fields, which steps in time make and write on the way. */
#ifndef MEANS_H
#define MEANS_H

#include "bench.h"
#include "run.h"

/* Finds the fields of --average; MINIAPP_USAGE if the sequence lacks one. */
enum miniapp_status means_begin(struct run *run, const struct row *row);

/* Takes a step into the means, and writes them at the end of their time. */
enum miniapp_status means_after(struct run *run, struct row *row);

#endif
