#include "convert.h"

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

void convert_from_double(const double *values, size_t count, enum miniapp_type type,
                         enum miniapp_precision precision, void *to)
{
    switch (type) {
    case MINIAPP_MASK:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)to)[i] = (uint8_t)values[i];
        return;
    case MINIAPP_INDEX:
        for (size_t i = 0; i < count; i++)
            ((int32_t *)to)[i] = (int32_t)values[i];
        return;
    default: break;
    }
    if (is_double(type, precision))
        memcpy(to, values, count * sizeof(*values));
    else
        for (size_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)values[i];
}

void convert_to_double(const void *from, size_t count, enum miniapp_type type,
                       enum miniapp_precision precision, double *values)
{
    switch (type) {
    case MINIAPP_MASK:
        for (size_t i = 0; i < count; i++)
            values[i] = ((const uint8_t *)from)[i];
        return;
    case MINIAPP_INDEX:
        for (size_t i = 0; i < count; i++)
            values[i] = ((const int32_t *)from)[i];
        return;
    default: break;
    }
    if (is_double(type, precision))
        memcpy(values, from, count * sizeof(*values));
    else
        for (size_t i = 0; i < count; i++)
            values[i] = (double)((const float *)from)[i];
}
