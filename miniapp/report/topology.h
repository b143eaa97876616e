/* The machine that a run measures, as hwloc and Linux describe it. */
#ifndef TOPOLOGY_H
#define TOPOLOGY_H

#include "provenance.h"

enum { CACHE_LEVELS = 3 };

/* Caches for data: how many of a level the CPUs have that the process may use, and the size of
 * each. */
struct caches {
    int count[CACHE_LEVELS]; /* of L1, L2, L3; 0 where there is none */
    double bytes[CACHE_LEVELS];
};

/* Adds `topology`: packages, cores, CPUs, NUMA nodes and caches; `huge_pages`: when the kernel
 * gives them (always, madvise, never); and `load`: the load average of the last minute. An item
 * that is not known is left out. */
void topology_add(struct provenance *provenance, struct caches *caches);

/* The name of the first level whose caches, one for each thread as far as there are so many,
 * together hold so many bytes; "" if none does. */
const char *cache_that_holds(const struct caches *caches, int threads, double bytes);

#endif
