/* Tiles of a grid: all threads have about the same work, and most of it lies inside the tiles.
 * Built with -DREAL=double -DPHYSICS_VARIANT=host_float64. */
#include "tile.h"
#include "unit.h"

static struct tile tile_on(int threads, count nz, count ny)
{
    omp_set_num_threads(threads);
    return tile_of(nz, ny);
}

/* The rows of levels of the thread that has most, where threads share tiles in order. */
static count busiest(struct tile t, int threads, count nz, count ny)
{
    count most = 0, tiles = 0, mine = 0;
    const count all = ((nz + t.levels - 1) / t.levels) * ((ny + t.rows - 1) / t.rows);
    const count each = (all + threads - 1) / threads;
    for (count z0 = 0; z0 < nz; z0 += t.levels)
        for (count y0 = 0; y0 < ny; y0 += t.rows) {
            if (tiles++ % each == 0)
                mine = 0;
            mine += (tile_end(z0, t.levels, nz) - z0) * (tile_end(y0, t.rows, ny) - y0);
            most = mine > most ? mine : most;
        }
    return most;
}

TEST(threads_have_the_same_work)
{
    static const count grids[][2] = {{1, 5}, {20, 44}, {25, 200}, {17, 23}, {45, 84}, {100, 1000}};
    for (size_t grid = 0; grid < sizeof grids / sizeof *grids; grid++)
        for (int threads = 1; threads <= 130; threads++) {
            const count nz = grids[grid][0], ny = grids[grid][1];
            const struct tile t = tile_on(threads, nz, ny);
            assert_in_range(t.levels, 1, nz);
            assert_in_range(t.rows, 1, 16);
            if (t.rows > 1)
                assert_true(16 * threads * busiest(t, threads, nz, ny) <= 17 * nz * ny);
            else
                assert_int_equal(t.levels, 1);
        }
}

TEST(most_work_lies_inside)
{
    static const int threads[] = {1, 2, 3, 4, 8, 16, 32, 64, 128};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        assert_true(share_inside(tile_on(threads[i], 100, 1000), 100) > 0.85);
    assert_true(share_inside(tile_on(2, 25, 200), 25) > 0.9);
    assert_true(share_inside(tile_on(3, 20, 44), 20) > 0.9);
}

TEST(one_thread_has_all_levels)
{
    const struct tile t = tile_on(1, 25, 200);
    assert_int_equal(t.levels, 25);
    assert_int_equal(t.rows, 16);
}

TEST(no_tile_where_threads_are_many)
{
    const struct tile t = tile_on(64, 2, 5);
    assert_int_equal(t.levels, 1);
    assert_int_equal(t.rows, 1);
}

TEST(rows_of_columns_are_balanced)
{
    for (count ny = 5; ny <= 400; ny += 3)
        for (int threads = 1; threads <= 130; threads++) {
            omp_set_num_threads(threads);
            const count rows = rows_together(ny);
            assert_in_range(rows, 1, MOST_ROWS_TOGETHER);
            if (threads == 1)
                assert_int_equal(rows, MOST_ROWS_TOGETHER);
            else if (rows > 1)
                assert_true(16 * threads * busiest((struct tile){1, rows}, threads, 1, ny) <=
                            17 * ny);
        }
}

RUN_TESTS(NULL, NULL)
