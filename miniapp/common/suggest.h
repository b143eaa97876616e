/* Finds the name that a mistyped word probably stands for. */
#ifndef SUGGEST_H
#define SUGGEST_H

#include <stddef.h>

enum { SUGGESTION = 128 };

/* The nearest of the names in which at most a third of the word's letters differ, that begin as it
 * does or that have it in them; NULL if there are none. */
const char *closest_match(const char *word, const char *const *names, size_t count);

/* The end of a message about an unknown word: "; the closest is 'NAME'", or nothing. */
const char *suggestion(const char *word, const char *const *names, size_t count,
                       char text[SUGGESTION]);

#endif
