/*
 * A state: the fields of an ocean, or of a part of one, in the memory of a device, in a precision;
 * and plans, which run kernels on them.
 *
 * A state holds each field once, from when it is set or bound. It knows whether the host's copy,
 * the device's and the ghosts are current, and copies and exchanges what is needed and not current,
 * but nothing else.
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

/* Frees its fields and scratch, on the device, too. A plan may outlive it only to be freed. */
void miniapp_state_free(struct miniapp_state *);

/* Says that the state is a part of an ocean: its first interior cell is cell (x0, y0) of the
 * interior of the whole. Its owner then sets whole fields, ghosts included; nothing here exchanges
 * them. */
enum miniapp_status miniapp_state_place(struct miniapp_state *, const struct miniapp_grid *whole,
                                        size_t x0, size_t y0);

/* Whether the east meets the west, so that ghosts along x are copies. All others are land, which no
 * exchange changes. At first nothing is cyclic. */
void miniapp_state_set_cyclic(struct miniapp_state *, bool cyclic_x);

enum miniapp_status miniapp_state_set_setting(struct miniapp_state *, const char *name,
                                              double value);

const struct miniapp_device *miniapp_state_device(const struct miniapp_state *);
enum miniapp_precision miniapp_state_precision(const struct miniapp_state *);
struct miniapp_grid miniapp_state_grid(const struct miniapp_state *);
const struct miniapp_settings *miniapp_state_settings(const struct miniapp_state *);

/* ---- fields ---- */

/* Copies a field from or to an array of double: with its ghosts, which count as current when they
 * are set; or only the interior. MINIAPP_INPUT where an element does not fit: too large for
 * float32, not 0 or 1 in a mask, no index. */
enum miniapp_status miniapp_state_set(struct miniapp_state *, const char *name,
                                      const double *values);
enum miniapp_status miniapp_state_get(struct miniapp_state *, const char *name, double *values);
enum miniapp_status miniapp_state_get_interior(struct miniapp_state *, const char *name,
                                               double *values);

/* The same of `count` elements from `first` on. One part makes the whole field count as set. */
enum miniapp_status miniapp_state_set_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, const double *values);
enum miniapp_status miniapp_state_get_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, double *values);

/* The state's own copy on the host, as it is stored; or NULL. That of `read` is current until the
 * state changes; that of `write` has to be filled, with its ghosts, before anything else is called.
 */
const void *miniapp_state_read(struct miniapp_state *, const char *name);
void *miniapp_state_write(struct miniapp_state *, const char *name);

/* Adds a field of the shape and type of another: a tracer, or a time level. */
enum miniapp_status miniapp_state_add(struct miniapp_state *, const char *name, const char *like);
bool miniapp_state_has(const struct miniapp_state *, const char *name); /* and it was set */

/* Rotates fields of one shape, the time levels, without a copy: each gets what the next one holds,
 * the last what the first held. */
enum miniapp_status miniapp_state_rotate(struct miniapp_state *, const char *const *names,
                                         size_t count);

/* Makes all ghosts of a field current; and how many of a side are. */
enum miniapp_status miniapp_state_exchange(struct miniapp_state *, const char *name);
int miniapp_state_ghosts(const struct miniapp_state *, const char *name, enum miniapp_side);

double miniapp_state_bytes(const struct miniapp_state *); /* of the device's memory */

/* What was copied between host and device since the state was made. */
struct miniapp_traffic {
    double to_device_bytes, to_device_seconds;
    double from_device_bytes, from_device_seconds;
};
struct miniapp_traffic miniapp_state_traffic(const struct miniapp_state *);

/* Seconds that these fields take to the device, or from it, by memory that is pinned or not: the
 * least of some tries. 0 on the host, and where there is no such memory. */
enum miniapp_status miniapp_state_time_copies(struct miniapp_state *, const char *const *names,
                                              size_t count, bool to_device, bool pinned,
                                              double *seconds);

/* ---- running ---- */

/* Runs what miniapp_sequence_find finds, once. */
enum miniapp_status miniapp_run(struct miniapp_state *, const char *sequence);

/* A sequence bound to the fields of a state, to be run often. `bindings` are NAME=OTHER,... or
 * NULL: where the sequence has the field NAME, the plan takes the state's field OTHER. */
struct miniapp_plan;
enum miniapp_status miniapp_plan_create(struct miniapp_state *, const struct miniapp_sequence *,
                                        const char *bindings, struct miniapp_plan **);
void miniapp_plan_free(struct miniapp_plan *);

/* MINIAPP_USAGE where a field that is read was never set, or lacks ghosts from another part. */
enum miniapp_status miniapp_plan_run(struct miniapp_plan *);

/* Seconds of a step in the last run, with the copies and exchanges before it. */
double miniapp_plan_seconds(const struct miniapp_plan *, size_t step);
double miniapp_plan_bytes(const struct miniapp_plan *); /* of its fields and its scratch */

MINIAPP_END

#endif
