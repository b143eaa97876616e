/* Results from a file of --format json or --resume. */
#ifndef LOAD_H
#define LOAD_H

#include "results.h"

/* Adds all that the file holds to empty results. MINIAPP_INPUT if it is not such a file; the
 * message then says what the file cannot do, by `what`, such as "be resumed". */
enum miniapp_status results_load(const char *path, const char *what, struct results *results);

/* The text of that name in an object, or "". */
const char *text_or_empty(const json_t *object, const char *name);

#endif
