/*
 * eos on more than 2^31 points. A field's address range is one small block of memory mapped again
 * and again, so it needs little memory and a few seconds. Every block holds the same values, and
 * is a whole number of rows. Some blocks of the output have memory of their own, so that it shows
 * when one of them is left out.
 */
#ifndef VALIDATION_LARGE_H
#define VALIDATION_LARGE_H

#include <physics/kernel.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* float32: a row is 64 KiB, a block 16 MiB */
enum { LARGE_NX = 1 << 14, LARGE_BLOCK_ROWS = 1 << 8, LARGE_BLOCKS = 520 };
enum { LARGE_BLOCK_POINTS = LARGE_NX * LARGE_BLOCK_ROWS };
enum { LARGE_MIDDLE = ((size_t)1 << 31) / LARGE_BLOCK_POINTS }; /* where 2^31 points come before */
static const size_t large_block_bytes = LARGE_BLOCK_POINTS * sizeof(float);

/* The first, those on both sides of 2^31 points, and the last. */
static const size_t own_blocks[] = {0, LARGE_MIDDLE - 1, LARGE_MIDDLE, LARGE_BLOCKS - 1};
enum { OWN_BLOCKS = sizeof(own_blocks) / sizeof(*own_blocks) };

static void map_block(float *block, int flags, int file)
{
    assert_ptr_not_equal(mmap(block, large_block_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED,
                              file, 0),
                         MAP_FAILED);
}

/* Address space for all points, and memory for one block of rows. */
static float *map_repeatedly(void)
{
    const size_t bytes = large_block_bytes;
    const int file = memfd_create("block", 0);
    assert_int_equal(ftruncate(file, (off_t)bytes), 0);
    void *base = mmap(NULL, bytes * LARGE_BLOCKS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    for (size_t i = 0; i < LARGE_BLOCKS; i++)
        map_block((float *)base + i * LARGE_BLOCK_POINTS, MAP_SHARED, file);
    close(file);
    return base;
}

static float *map_output(void)
{
    float *output = map_repeatedly();
    for (size_t i = 0; i < OWN_BLOCKS; i++) {
        float *block = output + own_blocks[i] * LARGE_BLOCK_POINTS;
        map_block(block, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        for (size_t j = 0; j < LARGE_BLOCK_POINTS; j++)
            block[j] = -1;
    }
    return output;
}

/* Temperatures repeat after 30 points, and start anew in each block. */
static void check_block(const float *dHdT)
{
    assert_true(dHdT[0] > 0 && dHdT[29] > dHdT[0]);
    for (size_t i = 30; i < LARGE_BLOCK_POINTS; i++)
        assert_true(dHdT[i] == dHdT[i - 30]);
}

/* eos at one pressure on all levels: every block gets the same values, wherever it stands. An index
 * or a count that does not fit would leave blocks out. */
static void eos_past_two_to_the_31(const struct physics_kernel *kernels, size_t ny, size_t nz)
{
    float *salt = map_repeatedly(), *temp = map_repeatedly(), *dHdT = map_output();
    float p[LARGE_BLOCKS];
    for (size_t i = 0; i < LARGE_BLOCK_POINTS; i++) {
        salt[i] = 35;
        temp[i] = (float)(i % 30);
    }
    for (size_t z = 0; z < nz; z++)
        p[z] = 500;
    struct physics_call call = {.grid = {LARGE_NX, ny, nz}};
    assert_true(physics_grid_points(&call.grid) > (size_t)INT32_MAX);
    physics_default_settings(&call);
    call.input[PHYSICS_SALT] = salt;
    call.input[PHYSICS_TEMP] = temp;
    call.input[PHYSICS_P] = p;
    call.output[PHYSICS_DHDT] = dHdT;
    assert_int_equal(physics_run(physics_find_kernel(kernels, "eos"), &call), PHYSICS_DONE);
    for (size_t i = 0; i < OWN_BLOCKS; i++)
        check_block(dHdT + own_blocks[i] * LARGE_BLOCK_POINTS);
    munmap(salt, large_block_bytes * LARGE_BLOCKS);
    munmap(temp, large_block_bytes * LARGE_BLOCKS);
    munmap(dHdT, large_block_bytes * LARGE_BLOCKS);
}

#endif
