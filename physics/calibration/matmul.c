/*
 * Calibration: a product of matrices, matmul[y, x] = sum over z of factor_a[z, y] factor_b[z, x].
 * A grid of nx, ny, nz is ny x nz by nz x nx, so a point is one multiply-add.
 *
 * A tile of the product stays in registers while z advances, so that each word read serves many
 * operations. On the host a tile is a few vectors wide, and each thread works on blocks of tiles
 * whose factors stay in the cache for a stretch of z. On a GPU a thread's tile is one column, and
 * neighbouring threads take neighbouring x.
 */
#include "directives.h"
#include "variant.h"

#define DESCRIPTION "calibration/matmul.kernel"

/* The width of the host's widest vectors. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#else
#define VECTOR_BYTES 32
#endif

/* A tile and a row of factor_b fill the registers of the widest vectors. */
enum {
    VECTOR = HOST_OR_OFFLOAD(VECTOR_BYTES, sizeof(real)),
    VECTORS = HOST_OR_OFFLOAD(3, 1),
    ROWS = HOST_OR_OFFLOAD(VECTOR_BYTES / 8, 8),
    BLOCK_ROWS = HOST_OR_OFFLOAD(128, 8),
    LANES = VECTOR / sizeof(real),
    COLUMNS = VECTORS * LANES
};

/*
 * A panel has PANEL columns, and a turn of the nest's third loop takes PART of them. The host
 * copies the stretches of both factors that the tiles of a part share: left in place, rows that lie
 * a power of two apart would push each other out of the caches.
 */
enum {
    PANEL = HOST_OR_OFFLOAD(8 * COLUMNS, 32),
    PART = HOST_OR_OFFLOAD(PANEL, COLUMNS),
    DEPTH = 128,
    COPIED_A = HOST_OR_OFFLOAD(DEPTH * BLOCK_ROWS, 1),
    COPIED_B = HOST_OR_OFFLOAD(DEPTH * COLUMNS, 1)
};
#define STRETCH(nz) HOST_OR_OFFLOAD(DEPTH, nz)

typedef real vector __attribute__((vector_size(VECTOR)));

/* Where a tile is in the factors and the product, and how far apart their rows are. */
struct tile_place {
    const real *a, *b;
    real *c;
    count a_row, b_row, c_row;
};

INLINED count least(count a, count b)
{
    return a < b ? a : b;
}

/* Load and store the first `lanes` lanes of a vector; if `lanes` is the literal LANES, by a plain
 * load or store. */
INLINED vector load(const real *from, count lanes)
{
    vector v = {0};
    if (lanes >= LANES)
        __builtin_memcpy(&v, from, sizeof(v));
    else
        for (int lane = 0; lane < LANES; lane++)
            v[lane] = lane < lanes ? from[lane] : 0;
    return v;
}

INLINED void store(real *to, vector v, count lanes)
{
    if (lanes >= LANES)
        __builtin_memcpy(to, &v, sizeof(v));
    else
        for (int lane = 0; lane < LANES; lane++)
            if (lane < lanes)
                to[lane] = v[lane];
}

/*
 * Computes a tile over `depth` levels, and adds it to what is stored already unless these are the
 * `first` levels. At the edges of the product a tile has fewer rows and columns; elsewhere both
 * counts are literals. Rows beyond the edge repeat the last row and are not stored.
 */
INLINED void tile(struct tile_place p, count depth, bool first, count rows, count columns)
{
    vector sum[ROWS][VECTORS];
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const real *const c = p.c + least(r, rows - 1) * p.c_row;
        UNROLL
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = first ? (vector){0} : load(c + v * LANES, columns - v * LANES);
    }
    for (count z = 0; z < depth; z++) {
        vector b[VECTORS];
        UNROLL
        for (int v = 0; v < VECTORS; v++)
            b[v] = load(p.b + z * p.b_row + v * LANES, columns - v * LANES);
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            const real a = p.a[z * p.a_row + least(r, rows - 1)];
            UNROLL
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] += a * b[v];
        }
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++)
            if (r < rows)
                store(p.c + r * p.c_row + v * LANES, sum[r][v], columns - v * LANES);
    }
}

/* Computes the tiles of a block that have the same columns. */
INLINED void tiles(struct tile_place p, count depth, bool first, count block_rows, count columns)
{
    for (count y = 0; y < block_rows; y += ROWS, p.a += ROWS, p.c += ROWS * p.c_row) {
        const count rows = least(ROWS, block_rows - y);
        if (rows == ROWS && columns == COLUMNS)
            tile(p, depth, first, ROWS, COLUMNS);
        else
            tile(p, depth, first, rows, columns);
    }
}

/* On the host, copies the rows of a stretch, makes the copy the factor, and returns how far apart
 * its rows are; elsewhere leaves the factor as it is. */
INLINED count copy_rows(const real **factor, count row, count depth, count width, real *copy,
                        count copied)
{
    if (copied == 1)
        return row;
    for (count z = 0; z < depth; z++)
        __builtin_memcpy(copy + z * width, *factor + z * row, (size_t)width * sizeof(real));
    *factor = copy;
    return width;
}

/* A part of a block of rows. */
INLINED void part_of(struct tile_place p, count nz, count rows, count columns)
{
    real copy_a[COPIED_A], copy_b[COPIED_B];
    for (count z = 0; z < nz; z += STRETCH(nz)) {
        const count depth = least(STRETCH(nz), nz - z);
        struct tile_place q = p;
        q.a = p.a + z * p.a_row;
        q.a_row = copy_rows(&q.a, p.a_row, depth, rows, copy_a, COPIED_A);
        for (count x = 0; x < columns; x += COLUMNS) {
            const count width = least(COLUMNS, columns - x);
            q.b = p.b + z * p.b_row + x;
            q.c = p.c + x;
            q.b_row = copy_rows(&q.b, p.b_row, depth, width, copy_b, COPIED_B);
            tiles(q, depth, z == 0, rows, width);
        }
    }
}

void VARIANT(matmul)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count y = 0; y < ny; y += BLOCK_ROWS)
        for (count panel = 0; panel < nx; panel += PANEL)
            for (count part = 0; part < PANEL; part += PART) {
                const count x = panel + part;
                const struct tile_place p = {.a = a + y,
                                             .b = b + x,
                                             .c = c + y * nx + x,
                                             .a_row = ny,
                                             .b_row = nx,
                                             .c_row = nx};
                part_of(p, nz, least(BLOCK_ROWS, ny - y), least(PART, nx - x));
            }
}
