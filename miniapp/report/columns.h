/* The columns of a result for programs, the same in JSON and CSV. */
#ifndef COLUMNS_H
#define COLUMNS_H

#include "results.h"

/* Either `place` is not 0, or exactly one of the functions is not NULL. */
struct column {
    const char *name;
    size_t place; /* of the number in a result, which is read back from it */
    double (*number)(const struct result *result); /* NAN: not known */
    double (*in_results)(const struct result *result, const struct results *results);
    const char *(*text)(const struct result *result); /* or NULL */
    bool whole;
    bool above_0; /* or it was not measured */
};

/* A column without a name ends them. */
extern const struct column columns[];

/* A column's number; NAN where it is not known, or is a text. */
double column_number(const struct column *column, const struct result *result,
                     const struct results *results);

double result_points(const struct result *result);
double result_ns_per_point(const struct result *result);
double result_gb_per_s(const struct result *result); /* of the median call, as the next */
double result_gflop_per_s(const struct result *result);
double result_best_gb_per_s(const struct result *result); /* of the best call, as the next */
double result_best_gflop_per_s(const struct result *result);
double result_intensity(const struct result *result); /* flops a byte */

#endif
