/*
 * Kernels on more than 2^31 points: no index may be an int. A field's address range is one small
 * block of memory mapped again and again, so the test needs little memory and a few seconds. Every
 * block holds the same values, and the block is a whole number of rows: what a kernel writes last
 * into a block has to be right for its own row.
 */
#include <physics/kernel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* float32: a row is 64 KiB, a block 1024 rows */
enum { NX = 1 << 14, NY = 1 << 10, NZ = 130 };
static const size_t block_bytes = (size_t)NX * NY * sizeof(float);

/* NZ x NY x NX floats of address space, one block of memory. */
static float *map_repeatedly(void)
{
    const int file = memfd_create("block", 0);
    assert_int_equal(ftruncate(file, (off_t)block_bytes), 0);
    char *base = mmap(NULL, block_bytes * NZ, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    for (size_t i = 0; i < NZ; i++)
        assert_ptr_not_equal(mmap(base + i * block_bytes, block_bytes, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED, file, 0),
                             MAP_FAILED);
    close(file);
    return (float *)(void *)base;
}

/* eos at one pressure on all levels: every block gets the same values over and over. */
static void eos_past_two_to_the_31(void **state)
{
    (void)state;
    float p[NZ];
    float *salt = map_repeatedly(), *temp = map_repeatedly(), *dHdT = map_repeatedly();
    for (size_t i = 0; i < (size_t)NX * NY; i++) {
        salt[i] = 35;
        temp[i] = (float)(i % 30);
        dHdT[i] = -1;
    }
    for (int z = 0; z < NZ; z++)
        p[z] = 500;
    struct physics_call call = {.grid = {NX, NY, NZ}};
    assert_true(physics_grid_points(&call.grid) > (size_t)INT32_MAX);
    physics_default_settings(&call);
    call.input[PHYSICS_SALT] = salt;
    call.input[PHYSICS_TEMP] = temp;
    call.input[PHYSICS_P] = p;
    call.output[PHYSICS_DHDT] = dHdT;
    const struct physics_kernel *eos =
        physics_find_kernel(physics_host_kernels(PHYSICS_FLOAT32), "eos");
    assert_int_equal(physics_run(eos, &call), PHYSICS_DONE);
    for (size_t i = 30; i < (size_t)NX * NY; i++)
        assert_true(dHdT[i] == dHdT[i - 30]);
    assert_true(dHdT[0] > 0 && dHdT[29] > dHdT[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eos_past_two_to_the_31)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
