/* Valid ranges. */
#ifndef RANGE_H
#define RANGE_H

#include <miniapp/field.h>
#include <stdbool.h>

enum { RANGE_TEXT = 64 };

/* "positive", "at least 0", "any number" or "from 0 to 50". Limits near those of double count as
 * none. */
const char *range_text(double least, double most, char text[RANGE_TEXT]);

/* Whether a value keeps its digits in a precision: it does not overflow there, nor underflow unless
 * it is 0. */
bool is_held(double value, enum miniapp_precision precision);

/* Whether a value lies in a range and, where that is of numbers above 0, is one in the precision.
 */
static inline bool is_in_range(double value, double least, double most,
                               enum miniapp_precision precision)
{
    return value >= least && value <= most && (least <= 0 || is_held(value, precision));
}

#endif
