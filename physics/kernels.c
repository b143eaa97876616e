/*
 * The table of kernels: one row a kernel, in the order of listings and of runs. Compiled
 * once for each precision and target, as the kernels are.
 */
#include "variant.h"

const struct physics_kernel VARIANT(physics_kernels)[] = {
    {
        .name = "eos",
        .summary = "equation of state, TEOS-10 48-term: derivative of dynamic enthalpy by "
                   "temperature",
        .source = "IOC, SCOR and IAPSO (2010), appendix A.30; Veros core/density/gsw.py gsw_dHdT",
        .inputs = {PHYSICS_SALT, PHYSICS_TEMP, PHYSICS_P},
        .outputs = {PHYSICS_DHDT},
        /* counted in the compiled loop to 1400 dbar; each two more nodes add 39 */
        .flops = 264,
        .run = VARIANT(eos),
    },
    {0},
};
