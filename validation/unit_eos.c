/*
 * The equation of state against 50-digit values, and that a point's result depends on that point
 * only: not on the number of threads, on its place in the row or on the row's length.
 */
#include "eos_check_points.h"

#include <physics/kernel.h>

#include <math.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = sizeof(eos_check_points) / sizeof(*eos_check_points) };

/* The ranges in which the errors count: pressures of the sea, and of no sea. */
static const double deepest = 8000;

static const struct physics_kernel *eos(enum physics_precision precision)
{
    return physics_find_kernel(physics_host_kernels(precision), "eos");
}

/* dHdT in float64 on a grid. */
static void run64(struct physics_grid grid, const double *salt, const double *temp, const double *p,
                  double *dHdT)
{
    struct physics_call call = {.grid = grid};
    physics_default_settings(&call);
    call.input[PHYSICS_SALT] = salt;
    call.input[PHYSICS_TEMP] = temp;
    call.input[PHYSICS_P] = p;
    call.output[PHYSICS_DHDT] = dHdT;
    assert_int_equal(physics_run(eos(PHYSICS_FLOAT64), &call), PHYSICS_DONE);
}

static void run32(struct physics_grid grid, const float *salt, const float *temp, const float *p,
                  float *dHdT)
{
    struct physics_call call = {.grid = grid};
    physics_default_settings(&call);
    call.input[PHYSICS_SALT] = salt;
    call.input[PHYSICS_TEMP] = temp;
    call.input[PHYSICS_P] = p;
    call.output[PHYSICS_DHDT] = dHdT;
    assert_int_equal(physics_run(eos(PHYSICS_FLOAT32), &call), PHYSICS_DONE);
}

/* One check point a level, the same in all of its cells. */
static const struct physics_grid check_grid = {PHYSICS_MIN_CELLS, PHYSICS_MIN_CELLS, POINTS};
enum { CELLS = PHYSICS_MIN_CELLS * PHYSICS_MIN_CELLS };

static double evaluate_in_float64(double result[POINTS])
{
    static double salt[POINTS * CELLS], temp[POINTS * CELLS], p[POINTS], dHdT[POINTS * CELLS];
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        salt[i] = eos_check_points[i / CELLS].salt;
        temp[i] = eos_check_points[i / CELLS].temp;
        p[i / CELLS] = eos_check_points[i / CELLS].p;
    }
    run64(check_grid, salt, temp, p, dHdT);
    double spread = 0;
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        result[i / CELLS] = dHdT[i / CELLS * CELLS];
        spread = fmax(spread, fabs(dHdT[i] - dHdT[i / CELLS * CELLS]));
    }
    return spread;
}

static double evaluate_in_float32(double result[POINTS])
{
    static float salt[POINTS * CELLS], temp[POINTS * CELLS], p[POINTS], dHdT[POINTS * CELLS];
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        salt[i] = (float)eos_check_points[i / CELLS].salt;
        temp[i] = (float)eos_check_points[i / CELLS].temp;
        p[i / CELLS] = (float)eos_check_points[i / CELLS].p;
    }
    run32(check_grid, salt, temp, p, dHdT);
    double spread = 0;
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        result[i / CELLS] = (double)dHdT[i / CELLS * CELLS];
        spread = fmax(spread, fabs((double)(dHdT[i] - dHdT[i / CELLS * CELLS])));
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
    assert_true(evaluate_in_float64(result) == 0);
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
    assert_true(evaluate_in_float32(result) == 0);
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
    evaluate_in_float64(result);
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
    static float salt32[ODD], temp32[ODD], p32[ODD_Z], first32[ODD], other32[ODD];
    const struct physics_grid grid = {ODD_X, ODD_Y, ODD_Z};
    const int threads[] = {1, 2, 3, 5, 1};
    fill(salt, temp, ODD, p, ODD_Z);
    for (size_t i = 0; i < ODD; i++) {
        salt32[i] = (float)salt[i];
        temp32[i] = (float)temp[i];
    }
    for (size_t z = 0; z < ODD_Z; z++)
        p32[z] = (float)p[z];
    for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++) {
        omp_set_num_threads(threads[i]);
        memset(other, 0xff, sizeof(other));
        memset(other32, 0xff, sizeof(other32));
        run64(grid, salt, temp, p, i ? other : first);
        run32(grid, salt32, temp32, p32, i ? other32 : first32);
        if (i) {
            assert_memory_equal(first, other, sizeof(first));
            assert_memory_equal(first32, other32, sizeof(first32));
        }
    }
}

