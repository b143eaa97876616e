/* Sums of kernels over the whole ocean. */
#ifndef TOTALS_H
#define TOTALS_H

#include "state.h"

/* The totals for kernels of a state, which use its state_room. */
struct totals totals_of(struct miniapp_state *state);

#endif
