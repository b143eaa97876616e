/*
 * libFuzzer's entry to the reader, with HDF5 in the process: any bytes, as an input of a kernel and
 * as a reference of its outputs, give a status and leave nothing open. run/dev/fuzz runs it, and
 * says whose the crashes are.
 */
#include "program.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Libraries and the linker call what is here by its name. */
#pragma clang diagnostic ignored "-Wmissing-prototypes"

/* ---- checksums ---- */

/* HDF5's checksums would turn every change down, so these functions take the place of its own, and
 * say what the file says, behind the data. */
static uint32_t stored_behind(const void *data, size_t length)
{
    const uint8_t *stored = (const uint8_t *)data + length;
    return (uint32_t)stored[0] | (uint32_t)stored[1] << 8 | (uint32_t)stored[2] << 16 |
           (uint32_t)stored[3] << 24;
}

uint32_t H5_checksum_lookup3(const void *data, size_t length, uint32_t start);

/* Blocks of a fractal heap alone have their checksum among the data. */
uint32_t H5_checksum_metadata(const void *data, size_t length, uint32_t start)
{
    const bool is_among = length >= 4 && memcmp(data, "FHDB", 4) == 0;
    return is_among ? H5_checksum_lookup3(data, length, start) : stored_behind(data, length);
}

uint32_t H5_checksum_fletcher32(const void *data, size_t length)
{
    return stored_behind(data, length);
}

/* ---- what HDF5 says counts as coverage ---- */

/* HDF5 itself is not instrumented: each place in it that reported an error is a counter. */
__attribute__((section("__libfuzzer_extra_counters"))) static uint8_t places[1 << 14];

static H5E_walk2_t inner;

static herr_t count_place(unsigned level, const H5E_error2_t *error, void *data)
{
    unsigned place = error->line;
    for (const char *c = error->func_name; c && *c; c++)
        place = place * 31 + (uint8_t)*c;
    places[place % sizeof(places)] = 1;
    return inner(level, error, data);
}

herr_t __real_H5Ewalk2(hid_t stack, H5E_direction_t direction, H5E_walk2_t call, void *data);
herr_t __wrap_H5Ewalk2(hid_t stack, H5E_direction_t direction, H5E_walk2_t call, void *data)
{
    inner = call;
    return __real_H5Ewalk2(stack, direction, count_place, data);
}

/* ---- one file ---- */

/* It has another size than any input, so what is read is resampled, too. */
static struct miniapp_state *ocean;

static void make_ocean(void)
{
    const struct miniapp_grid grid = {7, 6, 3};
    struct miniapp_device *cpu;
    if (miniapp_device_open("cpu", &cpu) ||
        miniapp_state_create(cpu, MINIAPP_FLOAT64, &grid, &ocean)) {
        fprintf(stderr, "%s\n", miniapp_message());
        exit(EXIT_FAILURE);
    }
}

static void read_as_input(const char *path, const struct miniapp_kernel *kernel,
                          struct miniapp_grid *grid)
{
    enum { MOST = 64 };
    const struct miniapp_field *wanted[MOST];
    size_t count = 0;
    struct miniapp_input *input;
    for (size_t i = 0; i < miniapp_kernel_argument_count(kernel) && count < MOST; i++)
        if (miniapp_argument_access(kernel, i) == MINIAPP_READ ||
            miniapp_argument_access(kernel, i) == MINIAPP_UPDATE)
            wanted[count++] = miniapp_argument_field(kernel, i);
    if (miniapp_input_open(path, wanted, count, NULL, &input))
        return;
    miniapp_input_check(input);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        const struct miniapp_destination target = {ocean, miniapp_field_name(wanted[i]), true};
        good = miniapp_input_load(input, wanted[i], &target, 1) == MINIAPP_DONE;
    }
    if (good)
        *grid = miniapp_input_facts(input).grid;
    miniapp_input_close(input);
}

static void read_as_reference(const char *path, const struct miniapp_kernel *kernel,
                              const struct miniapp_grid *grid)
{
    struct miniapp_references *references;
    if (miniapp_references_open(path, &references))
        return;
    for (size_t i = 0; i < miniapp_kernel_argument_count(kernel); i++) {
        const enum miniapp_access access = miniapp_argument_access(kernel, i);
        struct miniapp_reference reference;
        if ((access == MINIAPP_WRITE || access == MINIAPP_UPDATE) &&
            !miniapp_reference_read(references, miniapp_kernel_name(kernel),
                                    miniapp_argument_field(kernel, i), grid, MINIAPP_FLOAT64, 0,
                                    &reference))
            miniapp_reference_release(&reference);
    }
    miniapp_references_close(references);
}

/* The file of this run, in memory: a new one each time, since HDF5 knows an open file again by its
 * inode. Runs of one group take turns; what a crash leaves, $TMPDIR's owner removes. */
static const char *file_path(void)
{
    static char path[4096];
    const char *const folder = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/fuzz_input.%d.h5", folder ? folder : "/dev/shm",
             (int)getpgrp());
    return path;
}

static void remove_file(void)
{
    unlink(file_path());
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    unlink(path);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(EXIT_FAILURE);
    }
}

/* A damaged file may claim any size; HDF5 loses blocks of its own when it fails. */
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1:quarantine_size_mb=16";
}

/* Where HDF5 hands bad places to memcpy; it is not ours to mend, and only a crash counts. */
const char *__asan_default_suppressions(void)
{
    return "interceptor_via_lib:libhdf5\n";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:libhdf5\n";
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    atexit(remove_file);
    make_ocean();
    return 0;
}

enum { TURNS = 4 };

/* The kernels that the seeds are for, and one of all by the file's size: most others only say of a
 * seed that it lacks a field. */
static const struct miniapp_kernel *kernel_for(size_t turn, size_t size)
{
    static const char *const seeded[TURNS - 1] = {"eos", "isoneutral", "tke"};
    return turn < TURNS - 1 ? miniapp_kernel_find(seeded[turn])
                            : miniapp_kernel_at(size % miniapp_kernel_count());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const path = file_path();
    struct miniapp_grid grid = {5, 5, 2}; /* that of the seeds */
    write_file(path, data, size);
    for (size_t turn = 0; turn < TURNS; turn++) {
        const struct miniapp_kernel *const kernel = kernel_for(turn, size);
        read_as_input(path, kernel, &grid);
        read_as_reference(path, kernel, &grid);
    }
    /* files stay open where HDF5 lost count of what is open in them */
    if (H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL & ~H5F_OBJ_FILE) != 0) {
        fputs("a dataset, type or attribute stays open\n", stderr);
        abort();
    }
    return 0;
}
