/*
 * Vertical mixing of temperature and salinity, with their surface fluxes. Both have the same
 * matrix; vertical_mixing.h has the system.
 */
#define DESCRIPTION "mixing/vertical_mixing.kernel"
#include "vertical_mixing.h"

void VARIANT(vertical_mixing)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct mixed temp = {temp_taup1, forc_temp_surface};
            const struct mixed salt = {salt_taup1, forc_salt_surface};
            const struct span part = {x0, x0 + ROW_PART(nx)};
            mix_columns(&a, temp, salt, true, y, interior(part, y, nx, ny));
        }
}
