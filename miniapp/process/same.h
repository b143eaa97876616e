/* Whether all processes were told the same and have read the same files: nodes may have other files
 * of the same name. All processes call these at the same time. */
#ifndef SAME_H
#define SAME_H

#include "run.h"

/* MINIAPP_USAGE where processes run other builds; gives all the first one's seed of turns. */
enum miniapp_status same_build(struct run *run);

/* MINIAPP_USAGE where they have other command lines. */
enum miniapp_status same_options(const struct run *run);

/* MINIAPP_INPUT where their inputs have other sizes, grids or settings. */
enum miniapp_status same_input(const struct run *run);

/* MINIAPP_INPUT where their snapshots have other sizes or other attributes: `texts`, at most
 * SAME_TEXTS of them. */
enum { SAME_TEXTS = 8 };
enum miniapp_status same_snapshot(const char *path, size_t count, char texts[][MINIAPP_TEXT]);

#endif
