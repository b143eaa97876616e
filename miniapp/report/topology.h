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

/* Adds `topology`: packages, cores, CPUs, NUMA nodes and caches; `smt`: whether the system runs two
 * or more threads on a core (on, off, forceoff, notsupported, notimplemented); `clock`;
 * `huge_pages`: when the kernel gives them (always, madvise, never); and `load`: the load average
 * of the last minute. An item that is not known is left out. */
void topology_add(struct provenance *provenance, struct caches *caches);

/* The governor of a CPU's clock, by its folder cpufreq of /sys, which most virtual machines lack:
 * "governor performance, 400 to 3700 MHz". */
enum { CLOCK_TEXT = 96 };
const char *clock_text(const char *folder, char text[CLOCK_TEXT]);

/* The name of the first level whose caches, one for each thread as far as there are so many,
 * together hold so many bytes; "" if none does. */
const char *cache_that_holds(const struct caches *caches, int threads, double bytes);

/* The bytes of the caches of the last level, one for each thread as far as there are so many; 0 if
 * they are not known. */
double last_cache_bytes(const struct caches *caches, int threads);

#endif
