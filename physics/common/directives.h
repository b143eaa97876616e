/*
 * The OpenMP directives, each named once; docs/design.md has a table of what they become. The loop
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
 * PARALLEL_ROWS_SUM(total, turns) and ALONG_X_SUM(sum) are for a nest that computes a sum; `turns`
 * is the number of iterations of all its loops together. ONCE goes before a statement that writes a
 * single element.
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

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
#define EXPANDED_PRAGMA(...) PRAGMA(__VA_ARGS__)

#if !defined(PHYSICS_OFFLOAD)
#define PARALLEL_ROWS _Pragma("omp parallel for collapse(2) schedule(static)")
#define PARALLEL_COLUMNS _Pragma("omp parallel for schedule(static)")
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(omp parallel for collapse(2) schedule(static) reduction(+:total))
#define ONCE
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
#define ALONG_X _Pragma("omp simd")
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#else
#define LAUNCH omp target teams distribute parallel for defaultmap(firstprivate:pointer) TWO_WAVES
#define ONCE PRAGMA(omp target defaultmap(firstprivate : pointer))
#if defined(__clang__)
#define PARALLEL_ROWS EXPANDED_PRAGMA(LAUNCH collapse(3))
#define PARALLEL_COLUMNS EXPANDED_PRAGMA(LAUNCH collapse(2))
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    EXPANDED_PRAGMA(LAUNCH collapse(3) map(tofrom : total) reduction(+ : total)                    \
                        num_teams(blocks_of_sum(turns)))
#define ROW_PART(nx) 1
#define ROW_CHUNK 1
#define ALONG_X
#define ALONG_X_SUM(sum)
#else
#define PARALLEL_ROWS EXPANDED_PRAGMA(LAUNCH collapse(2))
#define PARALLEL_COLUMNS EXPANDED_PRAGMA(LAUNCH)
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    EXPANDED_PRAGMA(LAUNCH collapse(2) map(tofrom : total) reduction(+ : total))
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
#define ALONG_X _Pragma("omp simd")
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#endif
#endif

/* Asks Clang to let two waves fit on each part of an AMD GPU's compute unit: it would otherwise
 * give one wave more than half of the registers. */
#if defined(__AMDGCN__) && defined(__clang__)
#define TWO_WAVES ompx_attribute(__attribute__((amdgpu_waves_per_eu(2))))
#else
#define TWO_WAVES
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

/* A nest that has arrays with an element for each point of a part takes parts of ROW_CHUNK, a
 * constant, in place of ROW_PART(nx). */

/* Whether a loop that computes much should read no bytes. GCC computes as many points at a time as
 * a vector holds of the narrowest type in the loop: 64 points where it reads masks into vectors of
 * 64 bytes, and it then spills nearly all of their values. A loop of its own widens or packs the
 * masks first: by all compilers where that costs Clang nothing, elsewhere only by GCC. */
#if defined(__clang__) || defined(PHYSICS_OFFLOAD)
#define BYTES_COST_LANES false
#else
#define BYTES_COST_LANES true
#endif

/* Chooses between two expressions: the host keeps values that several points share, and a thread of
 * a GPU computes them again. VECTOR_BYTES is the width of the host's widest vectors. */
#if defined(PHYSICS_OFFLOAD)
#define HOST_OR_OFFLOAD(host, offload) (offload)
#else
#define HOST_OR_OFFLOAD(host, offload) (host)
#endif
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif

/* Goes before a loop over the two sides of a cell. The host unrolls it, because a loop that is
 * vectorised must have no inner loop. A GPU keeps it, so that both sides use the same registers. */
#if defined(PHYSICS_OFFLOAD)
#define EACH_SIDE ROLLED
#else
#define EACH_SIDE UNROLL
#endif

/* Begins a block in which Clang does not fuse the host's products and sums, so that two sums can
 * share a product. On AMD's cores from Zen on, a product and two sums take less time than two fused
 * multiply-adds, because additions have execution units of their own. GPU compilers and GCC still
 * fuse. */
#if defined(__clang__) && !defined(PHYSICS_OFFLOAD)
#define SEPARATE_SUMS _Pragma("clang fp contract(off)")
#else
#define SEPARATE_SUMS
#endif

/* A function that a nest calls: always inlined, so that literal arguments stay literals. */
#define INLINED static inline __attribute__((always_inline))

/* Prefetches the data of the next row into the host's L2 cache, for a kernel that computes much a
 * point, where the hardware prefetches too late. A prefetch beyond the end of an array is harmless.
 * Into the L1 cache, which is small, it can cost more than it saves. */
INLINED void prefetch(const void *from, count bytes)
{
#if !defined(PHYSICS_OFFLOAD)
    for (count line = 0; line < bytes; line += 64)
        __builtin_prefetch((const char *)from + line, 0, 2);
#else
    (void)from, (void)bytes;
#endif
}

/* A function that computes a row and has several callers. On the host it is not inlined, so that
 * all callers get the same bits. Its name is a VARIANT, by which run/dev/flops finds it. */
#if defined(PHYSICS_OFFLOAD)
#define OF_ROW INLINED
#elif defined(__clang__)
#define OF_ROW static __attribute__((noinline))
#else
#define OF_ROW static __attribute__((noinline, noclone))
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#define ROLLED _Pragma("GCC unroll 1")
#endif

#endif
