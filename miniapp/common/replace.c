#include "replace.h"
#include "same_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * While a file is written, it has a name that nobody can guess, which begins with this prefix, and
 * it is locked as long as its process lives: one without a lock was left by a process that was
 * killed. A file without any name (O_TMPFILE) would leave nothing behind, but HDF5 opens files by
 * name only.
 */
static const char prefix[] = ".miniapp-";

enum {
    DIGITS = 16,
    HIDDEN_NAME = sizeof(prefix) + DIGITS,
    MOST_LINKS = 40, /* as the kernel has it */
    MOST_TRIES = 100,
    PERMISSIONS = S_IRWXU | S_IRWXG | S_IRWXO,
};

/* The hidden name that a file has now. A signal handler reads it. */
static struct {
    volatile sig_atomic_t is_there;
    int folder;
    char name[HIDDEN_NAME];
} hidden;

static void remove_hidden(void)
{
    if (hidden.is_there)
        unlinkat(hidden.folder, hidden.name, 0);
}

enum miniapp_status unwritable(const struct place *place, const char *reason)
{
    return fail(MINIAPP_OUTPUT, "%s: cannot be written: %s", place->path, reason);
}

static bool leads_to(int folder, const char *name, int file)
{
    struct stat named, open;
    return fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(file, &open) == 0 &&
           is_same_file(&named, &open);
}

/* ---- what killed runs left ---- */

static bool is_hidden_name(const char *name)
{
    const size_t before = strlen(prefix);
    return strncmp(name, prefix, before) == 0 && strlen(name) == before + DIGITS &&
           strspn(name + before, "0123456789abcdef") == DIGITS;
}

/* Removes a file if its lock is free, and if its name still leads to the file that was locked
 * here. */
static void remove_left(int folder, const char *name)
{
    struct stat there;
    if (fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(there.st_mode) ||
        there.st_uid != geteuid())
        return;
    const int file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && leads_to(folder, name, file))
        unlinkat(folder, name, 0);
    close(file);
}

static void remove_all_left(int folder)
{
    const int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const entries = listed < 0 ? NULL : fdopendir(listed);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        if (is_hidden_name(entry->d_name))
            remove_left(folder, entry->d_name);
    closedir(entries);
}

/* ---- where a file is to be ---- */

enum miniapp_status check_not_read(const char *option, const char *path,
                                   const char *const *read_files, size_t count)
{
    struct stat there, read;
    if (stat(path, &there) != 0)
        return MINIAPP_DONE;
    for (size_t i = 0; i < count; i++)
        if (read_files[i] && stat(read_files[i], &read) == 0 && is_same_file(&there, &read))
            return fail(MINIAPP_USAGE, "--%s '%s' is a file that is read", option, path);
    return MINIAPP_DONE;
}

/* Follows links, and puts into `path` the first path that is not a link or does not exist. */
static bool follow_links(char path[PATH_MAX])
{
    char link[PATH_MAX];
    for (int i = 0; i < MOST_LINKS; i++) {
        const ssize_t length = readlink(path, link, sizeof(link) - 1);
        if (length < 0)
            return true;
        link[length] = '\0';
        const char *const slash = strrchr(path, '/');
        const size_t folder = link[0] != '/' && slash ? (size_t)(slash + 1 - path) : 0;
        errno = ENAMETOOLONG;
        if (folder + (size_t)length >= PATH_MAX)
            return false;
        memcpy(path + folder, link, (size_t)length + 1);
    }
    errno = ELOOP;
    return false;
}

/* Opens the folder, even one that may be written but not listed. */
static int open_folder(const char *path)
{
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 && errno == EACCES ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : folder;
}

/* Splits a path into its folder, which is opened, and the name in it. */
static bool find_folder(char path[PATH_MAX], struct place *place)
{
    char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    errno = strlen(name) > NAME_MAX ? ENAMETOOLONG : path[0] ? EISDIR : ENOENT;
    if (!name[0] || strlen(name) > NAME_MAX)
        return false;
    snprintf(place->name, sizeof(place->name), "%s", name);
    if (slash)
        slash[slash == path] = '\0'; /* the root keeps its slash */
    place->folder = open_folder(slash ? path : ".");
    return place->folder >= 0;
}

/* In a folder with the sticky bit, such as /tmp, a file may be replaced only by its owner, the
 * folder's owner or root. */
static bool is_protected(const struct place *place, const struct stat *there)
{
    struct stat folder;
    const uid_t user = geteuid();
    return fstat(place->folder, &folder) == 0 && (folder.st_mode & S_ISVTX) && user != 0 &&
           user != there->st_uid && user != folder.st_uid;
}

/* Whether what is there may be replaced. Root could write even to a read-only file, but whoever
 * made it read-only did not want that. */
