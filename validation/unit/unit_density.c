/*
 * The kernel `density` by TEOS-10 against 50-digit values, and the rules of quadrature against what
 * they integrate exactly.
 */
#include "eos_check_points.h"

#include <math.h>
#include <miniapp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The rules are the kernels': this is what kernels include. */
#define REAL double
#define PHYSICS_VARIANT host_float64
#include "eos/quadrature.h"

enum { POINTS = sizeof(eos_check_points) / sizeof(*eos_check_points) };
enum { CELLS = MINIAPP_MIN_CELLS * MINIAPP_MIN_CELLS };

static const struct miniapp_grid check_grid = {MINIAPP_MIN_CELLS, MINIAPP_MIN_CELLS, POINTS};
static const double deepest = 8000; /* of the sea, in dbar */

/* ---- quadrature ---- */

/* n nodes integrate powers up to 2 n - 1 exactly, and no rule is that of others. */
static void rules_integrate_powers(void **state)
{
    (void)state;
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
static void rules_grow_with_pressure(void **state)
{
    (void)state;
    for (int p = 0; p < 12000; p++)
        assert_true(quadrature_nodes(p) <= quadrature_nodes(p + 1));
    assert_int_equal(quadrature_nodes(0), FEWEST_NODES);
    assert_int_equal(quadrature_nodes(12000), MOST_NODES);
}

/* ---- seawater ---- */

enum output { RHO, HD, INT_DRHODT, INT_DRHODS, OUTPUTS };
static const char *const output_names[] = {"rho", "Hd", "int_drhodT", "int_drhodS"};

static double expected(const struct eos_check_point *point, int output)
{
    const double by_enthalpy = -1024 / 9.81;
    return output == RHO          ? point->rho - 1024
           : output == HD         ? point->Hd
           : output == INT_DRHODT ? by_enthalpy * point->dHdT
                                  : by_enthalpy * point->dHdS;
}

static void set(struct miniapp_state *ocean, const char *name, const double *values)
{
    assert_int_equal(miniapp_state_set(ocean, name, values), MINIAPP_DONE);
}

/* One check point a level, the same in all cells; nothing is clamped. */
static void fill(struct miniapp_state *ocean)
{
    static double salt[POINTS * CELLS], temp[POINTS * CELLS], ones[POINTS * CELLS], p[POINTS];
    for (size_t i = 0; i < POINTS * CELLS; i++) {
        const struct eos_check_point *const point = &eos_check_points[i / CELLS];
        salt[i] = point->salt;
        temp[i] = point->temp;
        p[i / CELLS] = point->p;
        ones[i] = 1;
    }
    set(ocean, "salt", salt);
    set(ocean, "temp", temp);
    set(ocean, "p", p);
    set(ocean, "dzw", ones);
    set(ocean, "maskT", ones);
    set(ocean, "maskW", ones);
    assert_int_equal(miniapp_state_set_setting(ocean, "eq_of_state_type", 5), MINIAPP_DONE);
    assert_int_equal(miniapp_state_set_setting(ocean, "clamp_enthalpy", 0), MINIAPP_DONE);
}

/* The largest error over the largest value, of the points down to a pressure. */
static double largest_error(const double *result, int output, double down_to)
{
    double error = 0, largest = 0;
    for (size_t i = 0; i < POINTS; i++) {
        const struct eos_check_point *const point = &eos_check_points[i];
        if (point->p > down_to)
            continue;
        assert_true(isfinite(result[i * CELLS]));
        error = fmax(error, fabs(result[i * CELLS] - expected(point, output)));
        largest = fmax(largest, fabs(expected(point, output)));
    }
    return error / largest;
}

static void check_accuracy(enum miniapp_precision precision, double allowed)
{
    static double result[POINTS * CELLS];
    struct miniapp_device *cpu;
    struct miniapp_state *ocean;
    assert_int_equal(miniapp_device_open("cpu", &cpu), MINIAPP_DONE);
    assert_int_equal(miniapp_state_create(cpu, precision, &check_grid, &ocean), MINIAPP_DONE);
    fill(ocean);
    assert_int_equal(miniapp_run(ocean, "density"), MINIAPP_DONE);
    for (int output = 0; output < OUTPUTS; output++) {
        assert_int_equal(miniapp_state_get(ocean, output_names[output], result), MINIAPP_DONE);
        const double sea = largest_error(result, output, deepest);
        const double all = largest_error(result, output, INFINITY);
        print_message("%s: %.2g of the largest value to %g dbar, %.2g to 12000 dbar\n",
                      output_names[output], sea, deepest, all);
        assert_true(sea <= allowed);
        assert_true(all <= allowed);
    }
    miniapp_state_free(ocean);
    miniapp_device_close(cpu);
}

static void accuracy_in_float64(void **state)
{
    (void)state;
    check_accuracy(MINIAPP_FLOAT64, 1e-13);
}

static void accuracy_in_float32(void **state)
{
    (void)state;
    check_accuracy(MINIAPP_FLOAT32, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_integrate_powers),
        cmocka_unit_test(rules_grow_with_pressure),
        cmocka_unit_test(accuracy_in_float64),
        cmocka_unit_test(accuracy_in_float32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
