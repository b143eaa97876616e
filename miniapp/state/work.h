/* The work of forces on the flow. */
#ifndef WORK_H
#define WORK_H

#include "state.h"

/* Adds to a budget, in watts, what the tendencies of the flow did in the last step, friction
 * included, as its change, and what wind and sinking water put in, as its gain. The bound becomes
 * infinite where what frictions dissipate need not be what they take. Also gives what the external
 * mode replaced, in cubic metres a second: the moduli of all flow into and out of columns, before
 * and after. If the state is a part of an ocean, all processes call it. */
enum miniapp_status work_add(struct miniapp_state *, size_t steps, struct miniapp_budget *,
                             double *replaced);

#endif
