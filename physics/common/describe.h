/*
 * Reads the descriptions of kernels once: defines as nothing each word of a description that the
 * includer has not defined, includes DESCRIPTIONS, or else a kernel's own DESCRIPTION, and
 * undefines all words again.
 *
 * A description, physics/SUBJECT/NAME.kernel, says
 *
 *     KERNEL(name, subject, summary, source)  the subject is the folder
 *     FIELD(...)                              a field that no other file describes: its columns are
 *                                             those of physics/ocean.fields; tables.c defines axes
 *     ARGUMENT(access, type, name, field, ghosts)
 *     SETTING(type, name)
 *     UNTOUCHED(argument, condition)          by the settings, it is neither read nor written: as
 *                                             an output, it is no result
 *     ONE_LEVEL(argument)                     it is read, or written, on a single level
 *     FLOPS(expression)                       per point, in terms of the settings
 *     FLOPS_AT(argument, expression)          the same on a level where `argument`, along z, has a
 *                                             value; FLOPS is a typical mean then
 *     FLOPS_OF_ITERATION(number)              of a solver, per column beside those
 *     WHOLE_OCEAN                             the kernel needs the whole ocean, not only a block
 *     END
 *
 * The access is read, write, update or scratch; the type is the field's: real, double, uint8_t or
 * int32_t.
 * The ghosts of an input are those that must be right if the outputs are to be right; the ghosts of
 * an output are those that the kernel makes right, and those of an update are both: HERE for none,
 * AROUND(n), or GHOSTS(west, east, south, north).
 *
 * From these lines come the kernel's row in the tables (tables.c), its entry in every list, and its
 * typed arguments (unpack.h). CMakeLists.txt finds the files; nothing else names them.
 */
#ifndef KERNEL
#define KERNEL(...)
#endif
#ifndef FIELD
#define FIELD(...)
#endif
#ifndef ARGUMENT
#define ARGUMENT(...)
#endif
#ifndef SETTING
#define SETTING(...)
#endif
#ifndef UNTOUCHED
#define UNTOUCHED(...)
#endif
#ifndef ONE_LEVEL
#define ONE_LEVEL(...)
#endif
#ifndef FLOPS
#define FLOPS(...)
#endif
#ifndef FLOPS_AT
#define FLOPS_AT(...)
#endif
#ifndef FLOPS_OF_ITERATION
#define FLOPS_OF_ITERATION(...)
#endif
#ifndef WHOLE_OCEAN
#define WHOLE_OCEAN
#endif
#ifndef END
#define END
#endif

#if defined(DESCRIPTIONS)
#include DESCRIPTIONS
#else
#include DESCRIPTION
#endif

#undef KERNEL
#undef FIELD
#undef ARGUMENT
#undef SETTING
#undef UNTOUCHED
#undef ONE_LEVEL
#undef FLOPS
#undef FLOPS_AT
#undef FLOPS_OF_ITERATION
#undef WHOLE_OCEAN
#undef END
