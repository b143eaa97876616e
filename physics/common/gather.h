/* The initialisers of a struct arguments (arguments.h), from the locals of unpack.h. */
.nx = nx, .ny = ny, .nz = nz,
#define ARGUMENT(access, type, name, ...) .name = name,
#define SETTING(type, name) .name = name,
#include "describe.h"
#if defined(DERIVED)
#define GATHER_VALUE(type, name, ...) .name = name,
    DERIVED(GATHER_VALUE)
#undef GATHER_VALUE
#endif
