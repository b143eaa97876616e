#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file that is being written, and one that is still empty. A signal handler reads them. */
static struct {
    volatile sig_atomic_t is_there;
    char path[PATH_MAX];
} unfinished;
static const char *volatile empty;

static void remove_unfinished(void)
{
    if (unfinished.is_there)
        unlink(unfinished.path);
}

void remove_if_abandoned(const char *path)
{
    empty = path;
}

void miniapp_abandon(void)
{
    remove_unfinished();
    if (empty)
        unlink(empty);
}

enum miniapp_status unwritable(const struct place *place, const char *reason)
{
    return fail(MINIAPP_OUTPUT, "%s: cannot be written: %s", place->path, reason);
}

/* ---- where a file is to be ---- */

static bool lies_in(const char *path, const struct stat *folder)
{
    char real[PATH_MAX];
    struct stat here;
    return S_ISDIR(folder->st_mode) && realpath(path, real) && stat(dirname(real), &here) == 0 &&
           is_same_file(&here, folder);
}

enum miniapp_status check_not_read(const char *option, const char *path,
                                   const char *const *read_files, size_t count)
{
    struct stat there, read;
    if (stat(path, &there) != 0)
        return MINIAPP_DONE;
    for (size_t i = 0; i < count; i++)
        if (read_files[i] && stat(read_files[i], &read) == 0 &&
            (is_same_file(&there, &read) || lies_in(path, &read)))
            return fail(MINIAPP_USAGE, "--%s '%s' is a file that is read", option, path);
    return MINIAPP_DONE;
}

static bool join(const char *folder, const char *name, char path[PATH_MAX])
{
    errno = ENAMETOOLONG;
    return snprintf(path, PATH_MAX, "%s/%s", folder, name) < PATH_MAX;
}

/* Where a new file will be: realpath() finds its folder only, and its name may be a link to a file
 * that does not exist yet. */
static bool find_new(const char *given, char target[PATH_MAX])
{
    char path[PATH_MAX], parent[PATH_MAX], folder[PATH_MAX], link[PATH_MAX];
    for (strcpy(path, given);;) {
        const char *const slash = strrchr(path, '/');
        const char *const name = slash ? slash + 1 : path;
        errno = path[0] ? EISDIR : ENOENT;
        if (!name[0] || !realpath(dirname(strcpy(parent, path)), folder))
            return false;
        const ssize_t length = readlink(path, link, sizeof(link) - 1);
        if (length < 0)
            return join(folder, name, target);
        link[length] = '\0';
        if (!join(link[0] == '/' ? "" : folder, link, path))
            return false;
    }
}

/* Root could write even to a read-only file, but whoever made it read-only did not want that. */
static enum miniapp_status check_there(const struct place *place, const struct stat *there)
{
    if (access(place->target, W_OK) != 0)
        return unwritable(place, strerror(errno));
    return there->st_mode & (S_IWUSR | S_IWGRP | S_IWOTH) ? MINIAPP_DONE
                                                          : unwritable(place, "it is read-only");
}

enum miniapp_status place_find(const char *path, struct place *place)
{
    struct stat there;
    if (snprintf(place->path, PATH_MAX, "%s", path) >= PATH_MAX)
        return unwritable(place, "the path is too long");
    const bool is_there = stat(path, &there) == 0;
    if (is_there && !S_ISREG(there.st_mode))
        return unwritable(place, "it exists and is not a regular file");
    if (is_there ? !realpath(path, place->target)
                 : errno != ENOENT || !find_new(path, place->target))
        return unwritable(place, strerror(errno));
    return is_there ? check_there(place, &there) : MINIAPP_DONE;
}

/* ---- the file that will be there ---- */

/* mkostemp() puts each name that it tries into the path before it makes the file, so a signal finds
 * the path at any moment. */
enum miniapp_status replace_start(const struct place *place, struct replacement *new)
{
    char folder[PATH_MAX];
    *new = (struct replacement){.place = place, .path = unfinished.path, .file = -1};
    if (unfinished.is_there)
        return unwritable(place, "another output is unfinished");
    if (!join(dirname(strcpy(folder, place->target)), ".miniapp-XXXXXX", unfinished.path))
        return unwritable(place, strerror(errno));
    unfinished.is_there = 1;
    new->file = mkostemp(unfinished.path, O_CLOEXEC);
    unfinished.is_there = new->file >= 0;
    return new->file < 0 ? unwritable(place, strerror(errno)) : MINIAPP_DONE;
}

/* The file gets the mode of the one that it replaces and, where the system allows it, the owner; a
 * new one gets the mode that the umask allows. The permissions of one group must not go to
 * another. */
static bool take_mode(const struct replacement *new)
{
    struct stat there;
    if (lstat(new->place->target, &there) != 0) {
        const mode_t mask = umask(0);
        umask(mask);
        return fchmod(new->file, 0666 & ~mask) == 0;
    }
    mode_t mode = there.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
    if (fchown(new->file, there.st_uid, there.st_gid) != 0 &&
        fchown(new->file, (uid_t)-1, there.st_gid) != 0)
        mode &= ~(mode_t)S_IRWXG;
    return fchmod(new->file, mode) == 0;
}

/* So that a crash of the machine does not undo the renaming. Some file systems cannot sync a
 * folder. */
static void sync_folder_of(const char *target)
{
    char copy[PATH_MAX];
    const int folder = open(dirname(strcpy(copy, target)), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    fsync(folder);
    close(folder);
}

/* The file is synced to the disk before it gets its name: a full disk may show only now. */
enum miniapp_status replace_finish(struct replacement *new)
{
    const struct place *const place = new->place;
    if (!take_mode(new) || fsync(new->file) != 0 || rename(unfinished.path, place->target) != 0)
        return unwritable(place, strerror(errno));
    unfinished.is_there = 0;
    sync_folder_of(place->target);
    return MINIAPP_DONE;
}

void replace_close(struct replacement *new)
{
    if (new->file >= 0) {
        remove_unfinished();
        unfinished.is_there = 0;
        close(new->file);
    }
    new->file = -1;
}
