#include "outside.h"
#include "same_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- where HDF5 looks ---- */

/* The folder of a file, with the slash at its end. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *const slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
}

static bool is_there(const char *folder, const char *slash, const char *name, char found[PATH_MAX])
{
    struct stat unused;
    return snprintf(found, PATH_MAX, "%s%s%s", folder, slash, name) < PATH_MAX &&
           stat(found, &unused) == 0;
}

/* In any of the folders that a variable lists, between colons. */
static bool is_in_list(const char *list, const char *name, char found[PATH_MAX])
{
    char folder[PATH_MAX];
    for (const char *start = list; start && *start;) {
        const size_t length = strcspn(start, ":");
        snprintf(folder, sizeof(folder), "%.*s", (int)length, start);
        if (length > 0 && is_there(folder, "/", name, found))
            return true;
        start += length + (start[length] == ':');
    }
    return false;
}

/* Finds an HDF5 file as HDF5 does: by its name if that is an absolute path; in the folders of a
 * variable; beside the file that names it; in the current folder; beside the target of that file if
 * it is a link. */
static bool find_file(const char *variable, const char *from, const char *name,
                      char found[PATH_MAX])
{
    char beside[PATH_MAX] = "", real[PATH_MAX] = "", resolved[PATH_MAX];
    const char *const last = strrchr(name, '/');
    const char *const relative = name[0] == '/' && last ? last + 1 : name;
    folder_of(from, beside);
    if (realpath(from, resolved))
        folder_of(resolved, real);
    return (name[0] == '/' && is_there("", "", name, found)) ||
           is_in_list(getenv(variable), relative, found) || is_there(beside, "", relative, found) ||
           is_there("", "", relative, found) || is_there(real, "", relative, found);
}

/* Finds a file of raw data: in the current folder, or in that of a variable. */
static bool find_raw(const char *from, const char *name, char found[PATH_MAX])
{
    static const char origin[] = "${ORIGIN}";
    const char *prefix = getenv("HDF5_EXTFILE_PREFIX");
    char folder[PATH_MAX] = "", whole[PATH_MAX] = "";
    if (name[0] == '/' || !prefix || !prefix[0] || strcmp(prefix, ".") == 0)
        return is_there("", "", name, found);
    if (strncmp(prefix, origin, strlen(origin)) == 0) {
        prefix += strlen(origin);
        folder_of(from, folder);
    }
    return snprintf(whole, PATH_MAX, "%s%s", folder, prefix) < PATH_MAX &&
           is_there(whole, "/", name, found);
}

/* ---- the list ---- */

static bool keep(struct outside *outside, const char *found)
{
    char *const path = realpath(found, NULL);
    for (size_t i = 0; path && i < outside->count; i++)
        if (strcmp(outside->files[i], path) == 0) {
            free(path);
            return true;
        }
    char **const files =
        path ? realloc(outside->files, (outside->count + 1) * sizeof(*files)) : NULL;
    if (!files) {
        free(path);
        return false;
    }
    outside->files = files;
    files[outside->count++] = path;
    return true;
}

const char *find_outside(struct outside *outside, enum outside_kind kind, const char *from,
                         const char *name, char found[PATH_MAX])
{
    static const char *const variables[] = {"HDF5_EXT_PREFIX", "HDF5_VDS_PREFIX"};
    const bool is_found = kind == OUTSIDE_RAW ? find_raw(from, name, found)
                                              : find_file(variables[kind], from, name, found);
    struct stat there, own;
    const bool exists = is_found && stat(found, &there) == 0;
    if (exists && stat(outside->path, &own) == 0 && is_same_file(&there, &own))
        return NULL;
    if (!outside->is_allowed)
        return "lies outside the file (--allow-external accepts that)";
    if (!exists)
        return "is missing";
    if (!S_ISREG(there.st_mode))
        return "is no regular file";
    return keep(outside, found) ? NULL : "finds no memory for its name";
}

/* ---- links ---- */

/* HDF5 calls this before it opens the file of an external link. It would skip a file that is there
 * but is not HDF5, and look in other folders. */
static herr_t follow(const char *from, const char *group, const char *name, const char *object,
                     unsigned *flags, hid_t access, void *data)
{
    struct outside *const outside = data;
    char found[PATH_MAX];
    const char *problem = find_outside(outside, OUTSIDE_LINK, from, name, found);
    (void)group, (void)object, (void)flags, (void)access;
    if (!problem && H5Fis_hdf5(found) <= 0)
        problem = "is no HDF5 file";
    if (problem)
        snprintf(outside->refusal, sizeof(outside->refusal), "a link leads to '%s', which %s", name,
                 problem);
    return problem ? -1 : 0;
}

bool outside_open(const char *path, bool is_allowed, struct outside *outside)
{
    *outside = (struct outside){
        .path = path, .is_allowed = is_allowed, .access = H5Pcreate(H5P_DATASET_ACCESS)};
    return outside->access >= 0 && H5Pset_elink_cb(outside->access, follow, outside) >= 0 &&
           H5Pset_virtual_view(outside->access, H5D_VDS_FIRST_MISSING) >= 0;
}

void outside_close(struct outside *outside)
{
    for (size_t i = 0; i < outside->count; i++)
        free(outside->files[i]);
    free(outside->files);
    if (outside->access > 0)
        H5Pclose(outside->access);
    *outside = (struct outside){0};
}
