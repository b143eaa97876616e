/*
 * The arguments and settings of a kernel as constants of its function, typed and named as in its
 * description, DESCRIPTION, and the lengths of the axes. It is included where they are wanted:
 *
 *     #define DESCRIPTION "eos/eos.kernel"
 *     void VARIANT(eos)(const struct kernel_call *call)
 *     {
 *     #include "unpack.h"
 *
 * and with the values that DERIVED (arguments.h) lists. They are plain locals because a target
 * region takes pointers one by one.
 */
#define UNUSED __attribute__((unused))

UNUSED const count nx = (count)call->grid.nx;
UNUSED const count ny = (count)call->grid.ny;
UNUSED const count nz = (count)call->grid.nz;

enum {
#define ARGUMENT(access, type, name, ...) PLACE_##name,
#include "describe.h"
};
#define ARGUMENT(access, type, name, ...)                                                          \
    UNUSED ARRAY_##access(type) const name = call->argument[PLACE_##name];
#define SETTING(type, name) UNUSED const type name = (type)call->setting[SETTING_##name];
#include "describe.h"
#if defined(DERIVED)
#define UNPACK_VALUE(type, name, ...) UNUSED type const name = __VA_ARGS__;
DERIVED(UNPACK_VALUE)
#undef UNPACK_VALUE
#endif
#undef UNUSED
