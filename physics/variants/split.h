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
#define PARALLEL_COLUMNS_MAX(largest, turns)                                                       \
    PRAGMA(omp target teams distribute defaultmap(firstprivate : pointer) map(tofrom : largest)    \
               reduction(max : largest))
#define ONCE PRAGMA(omp target defaultmap(firstprivate : pointer))
#define ALONG_X PRAGMA(omp parallel for)
#define ALONG_X_SUM(sum) PRAGMA(omp parallel for reduction(+ : sum))
#define ALONG_X_MAX(largest) PRAGMA(omp parallel for reduction(max : largest))
#define ONE_TEAM ONCE
#define TEAM_BARRIER
#define TEAM_SIZE 1
#define TEAM_MEMBER 0
#define ROW_PART(nx) (nx)
#define ROW_CHUNK 512
