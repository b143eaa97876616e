/* Printing results. */
#ifndef REPORT_H
#define REPORT_H

#include "results.h"

enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

/* Prints the results on stdout; MINIAPP_OUTPUT where that fails. */
enum miniapp_status report(const struct results *results, enum output_format format);

#endif
