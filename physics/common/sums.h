/*
 * The directives of a nest that computes a sum, PARALLEL_ROWS_SUM(total, turns) and
 * ALONG_X_SUM(sum); `turns` is the number of iterations of all its loops together. ONCE goes before
 * a statement that writes a single element.
 */
#ifndef PHYSICS_SUMS_H
#define PHYSICS_SUMS_H

#include "directives.h"

#if !defined(PHYSICS_OFFLOAD)
#define ONCE
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(omp parallel for collapse(2) schedule(static) reduction(+:total))
#else
#define ONCE PRAGMA(omp target defaultmap(firstprivate : pointer))
#if defined(__clang__)
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    EXPANDED_PRAGMA(LAUNCH collapse(3) map(tofrom : total) reduction(+ : total)                    \
                        num_teams(blocks_of_sum(turns)))
#else
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    EXPANDED_PRAGMA(LAUNCH collapse(2) map(tofrom : total) reduction(+ : total))
#endif
#endif

#if defined(PHYSICS_OFFLOAD) && defined(__clang__)
#define ALONG_X_SUM(sum)
#else
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#endif

/* The number of blocks that Clang launches for a nest that computes a sum; 0 leaves the choice to
 * the runtime. On GPUs the runtime has room for the sums of 1,024 blocks, and each further block
 * waits for earlier ones. In all other nests each thread takes one iteration, in blocks of 128. */
static inline int blocks_of_sum(count turns)
{
#if defined(PHYSICS_EMULATED)
    return (void)turns, 0;
#else
    const count blocks = (turns - 1) / 128 + 1;
    return blocks < 1024 ? (int)blocks : 1024;
#endif
}

#endif
