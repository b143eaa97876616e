/* The words of the command line. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "options.h"

#include <errno.h>

/* Takes over all words into the options, as they are given. --help and --version print and exit.
 * MINIAPP_USAGE, after a line that says what was expected, where one is wrong. */
enum miniapp_status read_words(int argc, char **argv, struct options *options);

/* Add what a word names, as --kernel and --device do; 0 if it is known. */
error_t add_kernel(struct options *options, const char *name);
error_t add_device(struct options *options, const char *name);

#endif
