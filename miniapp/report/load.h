/* The rows of a file of --resume. */
#ifndef LOAD_H
#define LOAD_H

#include "results.h"

/* Adds the file's provenance, rows and checksums to empty results. MINIAPP_INPUT if it is not such
 * a file. */
enum miniapp_status results_load(const char *path, struct results *results);

/* The text of that name in an object, or "". */
const char *text_or_empty(const json_t *object, const char *name);

#endif
