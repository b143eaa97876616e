/* A valid range in words. */
#ifndef RANGE_H
#define RANGE_H

#include <stddef.h>

enum { RANGE_TEXT = 64 };

/* "positive", "at least 0", "any number" or "from 0 to 50". Limits near those of double count as
 * none. */
const char *range_text(double least, double most, char text[RANGE_TEXT]);

#endif
