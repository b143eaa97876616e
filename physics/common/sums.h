/*
 * The directives of a nest that computes a sum, PARALLEL_ROWS_SUM(total, turns) and
 * ALONG_X_SUM(sum), or a maximum, PARALLEL_COLUMNS_MAX and ALONG_X_MAX; `turns` is the number of
 * iterations of all its loops together. ONCE goes before a statement that writes a single element.
 * ONE_TEAM goes before several small nests that one block of a GPU computes in one launch: each
 * thread, TEAM_MEMBER of TEAM_SIZE, takes its own iterations, and TEAM_BARRIER ends each nest. On
 * the host the team is the thread that calls.
 */
#ifndef PHYSICS_SUMS_H
#define PHYSICS_SUMS_H

#include "directives.h"

/* The number of blocks that Clang launches for a nest that computes a sum; 0 leaves the choice to
 * the runtime. On GPUs the runtime has room for the sums of 1,024 blocks, and each further block
 * waits for earlier ones. In all other nests each thread takes one iteration, in blocks of
 * THREADS_OF_A_BLOCK. */
#if defined(THREADS_OF_A_BLOCK)
static inline int blocks_of_sum(count turns)
{
#if defined(PHYSICS_EMULATED)
    return (void)turns, 0;
#else
    const count blocks = (turns - 1) / THREADS_OF_A_BLOCK + 1;
    return blocks < 1024 ? (int)blocks : 1024;
#endif
}
#endif

/* A number that is not negative, as one whose order is the same, so that a maximum shows a NaN: it
 * is the largest; and back. */
union number_or_bits {
    double number;
    int64_t bits;
};

INLINED int64_t bits_of(double number)
{
    return (union number_or_bits){.number = number}.bits;
}

INLINED double number_from(int64_t bits)
{
    return (union number_or_bits){.bits = bits}.number;
}

#endif
