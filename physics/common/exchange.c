/* Ghosts along x of a grid whose east meets its west. */
#include "directives.h"
#include "variant.h"

enum { GHOSTS = 2 * MINIAPP_HALO }; /* of each row, half of them on each side */

/* The cell that a ghost copies; an interior of a single cell is copied four times. */
INLINED ptrdiff_t copied_by(ptrdiff_t ghost, ptrdiff_t interior)
{
    return MINIAPP_HALO + (ghost - MINIAPP_HALO + 2 * interior) % interior;
}

void VARIANT(exchange_x)(void *field, size_t element_bytes, size_t cells, size_t all_rows)
{
    uint8_t *const memory = field;
    const ptrdiff_t width = (ptrdiff_t)element_bytes;
    const ptrdiff_t nx = (ptrdiff_t)cells;
    const ptrdiff_t rows = (ptrdiff_t)all_rows;
    const ptrdiff_t interior = nx - GHOSTS;

    SLABS(r0, r1, rows, GHOSTS)
    PARALLEL_COLUMNS
    for (count r = r0; r < r1; r++)
        for (count part = 0; part < GHOSTS; part += ROW_PART(GHOSTS)) {
            uint8_t *const row = memory + r * nx * width;
            ALONG_X
            for (ptrdiff_t i = part; i < part + ROW_PART(GHOSTS); i++) {
                const ptrdiff_t ghost = i < MINIAPP_HALO ? i : interior + i;
                const ptrdiff_t copied = copied_by(ghost, interior);
                for (ptrdiff_t byte = 0; byte < width; byte++)
                    row[ghost * width + byte] = row[copied * width + byte];
            }
        }
}
