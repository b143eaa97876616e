/* host: each thread takes an equal part of the rows */
#if !defined(SCHEDULE)
#define SCHEDULE schedule(static)
#endif
#define PARALLEL_ROWS PRAGMA(omp parallel for collapse(2) SCHEDULE)
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(omp parallel for collapse(2) SCHEDULE reduction(+ : total))
#define PARALLEL_COLUMNS PRAGMA(omp parallel for SCHEDULE)
#define PARALLEL_COLUMNS_MAX(largest, turns)                                                       \
    PRAGMA(omp parallel for SCHEDULE reduction(max : largest))
#define ONCE
#define ONE_TEAM
#define TEAM_BARRIER
#define TEAM_SIZE 1
#define TEAM_MEMBER 0
#define ALONG_X PRAGMA(omp simd)
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#define ALONG_X_MAX(largest) PRAGMA(omp simd reduction(max : largest))
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
