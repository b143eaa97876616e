/*
 * The equation of state: its rules of quadrature, against what they integrate exactly; and that a
 * point's result depends on that point only: not on the number of threads, on its place in the row
 * or on the row's length.
 */
#include "on_device.h"

#include <miniapp.h>
#include <omp.h>

/* The rules are the kernels': this is what kernels include. */
#define REAL double
#define PHYSICS_VARIANT host_float64
#include "eos/quadrature.h"

/* ---- quadrature ---- */

/* n nodes integrate powers up to 2 n - 1 exactly, and no rule is that of others. */
TEST(rules_integrate_powers)
{
    const int numbers[] = {3, 4, 5, 6, 7, 8, 10, MOST_NODES};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        const int nodes = numbers[i];
        const struct node_pair *const rule = quadrature_rule(nodes);
        for (int power = 0; power <= 2 * nodes; power++) {
            long double integral = 0;
            for (int k = 0; k < nodes / 2; k++)
                integral += rule[k].weight *
                            (powl(rule[k].x, power) + powl(1 - (long double)rule[k].x, power));
            if (nodes % 2 > 0)
                integral += rule[nodes / 2].weight * powl(0.5L, power);
            const double error = (double)fabsl(integral * (power + 1) - 1);
            if (power < 2 * nodes)
                assert_true(error < 1e-15);
            else if (nodes < 10) /* beyond, the error is less than rounding */
                assert_true(error > 1e-15);
        }
    }
}

/* More pressure never takes fewer nodes. */
TEST(rules_grow_with_pressure)
{
    for (int p = 0; p < 12000; p++)
        assert_true(quadrature_nodes(p) <= quadrature_nodes(p + 1));
    assert_int_equal(quadrature_nodes(0), FEWEST_NODES);
    assert_int_equal(quadrature_nodes(12000), MOST_NODES);
}

/* ---- bits ---- */

/* dHdT on a grid; elements that are left out are NaN. */
static void run(enum miniapp_precision precision, struct miniapp_grid grid, const double *salt,
                const double *temp, const double *p, double *dHdT)
{
    const size_t points = miniapp_grid_points(&grid);
    struct miniapp_state *state;
    for (size_t i = 0; i < points; i++)
        dHdT[i] = NAN;
    assert_done(miniapp_state_create(device, precision, &grid, &state));
    assert_done(miniapp_state_set(state, "salt", salt));
    assert_done(miniapp_state_set(state, "temp", temp));
    assert_done(miniapp_state_set(state, "p", p));
    assert_done(miniapp_state_set(state, "dHdT", dHdT));
    assert_done(miniapp_run(state, "eos"));
    assert_done(miniapp_state_get(state, "dHdT", dHdT));
    miniapp_state_free(state);
}

/* Points that are all different, in an ocean of every depth. */
static void fill(double *salt, double *temp, size_t points, double *p, size_t levels)
{
    for (size_t i = 0; i < points; i++) {
        salt[i] = 42 * fabs(sin(0.7 * (double)i + 1));
        temp[i] = 19 + 21 * sin(1.3 * (double)i);
    }
    for (size_t z = 0; z < levels; z++)
        p[z] = 11000 * ((double)(levels - z) - 0.5) / (double)levels;
}

enum { ODD_X = 37, ODD_Y = 11, ODD_Z = 13, ODD = ODD_X * ODD_Y * ODD_Z };

TEST(same_for_any_number_of_threads)
{
    static double salt[ODD], temp[ODD], p[ODD_Z], first[ODD], other[ODD];
    const struct miniapp_grid grid = {ODD_X, ODD_Y, ODD_Z};
    const int threads[] = {1, 2, 3, 5, 1};
    fill(salt, temp, ODD, p, ODD_Z);
    for (int precision = 0; precision < MINIAPP_PRECISIONS; precision++)
        for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
            omp_set_num_threads(threads[i]);
            run((enum miniapp_precision)precision, grid, salt, temp, p, i ? other : first);
            if (i)
                assert_memory_equal(first, other, sizeof(first));
        }
}

enum { LONGEST_ROW = 40, ROWS = MINIAPP_MIN_CELLS, LEVELS = 6 };

/* A point in rows of each length, at each place: its bits must be the same everywhere. SIMD lanes
 * and the remainder of a row are compiled apart. */
static void same_in_rows(enum miniapp_precision precision, const double *p, size_t levels)
{
    enum { MOST = LONGEST_ROW * ROWS * LEVELS };
    static double salt[MOST], temp[MOST], dHdT[MOST], expected[LONGEST_ROW][LEVELS];
    static double values[2][LONGEST_ROW], pressures[LEVELS];
    double difference = 0;
    fill(values[0], values[1], LONGEST_ROW, pressures, LEVELS);
    for (size_t nx = LONGEST_ROW; nx >= MINIAPP_MIN_CELLS; nx--)
        for (size_t start = 0; start < LONGEST_ROW; start++) {
            const struct miniapp_grid grid = {nx, ROWS, levels};
            for (size_t i = 0; i < nx * ROWS * levels; i++) {
                salt[i] = values[0][(start + i % nx) % LONGEST_ROW];
                temp[i] = values[1][(start + i % nx) % LONGEST_ROW];
            }
            run(precision, grid, salt, temp, p ? p : pressures, dHdT);
            for (size_t i = 0; i < nx * ROWS * levels; i++) {
                double *value = &expected[(start + i % nx) % LONGEST_ROW][i / nx / ROWS];
                if (nx == LONGEST_ROW && start == 0 && i / nx % ROWS == 0)
                    *value = dHdT[i];
                assert_true(isfinite(dHdT[i]));
                difference = fmax(difference, fabs(dHdT[i] - *value) / fabs(*value));
            }
        }
    print_message("rows of 5 to 40 points: relative difference at most %.2g\n", difference);
    assert_true(difference == 0);
}

TEST(same_in_any_row)
{
    same_in_rows(MINIAPP_FLOAT64, NULL, LEVELS);
}

TEST(same_in_any_row_in_float32)
{
    const double p[] = {500};
    same_in_rows(MINIAPP_FLOAT32, p, 1);
}

/* Land has salinity 0, where the root of salinity has no derivative. */
TEST(land_is_finite)
{
    enum { CELLS = MINIAPP_MIN_CELLS * MINIAPP_MIN_CELLS };
    double salt[CELLS * 2], temp[CELLS * 2], dHdT[CELLS * 2];
    const double p[] = {11000, 0};
    for (size_t i = 0; i < CELLS * 2; i++) {
        salt[i] = i % 2 ? 0 : -0.0;
        temp[i] = 0;
    }
    run(MINIAPP_FLOAT64, (struct miniapp_grid){MINIAPP_MIN_CELLS, MINIAPP_MIN_CELLS, 2}, salt, temp,
        p, dHdT);
    for (size_t i = 0; i < CELLS * 2; i++)
        assert_true(isfinite(dHdT[i]));
}

RUN_TESTS(open_device, close_device)
