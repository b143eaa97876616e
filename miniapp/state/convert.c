#include "state.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

bool is_double(enum miniapp_type type, enum miniapp_precision precision)
{
    return type == MINIAPP_DOUBLE || (type == MINIAPP_REAL && precision == MINIAPP_FLOAT64);
}

static bool fits_type(double value, enum miniapp_type type)
{
    switch (type) {
    case MINIAPP_MASK: return value == 0 || value == 1;
    case MINIAPP_INDEX: return value >= 0 && value <= INT32_MAX && value == floor(value);
    default: return !isfinite(value) || isfinite((float)value);
    }
}

size_t first_misfit(const double *values, size_t count, enum miniapp_type type,
                    enum miniapp_precision precision)
{
    size_t i = is_double(type, precision) ? count : 0;
    while (i < count && fits_type(values[i], type))
        i++;
    return i;
}

#define CONVERT(from_type, from, to_type, to)                                                      \
    for (size_t i = 0; i < count; i++)                                                             \
    ((to_type *)(to))[i] = (to_type)((const from_type *)(from))[i]

void convert_from_double(const double *values, size_t count, enum miniapp_type type,
                         enum miniapp_precision precision, void *to)
{
    if (type == MINIAPP_MASK)
        CONVERT(double, values, uint8_t, to);
    else if (type == MINIAPP_INDEX)
        CONVERT(double, values, int32_t, to);
    else if (is_double(type, precision))
        memcpy(to, values, count * sizeof(*values));
    else
        CONVERT(double, values, float, to);
}

void convert_to_double(const void *from, size_t count, enum miniapp_type type,
                       enum miniapp_precision precision, double *values)
{
    if (type == MINIAPP_MASK)
        CONVERT(uint8_t, from, double, values);
    else if (type == MINIAPP_INDEX)
        CONVERT(int32_t, from, double, values);
    else if (is_double(type, precision))
        memcpy(values, from, count * sizeof(*values));
    else
        CONVERT(float, from, double, values);
}
