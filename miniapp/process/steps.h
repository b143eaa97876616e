/*
 * Steps in time: snapshots on the way, from which a run can continue; budgets; and where a field
 * stopped being finite.
 */
#ifndef STEPS_H
#define STEPS_H

#include "bench.h"
#include "run.h"

/* Finds the snapshot from which the run continues, if any: the newest before the last step. A
 * snapshot of chosen fields is none, but the last whole state is kept beside it. */
enum miniapp_status steps_find_start(struct run *run);

/* Finds the newest of these of a step before this one: `step` is 0 if there is none. */
enum miniapp_status steps_find_newest(const struct run *run, size_t before, size_t *step);

/* Before the first step: loads that snapshot into the rows, if there is one, and opens their
 * budgets. */
enum miniapp_status steps_begin(struct run *run, struct bench *bench);

/* After each step of a row; `context` is the run. It writes snapshots, and ends a row with
 * values that are not finite. */
enum miniapp_status steps_after(void *context, struct row *row);

/* After the last step, if there are snapshots: starts the final output or, if a signal ended the
 * steps, writes a snapshot to continue from, unless a field is not finite. */
enum miniapp_status steps_end(struct run *run, struct bench *bench);

/* Says in run->nonfinite after which step, and where, the fields of a row were not finite for the
 * first time. It makes the steps again for that, so all rows have to be done before. */
enum miniapp_status steps_find_nonfinite(struct run *run, struct bench *bench, struct row *row);

/* Writes fields, END.STEP.nc, or means of them, END.average.STEP.nc, after the last step that a row
 * has made; without a list, all that a restart needs, END.STEP.nc or beside chosen fields
 * END.state.nc. */
enum miniapp_status steps_write(struct run *run, struct row *row, const struct field_list *list,
                                bool are_means);

/* Finds the fields of --every and --average; MINIAPP_USAGE if the sequence lacks one. */
enum miniapp_status steps_choose(struct run *run, const struct row *row);

/* Takes a step into the means, and writes them at the end of their time. */
enum miniapp_status means_after(struct run *run, struct row *row);

/* The number of the last step that a row has made. */
size_t steps_done(const struct run *run, const struct row *row);

#endif
