/* offload: blocks of at most 256 threads */
#define THREADS_OF_A_BLOCK 256
#define LAUNCH                                                                                     \
    omp target teams distribute parallel for defaultmap(firstprivate : pointer) thread_limit(256)   \
        TWO_WAVES
#include "distribute.h"
