/* host: OMP_SCHEDULE says how threads share the rows */
#define SCHEDULE schedule(runtime)
#include "static.h"
