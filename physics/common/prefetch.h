#ifndef PHYSICS_PREFETCH_H
#define PHYSICS_PREFETCH_H

#include "directives.h"

/* Prefetches the data of the next row into the host's L2 cache, for a kernel that computes much a
 * point, where the hardware prefetches too late. A prefetch beyond the end of an array is harmless.
 * Into the L1 cache, which is small, it can cost more than it saves. */
INLINED void prefetch(const void *from, count bytes)
{
#if !defined(PHYSICS_OFFLOAD)
    for (count line = 0; line < bytes; line += 64)
        __builtin_prefetch((const char *)from + line, 0, 2);
#else
    (void)from, (void)bytes;
#endif
}

#endif
