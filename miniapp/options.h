/* The command line. */
#ifndef MINIAPP_OPTIONS_H
#define MINIAPP_OPTIONS_H

#include "input.h"

#include <physics/kernel.h>
#include <stdbool.h>
#include <stddef.h>

enum { MAX_REPEATS = 64 }; /* of one repeatable option */

enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

enum action { ACTION_RUN, ACTION_LIST_KERNELS, ACTION_LIST_DEVICES };

struct options {
    enum action action;
    const char *input;     /* a path; never NULL for ACTION_RUN */
    const char *output;    /* a path or NULL */
    const char *reference; /* a path or NULL */
    const struct physics_kernel *kernels[MAX_REPEATS]; /* rows of the host's table in float64 */
    size_t kernel_count;
    const char *devices[MAX_REPEATS];
    size_t device_count;
    size_t sizes[MAX_REPEATS]; /* 0 is the file's own grid */
    size_t size_count;
    enum physics_precision precisions[PHYSICS_PRECISIONS];
    size_t precision_count;
    size_t repetitions; /* 0: chosen by the time that a call takes */
    size_t burnin;
    size_t threads; /* 0: all that the process may use */
    bool is_set[PHYSICS_SETTINGS];
    double setting[PHYSICS_SETTINGS];
    enum output_format format;
    struct checks checks;
};

/* Fills the options, with their defaults, from the command line. --help and --version print and
 * exit. PHYSICS_USAGE where the command line is wrong. */
enum physics_status parse_options(int argc, char **argv, struct options *options);

/* Whether a setting's value is in its range; fails with `status` and names it where not. */
enum physics_status check_setting(enum physics_setting_id id, double value, const char *where,
                                  enum physics_status status);

#endif
