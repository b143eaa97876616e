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
        .flops = 254,
        .run = VARIANT(eos),
    },
    {
        .name = "isoneutral",
        .summary = "isoneutral mixing tensor and its triads of slopes (Griffies et al.)",
        .source = "Griffies et al. (1998); Veros core/isoneutral/isoneutral.py "
                  "isoneutral_diffusion_pre",
        .inputs = {PHYSICS_SALT, PHYSICS_TEMP, PHYSICS_ZT, PHYSICS_DXT, PHYSICS_DXU, PHYSICS_DYT,
                   PHYSICS_DYU, PHYSICS_DZT, PHYSICS_DZW, PHYSICS_COST, PHYSICS_COSU,
                   PHYSICS_MASK_T, PHYSICS_MASK_U, PHYSICS_MASK_V, PHYSICS_MASK_W, PHYSICS_K_ISO},
        .outputs = {PHYSICS_K_11, PHYSICS_K_22, PHYSICS_K_33, PHYSICS_AI_EZ, PHYSICS_AI_NZ,
                    PHYSICS_AI_BX, PHYSICS_AI_BY},
        .settings = {PHYSICS_EQ_OF_STATE_TYPE, PHYSICS_ISO_SLOPEC, PHYSICS_ISO_DSLOPE,
                     PHYSICS_K_ISO_STEEP},
        /* counted in the compiled loops: lateral faces, top faces; TEOS-10 adds 985 */
        .flops = 420 + 116,
        .run = VARIANT(isoneutral),
    },
    {
        .name = "tke",
        .summary = "turbulent kinetic energy: vertical mixing and dissipation, lateral diffusion, "
                   "superbee advection",
        .source = "Gaspar, Gregoris and Lefevre (1990); Veros core/tke.py integrate_tke",
        .inputs = {PHYSICS_DXT, PHYSICS_DXU, PHYSICS_DYT, PHYSICS_DYU, PHYSICS_DZT, PHYSICS_DZW,
                   PHYSICS_COST, PHYSICS_COSU, PHYSICS_MASK_U, PHYSICS_MASK_V, PHYSICS_MASK_W,
                   PHYSICS_KBOT, PHYSICS_U_WGRID, PHYSICS_V_WGRID, PHYSICS_W_WGRID,
                   PHYSICS_KAPPA_M, PHYSICS_MXL, PHYSICS_FORC, PHYSICS_FORC_TKE_SURFACE,
                   PHYSICS_TKE, PHYSICS_TKE_TAUP1, PHYSICS_DTKE_TAUM1},
        .outputs = {PHYSICS_TKE_TAUP1, PHYSICS_DTKE, PHYSICS_TKE_SURF_CORR},
        .settings = {PHYSICS_DT_TRACER, PHYSICS_DT_MOM, PHYSICS_AB_EPS, PHYSICS_ALPHA_TKE,
                     PHYSICS_C_EPS, PHYSICS_K_H_TKE},
        .flops = 23 + 154, /* the column solve, the points; what a row shares is not counted */
        .run = VARIANT(tke),
    },
    {
        .name = "triad",
        .summary = "bandwidth of memory: a = b + 3 c",
        .source = "McCalpin (1995), STREAM",
        .inputs = {PHYSICS_SALT, PHYSICS_TEMP},
        .outputs = {PHYSICS_TRIAD},
        .flops = 2,
        .run = VARIANT(triad),
        .calibration = true,
    },
    {
        .name = "fma",
        .summary = "rate of arithmetic: eight independent chains of fused multiply-adds",
        .source = "eight polynomials of degree 32, by Horner's rule",
        .inputs = {PHYSICS_SAMPLE},
        .outputs = {PHYSICS_FMA},
        .flops = 2 * 8 * 32 + 7,
        .run = VARIANT(fma),
        .calibration = true,
    },
    {
        .name = "expsum",
        .summary = "a reduction: the sum of exp(x^2 + 2 x)",
        .source = "the usual comparison of array languages",
        .inputs = {PHYSICS_SAMPLE},
        .outputs = {PHYSICS_EXPSUM},
        .flops = 4 + 29, /* the argument and the sum; 2^x in double */
        .run = VARIANT(expsum),
        .calibration = true,
    },
    {
        .name = "matmul",
        .summary = "a product of matrices: ny x nz by nz x nx",
        .source = "matmul[y, x] = sum over z of factor_a[z, y] factor_b[z, x]",
        .inputs = {PHYSICS_FACTOR_A, PHYSICS_FACTOR_B},
        .outputs = {PHYSICS_MATMUL},
        .flops = 2,
        .run = VARIANT(matmul),
        .calibration = true,
    },
    {0},
};
