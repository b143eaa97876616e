#include "status.h"
#include "text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { LONGEST = 64, SHORTEST_STEM = 3 };

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters have to be put in, left out, changed or swapped with the next one; upper and
 * lower case alike. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1]; /* that of the current letter of a, and of the two before it */
    const size_t height = strnlen(a, LONGEST), width = strnlen(b, LONGEST);
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *const row = rows[i % 3];
        const size_t *const last = rows[(i + 2) % 3], *const last_but_one = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] =
                lesser(lesser(row[j - 1], last[j]) + 1, last[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = lesser(row[j], last_but_one[j - 2] + 1);
        }
    }
    return rows[height % 3][width];
}

/* Whether one begins with the other, as ocean_step does with ocean, or the name has the word in it,
 * as isoneutral has neutral. */
static bool share_stem(const char *word, const char *name)
{
    const size_t of_word = strlen(word), of_name = strlen(name);
    const bool is_stem = of_word > 0 && (of_word < of_name || of_name >= SHORTEST_STEM) &&
                         strncasecmp(word, name, lesser(of_word, of_name)) == 0;
    return is_stem || (of_word >= SHORTEST_STEM && strcasestr(name, word));
}

const char *closest_match(const char *word, const char *const *names, size_t count)
{
    const size_t length = strnlen(word, LONGEST), third = length / 3;
    const char *best = NULL;
    size_t fewest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t distance = edit_distance(word, names[i]);
        const bool is_near = (distance <= (third ? third : 1) && distance < length) ||
                             share_stem(word, names[i]); /* u is not near y */
        if (is_near && (!best || distance < fewest)) {
            best = names[i];
            fewest = distance;
        }
    }
    return best;
}

enum miniapp_status unknown(const char *what, const char *word, const char *const *names,
                            size_t count, const char *otherwise)
{
    const char *const closest = closest_match(word, names, count);
    return closest
               ? fail(MINIAPP_USAGE, "unknown %s '%s'; the closest is '%s'", what, word, closest)
               : fail(MINIAPP_USAGE, "unknown %s '%s'%s", what, word, otherwise);
}
