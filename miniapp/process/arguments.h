/* The arguments of options, each of which becomes a part of the options. All functions that return
 * an error_t return 0, or REPORTED after a line that says what was expected, or ENOMEM. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "options.h"

#include <errno.h>

enum { REPORTED = ECANCELED, MAX_NAMES = 64 /* of options, and characters of one */ };

/* Reads a decimal whole number in [least, most]; 1e6 and 1M are whole numbers, too. */
error_t parse_count(const char *option, const char *text, double least, double most, size_t *count);

/* Calls `add`, which must not keep a pointer to it, for each item of a comma-separated list. */
error_t add_each(struct options *options, const char *list,
                 error_t (*add)(struct options *options, const char *item));

error_t add_kernel(struct options *options, const char *name);
error_t add_device(struct options *options, const char *name);
error_t add_variant(struct options *options, const char *name);
error_t add_precision(struct options *options, const char *name);
error_t add_threads(struct options *options, const char *text);
error_t add_tracer(struct options *options, const char *text);
error_t add_setting(struct options *options, const char *text);

error_t add_size(struct options *options, const char *text);
error_t add_sweep(struct options *options);
error_t parse_shape(struct options *options, const char *text);
error_t set_blocks(struct options *options, const char *text);

error_t set_average(struct options *options, const char *text);
error_t set_seconds(struct options *options, const char *text);
error_t set_seed(struct options *options, const char *text);
error_t set_transfer(struct options *options, const char *name);
error_t set_format(struct options *options, const char *name);

/* Both fail where there is a path already. */
error_t set_path(const char **path, const char *option, const char *text);
error_t set_input(struct options *options, const char *path);

/* MINIAPP_ALLOW_*, in the input and in what comes of it. */
void allow(struct options *options, int what);

#endif
