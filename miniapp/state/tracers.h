/* Tracers beside temperature and salinity. */
#ifndef TRACERS_H
#define TRACERS_H

#include "sequence.h"

#include <stdbool.h>

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
