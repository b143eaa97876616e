/*
 * The OpenMP directives, each named once. A kernel's loop nest is
 *
 *     PARALLEL_ROWS
 *     for (count z = ...; ...)
 *         for (count y = ...; ...)
 *             for (count part = 0; part < nx; part += ROW_PART(nx))
 *                 ALONG_X
 *                 for (count x = part; x < part + ROW_PART(nx); x++)
 *
 * and one that marches along z, for all columns of a part together,
 *
 *     PARALLEL_COLUMNS
 *     for (count y = ...; ...)
 *         for (count part = 0; part < nx; part += ROW_PART(nx))
 *             for (count z = ...; ...)
 *                 ALONG_X
 *                 for (count x = part; x < part + ROW_PART(nx); x++)
 *
 * Host: threads share the rows (z, y) or y, a part is the whole row, and SIMD lanes run along x.
 * Each point gets the same bits however the rows are shared, so results do not depend on the
 * number of threads.
 *
 * PARALLEL_ROWS_SUM(total, turns) and ALONG_X_SUM(sum) are the same for a nest that computes a sum;
 * `turns` says how many turns its loops make in all. ONCE goes before a statement that writes a
 * single element.
 *
 * Offload by Clang: a part is one point, the outer loops are collapsed into one, and neighbouring
 * threads take neighbouring x. Offload by GCC: its threads are warps, and only a `simd` loop that
 * is not collapsed with others reaches a warp's lanes; so warps share the rows and lanes run along
 * x.
 *
 * Pointers are device addresses and are passed as they are: to look each up in the runtime's table
 * of mapped arrays would cost about a microsecond.
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

/* A part of an AMD GPU's compute unit has registers for one wave that takes more than half of them:
 * Clang is told that it has to hold two. */
#if defined(__AMDGCN__) && defined(__clang__)
#define TWO_WAVES ompx_attribute(__attribute__((amdgpu_waves_per_eu(2))))
#else
#define TWO_WAVES
#endif

/* The type that a nest counts with: its axes, its points and the places of these in a field, but
 * not the places in several fields of all points that lie in one array.
 *
 * Clang's GPU code counts all turns of a nest as one number and divides it to find z, y and x. In
 * 64 bits that is slow, and so are addresses, which take registers as well. In 32 bits, which
 * -fopenmp-optimistic-collapse asks for, a nest may have no more than 1e9 turns: a thread adds the
 * number of all threads to that of its turn, in a number with a sign, before it sees that it is
 * done. A larger grid is refused (MOST_TURNS in functions.c), unless the GPU code was built to
 * count further, with PHYSICS_WIDE. */
#if defined(PHYSICS_OFFLOAD) && defined(__clang__) && !defined(PHYSICS_WIDE)
typedef int32_t count;
#define MOST_TURNS 1000000000
_Static_assert(2LL * MOST_TURNS + 4096 < INT32_MAX, "a thread's next turn is no more than that");
#else
typedef ptrdiff_t count;
#define MOST_TURNS PTRDIFF_MAX
#endif

/* How many blocks Clang launches for a nest that computes a sum; 0 leaves the choice to the
 * runtime. On GPUs the runtime has room for the sums of 1,024 blocks, and each further block
 * waits until those before it are done. In all other nests each thread takes one turn, in blocks
 * of 128. */
static inline int blocks_of_sum(count turns)
{
#if defined(PHYSICS_EMULATED)
    return (void)turns, 0;
#else
    const count blocks = (turns - 1) / 128 + 1;
    return blocks < 1024 ? (int)blocks : 1024;
#endif
}

/* ROW_CHUNK, a constant, replaces ROW_PART(nx) in a nest that keeps something for each point of its
 * part in an array. */

/* GCC computes as many points at a time as a vector has room for the narrowest type of a loop: 64
 * points where it reads bytes into vectors of 64 bytes, nearly all of which it then stores and
 * loads again. A nest that computes much should read no masks in its loop over points: where that
 * costs Clang nothing, a loop of its own widens or packs them first, by all compilers; elsewhere
 * only where bytes cost lanes. */
#if defined(__clang__) || defined(PHYSICS_OFFLOAD)
#define BYTES_COST_LANES false
#else
#define BYTES_COST_LANES true
#endif

/* Prefetches what is read after the current row into the host's second cache, for a kernel that
 * computes much per point: the hardware prefetches too late there. A prefetch of an address that
 * does not exist is harmless. Into the first cache, which holds little, it can cost more than it
 * saves. */
#if defined(PHYSICS_OFFLOAD)
#define FETCH(from, points)
#else
#define FETCH(from, points)                                                                        \
    for (count line = 0; line < (points) * (count)sizeof(real); line += 64)                        \
    __builtin_prefetch((const char *)(from) + line, 0, 2)
#endif

/* What is better done otherwise on a GPU: the host keeps what several points share, where a thread
 * of a GPU would rather compute it again. A nest that makes its own tiles also needs to know how
 * many bytes the host's widest vectors have. */
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

/* Goes before a loop over the two sides of a cell. On the host there has to
 * be no inner loop in one that runs along SIMD lanes. On a GPU the sides take turns with the same
 * registers. */
#if defined(PHYSICS_OFFLOAD)
#define EACH_SIDE ROLLED
#else
#define EACH_SIDE UNROLL
#endif

/* Begins a block in which Clang does not fuse the host's products and sums, so that two sums can
 * share a product. On AMD's cores from Zen on, a product and two sums take less time than two fused
 * multiply-adds, since sums go to pipes of their own. GPUs' compilers and GCC fuse all the same. */
#if defined(__clang__) && !defined(PHYSICS_OFFLOAD)
#define SEPARATE_SUMS _Pragma("clang fp contract(off)")
#else
#define SEPARATE_SUMS
#endif

/* A function that a nest calls: always inlined, so that literal arguments stay literals. */
#define INLINED static inline __attribute__((always_inline))

/* A function that computes a row and that several places call. The host has one copy of its code,
 * so that all places get the same bits. Its name is a VARIANT, by which run/flops finds it. */
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
