/* What kernels add up over the whole ocean. */
#ifndef TOTALS_H
#define TOTALS_H

#include "state.h"

/* For kernels of a state, whose room it keeps. */
struct totals totals_of(struct miniapp_state *state);

#endif
