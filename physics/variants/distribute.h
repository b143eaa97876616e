/* offload: a thread takes a point or a column (Clang), or a warp takes a row (GCC) */
#if !defined(LAUNCH)
#define LAUNCH omp target teams distribute parallel for defaultmap(firstprivate : pointer) TWO_WAVES
#endif
#if !defined(THREADS_OF_A_BLOCK)
#define THREADS_OF_A_BLOCK 128
#endif
#if defined(__clang__)
#define PARALLEL_ROWS PRAGMA(LAUNCH collapse(3))
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(LAUNCH collapse(3) map(tofrom : total) reduction(+ : total)                             \
               num_teams(blocks_of_sum(turns)))
#define PARALLEL_COLUMNS PRAGMA(LAUNCH collapse(2))
#define ALONG_X
#define ALONG_X_SUM(sum)
#define ROW_PART(nx) 1
#define ROW_CHUNK 1
#else
#define PARALLEL_ROWS PRAGMA(LAUNCH collapse(2))
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(LAUNCH collapse(2) map(tofrom : total) reduction(+ : total))
#define PARALLEL_COLUMNS PRAGMA(LAUNCH)
#define ALONG_X PRAGMA(omp simd)
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
#endif
#define PARALLEL_COLUMNS_IF(is_shared) PARALLEL_COLUMNS
#define ONCE PRAGMA(omp target defaultmap(firstprivate : pointer))
