/*
 * The precision and the target, by which the builds of a kernel differ. CMake compiles
 * every kernel once for each pair, with
 *   REAL             double or float,
 *   PHYSICS_VARIANT  host_float64, host_float32, offload_float64 or offload_float32; under other
 *                    directives (directives.h) it begins with their name: dynamic_float64.
 */
#ifndef PHYSICS_VARIANT_H
#define PHYSICS_VARIANT_H

#include "call.h"

typedef REAL real;

/*
 * VARIANT(eos) is eos_host_float64 and so on: one name for each build. Static functions with a loop
 * nest need one too: Clang names device code by file, line and function, and if two builds have the
 * same name the linker silently keeps only one, which then runs in the wrong precision.
 */
#define VARIANT(name) PHYSICS_PASTE(name, PHYSICS_VARIANT)
#define PHYSICS_PASTE(name, variant) PHYSICS_PASTE_EXPANDED(name, variant)
#define PHYSICS_PASTE_EXPANDED(name, variant) name##_##variant

/* The array of an argument, by the argument's access. */
#define ARRAY_read(type) const type *
#define ARRAY_write(type) type *
#define ARRAY_update(type) type *
#define ARRAY_scratch(type) type *

#endif
