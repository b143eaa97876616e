/*
 * Harmonic lateral diffusion of temperature and salinity, along levels.
 */
#define DESCRIPTION "mixing/lateral_diffusion.kernel"
#include "lateral_mixing.h"

void VARIANT(lateral_diffusion)(const struct kernel_call *call)
{
#include "unpack.h"
    PARALLEL_COLUMNS
    for (count y = 0; y < ny; y++)
        for (count x0 = 0; x0 < nx; x0 += ROW_CHUNK) {
            const struct arguments a = {
#include "gather.h"
            };
            const int power = enable_hor_friction_cos_scaling ? hor_friction_cosPower : 0;
            mix_part(&a, K_h, power, temp, salt, 1, y, chunk(x0, nx));
        }
}
