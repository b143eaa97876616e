/*
 * The kernels as an offload compiler builds them, run by the host: their target regions fall back
 * to it here, on purpose. That shows, without a GPU, that the directives of that compiler make the
 * loops compute what the host's kernels compute; not that a GPU does.
 */
#define PHYSICS_OFFLOAD
#include "../physics/directives.h"

#include "large.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

extern const struct physics_kernel physics_kernels_offload_float64[];
extern const struct physics_kernel physics_kernels_offload_float32[];

static const struct physics_grid grid = {37, 11, 7};

static double element(const void *values, size_t i, bool narrow)
{
    return narrow ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

/* Between 1/2 and 3/2, the same in every run; `p` reaches through all pressures of eos. */
static double invented(enum physics_field_id id, size_t i)
{
    const uint32_t mixed = ((uint32_t)i + 1) * 2654435761u ^ (uint32_t)id * 40503u;
    return id == PHYSICS_P ? 1900.0 * (double)i : 0.5 + (double)(mixed >> 8) / (1 << 24);
}

static void *make_input(enum physics_field_id id, bool narrow)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &grid);
    void *values = calloc(elements, sizeof(double));
    assert_non_null(values);
    for (size_t i = 0; i < elements; i++) {
        const double value = invented(id, i);
        if (field->type == PHYSICS_MASK)
            ((uint8_t *)values)[i] = value < 1.3;
        else if (field->type == PHYSICS_INDEX)
            ((int32_t *)values)[i] = (int32_t)((value - 0.5) * (double)(grid.nz + 1));
        else if (narrow)
            ((float *)values)[i] = (float)value;
        else
            ((double *)values)[i] = value;
    }
    return values;
}

static void make_outputs(const struct physics_kernel *kernel, struct physics_call *call)
{
    for (const enum physics_field_id *id = kernel->outputs; *id; id++) {
        const size_t bytes = physics_field_elements(&physics_fields[*id], &grid) * sizeof(double);
        call->output[*id] = malloc(bytes);
        assert_non_null(call->output[*id]);
        memset(call->output[*id], 0xff, bytes); /* NaN */
    }
}

/* Differences in rounding, multiplied by what the worst cancellation of these numbers makes of
 * them. */
static void same_outputs(const struct physics_kernel *kernel, const struct physics_call *a,
                         const struct physics_call *b, bool narrow)
{
    for (const enum physics_field_id *id = kernel->outputs; *id; id++) {
        const size_t elements = physics_field_elements(&physics_fields[*id], &grid);
        double largest = 0, worst = 0;
        for (size_t i = 0; i < elements; i++) {
            const double x = element(a->output[*id], i, narrow);
            const double y = element(b->output[*id], i, narrow);
            assert_true(isfinite(x) && isfinite(y));
            largest = fmax(largest, fabs(x));
            worst = fmax(worst, fabs(x - y));
        }
        assert_true(worst <= (narrow ? 1e-3 : 1e-12) * largest);
    }
}

static void compare_kernel(const struct physics_kernel *host, const struct physics_kernel *offload,
                           bool narrow)
{
    struct physics_call call = {.grid = grid}, other;
    physics_default_settings(&call);
    for (const enum physics_field_id *id = host->inputs; *id; id++)
        call.input[*id] = make_input(*id, narrow);
    other = call;
    make_outputs(host, &call);
    make_outputs(host, &other);
    assert_int_equal(physics_run(host, &call), PHYSICS_DONE);
    assert_int_equal(physics_run(offload, &other), PHYSICS_DONE);
    same_outputs(host, &call, &other, narrow);
    for (const enum physics_field_id *id = host->inputs; *id; id++)
        free((void *)(uintptr_t)call.input[*id]);
    for (const enum physics_field_id *id = host->outputs; *id; id++) {
        free(call.output[*id]);
        free(other.output[*id]);
    }
}

static void float64_kernels(void **state)
{
    (void)state;
    const struct physics_kernel *offload = physics_kernels_offload_float64;
    for (const struct physics_kernel *host = physics_host_kernels(PHYSICS_FLOAT64); host->name;
         host++, offload++)
        compare_kernel(host, offload, false);
}

static void float32_kernels(void **state)
{
    (void)state;
    const struct physics_kernel *offload = physics_kernels_offload_float32;
    for (const struct physics_kernel *host = physics_host_kernels(PHYSICS_FLOAT32); host->name;
         host++, offload++)
        compare_kernel(host, offload, true);
}

/* ---- more than 2^31 points, which Clang's build runs in slabs ---- */

/* Slabs reach every row once, and none has more turns than its counter holds. */
static void check_slabs(ptrdiff_t nx, ptrdiff_t ny, ptrdiff_t nz)
{
    ptrdiff_t points = 0;
    SLABS(z0, z1, nz, ny * nx)
    SLABS(y0, y1, ny, nx)
    {
        const ptrdiff_t turns = (ptrdiff_t)(z1 - z0) * (y1 - y0) * nx;
        assert_true(turns > 0 && turns <= MOST_TURNS);
        points += turns;
    }
    assert_true(points == nx * ny * nz);
}

static void slabs_reach_everything_once(void **state)
{
    (void)state;
    check_slabs(5, 5, 1);
    check_slabs(94, 44, 20);
    check_slabs(32767, 32767, 2);
    check_slabs(16384, 1024, 130);
    check_slabs(16384, 131072, 3);
    check_slabs(50000, 50000, 7);
    check_slabs(INT32_MAX, 5, 3);
}

static void kernel_past_two_to_the_31(void **state)
{
    (void)state;
    if (!getenv("MINIAPP_TEST_LONG"))
        skip(); /* minutes: this build is not for the host */
    eos_past_two_to_the_31(physics_kernels_offload_float32, LARGE_BLOCK_ROWS, LARGE_BLOCKS);
    eos_past_two_to_the_31(physics_kernels_offload_float32,
                           (size_t)LARGE_BLOCK_ROWS * LARGE_BLOCKS, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float64_kernels),
        cmocka_unit_test(float32_kernels),
        cmocka_unit_test(slabs_reach_everything_once),
        cmocka_unit_test(kernel_past_two_to_the_31),
    };
    omp_set_default_device(omp_get_initial_device());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
