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
#define PARALLEL_COLUMNS_MAX(largest, turns)                                                       \
    PRAGMA(LAUNCH collapse(2) map(tofrom : largest) reduction(max : largest)                       \
               num_teams(blocks_of_sum(turns)))
#define ALONG_X
#define ALONG_X_SUM(sum)
#define ALONG_X_MAX(largest)
#define ROW_PART(nx) 1
#define ROW_CHUNK 1
#else
#define PARALLEL_ROWS PRAGMA(LAUNCH collapse(2))
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(LAUNCH collapse(2) map(tofrom : total) reduction(+ : total))
#define PARALLEL_COLUMNS PRAGMA(LAUNCH)
#define PARALLEL_COLUMNS_MAX(largest, turns)                                                       \
    PRAGMA(LAUNCH map(tofrom : largest) reduction(max : largest))
#define ALONG_X PRAGMA(omp simd)
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#define ALONG_X_MAX(largest) PRAGMA(omp simd reduction(max : largest))
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
#endif
#define ONCE PRAGMA(omp target defaultmap(firstprivate : pointer))
#define ONE_TEAM PRAGMA(omp target parallel defaultmap(firstprivate : pointer))
#define TEAM_BARRIER PRAGMA(omp barrier)
#define TEAM_SIZE omp_get_num_threads()
#define TEAM_MEMBER omp_get_thread_num()
int omp_get_num_threads(void);
int omp_get_thread_num(void);
