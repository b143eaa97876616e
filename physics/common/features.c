/* The processor features that the host's kernels were compiled for, as the compiler names them:
 * after a build with -march=native another node may lack one. This file holds only data, because it
 * is read before any kernel's code may run. */
#include <stddef.h>

extern const char *const host_features[];

const char *const host_features[] = {
#if defined(__AVX__)
    "avx",
#endif
#if defined(__AVX2__)
    "avx2",
#endif
#if defined(__FMA__)
    "fma",
#endif
#if defined(__BMI2__)
    "bmi2",
#endif
#if defined(__AVX512F__)
    "avx512f",
#endif
#if defined(__AVX512DQ__)
    "avx512dq",
#endif
#if defined(__AVX512VL__)
    "avx512vl",
#endif
#if defined(__AVX512BW__)
    "avx512bw",
#endif
#if defined(__ARM_FEATURE_SVE)
    "sve",
#endif
#if defined(__ARM_FEATURE_SVE2)
    "sve2",
#endif
    NULL,
};
