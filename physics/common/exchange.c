/* Ghosts along x of a grid whose east meets its west. */
#include "directives.h"
#include "variant.h"

enum { COPIED = 2 * MINIAPP_HALO }; /* in each row, half of them on each side */

void VARIANT(exchange_x)(void *memory, size_t cells, size_t all_rows)
{
    real *const field = memory;
    const ptrdiff_t nx = (ptrdiff_t)cells;
    const ptrdiff_t rows = (ptrdiff_t)all_rows;
    const ptrdiff_t period = nx - COPIED; /* from a ghost to the cell that it copies */

    SLABS(r0, r1, rows, COPIED)
    PARALLEL_COLUMNS
    for (count r = r0; r < r1; r++)
        for (count part = 0; part < COPIED; part += ROW_PART(COPIED)) {
            const ptrdiff_t row = r * nx;
            ALONG_X
            for (ptrdiff_t i = row + part; i < row + part + ROW_PART(COPIED); i++)
                if (i < row + MINIAPP_HALO)
                    field[i] = field[i + period];
                else
                    field[i + period] = field[i];
        }
}
