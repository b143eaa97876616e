#ifndef SHAPE_H
#define SHAPE_H

#include <miniapp/grid.h>
#include <stdbool.h>

bool same_grid(const struct miniapp_grid *a, const struct miniapp_grid *b);

/* Stands for --size memory: no grid is so small. */
extern const struct miniapp_grid grid_beyond_caches;

/* pyhpc-benchmarks' shape for about `points` points. */
struct miniapp_grid grid_of_size(size_t points);

#endif
