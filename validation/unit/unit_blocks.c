/* How an ocean is cut into blocks. */
#include "blocks.h"
#include "program.h"
#include "unit.h"

static const struct miniapp_grid grids[] = {
    {5, 5, 1}, {6, 9, 2}, {14, 11, 3}, {94, 44, 20}, {204, 7, 1}};
enum { GRIDS = sizeof(grids) / sizeof(*grids) };

/* Counts how often each cell of a plane belongs to a block. */
static void count_cells(const struct blocks *blocks, const struct miniapp_field *field, bool ghosts,
                        int *times)
{
    for (int rank = 0; rank < blocks->along_x * blocks->along_y; rank++) {
        const struct part part = part_of_rank(blocks, rank, field, ghosts);
        assert_true(part.x.start + part.x.count <= part.x.all || part.x.count == 0);
        for (size_t y = 0; y < part.y.count; y++)
            for (size_t x = 0; x < part.x.count; x++)
                times[(part.y.whole_start + y) * part.x.whole_all + part.x.whole_start + x]++;
    }
}

static void check_parts(const struct blocks *blocks, bool has_x, bool has_y, bool ghosts)
{
    static const char *const names[2][2] = {{"dzt", "dyt"}, {"dxt", "kbot"}};
    const struct miniapp_field *const field = miniapp_field_find(names[has_x][has_y]);
    const size_t edge = ghosts ? 0 : 2 * MINIAPP_HALO;
    const size_t nx = has_x ? blocks->whole.nx - edge : 1;
    const size_t ny = has_y ? blocks->whole.ny - edge : 1;
    int *const times = calloc(nx * ny, sizeof(*times));
    count_cells(blocks, field, ghosts, times);
    for (size_t i = 0; i < nx * ny; i++)
        assert_int_equal(times[i], 1);
    free(times);
}

TEST(each_cell_belongs_to_one_block)
{
    for (size_t g = 0; g < GRIDS; g++)
        for (int x = 1; (size_t)x <= grids[g].nx - 4 && x < 8; x++)
            for (int y = 1; (size_t)y <= grids[g].ny - 4 && y < 8; y++) {
                struct blocks blocks;
                assert_done(blocks_cut(&grids[g], x * y, x, y, &blocks));
                for (int kind = 0; kind < 8; kind++)
                    check_parts(&blocks, kind & 1, kind & 2, kind & 4);
            }
}

/* A block ends where the next one begins, and none is larger than the first. */
TEST(blocks_are_alike)
{
    struct blocks blocks;
    assert_done(blocks_cut(&grids[3], 12, 4, 3, &blocks));
    const struct block first = block_of(&blocks, 0);
    for (int rank = 0; rank < 12; rank++) {
        const struct block block = block_of(&blocks, rank);
        const int east = rank_of(&blocks, block.x + 1, block.y, false);
        assert_true(block.grid.nx <= first.grid.nx && block.grid.nx + 1 >= first.grid.nx);
        assert_true(block.grid.ny <= first.grid.ny && block.grid.ny + 1 >= first.grid.ny);
        assert_true(block.grid.nx - 4 >= least_cells(&blocks, MINIAPP_X));
        if (east >= 0)
            assert_int_equal(block_of(&blocks, east).x0, block.x0 + block.grid.nx - 4);
    }
}

TEST(neighbours_across_the_seam)
{
    const struct blocks blocks = {grids[3], 3, 2};
    assert_int_equal(rank_of(&blocks, -1, 1, true), 5);
    assert_int_equal(rank_of(&blocks, 3, 1, true), 3);
    assert_int_equal(rank_of(&blocks, -1, 1, false), -1);
    assert_int_equal(rank_of(&blocks, 1, 2, true), -1);
    assert_int_equal(rank_of(&blocks, 1, -1, true), -1);
}

TEST(the_least_surface_is_chosen)
{
    const struct miniapp_grid wide = {404, 104, 1}, square = {204, 204, 1}, line = {304, 5, 1};
    struct blocks blocks;
    blocks_cut(&wide, 2, 0, 0, &blocks);
    assert_int_equal(blocks.along_x, 2);
    blocks_cut(&square, 2, 0, 0, &blocks); /* rows stay whole */
    assert_int_equal(blocks.along_x, 1);
    blocks_cut(&square, 16, 0, 0, &blocks);
    assert_int_equal(blocks.along_x, 4);
    blocks_cut(&line, 300, 0, 0, &blocks);
    assert_int_equal(blocks.along_x, 300);
}

static char said[1024];

static void listen(enum miniapp_status status, const char *line)
{
    strncpy(said, line, sizeof(said) - 1);
}

TEST(more_blocks_than_columns)
{
    struct blocks blocks;
    const miniapp_listener before = miniapp_listen(listen);
    assert_int_equal(blocks_cut(&grids[1], 7, 0, 0, &blocks), MINIAPP_USAGE);
    assert_non_null(strstr(said, "7 processes cannot share 2 x 5 columns"));
    assert_int_equal(blocks_cut(&grids[1], 3, 3, 1, &blocks), MINIAPP_USAGE);
    assert_non_null(strstr(said, "--decompose 3x1: there are only 2 x 5 columns to share"));
    miniapp_listen(before);
}

RUN_TESTS(NULL, NULL)
