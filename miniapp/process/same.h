/* Whether all processes were told the same and have read the same files: nodes may have other files
 * of the same name. All processes call these at the same time. */
#ifndef SAME_H
#define SAME_H

#include "run.h"

/* MINIAPP_USAGE where processes run other builds; gives all the first one's seed of turns. */
enum miniapp_status same_build(struct run *run);

/* MINIAPP_USAGE where they have other command lines. */
enum miniapp_status same_options(const struct run *run);

/* Gives the SHA-256 of a file, "" if it cannot be read; MINIAPP_INPUT where they have other files
 * of that name. */
enum miniapp_status same_file(const char *path, char digest[SHA256_TEXT]);

#endif
