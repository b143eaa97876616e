/*
 * The descriptions of kernels, once: defines the words of a description that the includer left
 * undefined as nothing, reads DESCRIPTIONS, and takes all words away again.
 *
 * A description, physics/SUBJECT/NAME.kernel, says
 *
 *     KERNEL(name, subject, summary, source)  the subject is the folder
 *     FIELD(...)                              a field that no other file describes: its columns are
 *                                             those of physics/ocean.fields, its axes in tables.c
 *     ARGUMENT(access, type, name, field, ghosts)
 *     SETTING(type, name)
 *     FLOPS(expression)                       a point, in terms of the settings
 *     END
 *
 * The access is read, write, update or scratch; the type is real, uint8_t or int32_t, as the field
 * has it. The ghosts are those that must be right for what is written to be right, or that are
 * right in what is written: HERE for none, AROUND(n), or GHOSTS(west, east, south, north).
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
#ifndef FLOPS
#define FLOPS(...)
#endif
#ifndef END
#define END
#endif

#include DESCRIPTIONS

#undef KERNEL
#undef FIELD
#undef ARGUMENT
#undef SETTING
#undef FLOPS
#undef END
