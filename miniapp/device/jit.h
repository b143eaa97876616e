/* What a build that holds bitcode needs when it starts on a GPU: LLVM turns it into PTX, and ptxas
 * turns that into machine code. */
#ifndef JIT_H
#define JIT_H

#include "backend.h"

/* False, with the reason, where something is missing. */
bool jit_is_ready(char reason[DEVICE_TEXT]);

#endif
