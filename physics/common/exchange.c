/* Loop nests beside the kernels. Ghost cells: copies within a grid that is cyclic along x, and
 * messages between blocks. Records of forcing: the mean of two. Largest values. */
#include "boxes.h"
#include "sums.h"
#include "variant.h"

enum { GHOSTS = 2 * MINIAPP_HALO }; /* of each row, half of them on each side */

/* The cell that a ghost copies; an interior of a single cell is copied four times. */
INLINED count copied_by(count ghost, count interior)
{
    const count across = ghost < MINIAPP_HALO ? ghost + interior : ghost - interior;
    return interior > 1 ? across : MINIAPP_HALO;
}

/* Elements of a field, whatever their type. */
typedef uint64_t __attribute__((may_alias)) eight_bytes;
typedef uint32_t __attribute__((may_alias)) four_bytes;

/* Copies the ghosts of a row from number `part` on; `bytes` is a literal. */
INLINED void copy_ghosts(void *row, count interior, count part, int bytes)
{
    eight_bytes *const eights = row;
    four_bytes *const fours = row;
    uint8_t *const single = row;
    ALONG_X
    for (count i = part; i < part + ROW_PART(GHOSTS); i++) {
        const count to = i < MINIAPP_HALO ? i : interior + i, from = copied_by(to, interior);
        if (bytes == 8)
            eights[to] = eights[from];
        else if (bytes == 4)
            fours[to] = fours[from];
        else
            single[to] = single[from];
    }
}

void VARIANT(exchange_x)(void *field, size_t element_bytes, size_t cells, size_t all_rows)
{
    uint8_t *const memory = field;
    const ptrdiff_t width = (ptrdiff_t)element_bytes;
    const ptrdiff_t nx = (ptrdiff_t)cells;
    const ptrdiff_t rows = (ptrdiff_t)all_rows;
    const count interior = (count)cells - GHOSTS;

    PARALLEL_COLUMNS
    for (count r = 0; r < (count)rows; r++)
        for (count part = 0; part < GHOSTS; part += ROW_PART(GHOSTS)) {
            uint8_t *const row = memory + r * nx * width;
            if (width == 8)
                copy_ghosts(row, interior, part, 8);
            else if (width == 4)
                copy_ghosts(row, interior, part, 4);
            else
                copy_ghosts(row, interior, part, 1);
        }
}

/* Copies elements of a row as they are: masks in bytes, indices and reals in words. */
INLINED void copy_elements(uint8_t *to, const uint8_t *from, ptrdiff_t elements, ptrdiff_t bytes)
{
    ALONG_X
    for (ptrdiff_t i = 0; i < elements; i++)
        __builtin_memcpy(to + i * bytes, from + i * bytes, (size_t)bytes);
}

void VARIANT(copy_box)(const struct field_box *box, void *of_field, void *of_message,
                       bool to_message)
{
    uint8_t *const field = of_field, *const message = of_message;
    const ptrdiff_t bytes = (ptrdiff_t)box->element_bytes;
    const ptrdiff_t nx = (ptrdiff_t)box->nx, ny = (ptrdiff_t)box->ny;
    const ptrdiff_t x0 = (ptrdiff_t)box->x0, y0 = (ptrdiff_t)box->y0;
    const ptrdiff_t width = (ptrdiff_t)box->width, height = (ptrdiff_t)box->height;
    const ptrdiff_t planes = (ptrdiff_t)box->planes;

    PARALLEL_ROWS
    for (count p = 0; p < (count)planes; p++)
        for (count y = 0; y < (count)height; y++)
            for (count part = 0; part < (count)width; part += ROW_PART(width)) {
                uint8_t *const inside = field + ((p * ny + y0 + y) * nx + x0) * bytes;
                uint8_t *const outside = message + (p * height + y) * width * bytes;
                const uint8_t *const from = (to_message ? inside : outside) + part * bytes;
                uint8_t *const to = (to_message ? outside : inside) + part * bytes;
                if (bytes == 8)
                    copy_elements(to, from, ROW_PART(width), 8);
                else if (bytes == 4)
                    copy_elements(to, from, ROW_PART(width), 4);
                else
                    copy_elements(to, from, ROW_PART(width), 1);
            }
}

void VARIANT(blend)(const struct blended *of, void *result)
{
    const real *const first = of->fields[0], *const second = of->fields[1];
    const real *const third = of->fields[2] ? of->fields[2] : first;
    const bool are_three = of->fields[2] != NULL;
    real *const to = result;
    const real w1 = (real)of->weights[0], w2 = (real)of->weights[1], w3 = (real)of->weights[2];
    const ptrdiff_t nx = (ptrdiff_t)of->nx, rows = (ptrdiff_t)of->rows;

    PARALLEL_COLUMNS
    for (count r = 0; r < (count)rows; r++)
        for (count x0 = 0; x0 < (count)nx; x0 += ROW_PART((count)nx)) {
            ALONG_X
            for (count x = x0; x < x0 + ROW_PART((count)nx); x++) {
                const ptrdiff_t i = r * nx + x;
                const real two = w1 * first[i] + w2 * second[i];
                to[i] = are_three ? two + w3 * third[i] : two;
            }
        }
}

double VARIANT(largest)(const void *of_field, size_t cells, size_t all_rows, size_t planes)
{
    const real *const field = of_field;
    const count nx = (count)cells, ny = (count)all_rows, inner = ny - GHOSTS;
    const count rows = (count)planes * inner, last = nx - MINIAPP_HALO;
    int64_t largest = 0;

    PARALLEL_COLUMNS_MAX(largest, rows * (nx - GHOSTS))
    for (count r = 0; r < rows; r++)
        for (count x0 = MINIAPP_HALO; x0 < last; x0 += ROW_PART(nx - GHOSTS)) {
            const real *const row = field + (r / inner * ny + MINIAPP_HALO + r % inner) * nx;
            int64_t most = 0;
            ALONG_X_MAX(most)
            for (count x = x0; x < x0 + ROW_PART(nx - GHOSTS); x++) {
                const int64_t size = bits_of(__builtin_fabs((double)row[x]));
                most = size > most ? size : most;
            }
            largest = most > largest ? most : largest;
        }
    return number_from(largest);
}
