/* The name that a mistyped word was probably meant to be. */
#ifndef MINIAPP_SUGGEST_H
#define MINIAPP_SUGGEST_H

#include <stddef.h>

/* The nearest of the names by edit distance; NULL where there are none. */
const char *closest_match(const char *word, const char *const *names, size_t count);

#endif
