/* Tracers beside temperature and salinity. */
#ifndef TRACERS_H
#define TRACERS_H

#include "sequence.h"

#include <stdbool.h>

/* Whether it is the first field of a tracer that was named, and stands for the tracer. */
bool is_tracer(enum field_id id);

/* Which field a tracer has where its step has `id`; FIELD_tracer has those of the step itself. */
enum field_id field_of_tracer(enum field_id tracer, enum field_id id);

/* A step in time, followed by the step of any tracer for each of these, whose names have a +
 * between them. The caller frees steps and levels, whatever happens, and is one thread at a time.
 */
enum miniapp_status add_tracers(const struct miniapp_sequence *base,
                                const struct miniapp_sequence *step, const char *names,
                                struct miniapp_sequence *to);

#endif
