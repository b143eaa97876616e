/* offload: a team takes a row, or a row of columns, and its threads share the points along x */
/* GPU flags: -fno-openmp-cuda-mode */
/* The threads of a team share its locals, which that mode denies them. LLVM vectorises nothing on a
 * GPU, and would warn of each `simd`. */
#define PARALLEL_ROWS                                                                              \
    PRAGMA(omp target teams distribute collapse(2) defaultmap(firstprivate : pointer))
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(omp target teams distribute collapse(2) defaultmap(firstprivate : pointer)              \
               map(tofrom : total) reduction(+ : total))
#define PARALLEL_COLUMNS PRAGMA(omp target teams distribute defaultmap(firstprivate : pointer))
#define PARALLEL_COLUMNS_IF(is_shared) PARALLEL_COLUMNS
#define ONCE PRAGMA(omp target defaultmap(firstprivate : pointer))
#define ALONG_X PRAGMA(omp parallel for)
#define ALONG_X_SUM(sum) PRAGMA(omp parallel for reduction(+ : sum))
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
