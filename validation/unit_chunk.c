/*
 * Chunks that are written past HDF5's own buffers, with a checksum of ours: HDF5, which computes
 * checksums of its own when it reads, accepts them, whatever the values are; and finds damage.
 */
#include "chunk.h"
#include "invented.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- a file in memory ---- */

static hid_t file;

static int open_file(void **state)
{
    (void)state;
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 20, false);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110); /* as for outputs */
    file = H5Fcreate("nowhere.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return file < 0;
}

static int close_file(void **state)
{
    (void)state;
    return H5Fclose(file) < 0;
}

/* The first axis may grow, as that of time in snapshots, or not: HDF5 finds chunks in other ways
 * then. */
static hid_t create(hid_t type, const hsize_t *lengths, int rank, bool may_grow)
{
    hsize_t most[H5S_MAX_RANK] = {0};
    memcpy(most, lengths, (size_t)rank * sizeof(*most));
    most[0] = may_grow ? H5S_UNLIMITED : most[0];
    const hid_t space = rank ? H5Screate_simple(rank, lengths, most) : H5Screate(H5S_SCALAR);
    const hid_t creation = checked_chunks(lengths, rank);
    H5Ldelete(file, "values", H5P_DEFAULT);
    const hid_t dataset =
        H5Dcreate2(file, "values", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Pclose(creation);
    H5Sclose(space);
    return dataset;
}

static struct box box_at(size_t plane, hsize_t ny, hsize_t nx)
{
    return (struct box){3, {plane, 0, 0}, {1, ny, nx}};
}

static herr_t read_all(hid_t *dataset, double *values)
{
    H5Dclose(*dataset); /* what is open may have kept the chunk */
    *dataset = H5Dopen2(file, "values", H5P_DEFAULT);
    return H5Dread(*dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

/* ---- values that are written come back ---- */

static void assert_same_in(bool may_grow, hid_t type, const double *values, hsize_t nx, hsize_t ny,
                           size_t planes)
{
    const hsize_t lengths[] = {planes, ny, nx};
    const size_t plane = nx * ny;
    double *const read = malloc(planes * plane * sizeof(*read));
    struct chunk chunk = {0};
    hid_t dataset = create(type, lengths, 3, may_grow);
    for (size_t p = 0; p < planes; p++) {
        const struct box box = box_at(p, ny, nx);
        assert_true(is_chunk(dataset, &box));
        assert_true(chunk_make_room(&chunk, &box));
        assert_true(chunk_start(&chunk, dataset, &box, values + p * plane) >= 0);
        assert_true(chunk_finish(&chunk) >= 0);
    }
    assert_true(read_all(&dataset, read) >= 0);
    assert_memory_equal(values, read, planes * plane * sizeof(*read));
    H5Dclose(dataset);
    chunk_release(&chunk);
    free(read);
}

static void assert_same(hid_t type, const double *values, hsize_t nx, hsize_t ny, size_t planes)
{
    assert_same_in(false, type, values, nx, ny, planes);
    assert_same_in(true, type, values, nx, ny, planes);
}

/* Numbers with bits all over, which a float holds, too. */
static void test_sizes(void **state)
{
    (void)state;
    const hsize_t sizes[][2] = {{1, 1}, {3, 1}, {1, 31}, {16, 4}, {13, 5}, {64, 2}, {129, 77}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const size_t count = 3 * sizes[i][0] * sizes[i][1];
        double *const values = malloc(count * sizeof(*values));
        uint32_t bits = 1;
        for (size_t v = 0; v < count; v++) {
            bits = bits * 1664525 + 1013904223;
            values[v] = (float)((double)bits * 1e-3 - 1e6);
        }
        assert_same(H5T_IEEE_F64LE, values, sizes[i][0], sizes[i][1], 3);
        assert_same(H5T_IEEE_F32LE, values, sizes[i][0], sizes[i][1], 3);
        free(values);
    }
}

/* The sums of the checksum are computed modulo 65535, for which 0 and 65535 are the same. */
static void test_sums_that_are_multiples_of_the_modulus(void **state)
{
    (void)state;
    const uint64_t words[] = {
        0, 0xffff, 0xffff000000000000, 0x0000ffff0000ffff, 0x7fff800000000000, 0x000000007fff8000};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        double values[300];
        for (size_t v = 0; v < 300; v++)
            memcpy(&values[v], &words[i], sizeof(*values));
        assert_same(H5T_IEEE_F64LE, values, 300, 1, 1);
        assert_same(H5T_IEEE_F64LE, values, 1, 1, 1);
    }
}

static void test_largest_words(void **state)
{
    (void)state;
    const size_t count = 1 << 16;
    double *const values = malloc(count * sizeof(*values));
    memset(values, 0xfe, count * sizeof(*values)); /* -5e303, in words of 65278 */
    assert_same(H5T_IEEE_F64LE, values, 256, 256, 1);
    free(values);
}

/* ---- what HDF5 has to do itself, and finds ---- */

static void test_boxes_that_are_no_chunk(void **state)
{
    (void)state;
    const hsize_t lengths[] = {2, 3, 20000}; /* longer than a chunk may be */
    hid_t dataset = create(H5T_IEEE_F64LE, lengths, 3, false);
    const struct box row = {2, {0, 0}, {1, 3}}, level = box_at(1, 3, 20000);
    const struct box plane = {2, {0, 0}, {2, 3}}, number = {0};
    assert_false(is_chunk(dataset, &level));
    H5Dclose(dataset);
    dataset = create(H5T_IEEE_F64LE, lengths, 2, false);
    assert_true(is_chunk(dataset, &plane));
    assert_false(is_chunk(dataset, &row));
    H5Dclose(dataset);
    dataset = create(H5T_IEEE_F64LE, lengths, 0, false);
    assert_false(is_chunk(dataset, &number));
    H5Dclose(dataset);
}

static void test_damage_is_found(void **state)
{
    (void)state;
    const hsize_t lengths[] = {4, 5}, origin[] = {0, 0};
    double values[20], read[20];
    unsigned char bytes[sizeof(values) + 4];
    uint32_t filters;
    struct chunk chunk = {0};
    hid_t dataset = create(H5T_IEEE_F64LE, lengths, 2, false);
    const struct box box = {2, {0, 0}, {4, 5}};
    for (size_t i = 0; i < 20; i++)
        values[i] = (double)i;
    assert_true(chunk_make_room(&chunk, &box));
    assert_true(chunk_start(&chunk, dataset, &box, values) >= 0);
    assert_true(chunk_finish(&chunk) >= 0);
    assert_true(H5Dread_chunk(dataset, H5P_DEFAULT, origin, &filters, bytes) >= 0);
    bytes[77] ^= 4;
    assert_true(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, origin, sizeof(bytes), bytes) >= 0);
    assert_true(read_all(&dataset, read) < 0);
    H5Dclose(dataset);
    chunk_release(&chunk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_sums_that_are_multiples_of_the_modulus),
        cmocka_unit_test(test_largest_words),
        cmocka_unit_test(test_boxes_that_are_no_chunk),
        cmocka_unit_test(test_damage_is_found),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
