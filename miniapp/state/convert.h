/* Conversions between callers' arrays of double and a field's own type. */
#ifndef CONVERT_H
#define CONVERT_H

#include <miniapp/field.h>

/* Whether an array of that type is an array of double already. */
bool is_double(enum miniapp_type type, enum miniapp_precision precision);

/* The place of the first value that the type cannot hold, or `count`. */
size_t first_misfit(const double *values, size_t count, enum miniapp_type type,
                    enum miniapp_precision precision);

/* These convert values that fit. */
void convert_from_double(const double *values, size_t count, enum miniapp_type type,
                         enum miniapp_precision precision, void *to);

void convert_to_double(const void *from, size_t count, enum miniapp_type type,
                       enum miniapp_precision precision, double *values);

#endif
