/* A run, file -> fields -> device -> kernel -> compare / report / write, for the files that make it
 * up. */
#ifndef RUN_H
#define RUN_H

#include "bench.h"
#include "options.h"
#include "provenance.h"
#include "report.h"

#include <stdbool.h>

/* Fields that --every or --average chooses. */
enum { MOST_CHOSEN = 64 };
struct field_list {
    const struct miniapp_field *fields[MOST_CHOSEN];
    size_t count;
};

enum { NONFINITE_TEXT = 512 };

/* The state of a run, which all its parts share. */
struct run {
    char command_line[PROVENANCE_TEXT];
    struct options options;
    struct miniapp_device *devices[MAX_REPEATS]; /* each once */
    size_t device_count;
    struct miniapp_input *input;
    char input_sha256[SHA256_TEXT];
    struct miniapp_references *references; /* of the first process, if it validates */
    struct miniapp_output *output;         /* where options.output is given */
    struct resume resume;                  /* where options.resume is given */
    double beyond_caches;                  /* the bytes that a row of --size memory moves */
    struct miniapp_water water;            /* the most of each that a process has */
    struct results results;
    size_t first_step;  /* from which steps in time continue; 0: from the input */
    double steps_begun; /* when */
    bool is_watched;    /* by a user at the first process's terminal */
    double watched_at;  /* how many seconds of a row's steps */
    struct field_list chosen, averaged;
    bool mean_has_begun;            /* with its first step */
    char nonfinite[NONFINITE_TEXT]; /* which outputs are not finite or beyond their limits,
                                       beginning with the first one's index; or "" */
    bool is_finite;                 /* that first one */
    bool is_step_long;              /* dt_mom is at fault for it, perhaps */
    char by_spacing[256];           /* which settings the spacing chose, and their values */
};

/* ---- run.c ---- */

/* Opens the input and checks it, before anything is started that only a run needs. */
enum miniapp_status run_open(struct run *run);

/* Does what the options ask for, except listing, with the input that is open.
 * results.interrupted says whether a signal ended it. */
enum miniapp_status run_all(struct run *run);

/* Says what is wrong with the input, or in one line on stdout that it can be used. */
enum miniapp_status run_check(struct run *run);

/* Whether any kernel of the run reads a field of the input. */
bool run_reads(const struct options *options, const struct miniapp_field *field);

void run_release(struct run *run);

/* ---- describe.c: where the results come from ---- */

/* The optional datasets that the input lacks, and what stands in for them: "w (0), kappaH (kappaM
 * times 0.1; the closest is 'kappa_H')"; "" where nothing is absent. */
const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT]);

/* Fills the parts of run->results that do not depend on times. */
void describe_run(struct run *run);

/* ---- chosen.c: settings and grids ---- */

/* Takes settings of the command line, else of the file, else the defaults; those that the kernels
 * read have to be in their ranges.
 *
 * For steps that move the flow, time steps and coefficients of friction follow from the spacing
 * where neither the command line nor the file has them. The time steps have Courant numbers of a
 * fifth for internal waves, and 0.3 for the turning of the earth, which is unstable from 0.5 on.
 * The viscosity is Veros's: it makes boundary layers as wide as a cell, but takes no more than a
 * tenth of a difference in a step.
 *
 * An ocean of another size may be finer, and is not in balance, since land has been mixed into its
 * water: there 10 s replace the file's own time steps, at any size, so that its rows compare. */
enum miniapp_status choose_settings(struct run *run);

/* Finds out, for --size memory, how many bytes no cache of the run's devices holds. MINIAPP_USAGE
 * where the caches of one are not known. */
enum miniapp_status choose_bytes_beyond_caches(struct run *run);

/* The grid of --size or --shape, or the file's own grid with ghosts; with --size memory it is the
 * kernel's own. */
struct miniapp_grid grid_of_row(const struct run *run, size_t shape,
                                const struct miniapp_sequence *sequence,
                                enum miniapp_precision precision);

/* ---- same.c: nodes may have other builds and files of one name; all processes call these ---- */

/* MINIAPP_USAGE if the builds differ. Gives all processes the first one's seed of turns. */
enum miniapp_status same_build(struct run *run);

/* MINIAPP_USAGE if the command lines differ. */
enum miniapp_status same_options(const struct run *run);

/* Gives the SHA-256 of a file, "" if it cannot be read. MINIAPP_INPUT if the files of that name
 * differ. */
enum miniapp_status same_file(const char *path, char digest[SHA256_TEXT]);

/* Warns, on one process of each node, where a core carries more threads than it would if they were
 * spread evenly, and says how to bind them. A process's threads count only if it computes with
 * them. */
void warn_of_crowd(bool computes);

/* ---- finite.c: whether outputs are finite and, after steps in time, within their limits ---- */

