/* The settings and grids of a run. */
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

/* Finds out, for --size memory, how many bytes no cache of the run's devices holds. MINIAPP_USAGE
 * where the caches of one are not known. */
enum miniapp_status choose_bytes_beyond_caches(struct run *run);

/* The grid of --size or --shape, or the file's own grid with ghosts; with --size memory it is the
 * kernel's own. */
struct miniapp_grid grid_of_row(const struct run *run, size_t shape,
                                const struct miniapp_sequence *sequence,
                                enum miniapp_precision precision);

#endif
