/*
 * A state holds the fields of an ocean, or of a part of one, in one device's memory and in one
 * precision. A plan runs kernels on them.
 *
 * A state allocates a field when it is first set or bound. It knows which copies, the host's or the
 * device's, and which ghosts are up to date ("current"), and refreshes only the others. An exchange
 * fills ghosts from the opposite side of a cyclic ocean.
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

/* MINIAPP_USAGE if no state can have such a grid, MINIAPP_DEVICE if it has more points than this
 * device's kernels can count (docs/gpus.md). */
enum miniapp_status miniapp_state_create(const struct miniapp_device *, enum miniapp_precision,
                                         const struct miniapp_grid *, struct miniapp_state **);

/* Frees its memory, on host and device. After that you may only free its plans. */
void miniapp_state_free(struct miniapp_state *);

/* Makes it a part of an ocean: its first interior cell is cell (x0, y0) of the interior of `whole`,
 * so that each part can be read from a file. It then exchanges no ghosts; you set them with each
 * field. */
enum miniapp_status miniapp_state_place(struct miniapp_state *, const struct miniapp_grid *whole,
                                        size_t x0, size_t y0);

/* Whether x is cyclic; at first it is not. Ghosts along y, and along a closed x, are land: no
 * exchange changes them, and kernels may leave any number there. When x becomes cyclic, the ghosts
 * along x are no longer current, unless the state is a part of an ocean. */
void miniapp_state_set_cyclic(struct miniapp_state *, bool cyclic_x);

/* Whether fields are checked against their valid ranges: when a whole field is set, and when a
 * kernel first reads it. A bad value gives MINIAPP_INPUT, and a message with its index. Land is
 * skipped if the mask of the field is set. Checks are off at first; fields that were read from an
 * input have been checked. */
void miniapp_state_set_checks(struct miniapp_state *, bool checks);

enum miniapp_status miniapp_state_set_setting(struct miniapp_state *, const char *name,
                                              double value);

const struct miniapp_device *miniapp_state_device(const struct miniapp_state *);
enum miniapp_precision miniapp_state_precision(const struct miniapp_state *);
struct miniapp_grid miniapp_state_grid(const struct miniapp_state *);

/* ---- fields ---- */

/* Copies an array, ghosts included, into a field. MINIAPP_INPUT if a value is too large for
 * float32, or invalid in a mask, or in an index, which is at most the number of levels. */
enum miniapp_status miniapp_state_set(struct miniapp_state *, const char *name,
                                      const double *values);

/* Copies a field into an array, with the ghosts or without them. */
enum miniapp_status miniapp_state_get(struct miniapp_state *, const char *name, double *values);
enum miniapp_status miniapp_state_get_interior(struct miniapp_state *, const char *name,
                                               double *values);

/* The host's own copy of a field, in its type and precision; NULL on failure. _read: valid until
 * the state changes. _write: fill all of it, ghosts included, before the next call. */
const void *miniapp_state_read(struct miniapp_state *, const char *name);
void *miniapp_state_write(struct miniapp_state *, const char *name);

/* Adds a field, such as a tracer, with the shape and type of `like`. Its name has at most 63
 * characters, none of them '=', ':', ',' or a space. */
enum miniapp_status miniapp_state_add(struct miniapp_state *, const char *name, const char *like);

/* Whether a field was set. */
bool miniapp_state_has(const struct miniapp_state *, const char *name);

/* Rotates fields of one shape without a copy: of {a, b, c}, a takes b's values, b c's, and c a's.
 */
enum miniapp_status miniapp_state_rotate(struct miniapp_state *, const char *const *names,
                                         size_t count);

/* Makes all ghosts of a field current. */
enum miniapp_status miniapp_state_exchange(struct miniapp_state *, const char *name);

double miniapp_state_bytes(const struct miniapp_state *); /* of the device's memory */

/* ---- running ---- */

/* Finds a sequence as miniapp_sequence_find does, and runs it once. */
enum miniapp_status miniapp_run(struct miniapp_state *, const char *sequence);

/* A sequence bound to the fields of a state, to be run often. `bindings` may be NULL or
 * FIELD=OTHER,...: where the sequence uses FIELD, the plan takes OTHER, perhaps an added one. */
struct miniapp_plan;
enum miniapp_status miniapp_plan_create(struct miniapp_state *, const struct miniapp_sequence *,
                                        const char *bindings, struct miniapp_plan **);
void miniapp_plan_free(struct miniapp_plan *);

/* MINIAPP_USAGE if a field that it reads with the state's settings was never set or, in a part of
 * an ocean, lacks ghosts. */
enum miniapp_status miniapp_plan_run(struct miniapp_plan *);

/* Runs it as a step in time, and swaps its time levels, such as temp and temp_taup1: then temp has
 * the new values. */
enum miniapp_status miniapp_plan_advance(struct miniapp_plan *);

/* Makes the next run the first again: call it after setting new fields to start from. */
void miniapp_plan_restart(struct miniapp_plan *);

MINIAPP_END

#endif
