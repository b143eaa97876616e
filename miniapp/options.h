/* The command line. */
#ifndef MINIAPP_OPTIONS_H
#define MINIAPP_OPTIONS_H

#include "input.h"

#include <physics/kernel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_REPEATS = 64 }; /* of one repeatable option */

/* Where the data of an offload device are while calls are timed. */
enum transfer { TRANSFER_ONCE, TRANSFER_EACH_CALL };

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
    struct physics_grid shapes[MAX_REPEATS]; /* ghosts included; nx = 0 is the file's own grid */
    size_t shape_count;
    enum physics_precision precisions[PHYSICS_PRECISIONS];
    size_t precision_count;
    size_t repetitions; /* 0: as many calls as take `seconds` */
    double seconds;     /* for each row */
    size_t burnin;
    uint64_t seed; /* of the order in which rows take turns */
    bool roofline;
    bool checksums;
    bool verbose;
    enum transfer transfer;
    const char *resume; /* a path or NULL */
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
