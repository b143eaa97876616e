/* What every unit test includes: cmocka, and the headers that it needs. */
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

#define assert_done(call) assert_int_equal(call, MINIAPP_DONE)

/* Uniform in [-1, 1), the same on every machine: a linear congruential generator (Knuth). */
static inline double random_number(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return (double)(int64_t)state * 0x1p-63;
}

#endif
