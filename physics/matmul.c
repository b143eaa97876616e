/*
 * Calibration: a product of matrices, matmul[y, x] = sum over z of factor_a[z, y] factor_b[z, x].
 * A grid of nx, ny, nz is ny x nz by nz x nx, so a point is one multiply-add.
 *
 * A tile of the product stays in registers while z advances, so that a word read serves many
 * operations. On the host a tile is some vectors wide, and threads share blocks of tiles whose
 * factors stay in the cache for a stretch of z. On a GPU a thread's tile is one column, and
 * neighbouring threads take neighbouring x.
 */
#include "directives.h"
#include "variant.h"

#include <string.h>

/* The widest vector: a tile and a row of factor_b fit in its registers. */
#if defined(PHYSICS_OFFLOAD)
enum { VECTOR = sizeof(real), VECTORS = 1, ROWS = 8, BLOCK_ROWS = 8 };
#elif defined(__AVX512F__)
enum { VECTOR = 64, VECTORS = 3, ROWS = 8, BLOCK_ROWS = 128 };
#else
enum { VECTOR = 32, VECTORS = 3, ROWS = 4, BLOCK_ROWS = 128 };
#endif
enum { LANES = VECTOR / sizeof(real), COLUMNS = VECTORS * LANES };

/* Columns that one turn of the nest's third loop has in reach, and the stretch of z. */
#if defined(PHYSICS_OFFLOAD)
enum { PANEL = 32 };
#define STRETCH(nz) (nz)
#else
enum { PANEL = COLUMNS };
#define STRETCH(nz) 256
#endif

typedef real vector __attribute__((vector_size(VECTOR)));

struct matrices {
    const real *a, *b;
    real *c;
    ptrdiff_t nx, ny;
};

INLINED vector load(const real *from)
{
    vector v;
    memcpy(&v, from, sizeof(v));
    return v;
}

/* A whole tile, over [z0, z1); added to what is there unless z0 is 0. */
INLINED void tile(struct matrices m, ptrdiff_t y, ptrdiff_t x, ptrdiff_t z0, ptrdiff_t z1)
{
    vector sum[ROWS][VECTORS];
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++)
            sum[r][v] = z0 == 0 ? (vector){0} : load(m.c + (y + r) * m.nx + x + v * LANES);
    }
    for (ptrdiff_t z = z0; z < z1; z++) {
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            const real a = m.a[z * m.ny + y + r];
            UNROLL
            for (int v = 0; v < VECTORS; v++)
                sum[r][v] += a * load(m.b + z * m.nx + x + v * LANES);
        }
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++)
            memcpy(m.c + (y + r) * m.nx + x + v * LANES, &sum[r][v], VECTOR);
    }
}

/* What is less than a tile, at the edges of the product. */
INLINED void edge(struct matrices m, ptrdiff_t y0, ptrdiff_t y1, ptrdiff_t x0, ptrdiff_t x1,
                  ptrdiff_t z0, ptrdiff_t z1)
{
    for (ptrdiff_t y = y0; y < y1; y++)
        for (ptrdiff_t x = x0; x < x1; x++) {
            real sum = z0 == 0 ? 0 : m.c[y * m.nx + x];
            for (ptrdiff_t z = z0; z < z1; z++)
                sum += m.a[z * m.ny + y] * m.b[z * m.nx + x];
            m.c[y * m.nx + x] = sum;
        }
}

INLINED ptrdiff_t least(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

void VARIANT(matmul)(const struct physics_call *call)
{
    const ptrdiff_t nx = (ptrdiff_t)call->grid.nx;
    const ptrdiff_t ny = (ptrdiff_t)call->grid.ny;
    const ptrdiff_t nz = (ptrdiff_t)call->grid.nz;
    const real *const a = call->input[PHYSICS_FACTOR_A];
    const real *const b = call->input[PHYSICS_FACTOR_B];
    real *const c = call->output[PHYSICS_MATMUL];

    PARALLEL_ROWS
    for (ptrdiff_t block = 0; block < ny; block += BLOCK_ROWS)
        for (ptrdiff_t panel = 0; panel < nx; panel += PANEL)
            for (ptrdiff_t part = 0; part < PANEL; part += COLUMNS) {
                const struct matrices m = {a, b, c, nx, ny};
                const ptrdiff_t x = panel + part;
                const ptrdiff_t end_x = least(x + COLUMNS, nx);
                const ptrdiff_t end_y = least(block + BLOCK_ROWS, ny);
                for (ptrdiff_t z = 0; z < nz; z += STRETCH(nz))
                    for (ptrdiff_t y = block; y < end_y; y += ROWS) {
                        const ptrdiff_t end_z = least(z + STRETCH(nz), nz);
                        if (y + ROWS <= end_y && x + COLUMNS <= end_x)
                            tile(m, y, x, z, end_z);
                        else
                            edge(m, y, least(y + ROWS, end_y), x, end_x, z, end_z);
                    }
            }
}
