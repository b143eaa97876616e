/* Writing a file that takes its place only when it is complete: until then whatever was there
 * before stays, and a failure leaves nothing behind. Every file is written this way. */
#ifndef REPLACE_H
#define REPLACE_H

#include "status.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Whether two looks (stat) found the same file, by whatever paths. */
static inline bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* ---- where a file is to be ---- */

struct place {
    char path[PATH_MAX];   /* as it was given */
    char target[PATH_MAX]; /* the absolute path that links lead to */
};

/* MINIAPP_USAGE if the path that an option names leads to one of the files that are read. Some of
 * these may be NULL. */
enum miniapp_status check_not_read(const char *option, const char *path,
                                   const char *const *read_files, size_t count);

/* Finds the place; links are followed. MINIAPP_OUTPUT if a file that is there may not be
 * replaced. */
enum miniapp_status place_find(const char *path, struct place *place);

/* Fails with "PATH: cannot be written: REASON". */
enum miniapp_status unwritable(const struct place *place, const char *reason);

/* ---- the file that will be there ---- */

struct replacement {
    const struct place *place;
    const char *path; /* of the unfinished file, in the folder of the target */
    int file;         /* open, or -1 */
};

/* Starts an empty file; a process has one at a time. MINIAPP_OUTPUT if none may be made there. */
enum miniapp_status replace_start(const struct place *place, struct replacement *new);

/* Puts the file, which is complete now, in its place. It stays open. */
enum miniapp_status replace_finish(struct replacement *new);

/* Closes the file, and removes it if it is not in its place. CLOSED_REPLACEMENT before one does so
 * where its block ends. */
void replace_close(struct replacement *new);
#define CLOSED_REPLACEMENT __attribute__((cleanup(replace_close)))

/* Lets miniapp_abandon() remove this file, too, as long as it is empty; NULL: none. */
void remove_if_abandoned(const char *path);

#endif
