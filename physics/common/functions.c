/* The functions of one build, in the order of the table. */
#include "directives.h"
#include "table.h"
#include "variant.h"

exchange_function VARIANT(exchange_x);
box_function VARIANT(copy_box);
blend_function VARIANT(blend);
largest_function VARIANT(largest);
#define KERNEL(name, ...) kernel_function VARIANT(name);
#define DESCRIPTIONS "all.kernels"
#include "describe.h"

static kernel_function *const run[KERNELS] = {
#define KERNEL(name, ...) VARIANT(name),
#include "describe.h"
};

const struct kernel_functions VARIANT(functions) = {
    run, VARIANT(exchange_x), VARIANT(copy_box), VARIANT(blend), VARIANT(largest), MOST_TURNS};
