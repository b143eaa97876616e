/*
 * Harmonic lateral diffusion of temperature and salinity, along levels.
 */
#define DESCRIPTION "mixing/lateral_diffusion.kernel"
#include "arguments.h"

#include <stdbool.h>

#include "lateral_mixing.h"
#include "maths.h"

INLINED struct lateral_factors factors_of_diffusion(const struct arguments *a, count y)
{
    const int power = a->enable_hor_friction_cos_scaling ? a->hor_friction_cosPower : 0;
    return lateral_factors(a, y, a->K_h * whole_power(a->cost[y], power),
                           a->K_h * whole_power(a->cosu[y], power),
                           a->K_h * whole_power(a->cosu[y - 1], power));
}

void VARIANT(lateral_diffusion)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const struct span part = chunk(x0, nx), inside = interior(part, y, nx, ny);
            for (count k = 0; k < nz; k++)
                zero_outside(P_diss_hmix + (k * ny + y) * nx, part, inside);
            if (inside.begin == inside.end)
                continue;
            const struct span cells = ROW_CHUNK == 1 ? part : inside; /* which compilers can see */
            const struct lateral_factors f = factors_of_diffusion(&a, y);
            mix_part(&a, &f, temp, salt, 1, y, cells);
        }
}
