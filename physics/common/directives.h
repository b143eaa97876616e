/*
 * The OpenMP directives, by the words of a variant: a header in physics/variants, which
 * PHYSICS_DIRECTIVES names. docs/design.md has a table of what they become by default. The loop
 * nest of a kernel is
 *
 *     PARALLEL_ROWS
 *     for (count z = ...; ...)
 *         for (count y = ...; ...)
 *             for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx))
 *                 ALONG_X
 *                 for (count x = x0; x < x0 + ROW_PART(nx); x++)
 *
 * and one that advances along z, for all columns of a part together, is
 *
 *     PARALLEL_COLUMNS
 *     for (count y = ...; ...)
 *         for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx))
 *             for (count z = ...; ...)
 *                 ALONG_X
 *                 for (count x = x0; x < x0 + ROW_PART(nx); x++)
 *
 * Host: threads share the rows (z, y) or y, a part is a whole row, and loops over x are vectorised.
 * A point gets the same bits whichever thread computes it, so results do not depend on the number
 * of threads.
 *
 * A nest that has arrays with an element for each point of a part takes parts of ROW_CHUNK, a
 * constant, in place of ROW_PART(nx) (span.h). sums.h has directives for sums.
 *
 * GPU, by Clang: a part is one point, the outer loops are collapsed into one, and neighbouring
 * threads take neighbouring x. GPU, by GCC: a thread of OpenMP is a warp, and only a `simd` loop
 * that is not collapsed with others uses the lanes of a warp; so warps share the rows, and their
 * lanes run along x.
 *
 * Pointers are device addresses and are passed as such (firstprivate), because a lookup in the
 * runtime's table of mapped arrays costs about a microsecond for each.
 */
#ifndef PHYSICS_DIRECTIVES_H
#define PHYSICS_DIRECTIVES_H

#include <stddef.h>
#include <stdint.h>
#if !defined(PHYSICS_OFFLOAD)
#include <omp.h>
#endif

#define PRAGMA(...) PRAGMA_OF(__VA_ARGS__)
#define PRAGMA_OF(...) _Pragma(#__VA_ARGS__)

/* Asks Clang to let two waves fit on each part of an AMD GPU's compute unit: it would otherwise
 * give one wave more than half of the registers. */
#if defined(__AMDGCN__) && defined(__clang__)
#define TWO_WAVES ompx_attribute(__attribute__((amdgpu_waves_per_eu(2))))
#else
#define TWO_WAVES
#endif

#if defined(PHYSICS_DIRECTIVES)
#include PHYSICS_DIRECTIVES
#elif defined(PHYSICS_OFFLOAD)
#include "../variants/distribute.h"
#else
#include "../variants/static.h"
#endif

/* The type of a nest's counters: cells along an axis, points, and the index of an element in a
 * field. An array that holds several fields needs ptrdiff_t.
 *
 * Clang's GPU code counts the iterations of a collapsed nest as one number and divides it to find
 * z, y and x. 64 bits make that slow, and addresses take more registers. 32 bits, which
 * -fopenmp-optimistic-collapse asks for, limit a nest to 1e9 iterations: a thread adds the number
 * of all threads to its signed counter before it sees that it is done. A larger grid is refused
 * (MOST_TURNS in functions.c), unless the GPU code was built with PHYSICS_WIDE. */
#if defined(PHYSICS_OFFLOAD) && defined(__clang__) && !defined(PHYSICS_WIDE)
typedef int32_t count;
#define MOST_TURNS 1000000000
_Static_assert(2LL * MOST_TURNS + 4096 < INT32_MAX, "a thread's next iteration fits");
#else
typedef ptrdiff_t count;
#define MOST_TURNS PTRDIFF_MAX
#endif

/* Chooses between two expressions: the host keeps values that several points share, and a thread of
 * a GPU computes them again. */
#if defined(PHYSICS_OFFLOAD)
#define HOST_OR_OFFLOAD(host, offload) (offload)
#else
#define HOST_OR_OFFLOAD(host, offload) (host)
#endif
/* A function that a nest calls: always inlined, so that literal arguments stay literals. */
#define INLINED static inline __attribute__((always_inline))

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(enable)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#define ROLLED _Pragma("GCC unroll 1")
#endif

#endif
