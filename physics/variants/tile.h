/* host: a thread takes tiles of two levels by four rows, or columns of two rows (needs Clang) */
#include "static.h"
#undef PARALLEL_ROWS
#undef PARALLEL_COLUMNS
#define PARALLEL_ROWS                                                                              \
    PRAGMA(omp parallel for collapse(2) SCHEDULE)                                                  \
    PRAGMA(omp tile sizes(2, 4))
#define PARALLEL_COLUMNS                                                                           \
    PRAGMA(omp parallel for SCHEDULE)                                                              \
    PRAGMA(omp unroll partial(2))
