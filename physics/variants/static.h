/* host: each thread takes an equal part of the rows */
#if !defined(SCHEDULE)
#define SCHEDULE schedule(static)
#endif
#define PARALLEL_ROWS PRAGMA(omp parallel for collapse(2) SCHEDULE)
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(omp parallel for collapse(2) SCHEDULE reduction(+ : total))
#define PARALLEL_COLUMNS PRAGMA(omp parallel for SCHEDULE)
#define PARALLEL_COLUMNS_IF(is_shared) PRAGMA(omp parallel for SCHEDULE if (is_shared))
#define ONCE
#define ALONG_X PRAGMA(omp simd)
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum))
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
