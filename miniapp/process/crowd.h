/* Processes whose threads crowd on few of a node's cores. */
#ifndef CROWD_H
#define CROWD_H

#include <stdbool.h>

/* Warns, on one process of each node, where a core carries more threads than it would if they were
 * spread evenly, and says how to bind them. All processes call it. A process's
 * threads count only if it computes with them. */
void warn_of_crowd(bool computes);

#endif
