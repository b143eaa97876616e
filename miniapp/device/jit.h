/* Checks the tools that a build with bitcode needs when it starts on a GPU: LLVM compiles the
 * bitcode to PTX, and ptxas the PTX to machine code. */
#ifndef JIT_H
#define JIT_H

#include "backend.h"

/* False, with the reason, where something is missing. */
bool jit_is_ready(char reason[DEVICE_TEXT]);

#endif
