/* Writing a file that takes its place only when it is whole: what was there before stays until
 * then, and nothing is left where that fails. Every file that is written is written so. */
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

/* MINIAPP_USAGE where a path that an option names leads to one of the files that are read, of which
 * some may be NULL. */
enum miniapp_status check_not_read(const char *option, const char *path,
                                   const char *const *read_files, size_t count);

/* Finds the place. A link stays: what it points to is the place. What killed runs left in the
 * folder goes. MINIAPP_OUTPUT where no file may be put there, or what is there may not be replaced.
 */
enum miniapp_status place_find(const char *path, struct place *place);
void place_leave(struct place *place);

/* Whether the open file is the one that is there. */
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

/* Reserves room for so many bytes more, as far as the file system can, and gives a path by which
 * other processes can open the file. */
enum miniapp_status replace_lend(const struct replacement *new, size_t bytes, char path[PATH_MAX]);

/* In another process: until replace_part, the file is removed if this process gives up. */
bool replace_join(const char *path);
void replace_part(void);

/* Removes the file, whoever has started it; of several processes only the first can. */
bool replace_remove(void);

/* Puts the file, which is whole now, in its place. It stays open and locked. */
enum miniapp_status replace_finish(struct replacement *new);

/* Closes the file, which goes if it is not in its place. */
void replace_close(struct replacement *new);

#endif
