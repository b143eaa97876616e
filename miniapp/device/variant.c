/* The module of a directive variant: all kernels, built under its directives. CMake builds it for
 * each of MINIAPP_VARIANTS, and defines VARIANT_FLOAT64 and VARIANT_FLOAT32. */
#include "backend.h"
#include "build.h"

extern const struct kernel_functions VARIANT_FLOAT64, VARIANT_FLOAT32;

static const struct kernel_functions *functions_of_variant(enum miniapp_precision precision)
{
    return precision == MINIAPP_FLOAT64 ? &VARIANT_FLOAT64 : &VARIANT_FLOAT32;
}

__attribute__((visibility("default"))) const struct variant_module VARIANT_MODULE = {
    .build = BUILD_VERSION " " BUILD_OFFLOAD,
    .functions = functions_of_variant,
};
