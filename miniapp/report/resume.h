/* Results in a file that outlives the run: a sweep that is cut off continues where it stopped. */
#ifndef RESUME_H
#define RESUME_H

#include "replace.h"
#include "results.h"

/* The file of one run, which no other run may use meanwhile. */
struct resume {
    struct place place;
    int file;     /* what is in the place, locked; or -1 */
    bool is_made; /* by this run, and still empty: it is removed when the run ends */
};

#define NO_RESUME ((struct resume){.file = -1})

/* Makes the file where there is none, and locks it. MINIAPP_OUTPUT where it cannot be written, or
 * another run has it. */
enum miniapp_status resume_open(const char *path, struct resume *resume);
void resume_close(struct resume *resume);

/* Adds a file's rows and checksums to empty results, and gives its provenance. MINIAPP_INPUT if it
 * is not such a file. */
enum miniapp_status results_load(const char *path, struct results *results,
                                 struct provenance *provenance);

/* Puts the results that an earlier run left in the file before the new ones; an empty file holds
 * none. MINIAPP_INPUT where it cannot be used: it is no such file, or is of another build, input or
 * settings. */
enum miniapp_status resume_load(const struct resume *resume, struct results *results);

/* Warns where the earlier run was on another machine: its times may stand in the same file, but
 * whoever compares them should know. */
void resume_compare(const struct resume *resume, const struct results *results);

/* Whether the earlier run has a row like it, perhaps together with its ceilings; and checksums of
 * its outputs. */
bool resume_has(const struct results *results, const struct result *wanted, bool with_ceilings);
bool resume_has_checksums(const struct results *results, const struct result *wanted);

/* Writes earlier and new results; at any moment the file is either the old or the new one. */
enum miniapp_status resume_save(struct resume *resume, const struct results *results);

#endif
