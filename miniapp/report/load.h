/* Results from a file of --format json or --resume. */
#ifndef LOAD_H
#define LOAD_H

#include "results.h"

/* Adds all that the file holds to empty results. MINIAPP_INPUT if it is no such file; the message
 * then says that it cannot `what`, such as "be resumed". */
enum miniapp_status results_load(const char *path, const char *what, struct results *results);

#endif
