/* Heat content, as an example of a site's own kernel. */
#include "directives.h"
#include "variant.h"

#define DESCRIPTION "heat.kernel"

void VARIANT(heat)(const struct kernel_call *call)
{
#include "unpack.h"

    PARALLEL_ROWS
    for (count z = 0; z < nz; z++)
        for (count y = 0; y < ny; y++)
            for (count x0 = 0; x0 < nx; x0 += ROW_PART(nx)) {
                const count row = (z * ny + y) * nx;
                ALONG_X
                for (count i = row + x0; i < row + x0 + ROW_PART(nx); i++)
                    heat[i] = heat_capacity * temp[i];
            }
}
