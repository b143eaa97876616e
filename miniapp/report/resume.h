/* Results in a file that outlives the run: a sweep that is cut off goes on where it stopped. */
#ifndef RESUME_H
#define RESUME_H

#include "results.h"

/*
 * Puts what an earlier run left in the file before the results; nothing where there is no file.
 * MINIAPP_INPUT where it cannot be used: it is no such file, or is of another build, input or
 * settings; MINIAPP_OUTPUT where the file could not be written.
 */
enum miniapp_status resume_load(const char *path, struct results *results);

/* Warns where the earlier run was on another machine: its times may stand in the same file, but
 * whoever compares them should know. */
void resume_compare(const char *path, const struct results *results);

/* Whether the earlier run has a row like it, and whether it has that one together with its
 * ceilings. */
bool resume_has(const struct results *results, const struct result *wanted);
bool resume_has_ceilings(const struct results *results, const struct result *wanted);

/* Writes earlier and new results; the file is old or new at any moment. */
enum miniapp_status resume_save(const char *path, const struct results *results);

#endif
