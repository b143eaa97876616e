/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "bench.h"
#include "program.h"
#include "report.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAX_REPEATS = 64 }; /* of one repeatable option */
enum { MOST_SETTINGS = 256, DEVICE_NAME = 24 };

enum action {
    ACTION_RUN,
    ACTION_LIST_KERNELS,
    ACTION_LIST_DEVICES,
    ACTION_LIST_VARIANTS,
    ACTION_CHECK
};

struct options {
    enum action action;
    const char *input;     /* a path; never NULL for ACTION_RUN */
    const char *output;    /* a path or NULL */
    const char *reference; /* a path or NULL */
    const struct miniapp_sequence *kernels[MAX_REPEATS];
    size_t kernel_count;
    bool is_by_input; /* the input says which sequence --steps advances */
    char devices[MAX_REPEATS][DEVICE_NAME];
    size_t device_count;
    const struct miniapp_variant *variants[MAX_REPEATS]; /* none: each device's default */
    size_t variant_count;
    struct miniapp_grid shapes[MAX_REPEATS]; /* ghosts included; nx = 0: the file's own */
    size_t shape_count;
    enum miniapp_precision precisions[MINIAPP_PRECISIONS];
    size_t precision_count;
    struct method method;
    size_t steps;       /* in time, that each row makes; 0: its calls start from the same fields */
    size_t every;       /* a snapshot is written after so many steps; 0: never */
    const char *chosen; /* of these fields, with commas between; NULL: of all a restart needs */
    bool restart;       /* from the newest of them */
    size_t average;     /* means over so many steps are written; 0: none */
    const char *averaged; /* of these fields; NULL: the usual ones */
    char *tracers;        /* that steps have beside temperature and salinity: +NAME+NAME; or NULL */
    bool is_timed;        /* --seconds is given */
    bool roofline;
    bool checksums;
    bool each_call;              /* of a row transfers its data */
    const char *resume;          /* a path or NULL */
    size_t threads[MAX_REPEATS]; /* none: all that the process may use */
    size_t thread_count;
    struct miniapp_settings *settings; /* the defaults, but for those that --set gave */
    bool is_set[MOST_SETTINGS];        /* by --set, in the order of the table */
    enum output_format format;
    struct miniapp_input_options *reading; /* how the input is to be read */
    char *sources;                         /* NAME=DATASET,...: what tracers start as; or NULL */
    char *source_words;                    /* the same, cut into words */
    bool allow_divergent;                  /* in steps in time */
    int allow;                             /* MINIAPP_ALLOW_*, of the input and what comes of it */
};

/* Fills the options, with their defaults, from the command line. --help and --version print and
 * exit. MINIAPP_USAGE where the command line is wrong. */
enum miniapp_status parse_options(int argc, char **argv, struct options *options);

/* The most threads that a row runs on; 0 where no number is given. */
int options_most_threads(const struct options *options);

/* Advances that sequence, with the tracers of the command line. */
enum miniapp_status options_advance(struct options *options, const char *sequence);

/* Checks that a setting may have a value in each precision that rows run in. */
enum miniapp_status options_check_setting(const struct options *options,
                                          const struct miniapp_setting *setting, double value,
                                          const char *where, enum miniapp_status status);

/* ---- arguments.c: the words of the command line ---- */

/* Takes over all words into the options, as they are given. --help and --version print and exit.
 * MINIAPP_USAGE, after a line that says what was expected, where one is wrong. */
enum miniapp_status read_words(int argc, char **argv, struct options *options);

/* Add what a word names, as --kernel and --device do; 0 if it is known. */
error_t add_kernel(struct options *options, const char *name);
error_t add_device(struct options *options, const char *name);

#endif
