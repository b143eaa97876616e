/* What comes of rows that were measured: times, and what their outputs are compared with, hashed or
 * written to. */
#ifndef COLLECT_H
#define COLLECT_H

#include "bench.h"
#include "run.h"

/* Whether the reference has what will be compared, before anything is timed. */
enum miniapp_status check_reference(struct run *run);

/* What a row will be a result of, without its times. */
struct result result_like(const struct row *row);

/* Adds the results of all rows that have a sample: first those that were asked for, then those
 * that measure their ceilings. */
enum miniapp_status collect(struct run *run, struct bench *bench);

#endif
