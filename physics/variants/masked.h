/* host: a vector with a mask for the columns left at the end of a row, by Clang */
#include "static.h"
#if defined(__clang__)
#undef ALONG_X
#undef ALONG_X_SUM
#undef ALONG_X_MAX
#define MASKED PRAGMA(clang loop vectorize_predicate(enable))
#define ALONG_X PRAGMA(omp simd) MASKED
#define ALONG_X_SUM(sum) PRAGMA(omp simd reduction(+ : sum)) MASKED
#define ALONG_X_MAX(largest) PRAGMA(omp simd reduction(max : largest)) MASKED
#endif
