#include "text.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool append(char *text, size_t size, const char *between, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    used += (size_t)snprintf(text + used, size - used, "%s", used ? between : "");
    if (used >= size)
        return false;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
    return used < size;
}

int index_of(size_t element, const struct miniapp_field *field, const struct miniapp_grid *grid,
             size_t index[MINIAPP_MAX_RANK])
{
    const int rank = miniapp_field_rank(field);
    for (int i = rank - 1; i >= 0; i--) {
        const size_t length = miniapp_axis_length(miniapp_field_axis(field, i), grid);
        index[i] = element % length;
        element /= length;
    }
    return rank;
}

const char *index_text(const size_t *index, int rank, char text[INDEX_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < rank; i++)
        append(text, INDEX_TEXT, ", ", i ? "%zu" : "[%zu", index[i]);
    if (rank)
        append(text, INDEX_TEXT, "", "]");
    return text;
}

const char *axes_text(const struct miniapp_field *field, char text[AXES_TEXT])
{
    snprintf(text, AXES_TEXT, "(");
    for (int i = 0; i < miniapp_field_rank(field); i++)
        append(text, AXES_TEXT, i ? ", " : "", "%s",
               miniapp_axis_name(miniapp_field_axis(field, i)));
    append(text, AXES_TEXT, "", ")");
    return text;
}

const char *element_name(const char *field_name, const struct miniapp_field *field,
                         const struct miniapp_grid *grid, size_t element, char text[ELEMENT_NAME])
{
    size_t index[MINIAPP_MAX_RANK];
    char place[INDEX_TEXT];
    snprintf(text, ELEMENT_NAME, "%.160s%s", field_name,
             index_text(index, index_of(element, field, grid, index), place));
    return text;
}

const char *exact_text(double value, char text[EXACT_TEXT])
{
    for (int digits = 15; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, EXACT_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

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

bool is_held(double value, enum miniapp_precision precision)
{
    const bool is_narrow = precision == MINIAPP_FLOAT32;
    const double size = fabs(is_narrow ? (double)(float)value : value);
    return value == 0 || (size >= (is_narrow ? FLT_MIN : DBL_MIN) && isfinite(size));
}
