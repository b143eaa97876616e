/* Units, as UDUNITS knows them. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>

enum { UNITS = 64 };

/* From a dataset's units to its field's: the factor times a value, plus the offset. */
struct conversion {
    char from[UNITS]; /* "" where nothing is to be converted */
    double factor, offset;
};

/* False if UDUNITS does not know the units, or cannot convert them; a build without it accepts only
 * the same text. No units at all stand for the field's. */
bool find_conversion(const char *units, const char *wanted, struct conversion *conversion);

#endif
