/* offload: nests follow each other without the host, which waits once at the end of a sequence */
#define NESTS_ARE_DEFERRED
extern char queue_of_nests; /* each nest depends on the one before */
#define IN_ORDER                                                                                   \
    omp target teams distribute parallel for defaultmap(firstprivate : pointer)                    \
        defaultmap(firstprivate : aggregate) depend(inout : queue_of_nests) TWO_WAVES
#define LAUNCH IN_ORDER nowait
#include "distribute.h"
#undef PARALLEL_ROWS_SUM
#undef PARALLEL_COLUMNS_MAX
#undef ONCE
#undef ONE_TEAM
#define PARALLEL_ROWS_SUM(total, turns)                                                            \
    PRAGMA(IN_ORDER collapse(3) map(tofrom : total) reduction(+ : total)                           \
               num_teams(blocks_of_sum(turns)))
#define PARALLEL_COLUMNS_MAX(largest, turns)                                                       \
    PRAGMA(IN_ORDER collapse(2) map(tofrom : largest) reduction(max : largest)                     \
               num_teams(blocks_of_sum(turns)))
#define ONE_TEAM                                                                                   \
    PRAGMA(omp target parallel defaultmap(firstprivate : pointer) depend(inout : queue_of_nests)   \
               nowait)
#define ONCE                                                                                       \
    PRAGMA(omp target defaultmap(firstprivate : pointer) depend(inout : queue_of_nests) nowait)
