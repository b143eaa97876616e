/* Printing results. */
#ifndef REPORT_H
#define REPORT_H

#include "options.h"
#include "results.h"

/* Prints the results on stdout; MINIAPP_OUTPUT where that fails. */
enum miniapp_status report(const struct results *results, enum output_format format);

#endif
