/*
 * A state: the fields of an ocean, or of a part of one, in the memory of a device, in a precision;
 * and plans, which run kernels on them.
 *
 * A state holds each field once. It knows whether the host's copy of a field and the device's are
 * current, and how many of its ghost cells on each side are; it copies and exchanges what is needed
 * and not current, and nothing else. Where the device is the host there is one copy.
 *
 * A field takes memory when it is set or bound. Beside the fields of the table a state may have
 * others of the same shape: more tracers, or other time levels.
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

/* The grid has ghosts. MINIAPP_USAGE, and NULL in `state`, where it is too small or too large. */
MINIAPP_API enum miniapp_status miniapp_state_create(const struct miniapp_device *device,
                                                     enum miniapp_precision precision,
                                                     const struct miniapp_grid *grid,
                                                     struct miniapp_state **state);
/* Frees its fields and scratch, on the device, too; nothing frees them earlier. Its plans may only
 * be freed then. NULL is allowed. */
MINIAPP_API void miniapp_state_free(struct miniapp_state *state);

/* Says that the state is a part of an ocean: the first cell of its interior is cell (x0, y0) of the
 * interior of the whole, from 0; both grids include their ghosts. At first the state is the whole.
 * The ghosts of a part come from elsewhere: its owner sets them, and nothing here exchanges them.
 */
MINIAPP_API enum miniapp_status miniapp_state_place(struct miniapp_state *state,
                                                    const struct miniapp_grid *whole, size_t x0,
                                                    size_t y0);

/* Says whether the east of the ocean meets its west. If so, ghosts along x are copies; all others
 * are land, which no exchange changes. At first the ocean is not cyclic. */
MINIAPP_API void miniapp_state_set_cyclic(struct miniapp_state *state, bool cyclic_x);

MINIAPP_API enum miniapp_status miniapp_state_set_setting(struct miniapp_state *state,
                                                          const char *name, double value);

MINIAPP_API const struct miniapp_device *miniapp_state_device(const struct miniapp_state *state);
MINIAPP_API enum miniapp_precision miniapp_state_precision(const struct miniapp_state *state);
MINIAPP_API struct miniapp_grid miniapp_state_grid(const struct miniapp_state *state);
MINIAPP_API const struct miniapp_settings *
miniapp_state_settings(const struct miniapp_state *state);

/* ---- fields ---- */

/* Adds a field that has the shape and type of one of the table. */
MINIAPP_API enum miniapp_status miniapp_state_add(struct miniapp_state *state, const char *name,
                                                  const char *like);

/* Whether the state has a field of that name which holds something. */
MINIAPP_API bool miniapp_state_has(const struct miniapp_state *state, const char *name);

/* Copies all elements of a field, ghosts included, from or to an array of double; all ghosts count
 * as current then. In float32 the elements are narrowed. MINIAPP_INPUT, and nothing is changed,
 * where one does not fit: it is too large for float32, not 0 or 1 in a mask, or not whole or below
 * 0 in an index. */
MINIAPP_API enum miniapp_status miniapp_state_set(struct miniapp_state *state, const char *name,
                                                  const double *values);
MINIAPP_API enum miniapp_status miniapp_state_get(struct miniapp_state *state, const char *name,
                                                  double *values);

/* The same without the ghosts, on the grid of miniapp_grid_interior. */
MINIAPP_API enum miniapp_status miniapp_state_get_interior(struct miniapp_state *state,
                                                           const char *name, double *values);

/* Like set and get, for `count` elements from the one numbered `first` on. A field that held
 * nothing counts as set, with its ghosts, from the first part on. */
MINIAPP_API enum miniapp_status miniapp_state_set_part(struct miniapp_state *state,
                                                       const char *name, size_t first, size_t count,
                                                       const double *values);
MINIAPP_API enum miniapp_status miniapp_state_get_part(struct miniapp_state *state,
                                                       const char *name, size_t first, size_t count,
                                                       double *values);

/* The host's copy, in the state's precision and the field's type. That of `read` is current, and
 * may be read until the state changes; that of `write` has to be filled, ghosts included, before
 * the state is used again. NULL, with a message, if there is none. */
MINIAPP_API const void *miniapp_state_read(struct miniapp_state *state, const char *name);
MINIAPP_API void *miniapp_state_write(struct miniapp_state *state, const char *name);

/* Rotates time levels without a copy: each field gets what the next one holds, and the last gets
 * what the first held. Plans go by the names, too. The fields must have the same shape, and none
 * may be named twice. */
MINIAPP_API enum miniapp_status miniapp_state_rotate(struct miniapp_state *state,
                                                     const char *const *names, size_t count);

/* Makes all ghosts of a field current. MINIAPP_USAGE where the state is a part of an ocean. */
MINIAPP_API enum miniapp_status miniapp_state_exchange(struct miniapp_state *state,
                                                       const char *name);

/* How many ghosts on a side are current. */
MINIAPP_API int miniapp_state_ghosts(const struct miniapp_state *state, const char *name,
                                     enum miniapp_side side);

/* Bytes that it holds in the device's memory. */
MINIAPP_API double miniapp_state_bytes(const struct miniapp_state *state);

/* What was copied between host and device since the state was made. */
struct miniapp_traffic {
    double to_device_bytes, to_device_seconds;
    double from_device_bytes, from_device_seconds;
};
MINIAPP_API struct miniapp_traffic miniapp_state_traffic(const struct miniapp_state *state);

/* The seconds that fields take to the device, or back, as they are: the least of some copies, by
 * way of memory that the system may page or of memory that it may not. 0 where the device is the
 * host, or there is no such memory. */
MINIAPP_API enum miniapp_status miniapp_state_time_copies(struct miniapp_state *state,
                                                          const char *const *names, size_t count,
                                                          bool to_device, bool pinned,
                                                          double *seconds);

/* ---- running ---- */

/* A sequence bound to the fields of a state. */
struct miniapp_plan;

/* `bindings`, which may be NULL, are NAME=OTHER, ...: where the sequence has the field NAME the
 * plan takes the state's field OTHER. MINIAPP_USAGE where it has no such field, OTHER has another
 * shape, or a kernel would write a field that another of its arguments is bound to. */
MINIAPP_API enum miniapp_status miniapp_plan_create(struct miniapp_state *state,
                                                    const struct miniapp_sequence *sequence,
                                                    const char *bindings,
                                                    struct miniapp_plan **plan);
MINIAPP_API void miniapp_plan_free(struct miniapp_plan *plan);

/* Runs its kernels; before each, it makes current what the kernel reads. MINIAPP_USAGE if a field
 * that is read was never set, or needs ghosts from another part of the ocean. */
MINIAPP_API enum miniapp_status miniapp_plan_run(struct miniapp_plan *plan);

/* The seconds that a step took in the last run, with the copies and exchanges before it. */
MINIAPP_API double miniapp_plan_seconds(const struct miniapp_plan *plan, size_t step);

/* Bytes of the fields that it is bound to, and of its scratch. */
MINIAPP_API double miniapp_plan_bytes(const struct miniapp_plan *plan);

/* Finds, binds and runs a sequence once. */
MINIAPP_API enum miniapp_status miniapp_run(struct miniapp_state *state, const char *sequence);

MINIAPP_END

#endif
