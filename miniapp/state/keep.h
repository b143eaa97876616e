/* Services that kernels ask for while they run: sums over the whole ocean; memory that they keep
 * from one call of a plan to the next; and the whole ocean itself, where processes share it. */
#ifndef KEEP_H
#define KEEP_H

#include "state.h"

/* A kernel's memory, and what it depends on. */
struct kept {
    struct miniapp_state *state; /* NULL: it has none */
    struct kept *next;           /* of the same state */
    void **host, **device;       /* pieces of memory */
    size_t host_pieces, device_pieces;
    double device_bytes;
    struct miniapp_solution solution;
    struct miniapp_settings settings;
    size_t changes; /* of the grid's fields that the kernel reads */
    bool cyclic_x;
    struct miniapp_state *whole; /* of a kernel that needs it where processes share the ocean */
    struct miniapp_plan *whole_plan;
};

/* Hands a kernel's memory to it, after it is cleared if what it depends on has changed. `slots` are
 * those of its arguments. */
struct keeper keeper_of(struct miniapp_state *state, struct kept *kept,
                        const struct miniapp_kernel *kernel, struct slot *const *slots);

/* Frees it. */
void forget(struct kept *kept);

/* The totals for kernels of a state, which use its state_room. */
struct totals totals_of(struct miniapp_state *state);

/* Runs a kernel on a copy of the whole ocean that this process gathers, and takes its own block of
 * the outputs. All processes call it, and compute the same. */
enum miniapp_status whole_run(struct miniapp_state *state, struct kept *kept,
                              const struct miniapp_kernel *kernel, struct slot *const *slots);

#endif
