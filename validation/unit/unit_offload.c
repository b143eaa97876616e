/*
 * The kernels as an offload compiler builds them, run by the host: their target regions fall back
 * to it here, on purpose. That shows, without a GPU, that the directives of that compiler make the
 * loops compute what the host's kernels compute; not that a GPU does.
 */
#define PHYSICS_OFFLOAD
#include "directives.h"

#include "invented.h"
#include "large.h"

#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

static const struct miniapp_grid grid = {37, 11, 7};

/* Of the module as it is built: to link its code for devices once more takes minutes. */
static const struct backend *module;

/* A state in which a kernel ran, and wrote over NaN. Solvers go on until only rounding is left:
 * what they find within a larger tolerance, each rounds in its own way. */
static struct miniapp_state *state_for(const struct miniapp_device *device,
                                       enum miniapp_precision precision,
                                       const struct miniapp_kernel *kernel)
{
    struct miniapp_state *const state = state_on(device, precision, grid);
    set_inputs(state, sequence_of(kernel->name));
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const struct miniapp_field *const field = &fields[kernel->arguments[i].field];
        const size_t elements = miniapp_field_elements(field, &grid);
        OWN_VALUES values = malloc(elements * sizeof(*values));
        memset(values, 0xff, elements * sizeof(*values)); /* NaN */
        if (kernel->arguments[i].access == MINIAPP_WRITE)
            assert_done(miniapp_state_set(state, field->name, values));
    }
    assert_done(miniapp_state_set_setting(state, "solver_tolerance", 1e-13));
    assert_done(miniapp_state_set_setting(state, "enable_eddy_streamfunction", 1));
    assert_done(miniapp_run(state, kernel->name));
    return state;
}

/* Differences in rounding, multiplied by what the worst cancellation of these numbers makes of
 * them. */
static void same_values(struct miniapp_state *a, struct miniapp_state *b, const char *name,
                        double tolerance)
{
    const size_t elements = miniapp_field_elements(miniapp_field_find(name), &grid);
    OWN_VALUES x = values_of(a, name, name), *const y = values_of(b, name, name);
    double largest = 0, worst = 0;
    for (size_t i = 0; i < elements; i++) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        largest = fmax(largest, fabs(x[i]));
        worst = fmax(worst, fabs(x[i] - y[i]));
    }
    assert_true(worst <= tolerance * largest);
}

static void compare_kernels(enum miniapp_precision precision, double tolerance)
{
    struct backend backend = host_backend;
    memcpy(backend.functions, module->functions, sizeof(backend.functions));
    const struct miniapp_device host = {.label = "host", .backend = &host_backend};
    const struct miniapp_device offload = {.label = "offload", .backend = &backend};
    for (size_t k = 0; k < KERNELS; k++) {
        OWN_STATE a = state_for(&host, precision, &kernels[k]);
        OWN_STATE b = state_for(&offload, precision, &kernels[k]);
        for (size_t i = 0; i < kernels[k].argument_count; i++)
            if (miniapp_argument_access(&kernels[k], i) == MINIAPP_WRITE ||
                miniapp_argument_access(&kernels[k], i) == MINIAPP_UPDATE)
                same_values(a, b, fields[kernels[k].arguments[i].field].name, tolerance);
    }
}

TEST(float64_kernels)
{
    compare_kernels(MINIAPP_FLOAT64, 1e-12);
}

TEST(float32_kernels)
{
    compare_kernels(MINIAPP_FLOAT32, 1e-3);
}

/* Of oceans of one and more cells between the ghosts, and elements of each size. */
TEST(exchanges)
{
    const size_t sizes[] = {1, 4, 8};
    for (size_t nx = MINIAPP_MIN_CELLS; nx < 20; nx++)
        for (size_t s = 0; s < 3; s++) {
            uint8_t a[20 * 3 * 8], b[20 * 3 * 8];
            for (size_t i = 0; i < sizeof(a); i++)
                a[i] = b[i] = (uint8_t)i;
            host_backend.functions[MINIAPP_FLOAT64]->exchange_x(a, sizes[s], nx, 3);
            module->functions[MINIAPP_FLOAT64]->exchange_x(b, sizes[s], nx, 3);
            assert_memory_equal(a, b, sizeof(a));
        }
}

/* ---- more than 2^31 points ---- */

/* Clang's kernels refuse a grid that they cannot count. */
TEST(most_turns)
{
    for (int precision = MINIAPP_FLOAT64; precision <= MINIAPP_FLOAT32; precision++)
        assert_true(module->functions[precision]->most_turns == MOST_TURNS);
}

TEST(kernel_past_two_to_the_31)
{
    if (!getenv("MINIAPP_TEST_LONG") || MOST_TURNS < PTRDIFF_MAX)
        skip(); /* it takes minutes, or this build does not count so far */
    eos_past_two_to_the_31(module->functions, LARGE_BLOCK_ROWS, LARGE_BLOCKS);
    eos_past_two_to_the_31(module->functions, (size_t)LARGE_BLOCK_ROWS * LARGE_BLOCKS, 1);
}

static int open_module(void **state)
{
    void *const library = dlopen(OFFLOAD_MODULE, RTLD_NOW | RTLD_GLOBAL);
    module = library ? dlsym(library, OFFLOAD_BACKEND_NAME) : NULL;
    if (!module) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    omp_set_default_device(omp_get_initial_device());
    return 0;
}

RUN_TESTS(open_module, NULL)
