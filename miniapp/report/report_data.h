/* Results in the forms that programs read. */
#ifndef REPORT_DATA_H
#define REPORT_DATA_H

#include "results.h"

/* The object of --format json, which the caller releases. */
json_t *results_object(const struct results *results);

void report_json(const struct results *results);
void report_csv(const struct results *results);

#endif
