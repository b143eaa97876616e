/*
 * The tridiagonal helper against LAPACK's dgtsv, on random diagonally dominant systems. Built
 * with -DREAL=double -DPHYSICS_VARIANT=host_float64.
 */
#include "tridiagonal.h"

#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka.h needs four of those */
#include <cmocka.h>

#define MAX_SIZE 64

/* Uniform in [-1, 1), the same on every machine: a linear congruential generator (Knuth). */
static double random_number(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return (double)(int64_t)state * 0x1p-63;
}

static struct tridiagonal_row random_row(void)
{
    const double a = random_number();
    const double c = random_number();
    const double b = copysign(fabs(a) + fabs(c) + 0.01 + fabs(random_number()), random_number());
    return (struct tridiagonal_row){a, b, c, random_number()};
}

static void solve(int n, const struct tridiagonal_row *rows, double *x)
{
    struct reduced_row reduced[MAX_SIZE];
    struct reduced_row last = NO_ROW;
    for (int k = 0; k < n; k++)
        last = reduced[k] = eliminate(rows[k], last);
    x[n - 1] = last.d;
    for (int k = n - 2; k >= 0; k--)
        x[k] = substitute(reduced[k], x[k + 1]);
}

static void solve_by_lapack(int n, const struct tridiagonal_row *rows, double *x)
{
    double lower[MAX_SIZE], diagonal[MAX_SIZE], upper[MAX_SIZE];
    for (int k = 0; k < n; k++) {
        if (k > 0)
            lower[k - 1] = rows[k].a;
        diagonal[k] = rows[k].b;
        upper[k] = rows[k].c;
        x[k] = rows[k].d;
    }
    assert_int_equal(LAPACKE_dgtsv(LAPACK_COL_MAJOR, n, 1, lower, diagonal, upper, x, n), 0);
}

static void agrees_with_lapack(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 7, MAX_SIZE};
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
        for (int system = 0; system < 1000; system++) {
            const int n = sizes[size];
            struct tridiagonal_row rows[MAX_SIZE];
            double x[MAX_SIZE], expected[MAX_SIZE], largest = 0;
            for (int k = 0; k < n; k++)
                rows[k] = random_row();
            solve(n, rows, x);
            solve_by_lapack(n, rows, expected);
            for (int k = 0; k < n; k++)
                largest = fmax(largest, fabs(expected[k]));
            for (int k = 0; k < n; k++)
                assert_true(fabs(x[k] - expected[k]) <= 1e-12 * largest);
        }
}

/* Rows x = d, and what couples to them, leave d as it is to the last bit. */
static void keeps_identity_rows(void **state)
{
    (void)state;
    struct tridiagonal_row rows[8];
    double x[8];
    for (int k = 0; k < 8; k++)
        rows[k] = k < 4 ? (struct tridiagonal_row){0, 1, 0, random_number()} : random_row();
    rows[4].a = 0;
    solve(8, rows, x);
    for (int k = 0; k < 4; k++)
        assert_true(x[k] == rows[k].d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_lapack),
        cmocka_unit_test(keeps_identity_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
