/* Every unit test includes this: cmocka, the headers that it needs, and a list of the file's tests.
 */
#ifndef VALIDATION_UNIT_H
#define VALIDATION_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* cmocka gives each test a state, which few use. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static struct CMUnitTest tests[64]; /* in the order in which they stand in the file */
static size_t test_count;

/* TEST(name) { ... } is a test; TEST_AFTER has something done before it. */
#define TEST(name) TEST_AFTER(NULL, name)
#define TEST_AFTER(set_up, name)                                                                   \
    static void name(void **nothing);                                                              \
    __attribute__((constructor)) static void list_##name(void)                                     \
    {                                                                                              \
        tests[test_count++] = (struct CMUnitTest)cmocka_unit_test_setup(name, set_up);             \
    }                                                                                              \
    static void name(void **nothing)

static const char *device_name = "cpu"; /* or the program's argument */

/* The program, which runs all tests of the file. */
#define RUN_TESTS(set_up, tear_down)                                                               \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        device_name = argc > 1 ? argv[1] : device_name;                                            \
        return cmocka_run_group_tests(tests, set_up, tear_down);                                   \
    }

#define assert_done(call) assert_int_equal(call, MINIAPP_DONE)

/* Uniform in [-1, 1), the same on every machine: a linear congruential generator (Knuth). */
static inline double random_number(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return (double)(int64_t)state * 0x1p-63;
}

#endif
