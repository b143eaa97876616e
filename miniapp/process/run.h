/* A run: file -> fields -> device -> kernel -> compare / report / write. */
#ifndef RUN_H
#define RUN_H

#include "digest.h"
#include "finite.h"
#include "options.h"
#include "results.h"
#include "resume.h"

/* Fields that --every or --average chooses. */
enum { MOST_CHOSEN = 64 };
struct field_list {
    const struct miniapp_field *fields[MOST_CHOSEN];
    size_t count;
};

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
    char by_spacing[256];           /* which settings the spacing chose, and their values */
};

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

#endif