static enum miniapp_status check_there(const struct place *place, const struct stat *there)
{
    struct stat named;
    if (fstatat(place->folder, place->name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        !is_same_file(&named, there))
        return unwritable(place, "it is there, but has no name");
    if (faccessat(place->folder, place->name, W_OK, 0) != 0)
        return unwritable(place, strerror(errno));
    if (!(there->st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
        return unwritable(place, "it is read-only");
    return is_protected(place, there) ? unwritable(place, strerror(EPERM)) : MINIAPP_DONE;
}

enum miniapp_status place_find(const char *path, struct place *place)
{
    char followed[PATH_MAX];
    struct stat there;
    place->folder = -1;
    if (snprintf(place->path, PATH_MAX, "%s", path) >= PATH_MAX)
        return unwritable(place, "the path is too long");
    const bool is_there = stat(path, &there) == 0;
    if (is_there && !S_ISREG(there.st_mode))
        return unwritable(place, "it is there and no regular file");
    if (!is_there && errno != ENOENT)
        return unwritable(place, strerror(errno));
    memcpy(followed, place->path, sizeof(followed));
    if (!follow_links(followed) || !find_folder(followed, place))
        return unwritable(place, strerror(errno));
    const enum miniapp_status status = is_there ? check_there(place, &there) : MINIAPP_DONE;
    if (status)
        place_leave(place);
    else
        remove_all_left(place->folder);
    return status;
}

void place_leave(struct place *place)
{
    if (place->folder >= 0)
        close(place->folder);
    place->folder = -1;
}

bool place_holds(const struct place *place, int file)
{
    return leads_to(place->folder, place->name, file);
}

/* ---- the file that will be there ---- */

static bool choose_name(int folder)
{
    uint64_t number;
    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        return false;
    snprintf(hidden.name, sizeof(hidden.name), "%s%0*llx", prefix, DIGITS,
             (unsigned long long)number);
    hidden.folder = folder;
    return true;
}

/* Until a new file is locked, another run that cleans up may take it for one that was left behind:
 * then another name is tried. Where there are no locks, as on some network file systems, nothing is
 * cleaned up either. */
static int create(int folder)
{
    for (int i = 0; i < MOST_TRIES && choose_name(folder); i++) {
        hidden.is_there = 1;
        const int file =
            openat(folder, hidden.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
        if (file < 0)
            break;
        const bool is_taken = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!is_taken && leads_to(folder, hidden.name, file))
            return file;
        close(file);
    }
    hidden.is_there = 0;
    return -1;
}

enum miniapp_status replace_start(const struct place *place, struct replacement *new)
{
    *new = (struct replacement){.place = place, .file = -1};
    on_abandon(remove_hidden);
    if (hidden.is_there)
        return unwritable(place, "another output is unfinished");
    new->file = create(place->folder);
    return new->file < 0 ? unwritable(place, strerror(errno)) : MINIAPP_DONE;
}

enum miniapp_status replace_path(const struct replacement *new, char path[OPEN_FILE_PATH])
{
    snprintf(path, OPEN_FILE_PATH, "/proc/self/fd/%d", new->file);
    return access(path, F_OK) == 0 ? MINIAPP_DONE : unwritable(new->place, "/proc is not there");
}

/* The file gets the owner and the mode of the one that it replaces. If it cannot get the group, the
 * group's permissions are dropped, because they would go to another group. A new file gets the mode
 * that the umask allows. */
static bool take_mode(const struct replacement *new)
{
    struct stat there;
    if (fstatat(new->place->folder, new->place->name, &there, AT_SYMLINK_NOFOLLOW) != 0) {
        const mode_t mask = umask(0);
        umask(mask);
        return fchmod(new->file, 0666 & ~mask) == 0;
    }
    mode_t mode = there.st_mode & PERMISSIONS;
    if (fchown(new->file, there.st_uid, there.st_gid) != 0 &&
        fchown(new->file, (uid_t)-1, there.st_gid) != 0)
        mode &= ~(mode_t)S_IRWXG;
    return fchmod(new->file, mode) == 0;
}

/* Some file systems cannot sync a folder (EINVAL), nor can one that was opened with O_PATH be
 * synced (EBADF). */
static bool sync_folder(int folder)
{
    return fsync(folder) == 0 || errno == EINVAL || errno == EBADF;
}

/* The file is synced to the disk before it gets its name: a full disk may show only now. */
enum miniapp_status replace_finish(struct replacement *new)
{
    const struct place *const place = new->place;
    if (!take_mode(new) || fsync(new->file) != 0 ||
        renameat(place->folder, hidden.name, place->folder, place->name) != 0)
        return unwritable(place, strerror(errno));
    hidden.is_there = 0;
    return sync_folder(place->folder) ? MINIAPP_DONE : unwritable(place, strerror(errno));
}

void replace_close(struct replacement *new)
{
    if (new->file >= 0) {
        remove_hidden();
        hidden.is_there = 0;
        close(new->file);
    }
    new->file = -1;
}
