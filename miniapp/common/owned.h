/* Memory that a block owns, and arrays that grow. */
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

/* OWNED before a pointer frees its memory where its block ends, however it ends, so that a failure
 * can be returned at once. */
#define OWNED __attribute__((cleanup(free_owned)))

/* A new, zeroed element at the end of the array that `array` points to; NULL without memory. */
static inline void *grow(void *array, size_t *count, size_t bytes)
{
    void *before;
    memcpy(&before, array, sizeof(before)); /* it may point to anything */
    char *const grown = realloc(before, (*count + 1) * bytes);
    if (!grown)
        return NULL;
    memcpy(array, &grown, sizeof(grown));
    return memset(grown + (*count)++ * bytes, 0, bytes);
}

#endif
