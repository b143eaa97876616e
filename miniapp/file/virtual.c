#include "virtual.h"
#include "status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DEEPEST = 8 }; /* of sources that are virtual, too */

static enum miniapp_status check_at(hid_t dataset, const char *path, const char *name, int depth);

static bool is_file(const char *path)
{
    struct stat there;
    return stat(path, &there) == 0 && S_ISREG(there.st_mode); /* a pipe would be waited for */
}

/* The folder of a file, with the slash at its end. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    const char *const slash = strrchr(path, '/');
    snprintf(folder, PATH_MAX, "%.*s", slash ? (int)(slash - path) + 1 : 0, path);
}

/* Where HDF5 looks for a file: by its name if that is a whole path; in the folder of
 * HDF5_VDS_PREFIX; beside the file that names it, or beside what a link to that leads to; by its
 * name from the current folder. */
static bool find_file(const char *path, const char *name, char found[PATH_MAX])
{
    char beside[PATH_MAX] = "", real[PATH_MAX] = "", prefix[PATH_MAX] = "";
    char resolved[PATH_MAX];
    const char *const variable = getenv("HDF5_VDS_PREFIX");
    const char *const last = strrchr(name, '/');
    const char *const relative = name[0] == '/' && last ? last + 1 : name;
    if (variable)
        snprintf(prefix, sizeof(prefix), "%s/", variable);
    folder_of(path, beside);
    if (realpath(path, resolved))
        folder_of(resolved, real);
    const char *const folders[] = {prefix, beside, real, ""};
    snprintf(found, PATH_MAX, "%s", name);
    if (name[0] == '/' && is_file(found))
        return true;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        if (snprintf(found, PATH_MAX, "%s%s", folders[i], relative) < PATH_MAX && is_file(found))
            return true;
    return false;
}

/* The first of a series of sources, whose names hold the number of the block as %b. */
static void name_first(char *name)
{
    char *to = name;
    for (const char *from = name; *from; from++, to++) {
        *to = *from;
        if (from[0] == '%' && from[1] == 'b')
            *to = '0';
        if (from[0] == '%' && (from[1] == 'b' || from[1] == '%'))
            from++;
    }
    *to = '\0';
}

static enum miniapp_status check_source(hid_t file, const char *path, const char *name,
                                        const char *source, int depth)
{
    if (H5Lexists(file, source, H5P_DEFAULT) <= 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing, which a virtual dataset shows",
                    path, source);
    const hid_t dataset = H5Dopen2(file, source, H5P_DEFAULT);
    if (dataset < 0)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' cannot be opened, which a virtual dataset "
                    "shows",
                    path, source);
    const enum miniapp_status status = check_at(dataset, path, name, depth + 1);
    H5Dclose(dataset);
    return status;
}

static enum miniapp_status check_mapping(hid_t dataset, const char *path, const char *name,
                                         hid_t creation, size_t i, int depth)
{
    char file_name[PATH_MAX] = "", source[PATH_MAX] = "", found[PATH_MAX];
    if (H5Pget_virtual_filename(creation, i, file_name, sizeof(file_name)) < 0 ||
        H5Pget_virtual_dsetname(creation, i, source, sizeof(source)) < 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is virtual, but its sources cannot be read",
                    path, name);
    name_first(file_name);
    name_first(source);
    const bool is_here = strcmp(file_name, ".") == 0;
    if (!is_here && !find_file(path, file_name, found))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is virtual, but its source '%s' is missing",
                    path, name, file_name);
    const hid_t file =
        is_here ? H5Iget_file_id(dataset) : H5Fopen(found, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' is virtual, but its source '%s' cannot be "
                    "opened",
                    path, name, file_name);
    const enum miniapp_status status =
        check_source(file, is_here ? path : found, name, source, depth);
    H5Fclose(file);
    return status;
}

static enum miniapp_status check_at(hid_t dataset, const char *path, const char *name, int depth)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    enum miniapp_status status = MINIAPP_DONE;
    size_t count = 0;
    if (creation >= 0 && H5Pget_layout(creation) == H5D_VIRTUAL) {
        if (depth > DEEPEST || H5Pget_virtual_count(creation, &count) < 0 || count == 0)
            status = fail(MINIAPP_INPUT,
                          "%s: dataset '%s' is virtual, but has no sources, or no end of them",
                          path, name);
        for (size_t i = 0; i < count && !status; i++)
            status = check_mapping(dataset, path, name, creation, i, depth);
    }
    if (creation >= 0)
        H5Pclose(creation);
    return status;
}

enum miniapp_status check_sources(hid_t dataset, const char *path, const char *name)
{
    return check_at(dataset, path, name, 0);
}
