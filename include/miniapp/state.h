/*
 * A state holds the fields of an ocean, or of a part of one, in one device's memory and in one
 * precision. A plan runs kernels on them.
 *
 * A state allocates a field when it is first set or bound. It knows whether the host's copy, the
 * device's copy and the ghosts of a field are up to date, "current", and copies or exchanges only
 * what is not. An exchange fills ghosts from the opposite side of a cyclic ocean.
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

/* Frees its fields and scratch, on host and device. After that you may only free its plans. */
void miniapp_state_free(struct miniapp_state *);

/* Makes it a part of an ocean: its first interior cell is cell (x0, y0) of the interior of `whole`,
 * a grid with ghosts. It then exchanges no ghosts; you set them with each field. */
enum miniapp_status miniapp_state_place(struct miniapp_state *, const struct miniapp_grid *whole,
                                        size_t x0, size_t y0);

/* Says whether x is cyclic; at first it is not. If so, an exchange fills the ghosts along x. All
 * other ghosts are land: no exchange changes them, and kernels leave 0 or numbers of no meaning
 * there. */
void miniapp_state_set_cyclic(struct miniapp_state *, bool cyclic_x);

enum miniapp_status miniapp_state_set_setting(struct miniapp_state *, const char *name,
                                              double value);

const struct miniapp_device *miniapp_state_device(const struct miniapp_state *);
enum miniapp_precision miniapp_state_precision(const struct miniapp_state *);
struct miniapp_grid miniapp_state_grid(const struct miniapp_state *);
const struct miniapp_settings *miniapp_state_settings(const struct miniapp_state *);

/* ---- fields ---- */

/* Copies an array into a field, whose ghosts are current then: the array includes them.
 * MINIAPP_INPUT if a value is too large for float32, or invalid in a mask or an index. */
enum miniapp_status miniapp_state_set(struct miniapp_state *, const char *name,
                                      const double *values);

/* Copies a field into an array, with the ghosts or without them. */
enum miniapp_status miniapp_state_get(struct miniapp_state *, const char *name, double *values);
enum miniapp_status miniapp_state_get_interior(struct miniapp_state *, const char *name,
                                               double *values);

/* The same for `count` elements from number `first` on. In a new field, the first part marks the
 * whole field as set and its ghosts as current; later parts do not change that. */
enum miniapp_status miniapp_state_set_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, const double *values);
enum miniapp_status miniapp_state_get_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, double *values);

/* The host's own copy of a field, in its type and precision; NULL on failure. That of _read is
 * current until the state changes. That of _write is to be overwritten: fill all of it, ghosts
 * included, before the next call on the state. */
const void *miniapp_state_read(struct miniapp_state *, const char *name);
void *miniapp_state_write(struct miniapp_state *, const char *name);

/* Adds a field, such as a tracer, with the shape and type of `like`. A name has at most 63
 * characters, none of them '=', ':', ',' or a space. */
enum miniapp_status miniapp_state_add(struct miniapp_state *, const char *name, const char *like);

/* Whether a field was set. */
bool miniapp_state_has(const struct miniapp_state *, const char *name);

/* Rotates fields of one shape without a copy. Of {a, b, c}, a takes b's values, b takes c's, and c
 * takes a's. */
enum miniapp_status miniapp_state_rotate(struct miniapp_state *, const char *const *names,
                                         size_t count);

/* Makes all ghosts of a field current. MINIAPP_USAGE if they lie in another part of the ocean. */
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

/* Finds a sequence as miniapp_sequence_find does, and runs it once. For steps in time make a plan:
 * this swaps no time levels. */
enum miniapp_status miniapp_run(struct miniapp_state *, const char *sequence);

/* A sequence bound to the fields of a state, to be run often. `bindings` may be NULL, or be
 * FIELD=OTHER,...: where the sequence uses FIELD, the plan takes the state's OTHER, perhaps an
 * added one. */
struct miniapp_plan;
enum miniapp_status miniapp_plan_create(struct miniapp_state *, const struct miniapp_sequence *,
                                        const char *bindings, struct miniapp_plan **);
void miniapp_plan_free(struct miniapp_plan *);

/* Runs the sequence, the first time with the kernels that only a first run needs. MINIAPP_USAGE if
 * a field that is read was never set, or needs ghosts that only another part of the ocean has. */
enum miniapp_status miniapp_plan_run(struct miniapp_plan *);

/* Runs the sequence as one step in time: afterwards it swaps the time levels. */
enum miniapp_status miniapp_plan_advance(struct miniapp_plan *);

/* Makes the next run count as the first. Call it after setting new fields to start from. */
void miniapp_plan_restart(struct miniapp_plan *);

/* Seconds of a step in the last run, with the copies and exchanges before it. */
double miniapp_plan_seconds(const struct miniapp_plan *, size_t step);
double miniapp_plan_bytes(const struct miniapp_plan *); /* of memory, for its fields and scratch */

MINIAPP_END

#endif
