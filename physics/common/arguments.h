/*
 * struct arguments: the lengths of the axes and a kernel's arguments and settings, as members that
 * are typed and named as in its description, and then DERIVED, the values that a call computes from
 * these once. The includer names the description before:
 *
 *     #define DESCRIPTION "mixing/tke.kernel"
 *     #define DERIVED(VALUE) VALUE(real, per_dt, 1 / dt_mom)
 *     #include "arguments.h"
 *
 * A nest that hands its arguments to functions gathers them from the locals of unpack.h:
 *
 *     const struct arguments a = {
 *     #include "gather.h"
 *     };
 *
 * It does so inside the nest: a structure from outside would be copied to a GPU at each launch.
 * Headers that several kernels share take a pointer to the structure, too, and read members that
 * each of these kernels has.
 */
#ifndef PHYSICS_ARGUMENTS_H
#define PHYSICS_ARGUMENTS_H

#include "directives.h"
#include "variant.h"

#define MEMBER_VALUE(type, name, ...) type name;

struct arguments {
    count nx, ny, nz;
#define ARGUMENT(access, type, name, ...) ARRAY_##access(type) name;
#define SETTING(type, name) type name;
#include "describe.h"
#if defined(DERIVED)
    DERIVED(MEMBER_VALUE)
#endif
};

#endif
