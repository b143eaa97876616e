#include "convert.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

bool is_double(enum miniapp_type type, enum miniapp_precision precision)
{
    return type == MINIAPP_REAL && precision == MINIAPP_FLOAT64;
}

/* What is finite stays finite. */
static bool narrow(const double *values, size_t count, float *to, size_t *misfit)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = (float)values[i];
        if (isfinite(values[i]) && !isfinite(to[i])) {
            *misfit = i;
            return false;
        }
    }
    return true;
}

bool convert_from_double(const double *values, size_t count, enum miniapp_type type,
                         enum miniapp_precision precision, void *to, size_t *misfit)
{
    switch (type) {
    case MINIAPP_MASK:
        for (size_t i = 0; i < count; i++)
            ((uint8_t *)to)[i] = (uint8_t)values[i];
        return true;
    case MINIAPP_INDEX:
        for (size_t i = 0; i < count; i++)
            ((int32_t *)to)[i] = (int32_t)values[i];
        return true;
    default: break;
    }
    if (precision == MINIAPP_FLOAT32)
        return narrow(values, count, to, misfit);
    memcpy(to, values, count * sizeof(*values));
    return true;
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
    if (precision == MINIAPP_FLOAT64)
        memcpy(values, from, count * sizeof(*values));
    else
        for (size_t i = 0; i < count; i++)
            values[i] = (double)((const float *)from)[i];
}
