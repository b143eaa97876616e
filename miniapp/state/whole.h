/* Kernels that need the whole ocean, in a run of several processes. */
#ifndef WHOLE_H
#define WHOLE_H

#include "keep.h"

/* Runs a kernel on a copy of the whole ocean that this process gathers, and takes its own block of
 * the outputs. All processes call it, and compute the same. */
enum miniapp_status whole_run(struct miniapp_state *state, struct kept *kept,
                              const struct miniapp_kernel *kernel, struct slot *const *slots);

void whole_free(struct kept *kept);

#endif
