/* Sequences as the library itself sees them. */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include "table.h"

#include <miniapp/status.h>
#include <stdbool.h>

enum { MOST_NAME = 64 };

/* NAME=OTHER */
struct binding {
    char name[MOST_NAME], other[MOST_NAME];
};

/* Reads the next binding of a comma-separated list and moves on; false at the end. Sets the status
 * to MINIAPP_USAGE, with a message, if the item is no binding. */
bool next_binding(const char **text, struct binding *binding, enum miniapp_status *status);

/* Fails with MINIAPP_USAGE, and the closest name of a field. */
enum miniapp_status unknown_field(const char *name);

/* When a step runs: in any case, or if a setting is not 0, or if it is. */
struct condition {
    enum { ALWAYS, IF_ON, IF_OFF } when;
    enum setting_id setting;
};

bool holds(const struct condition *condition, const double *setting);

struct step {
    const struct miniapp_kernel *kernel;
    enum field_id field[MOST_ARGUMENTS];
    struct condition condition;
};

/* Whether a kernel reads, or writes, an argument with these settings, which may leave it
 * untouched. */
bool reads_argument(const struct miniapp_kernel *kernel, size_t place, const double *setting);
bool writes_argument(const struct miniapp_kernel *kernel, size_t place, const double *setting);

/* Whether an argument of a step is bound to that field; scratch is bound to none. */
bool has_argument_of(const struct step *step, enum field_id id);

/* Two time levels, which change places at the end of a time step. */
struct levels {
    enum field_id before, after;
    struct condition condition;
};

struct miniapp_sequence {
    const char *name, *subject, *summary;
    size_t count;
    struct step *steps;
    size_t start_count; /* how many of the first steps a plan runs only once */
    size_t level_count;
    const struct levels *levels;
};

/* ---- tracers.c: tracers beside temperature and salinity ---- */

/* Whether a field is the first one of a tracer that was named, and so stands for the tracer. */
bool is_tracer(enum field_id id);

/* The field of a tracer that takes the place of `id` in its step; for FIELD_tracer that is `id`
 * itself. */
enum field_id field_of_tracer(enum field_id tracer, enum field_id id);

/* Makes a step in time that is followed by `step` for each of the tracers, whose names have a +
 * between them. The caller frees the steps and levels, whatever happens. Only one thread at a time
 * may call this. */
enum miniapp_status add_tracers(const struct miniapp_sequence *base,
                                const struct miniapp_sequence *step, const char *names,
                                struct miniapp_sequence *to);

#endif
