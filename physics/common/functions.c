/* The functions of one build, in the order of the table. */
#include "directives.h"
#include "variant.h"

static kernel_function *const run[KERNELS] = {
#define KERNEL(name, ...) VARIANT(name),
#define DESCRIPTIONS "all.kernels"
#include "describe.h"
#undef DESCRIPTIONS
};

const struct kernel_functions VARIANT(functions) = {run, VARIANT(exchange_x), VARIANT(copy_box),
                                                    MOST_TURNS};
