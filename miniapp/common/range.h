/* Valid ranges. */
#ifndef RANGE_H
#define RANGE_H

#include <miniapp/field.h>
#include <stdbool.h>

enum { RANGE_TEXT = 64 };

/* "positive", "at least 0", "any number" or "from 0 to 50". Limits near those of a double count as
 * no limits. */
const char *range_text(double least, double most, char text[RANGE_TEXT]);

/* Whether a value keeps its digits in a precision: it is 0, or neither overflows nor underflows. */
bool is_held(double value, enum miniapp_precision precision);

/* Whether a value lies in a range and, if that holds only numbers above 0, fits the precision. */
static inline bool is_in_range(double value, double least, double most,
                               enum miniapp_precision precision)
{
    return value >= least && value <= most && (least <= 0 || is_held(value, precision));
}

#endif
