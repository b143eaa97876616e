/* offload: blocks of at most 64 threads */
#define THREADS_OF_A_BLOCK 64
#define LAUNCH                                                                                     \
    omp target teams distribute parallel for defaultmap(firstprivate : pointer) thread_limit(64)   \
        TWO_WAVES
#include "distribute.h"
