/*
 * The function of a kernel that steps an energy on the W grid: it solves the columns, and then
 * steps the points (wgrid_step.h). tke.c, eke.c and idemix.c include it last, after they have
 * defined
 *
 *     STEPPED                                the kernel's name,
 *     eliminate_row(a, k, y, inside)         the way up of the column solve,
 *     substitute_row(a, k, y, part, inside)  the way down,
 *     finish_row(a, y, part, inside)         the corrections at the surface after it,
 *
 * which take a part of row y at level k; `inside` are its cells that are not ghosts.
 */
#include "wgrid_step.h"

/* Solves the columns of a part of the rows [begin, end), level by level. */
INLINED void solve_columns(const struct arguments *a, count begin, count end, struct span part)
{
    for (count k = 0; k < a->nz; k++)
        for (count y = begin; y < end; y++)
            eliminate_row(a, k, y, interior(part, y, a->nx, a->ny));
    for (count k = a->nz - 1; k >= 0; k--)
        for (count y = begin; y < end; y++)
            substitute_row(a, k, y, part, interior(part, y, a->nx, a->ny));
    for (count y = begin; y < end; y++)
        finish_row(a, y, part, interior(part, y, a->nx, a->ny));
}

#if !defined(PHYSICS_OFFLOAD)

/* A thread has a tile of rows: it solves their columns, and steps their points while these are in
 * its caches. */
void VARIANT(STEPPED)(const struct kernel_call *call)
{
#include "unpack.h"
    const count rows = rows_together(ny);
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y += rows) {
        const struct arguments a = {
#include "gather.h"
        };
        const count end = y + rows_left(rows, y, ny);
        solve_columns(&a, y, end, (struct span){0, nx});
        step_rows(&a, y, end);
    }
}

#else

/* A thread has a column first, and then, in a nest of its own, a point. */
void VARIANT(STEPPED)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            solve_columns(&a, y, y + 1, (struct span){x0, x0 + ROW_PART(nx)});
        }
    PARALLEL_ROWS
    for (count k = 0; k < nz; k++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const struct arguments a = {
#include "gather.h"
                };
                step_part(&a, k, y, (struct span){x0, x0 + ROW_PART(nx)});
            }
}

#endif
