/*
 * The tridiagonal helper against LAPACK's dgtsv, on random systems of exchange. Built
 * with -DREAL=double -DPHYSICS_VARIANT=host_float64.
 */
#include "tridiagonal.h"
#include "unit.h"

#include <lapacke.h>

#define MAX_SIZE 64
#define ANY_X 1e9 /* above the last row, which does not see it */

static struct tridiagonal_row random_row(void)
{
    const double a = -fabs(random_number()), c = -fabs(random_number());
    return (struct tridiagonal_row){a, 0.01 + fabs(random_number()), c, random_number()};
}

static void solve(int n, const struct tridiagonal_row *rows, double *x)
{
    struct reduced_row reduced[MAX_SIZE];
    struct reduced_row last = NO_ROW;
    for (int k = 0; k < n; k++)
        last = reduced[k] = eliminate(rows[k], last);
    for (int k = n - 1; k >= 0; k--)
        x[k] = substitute(reduced[k], k < n - 1 ? x[k + 1] : ANY_X);
}

static void solve_by_lapack(int n, const struct tridiagonal_row *rows, double *x)
{
    double lower[MAX_SIZE], diagonal[MAX_SIZE], upper[MAX_SIZE];
    for (int k = 0; k < n; k++) {
        if (k > 0)
            lower[k - 1] = rows[k].a;
        const double below = k > 0 ? rows[k].a : 0, above = k < n - 1 ? rows[k].c : 0;
        diagonal[k] = rows[k].excess - below - above;
        upper[k] = rows[k].c;
        x[k] = rows[k].d;
    }
    assert_int_equal(LAPACKE_dgtsv(LAPACK_COL_MAJOR, n, 1, lower, diagonal, upper, x, n), 0);
}

TEST(agrees_with_lapack)
{
    static const int sizes[] = {1, 2, 3, 7, MAX_SIZE};
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++)
        for (int system = 0; system < 1000; system++) {
            const int n = sizes[size];
            struct tridiagonal_row rows[MAX_SIZE];
            double x[MAX_SIZE], expected[MAX_SIZE], largest = 0;
            for (int k = 0; k < n; k++)
                rows[k] = random_row();
            rows[0].a = rows[n - 1].c = 0;
            solve(n, rows, x);
            solve_by_lapack(n, rows, expected);
            for (int k = 0; k < n; k++)
                largest = fmax(largest, fabs(expected[k]));
            for (int k = 0; k < n; k++)
                assert_true(fabs(x[k] - expected[k]) <= 1e-12 * largest);
        }
}

/* Rows x = d, and what couples to them, leave d as it is to the last bit. */
TEST(keeps_identity_rows)
{
    struct tridiagonal_row rows[8];
    double x[8];
    for (int k = 0; k < 8; k++)
        rows[k] = k < 4 ? (struct tridiagonal_row){0, 1, 0, random_number()} : random_row();
    rows[4].a = 0;
    solve(8, rows, x);
    for (int k = 0; k < 4; k++)
        assert_true(x[k] == rows[k].d);
}

/* However strong the exchange is, what is the same everywhere stays so: where nothing decays to the
 * last bit, and else where as much comes in as decays. */
TEST(keeps_what_is_uniform)
{
    for (double strength = 1e-6; strength < 1e18; strength *= 10)
        for (int decays = 0; decays < 2; decays++) {
            struct tridiagonal_row rows[MAX_SIZE];
            double x[MAX_SIZE];
            for (int k = 0; k < MAX_SIZE; k++) {
                const struct tridiagonal_row random = random_row();
                const double excess = 1 + decays * fabs(random_number());
                rows[k] = (struct tridiagonal_row){strength * random.a, excess, strength * random.c,
                                                   excess};
            }
            rows[0].a = rows[MAX_SIZE - 1].c = 0;
            solve(MAX_SIZE, rows, x);
            for (int k = 0; k < MAX_SIZE; k++)
                assert_true(fabs(x[k] - 1) <= 1e-13 * decays);
        }
}

/* Where much is lost and little is exchanged, x grows upwards by orders of magnitude. */
TEST(has_digits_where_little_is_left)
{
    struct tridiagonal_row rows[MAX_SIZE];
    double x[MAX_SIZE], expected[MAX_SIZE];
    for (int k = 0; k < MAX_SIZE; k++)
        rows[k] = (struct tridiagonal_row){k > 0 ? -1e-4 : 0, 2, k < MAX_SIZE - 1 ? -1e-4 : 0,
                                           k == MAX_SIZE - 1};
    solve(MAX_SIZE, rows, x);
    solve_by_lapack(MAX_SIZE, rows, expected);
    for (int k = 0; k < MAX_SIZE; k++)
        assert_true(fabs(x[k] - expected[k]) <= 1e-13 * expected[k]);
}

RUN_TESTS(NULL, NULL)
