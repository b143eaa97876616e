/* The columns of a result for programs, the same in JSON and CSV. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "results.h"

/* One of the two functions is NULL. */
struct column {
    const char *name;
    double (*number)(const struct result *result); /* NAN: not known */
    const char *(*text)(const struct result *result, const struct results *results); /* or NULL */
    bool whole;
};

/* A column without a name ends them. */
extern const struct column columns[];

double result_points(const struct result *result);
double result_ns_per_point(const struct result *result);
double result_gb_per_s(const struct result *result);
double result_intensity(const struct result *result); /* flops a byte */

#endif
