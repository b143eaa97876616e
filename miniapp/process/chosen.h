/* Settings of the whole ocean that neither the command line nor the file has. */
#ifndef CHOSEN_H
#define CHOSEN_H

#include "run.h"

/* For steps that move the flow, chooses time steps and coefficients of friction by the spacing. The
 * time steps have Courant numbers of a fifth for internal waves, and 0.3 for the turning of the
 * earth, which is unstable from 0.5 on. The viscosity is Veros's: it makes boundary layers as wide
 * as a cell, but takes no more than a tenth of a difference in a step.
 *
 * An ocean of another size may be finer, and is not in balance, since land has been mixed into its
 * water: there 10 s replace the file's own time steps, at any size, so that its rows compare. */
enum miniapp_status choose_by_spacing(struct run *run);

#endif
