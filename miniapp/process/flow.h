/* The flow in which steps in time are made: how fast it is, and whether it is free of divergence.
 */
#ifndef FLOW_H
#define FLOW_H

#include "bench.h"
#include "run.h"

/* Measures the flow of a row. MINIAPP_INPUT where it diverges by more than rounding below the top
 * level, or by more than 0.05 of a cell in a step in it; unless that is allowed, or the grid is not
 * the file's own. All processes call it. */
enum miniapp_status flow_check(const struct run *run, struct row *row);

enum { FLOW_TEXT = 80 };

/* "Courant numbers 0.1, 0.2 and 3"; "" where steps take no flow. */
const char *courant_text(const struct flow *flow, char text[FLOW_TEXT]);

#endif
