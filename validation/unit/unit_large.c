/* The host's kernels on more than 2^31 points: no index may be an int. */
#include "large.h"

static void eos_of_the_host(void **state)
{
    eos_past_two_to_the_31(host_backend.functions, LARGE_BLOCK_ROWS, LARGE_BLOCKS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eos_of_the_host)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
