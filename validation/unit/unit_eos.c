/*
 * The equation of state against 50-digit values, and that a point's result depends on that point
 * only: not on the number of threads, on its place in the row or on the row's length.
 */
#include "eos_check_points.h"

#include <math.h>
#include <miniapp.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = sizeof(eos_check_points) / sizeof(*eos_check_points) };

/* The ranges in which the errors count: pressures of the sea, and of no sea. */
static const double deepest = 8000;

static struct miniapp_device *cpu;

static int open_cpu(void **state)
{
    (void)state;
    return miniapp_device_open("cpu", &cpu);
}

static int close_cpu(void **state)
{
    (void)state;
    miniapp_device_close(cpu);
    return 0;
}

/* dHdT on a grid; elements that are left out are NaN. */
static void run(enum miniapp_precision precision, struct miniapp_grid grid, const double *salt,
                const double *temp, const double *p, double *dHdT)
{
    const size_t points = miniapp_grid_points(&grid);
    struct miniapp_state *state;
    for (size_t i = 0; i < points; i++)
        dHdT[i] = NAN;
    assert_int_equal(miniapp_state_create(cpu, precision, &grid, &state), MINIAPP_DONE);
    assert_int_equal(miniapp_state_set(state, "salt", salt), MINIAPP_DONE);
    assert_int_equal(miniapp_state_set(state, "temp", temp), MINIAPP_DONE);
    assert_int_equal(miniapp_state_set(state, "p", p), MINIAPP_DONE);
    assert_int_equal(miniapp_state_set(state, "dHdT", dHdT), MINIAPP_DONE);
    assert_int_equal(miniapp_run(state, "eos"), MINIAPP_DONE);
    assert_int_equal(miniapp_state_get(state, "dHdT", dHdT), MINIAPP_DONE);
    miniapp_state_free(state);
}

/* One check point a level, the same in all of its cells. */
static const struct miniapp_grid check_grid = {MINIAPP_MIN_CELLS, MINIAPP_MIN_CELLS, POINTS};
enum { CELLS = MINIAPP_MIN_CELLS * MINIAPP_MIN_CELLS };

/* The largest difference between cells of a level. */
static double evaluate(enum miniapp_precision precision, double result[POINTS])
{
    static double salt[POINTS * CELLS], temp[POINTS * CELLS], p[POINTS], dHdT[POINTS * CELLS];
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        salt[i] = eos_check_points[i / CELLS].salt;
        temp[i] = eos_check_points[i / CELLS].temp;
        p[i / CELLS] = eos_check_points[i / CELLS].p;
    }
    run(precision, check_grid, salt, temp, p, dHdT);
    double spread = 0;
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        assert_true(isfinite(dHdT[i]));
        result[i / CELLS] = dHdT[i / CELLS * CELLS];
        spread = fmax(spread, fabs(dHdT[i] - dHdT[i / CELLS * CELLS]));
    }
    return spread;
}

/* The largest error over the largest value, of the points down to a pressure. */
static double largest_error(const double result[POINTS], double down_to)
{
    double error = 0, largest = 0;
    for (size_t i = 0; i < POINTS; i++) {
        const struct eos_check_point *point = &eos_check_points[i];
        if (point->p > down_to)
            continue;
        error = fmax(error, fabs(result[i] - point->dHdT));
        largest = fmax(largest, fabs(point->dHdT));
    }
    return error / largest;
}

static void accuracy_in_float64(void **state)
{
    (void)state;
    double result[POINTS];
    assert_true(evaluate(MINIAPP_FLOAT64, result) == 0);
    const double sea = largest_error(result, deepest), all = largest_error(result, INFINITY);
    print_message("float64: %.2g of the largest dHdT to %g dbar, %.2g to 12000 dbar\n", sea,
                  deepest, all);
    assert_true(sea <= 1e-13);
    assert_true(all <= 1e-13);
}

static void accuracy_in_float32(void **state)
{
    (void)state;
    double result[POINTS];
    assert_true(evaluate(MINIAPP_FLOAT32, result) == 0);
    const double sea = largest_error(result, deepest), all = largest_error(result, INFINITY);
    print_message("float32: %.2g of the largest dHdT to %g dbar, %.2g to 12000 dbar\n", sea,
                  deepest, all);
    assert_true(sea <= 1e-5);
    assert_true(all <= 1e-5);
}

/* Nothing at the surface: the integral from 0 to 0. */
static void zero_pressure(void **state)
{
    (void)state;
    double result[POINTS];
    evaluate(MINIAPP_FLOAT64, result);
    for (size_t i = 0; i < POINTS; i++)
        if (eos_check_points[i].p == 0)
            assert_true(result[i] == 0);
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

static void same_for_any_number_of_threads(void **state)
{
    (void)state;
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

static void same_in_any_row(void **state)
{
    (void)state;
    same_in_rows(MINIAPP_FLOAT64, NULL, LEVELS);
}

static void same_in_any_row_in_float32(void **state)
{
    (void)state;
    const double p[] = {500};
    same_in_rows(MINIAPP_FLOAT32, p, 1);
}

/* Land has salinity 0, where the root of salinity has no derivative. */
static void land_is_finite(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accuracy_in_float64), cmocka_unit_test(accuracy_in_float32),
        cmocka_unit_test(zero_pressure),       cmocka_unit_test(same_for_any_number_of_threads),
        cmocka_unit_test(same_in_any_row),     cmocka_unit_test(same_in_any_row_in_float32),
        cmocka_unit_test(land_is_finite),
    };
    return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
