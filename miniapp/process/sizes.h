/* The grids that rows run on. */
#ifndef SIZES_H
#define SIZES_H

#include "run.h"

/* Finds out, for --size memory, how many bytes no cache of the run's devices holds. MINIAPP_USAGE
 * where the caches of one are not known. */
enum miniapp_status choose_bytes_beyond_caches(struct run *run);

/* The grid of --size or --shape, or the file's own grid with ghosts; with --size memory it is the
 * kernel's own. */
struct miniapp_grid grid_of_row(const struct run *run, size_t shape,
                                const struct miniapp_sequence *sequence,
                                enum miniapp_precision precision);

#endif
