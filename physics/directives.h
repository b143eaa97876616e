/*
 * The directives, named once. A kernel's loop nest is
 *
 *     PARALLEL_ROWS
 *     for (ptrdiff_t z = ...; ...)
 *         for (ptrdiff_t y = ...; ...)
 *             for (ptrdiff_t part = 0; part < nx; part += ROW_PART(nx))
 *                 ALONG_X
 *                 for (ptrdiff_t x = part; x < part + ROW_PART(nx); x++)
 *
 * and one that marches along z, for all columns of a part together,
 *
 *     PARALLEL_COLUMNS
 *     for (ptrdiff_t y = ...; ...)
 *         for (ptrdiff_t part = 0; part < nx; part += ROW_PART(nx))
 *             for (ptrdiff_t z = ...; ...)
 *                 ALONG_X
 *                 for (ptrdiff_t x = part; x < part + ROW_PART(nx); x++)
 *
 * Host: threads share the rows (z, y) or y, a part is the whole row, and SIMD lanes run along x.
 * Each point is computed by the same instructions however the rows are shared, so results do
 * not depend on the number of threads.
 *
 * PARALLEL_ROWS_SUM(total) and ALONG_X_SUM(sum) are the same for nests that add up. ONCE is a
 * statement that writes a single element.
 *
 * Offload: a part is one point, the outer loops are one space, and neighbouring threads
 * take neighbouring x. Pointers are device addresses and go as they are: a look-up in the
 * runtime's table of mapped arrays would cost about a microsecond each.
 */
#ifndef PHYSICS_DIRECTIVES_H
#define PHYSICS_DIRECTIVES_H

#define PRAGMA(text) _Pragma(#text)

#if !defined(PHYSICS_OFFLOAD)
#define PARALLEL_ROWS _Pragma("omp parallel for collapse(2) schedule(static)")
#define PARALLEL_COLUMNS _Pragma("omp parallel for schedule(static)")
#define PARALLEL_ROWS_SUM(total)                                                                   \
    PRAGMA(omp parallel for collapse(2) schedule(static) reduction(+:total))
#define ONCE
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
#define ALONG_X _Pragma("omp simd")
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+:sum))
#else
#if defined(__clang__)
#define PARALLEL_ROWS                                                                              \
    _Pragma("omp target teams distribute parallel for collapse(3) defaultmap(firstprivate:pointer)")
#define PARALLEL_COLUMNS                                                                           \
    _Pragma("omp target teams distribute parallel for collapse(2) defaultmap(firstprivate:pointer)")
#define PARALLEL_ROWS_SUM(total)                                                                   \
    PRAGMA(omp target teams distribute parallel for collapse(3) defaultmap(firstprivate:pointer)   \
           map(tofrom:total) reduction(+:total))
#else /* GCC maps simd, not parallel for, to the lanes of a warp */
#define PARALLEL_ROWS                                                                              \
    PRAGMA(omp target teams distribute parallel for simd collapse(3)                               \
           defaultmap(firstprivate:pointer))
#define PARALLEL_COLUMNS                                                                           \
    PRAGMA(omp target teams distribute parallel for simd collapse(2)                               \
           defaultmap(firstprivate:pointer))
#define PARALLEL_ROWS_SUM(total)                                                                   \
    PRAGMA(omp target teams distribute parallel for simd collapse(3)                               \
           defaultmap(firstprivate:pointer) map(tofrom:total) reduction(+:total))
#endif
#define ONCE PRAGMA(omp target defaultmap(firstprivate:pointer))
#define ROW_PART(nx) 1
#define ROW_CHUNK 1
#define ALONG_X
#define ALONG_X_SUM(sum)
#endif

/* ROW_CHUNK, a number, takes the place of ROW_PART(nx) in a nest that keeps something of each point
 * of its part in an array. */

/* A function of a nest: inlined always, so that literal arguments stay literals. */
#define INLINED static inline __attribute__((always_inline))

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

#endif
