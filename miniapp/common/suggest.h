/* Finds the name that a mistyped word probably stands for. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

/* The nearest of the names by edit distance; NULL where there are none. */
const char *closest_match(const char *word, const char *const *names, size_t count);

#endif