enum { LONGEST_ROW = 40, ROWS = PHYSICS_MIN_CELLS, LEVELS = 6 };

/* A point in rows of each length, at each place: its bits must be the same everywhere. SIMD lanes
 * and the remainder of a row are compiled apart. */
static void same_in_any_row(void **state)
{
    (void)state;
    enum { MOST = LONGEST_ROW * ROWS * LEVELS };
    static double salt[MOST], temp[MOST], p[LEVELS], dHdT[MOST], expected[LONGEST_ROW][LEVELS];
    static double values[2][LONGEST_ROW];
    double difference = 0;
    fill(values[0], values[1], LONGEST_ROW, p, LEVELS);
    for (size_t nx = LONGEST_ROW; nx >= PHYSICS_MIN_CELLS; nx--)
        for (size_t start = 0; start < LONGEST_ROW; start++) {
            const struct physics_grid grid = {nx, ROWS, LEVELS};
            for (size_t i = 0; i < nx * ROWS * LEVELS; i++) {
                salt[i] = values[0][(start + i % nx) % LONGEST_ROW];
                temp[i] = values[1][(start + i % nx) % LONGEST_ROW];
            }
            run64(grid, salt, temp, p, dHdT);
            for (size_t i = 0; i < nx * ROWS * LEVELS; i++) {
                double *value = &expected[(start + i % nx) % LONGEST_ROW][i / nx / ROWS];
                if (nx == LONGEST_ROW && start == 0 && i / nx % ROWS == 0)
                    *value = dHdT[i];
                difference = fmax(difference, fabs(dHdT[i] - *value) / fabs(*value));
            }
        }
    print_message("rows of 5 to 40 points: relative difference at most %.2g\n", difference);
    assert_true(difference == 0);
}

/* The same in float32. */
static void same_in_any_row_in_float32(void **state)
{
    (void)state;
    enum { MOST = LONGEST_ROW * ROWS };
    static double values[2][LONGEST_ROW], pressure[1];
    static float salt[MOST], temp[MOST], dHdT[MOST], expected[LONGEST_ROW];
    const float p[] = {500};
    fill(values[0], values[1], LONGEST_ROW, pressure, 1);
    double difference = 0;
    for (size_t nx = LONGEST_ROW; nx >= PHYSICS_MIN_CELLS; nx--)
        for (size_t start = 0; start < LONGEST_ROW; start++) {
            const struct physics_grid grid = {nx, ROWS, 1};
            for (size_t i = 0; i < nx * ROWS; i++) {
                salt[i] = (float)values[0][(start + i % nx) % LONGEST_ROW];
                temp[i] = (float)values[1][(start + i % nx) % LONGEST_ROW];
            }
            run32(grid, salt, temp, p, dHdT);
            for (size_t i = 0; i < nx * ROWS; i++) {
                float *value = &expected[(start + i % nx) % LONGEST_ROW];
                if (nx == LONGEST_ROW && start == 0 && i / nx == 0)
                    *value = dHdT[i];
                difference = fmax(difference, fabs((double)(dHdT[i] - *value)));
            }
        }
    assert_true(difference == 0);
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
    run64((struct physics_grid){PHYSICS_MIN_CELLS, PHYSICS_MIN_CELLS, 2}, salt, temp, p, dHdT);
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
    return cmocka_run_group_tests(tests, NULL, NULL);
}
