/* Checks that all processes have the same build, command line and files, because nodes may have
 * different files of one name; and cores of their own. All processes call these at the same time.
 */
#ifndef SAME_H
#define SAME_H

#include "run.h"

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

#endif
