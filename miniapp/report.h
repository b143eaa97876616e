/* Printing results. */
#ifndef MINIAPP_REPORT_H
#define MINIAPP_REPORT_H

#include "options.h"
#include "results.h"

/* Prints the results on stdout; PHYSICS_OUTPUT where that fails. */
enum physics_status report(const struct results *results, enum output_format format);

/* Prints what each kernel of the table reads, writes and costs. */
void list_kernels(FILE *stream);

#endif
