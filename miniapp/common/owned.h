/* OWNED before a pointer frees its memory where its block ends, however it ends, so that a failure
 * can be returned at once. */
#ifndef OWNED_H
#define OWNED_H

#include <stdlib.h>
#include <string.h>

static inline void free_owned(const void *pointer)
{
    void *memory;
    memcpy(&memory, pointer, sizeof(memory)); /* it may point to anything */
    free(memory);
}

#define OWNED __attribute__((cleanup(free_owned)))

#endif
