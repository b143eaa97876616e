/*
 * eos on more than 2^31 points. A field's address range is one small block of memory mapped again
 * and again, so it needs little memory and a few seconds. Every block holds the same values, and
 * is a whole number of rows. Some blocks of the output have memory of their own, so that it shows
 * when one of them is left out.
 *
 * The state gets its memory from a backend that is the host's but for that, and for the kernels.
 */
#ifndef VALIDATION_LARGE_H
#define VALIDATION_LARGE_H

#include "device.h"
#include "unit.h"

#include <miniapp.h>
#include <sys/mman.h>
#include <unistd.h>

/* float32: a row is 64 KiB, a block 16 MiB */
enum { LARGE_NX = 1 << 14, LARGE_BLOCK_ROWS = 1 << 8, LARGE_BLOCKS = 520 };
enum { LARGE_BLOCK_POINTS = LARGE_NX * LARGE_BLOCK_ROWS };
enum { LARGE_MIDDLE = ((size_t)1 << 31) / LARGE_BLOCK_POINTS }; /* where 2^31 points come before */
static const size_t large_block_bytes = LARGE_BLOCK_POINTS * sizeof(float);
static const size_t large_bytes = LARGE_BLOCK_POINTS * sizeof(float) * LARGE_BLOCKS;

/* The first, those on both sides of 2^31 points, and the last. */
static const size_t own_blocks[] = {0, LARGE_MIDDLE - 1, LARGE_MIDDLE, LARGE_BLOCKS - 1};
enum { OWN_BLOCKS = sizeof(own_blocks) / sizeof(*own_blocks) };

static void map_block(float *block, int flags, int file)
{
    assert_ptr_not_equal(
        mmap(block, large_block_bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0),
        MAP_FAILED);
}

/* Address space for all points, and memory for one block of rows; what is small has its own.
 * Populated at once, it costs a third of what faults of two million pages do. */
static void *map_repeatedly(int number, size_t bytes, size_t ahead)
{
    if (bytes < large_bytes)
        return host_backend.allocate(number, bytes, ahead);
    const int file = memfd_create("block", 0);
    assert_int_equal(ftruncate(file, (off_t)large_block_bytes), 0);
    void *base = mmap(NULL, large_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(base, MAP_FAILED);
    for (size_t i = 0; i < LARGE_BLOCKS; i++)
        map_block((float *)base + i * LARGE_BLOCK_POINTS, MAP_SHARED | MAP_POPULATE, file);
    close(file);
    return base;
}

/* Only the pressures have the host's memory. Address space is none that runs out. */
static void release_nothing(int number, void *memory)
{
}

static void give_own_blocks(float *output)
{
    for (size_t i = 0; i < OWN_BLOCKS; i++) {
        float *block = output + own_blocks[i] * LARGE_BLOCK_POINTS;
        map_block(block, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        for (size_t j = 0; j < LARGE_BLOCK_POINTS; j++)
            block[j] = -1;
    }
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
static void eos_past_two_to_the_31(const struct kernel_functions *const *functions, size_t ny,
                                   size_t nz)
{
    struct backend backend = host_backend;
    memcpy(backend.functions, functions, sizeof(backend.functions));
    backend.allocate = map_repeatedly;
    backend.release = release_nothing;
    const struct miniapp_device device = {.label = "large", .backend = &backend};
    const struct miniapp_grid grid = {LARGE_NX, ny, nz};
    struct miniapp_state *state;
    assert_true(miniapp_grid_points(&grid) > (size_t)INT32_MAX);
    assert_done(miniapp_state_create(&device, MINIAPP_FLOAT32, &grid, &state));
    float *const salt = miniapp_state_write(state, "salt");
    float *const temp = miniapp_state_write(state, "temp");
    float *const p = miniapp_state_write(state, "p");
    float *const dHdT = miniapp_state_write(state, "dHdT");
    for (size_t i = 0; i < LARGE_BLOCK_POINTS; i++) {
        salt[i] = 35;
        temp[i] = (float)(i % 30);
    }
    for (size_t z = 0; z < nz; z++)
        p[z] = 500;
    give_own_blocks(dHdT);
    assert_done(miniapp_run(state, "eos"));
    assert_ptr_equal(miniapp_state_read(state, "dHdT"), dHdT);
    for (size_t i = 0; i < OWN_BLOCKS; i++)
        check_block(dHdT + own_blocks[i] * LARGE_BLOCK_POINTS);
    miniapp_state_free(state);
    munmap(salt, large_bytes);
    munmap(temp, large_bytes);
    munmap(dHdT, large_bytes);
    host_backend.release(0, p);
}

#endif
