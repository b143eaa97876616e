/* Whether an earlier run may be gone on with: what it says of itself must be what this run says. */
#ifndef DIFFERENCE_H
#define DIFFERENCE_H

#include "provenance.h"

#include <miniapp/status.h>

/* Fails if two runs differ in one of these items of their provenance, an item that is not there
 * being an empty one, and names the first difference: "PATH: WHAT: it was made with NAME=TEXT, but
 * this run has NAME=TEXT". */
enum miniapp_status check_alike(const char *path, const char *what, const struct provenance *then,
                                const struct provenance *now, const char *const *names,
                                size_t count);

#endif
