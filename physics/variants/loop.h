/* offload: the runtime chooses how teams and threads share points and columns (loop) */
#define LAUNCH omp target teams loop defaultmap(firstprivate : pointer) TWO_WAVES
#include "distribute.h"
