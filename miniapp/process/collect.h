/* Collects the rows that were measured: their times become results, and their outputs are
 * compared, hashed and written. */
#ifndef COLLECT_H
#define COLLECT_H

#include "bench.h"
#include "run.h"

/* Checks, before anything is timed, that the reference has what will be compared. */
enum miniapp_status check_reference(struct run *run);

/* The result that a row will have, without its times. */
struct result result_like(const struct row *row);

/* Adds the results of all rows that have a sample: first those that were asked for, then those
 * that measure their ceilings. */
enum miniapp_status collect(struct run *run, struct bench *bench);

#endif
