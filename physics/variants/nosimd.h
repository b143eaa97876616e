/* host: no directive along x, where the compiler alone decides whether to use vectors */
#include "static.h"
#undef ALONG_X
#undef ALONG_X_SUM
#undef ALONG_X_MAX
#define ALONG_X
#define ALONG_X_SUM(sum)
#define ALONG_X_MAX(largest)
