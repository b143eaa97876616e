/*
 * A state holds the fields of an ocean, or of a part of one, in one device's memory and in one
 * precision. A plan runs kernels on them.
 *
 * A state allocates a field when it is first set or bound. It knows whether the host's copy, the
 * device's copy and the ghosts of a field are current, that is, hold what was last written. It
 * copies and exchanges what is needed and not current, and nothing else.
 */
#ifndef MINIAPP_STATE_H
#define MINIAPP_STATE_H

#include <miniapp/api.h>
#include <miniapp/device.h>
#include <miniapp/field.h>
#include <miniapp/grid.h>
#include <miniapp/sequence.h>
#include <miniapp/status.h>

MINIAPP_BEGIN

struct miniapp_state;

enum miniapp_status miniapp_state_create(const struct miniapp_device *, enum miniapp_precision,
                                         const struct miniapp_grid *, struct miniapp_state **);

/* Frees its fields and scratch, on the host and on the device. Then its plans can only be freed. */
void miniapp_state_free(struct miniapp_state *);

/* Says that the state is a part of an ocean: its first interior cell is cell (x0, y0) of the
 * interior of `whole`, a grid with ghosts. No ghosts are exchanged then: the owner sets fields with
 * theirs. */
enum miniapp_status miniapp_state_place(struct miniapp_state *, const struct miniapp_grid *whole,
                                        size_t x0, size_t y0);

/* Says whether the east meets the west. Then an exchange copies the ghosts along x from the other
 * side. All other ghosts are land, and no exchange changes them. At first nothing is cyclic. */
void miniapp_state_set_cyclic(struct miniapp_state *, bool cyclic_x);

enum miniapp_status miniapp_state_set_setting(struct miniapp_state *, const char *name,
                                              double value);

const struct miniapp_device *miniapp_state_device(const struct miniapp_state *);
enum miniapp_precision miniapp_state_precision(const struct miniapp_state *);
struct miniapp_grid miniapp_state_grid(const struct miniapp_state *);
const struct miniapp_settings *miniapp_state_settings(const struct miniapp_state *);

/* ---- fields ---- */

/* Copies an array, ghosts included, into a field. Its ghosts count as current then. MINIAPP_INPUT
 * where an element does not fit: too large for float32, not 0 or 1 in a mask, no index. */
enum miniapp_status miniapp_state_set(struct miniapp_state *, const char *name,
                                      const double *values);

/* Copies a field into an array, with the ghosts or without them. */
enum miniapp_status miniapp_state_get(struct miniapp_state *, const char *name, double *values);
enum miniapp_status miniapp_state_get_interior(struct miniapp_state *, const char *name,
                                               double *values);

/* The same for `count` elements from number `first` on. One part makes the whole field count as
 * set, with ghosts that are current; in a field that was set before they stay as current as they
 * were. */
enum miniapp_status miniapp_state_set_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, const double *values);
enum miniapp_status miniapp_state_get_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, double *values);

/* Return the host's own copy of a field, or NULL. The first is for reading: it is current until the
 * state changes. The second is for writing: fill all of it, ghosts included, before the next call.
 */
const void *miniapp_state_read(struct miniapp_state *, const char *name);
void *miniapp_state_write(struct miniapp_state *, const char *name);

/* Adds a field of the shape and type of another, such as a tracer or a time level. A name has at
 * most 63 characters, none of them '=', ':', ',' or a space. */
enum miniapp_status miniapp_state_add(struct miniapp_state *, const char *name, const char *like);

/* Whether a field was set. */
bool miniapp_state_has(const struct miniapp_state *, const char *name);

/* Rotates fields of one shape, the time levels, without a copy: of {a, b, c} a gets what b holds, b
 * what c holds, and c what a held. */
enum miniapp_status miniapp_state_rotate(struct miniapp_state *, const char *const *names,
                                         size_t count);

/* Makes all ghosts of a field current. */
enum miniapp_status miniapp_state_exchange(struct miniapp_state *, const char *name);

/* How many ghosts on a side are current. */
int miniapp_state_ghosts(const struct miniapp_state *, const char *name, enum miniapp_side);

double miniapp_state_bytes(const struct miniapp_state *); /* of the device's memory */

/* What was copied between host and device since the state was made. */
struct miniapp_traffic {
    double to_device_bytes, to_device_seconds;
    double from_device_bytes, from_device_seconds;
};
struct miniapp_traffic miniapp_state_traffic(const struct miniapp_state *);

/* ---- running ---- */

/* Runs what miniapp_sequence_find finds, once. */
enum miniapp_status miniapp_run(struct miniapp_state *, const char *sequence);

/* A sequence bound to the fields of a state, to be run often. `bindings` are FIELD=OTHER,... or
 * NULL: where the sequence has FIELD, the plan takes the state's field OTHER. */
struct miniapp_plan;
enum miniapp_status miniapp_plan_create(struct miniapp_state *, const struct miniapp_sequence *,
                                        const char *bindings, struct miniapp_plan **);
void miniapp_plan_free(struct miniapp_plan *);

/* Runs the sequence; in the first run, what it starts with comes before. MINIAPP_USAGE where a
 * field that is read was never set, or needs ghosts that only another part of the ocean has. */
enum miniapp_status miniapp_plan_run(struct miniapp_plan *);

/* Runs the sequence as one step in time: then its time levels change places. */
enum miniapp_status miniapp_plan_advance(struct miniapp_plan *);

/* Makes the next run the first one, after the fields were set anew. */
void miniapp_plan_restart(struct miniapp_plan *);

/* Seconds of a step in the last run, with the copies and exchanges before it. */
double miniapp_plan_seconds(const struct miniapp_plan *, size_t step);
double miniapp_plan_bytes(const struct miniapp_plan *); /* of its fields and its scratch */

MINIAPP_END

#endif
