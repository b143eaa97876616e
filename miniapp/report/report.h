/* Printing results: as tables, which people read, in report.c; as JSON and CSV in report_data.c. */
#ifndef REPORT_H
#define REPORT_H

#include "results.h"

enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

/* Prints the results on stdout; MINIAPP_OUTPUT where that fails. */
enum miniapp_status report(const struct results *results, enum output_format format);

void report_json(const struct results *results);
void report_csv(const struct results *results);

/* The object of --format json, which the caller releases. */
json_t *results_object(const struct results *results);

#endif
