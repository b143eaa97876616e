#include "suggest.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 64 };

/* Levenshtein distance, upper and lower case alike. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1];
    const size_t length = strnlen(b, LONGEST);
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 0; a[i] && i < LONGEST; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < length; j++) {
            const int differ = tolower((unsigned char)a[i]) != tolower((unsigned char)b[j]);
            size_t best = diagonal + (size_t)differ;
            diagonal = row[j + 1];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j + 1] + 1 < best)
                best = row[j + 1] + 1;
            row[j + 1] = best;
        }
    }
    return row[length];
}

const char *closest_match(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    size_t least = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t distance = edit_distance(word, names[i]);
        if (!best || distance < least) {
            best = names[i];
            least = distance;
        }
    }
    return best;
}
