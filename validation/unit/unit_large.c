/* The host's kernels on more than 2^31 points: no index may be an int. */
#include "large.h"

TEST(eos_of_the_host)
{
    eos_past_two_to_the_31(host_backend.functions, LARGE_BLOCK_ROWS, LARGE_BLOCKS);
}

RUN_TESTS(NULL, NULL)
