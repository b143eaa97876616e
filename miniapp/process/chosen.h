/* The settings of a run. */
#ifndef CHOSEN_H
#define CHOSEN_H

#include "run.h"

/* Takes settings of the command line, else of the file, else the defaults; those that the kernels
 * read have to be in their ranges.
 *
 * For steps that move the flow, time steps and coefficients of friction follow from the spacing
 * where neither the command line nor the file has them. The time steps have Courant numbers of a
 * fifth for internal waves, and 0.3 for the turning of the earth, which is unstable from 0.5 on.
 * The viscosity is Veros's: it makes boundary layers as wide as a cell, but takes no more than a
 * tenth of a difference in a step.
 *
 * An ocean of another size may be finer, and is not in balance, since land has been mixed into its
 * water: there 10 s replace the file's own time steps, at any size, so that its rows compare. */
enum miniapp_status choose_settings(struct run *run);

#endif
