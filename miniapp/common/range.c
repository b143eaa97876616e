#include "range.h"

#include <stdio.h>

const char *range_text(double least, double most, char text[RANGE_TEXT])
{
    const double unlimited = 1e300;
    if (most < unlimited && least > 0 && least < 1 / unlimited)
        snprintf(text, RANGE_TEXT, "positive and at most %g", most);
    else if (most < unlimited)
        snprintf(text, RANGE_TEXT, "from %g to %g", least, most);
    else if (least < -unlimited)
        snprintf(text, RANGE_TEXT, "any number");
    else if (least > 0 && least < 1 / unlimited)
        snprintf(text, RANGE_TEXT, "positive");
    else
        snprintf(text, RANGE_TEXT, "at least %g", least);
    return text;
}
