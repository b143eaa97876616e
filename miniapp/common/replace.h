/* Writing a file that takes its place only when it is complete: until then whatever was there
 * before stays, and a failure leaves nothing behind. Every file is written this way. */
#ifndef REPLACE_H
#define REPLACE_H

#include "status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- where a file is to be ---- */

struct place {
    char path[PATH_MAX];     /* as it was given */
    int folder;              /* open, or -1; the folder that links lead to */
    char name[NAME_MAX + 1]; /* in that folder */
};

/* MINIAPP_USAGE if the path that an option names leads to one of the files that are read. Some of
 * these may be NULL. */
enum miniapp_status check_not_read(const char *option, const char *path,
                                   const char *const *read_files, size_t count);

/* Finds the place. A link stays: its target is the place. Removes what killed runs left in the
 * folder. MINIAPP_OUTPUT if no file may be put there, or if the one that is there may not be
 * replaced. */
enum miniapp_status place_find(const char *path, struct place *place);
void place_leave(struct place *place);

/* Whether the file in the place is this open one. */
bool place_holds(const struct place *place, int file);

/* Fails with "PATH: cannot be written: REASON". */
enum miniapp_status unwritable(const struct place *place, const char *reason);

/* ---- the file that will be there ---- */

struct replacement {
    const struct place *place;
    int file; /* open and locked (flock), or -1 */
};

/* Starts an empty file; a process has one at a time. */
enum miniapp_status replace_start(const struct place *place, struct replacement *new);

/* A path by which a library can open the file. */
enum { OPEN_FILE_PATH = 32 };
enum miniapp_status replace_path(const struct replacement *new, char path[OPEN_FILE_PATH]);

/* Puts the file, which is complete now, in its place. It stays open and locked. */
enum miniapp_status replace_finish(struct replacement *new);

/* Closes the file, and removes it if it is not in its place. */
void replace_close(struct replacement *new);

#endif