/* The first element of an output that is not finite, or beyond the limits. */
struct nonfinite {
    const struct bound_field *output;
    bool is_there;
    double value, least, most;
    size_t element;           /* its number in the output file */
    struct miniapp_grid grid; /* of the output file */
};

/* Searches an output in the state of a row for such an element, a plane at a time, unless the
 * options allow all of them; or, with MINIAPP_ALLOW_INVALID, only for what is not finite. */
enum miniapp_status find_nonfinite(const struct run *run, const struct row *row,
                                   const struct bound_field *output, struct nonfinite *found);

/* Adds an output to the text that the report ends with: the first with the place of the element,
 * others with their names. `step` is the step in time after which it was found, or 0. */
void note_nonfinite(const struct row *row, const struct nonfinite *found, size_t step,
                    char text[NONFINITE_TEXT]);

/* ---- collect.c: rows that were measured become results ---- */

/* Checks, before anything is timed, that the reference has what will be compared. */
enum miniapp_status check_reference(struct run *run);

/* The result that a row will have, without its times. */
struct result result_like(const struct row *row);

/* Adds the results of all rows that have a sample: first those that were asked for, then those
 * that measure their ceilings. */
enum miniapp_status collect(struct run *run, struct bench *bench);

/* ---- steps.c and means.c: steps in time, and the snapshots and means that they leave ---- */

/* Finds the snapshot from which the run continues, if any: the newest before the last step. A
 * snapshot of chosen fields is none, but the last whole state is kept beside it. */
enum miniapp_status steps_find_start(struct run *run);

/* Finds the newest of these of a step before this one: `step` is 0 if there is none. */
enum miniapp_status steps_find_newest(const struct run *run, size_t before, size_t *step);

/* Before the first step: loads that snapshot into the rows, if there is one, and opens their
 * budgets. */
enum miniapp_status steps_begin(struct run *run, struct bench *bench);

/* After each step of a row; `context` is the run. It writes snapshots, and ends a row with
 * values that are not finite. */
enum miniapp_status steps_after(void *context, struct row *row);

/* After the last step, if there are snapshots: starts the final output or, if a signal ended the
 * steps, writes a snapshot to continue from, unless a field is not finite. */
enum miniapp_status steps_end(struct run *run, struct bench *bench);

/* Says in run->nonfinite after which step, and where, the fields of a row were not finite for the
 * first time. It makes the steps again for that, so all rows have to be done before. */
enum miniapp_status steps_find_nonfinite(struct run *run, struct bench *bench, struct row *row);

/* Writes fields, END.STEP.nc, or means of them, END.average.STEP.nc, after the last step that a row
 * has made; without a list, all that a restart needs, END.STEP.nc or beside chosen fields
 * END.state.nc. */
enum miniapp_status steps_write(struct run *run, struct row *row, const struct field_list *list,
                                bool are_means);

/* Finds the fields of --every and --average; MINIAPP_USAGE if the sequence lacks one. */
enum miniapp_status steps_choose(struct run *run, const struct row *row);

/* Takes a step into the means, and writes them at the end of their time. */
enum miniapp_status means_after(struct run *run, struct row *row);

/* Where steps change the flow, its Courant numbers become those after the last one; the divergence
 * stays that of the first, which is given. */
enum miniapp_status steps_find_courant(struct row *row);

/* The number of the last step that a row has made. */
size_t steps_done(const struct run *run, const struct row *row);

/* ---- conclude.c: the end of a run ---- */

/* Starts an output, which must not be one of the files that are read. */
enum miniapp_status start_output(const struct run *run, const char *path,
                                 struct miniapp_output **output);

/* Starts the final output of the run, run->output, with the axes of the input. */
enum miniapp_status start_end(struct run *run);

/* Adds the provenance to an output, and puts it in its place. It is closed, whatever happens. */
enum miniapp_status finish_output(const struct run *run, struct miniapp_output *output);

/* Opens the files that results go to, which must not be among those that are read. The first
 * process writes them. */
enum miniapp_status open_outputs(struct run *run);

/* Writes, reports and judges what a run gave that is done, or that a signal ended. The first
 * process does it. */
enum miniapp_status conclude(struct run *run);

/* ---- say.c: lines of failures and warnings on stderr, and which process prints them ---- */

/* From here on, all failures and warnings become lines. If there are several processes, each holds
 * its failures, because only one prints for all; and all but the first hold their warnings, because
 * the first may have the same. */
void say_all(void);

/* Prints the failures that were held, or drops them. */
void say_failures(bool speaks);

/* The first process prints the warnings that the others have about their parts. All call it. */
void say_warnings(void);

/* The warnings so far, a line each, without "miniapp: warning: "; "" without any. The first
 * of several processes has those of all up to the last say_warnings. Valid until the next. */
const char *warnings_so_far(void);

#endif
