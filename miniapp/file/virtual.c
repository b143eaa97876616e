#include "virtual.h"
#include "guard.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

enum {
    DEEPEST = 8,          /* nesting of sources that are virtual, too */
    MOST_BLOCKS = 100000, /* of a series */
    GAP = 64,             /* blocks after the end of one that are looked for */
    LOOK_UPS = 10,        /* of chunks, which take longer than to open a source */
};

static enum miniapp_status check_at(hid_t dataset, const char *path, const char *name,
                                    struct outside *outside, int depth);

/* ---- names ---- */

/* The names of a mapping's source: its file and its dataset. */
static bool read_names(hid_t creation, size_t mapping, char file[PATH_MAX], char dataset[PATH_MAX])
{
    memset(file, 0, PATH_MAX);
    memset(dataset, 0, PATH_MAX);
    return H5Pget_virtual_filename(creation, mapping, file, PATH_MAX) >= 0 &&
           H5Pget_virtual_dsetname(creation, mapping, dataset, PATH_MAX) >= 0;
}

static bool has_block(const char *name)
{
    for (const char *c = strchr(name, '%'); c && c[1]; c = strchr(c + 2, '%'))
        if (c[1] == 'b')
            return true;
    return false;
}

bool is_series(hid_t creation, size_t mapping)
{
    char file[PATH_MAX], dataset[PATH_MAX];
    return read_names(creation, mapping, file, dataset) && (has_block(file) || has_block(dataset));
}

/* Makes the name of one of a series of sources, whose names hold the number of the block as %b. */
static void name_block(char name[PATH_MAX], size_t block)
{
    char named[PATH_MAX];
    size_t used = 0;
    for (const char *from = name; *from && used + 32 < PATH_MAX; from++) {
        if (from[0] == '%' && from[1] == 'b')
            used += (size_t)snprintf(named + used, PATH_MAX - used, "%zu", block);
        else
            named[used++] = *from;
        if (from[0] == '%' && (from[1] == 'b' || from[1] == '%'))
            from++;
    }
    memcpy(name, named, used);
    name[used] = '\0';
}

/* ---- sources ---- */

void close_source(struct source *source)
{
    if (source->dataset > 0)
        H5Dclose(source->dataset);
    if (source->file > 0)
        H5Fclose(source->file);
    source->dataset = source->file = H5I_INVALID_HID;
}

static enum miniapp_status open_source_dataset(struct source *source, const struct outside *outside)
{
    if (H5Lexists(source->file, source->name, outside->access) <= 0)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing, which a virtual dataset shows",
                    source->path, source->name);
    source->dataset = H5Dopen2(source->file, source->name, outside->access);
    if (source->dataset < 0)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' cannot be opened, which a virtual dataset shows%s%s",
                    source->path, source->name, outside->refusal[0] ? ": " : "", outside->refusal);
    return MINIAPP_DONE;
}

enum miniapp_status open_source(hid_t dataset, const char *path, const char *name, hid_t creation,
                                size_t mapping, size_t block, struct outside *outside,
                                struct source *source)
{
    char file_name[PATH_MAX];
    source->file = source->dataset = H5I_INVALID_HID;
    if (!read_names(creation, mapping, file_name, source->name))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is virtual, but its sources cannot be read",
                    path, name);
    name_block(file_name, block);
    name_block(source->name, block);
    const bool is_here = strcmp(file_name, ".") == 0;
    const char *const problem =
        is_here ? NULL : find_outside(outside, OUTSIDE_SOURCE, path, file_name, source->path);
    if (is_here)
        snprintf(source->path, PATH_MAX, "%s", path);
    if (problem)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is virtual, but its source '%s' %s", path,
                    name, file_name, problem);
    source->file =
        is_here ? H5Iget_file_id(dataset) : H5Fopen(source->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (source->file < 0)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' is virtual, but its source '%s' cannot be opened", path, name,
                    file_name);
    const enum miniapp_status status = open_source_dataset(source, outside);
    if (status)
        close_source(source);
    return status;
}

/* ---- a series ---- */

/* Whether a block of a series is there; reports nothing if it is not. */
static bool has_source(hid_t dataset, const char *path, hid_t creation, size_t mapping,
                       size_t block, struct outside *outside)
{
    char file_name[PATH_MAX], name[PATH_MAX], found[PATH_MAX];
    if (!read_names(creation, mapping, file_name, name))
        return false;
    name_block(file_name, block);
    name_block(name, block);
    const bool is_here = strcmp(file_name, ".") == 0;
    if (!is_here && find_outside(outside, OUTSIDE_SOURCE, path, file_name, found))
        return false;
    const hid_t file =
        is_here ? H5Iget_file_id(dataset) : H5Fopen(found, H5F_ACC_RDONLY, H5P_DEFAULT);
    const bool has = file >= 0 && H5Lexists(file, name, outside->access) > 0;
    if (file >= 0)
        H5Fclose(file);
    return has;
}

/* HDF5 takes the first block that is missing for the end of a series, so no block may follow it. */
static enum miniapp_status check_end(hid_t dataset, const char *path, const char *name,
                                     hid_t creation, size_t mapping, size_t end,
                                     struct outside *outside)
{
    for (size_t block = end + 1; block < end + GAP; block++)
        if (has_source(dataset, path, creation, mapping, block, outside))
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' is virtual, but block %zu of its sources is missing, "
                        "while block %zu is there",
                        path, name, end, block);
    return MINIAPP_DONE;
}

static enum miniapp_status check_mapping(hid_t dataset, const char *path, const char *name,
                                         hid_t creation, size_t mapping, struct outside *outside,
                                         int depth)
{
    const bool is_one = !is_series(creation, mapping);
    enum miniapp_status status = MINIAPP_DONE;
    size_t block = 0;
    do {
        struct source source;
        status = open_source(dataset, path, name, creation, mapping, block, outside, &source);
        if (status)
            return status;
        status = check_at(source.dataset, source.path, source.name, outside, depth + 1);
        close_source(&source);
        block++;
    } while (!is_one && !status && block < MOST_BLOCKS &&
             has_source(dataset, path, creation, mapping, block, outside));
    return is_one || status ? status
                            : check_end(dataset, path, name, creation, mapping, block, outside);
}

/* ---- raw data ---- */

static enum miniapp_status check_raw(const char *path, const char *name, hid_t creation,
                                     struct outside *outside)
{
    const int count = H5Pget_external_count(creation);
    for (int i = 0; i < count; i++) {
        char file[PATH_MAX] = "", found[PATH_MAX];
        off_t offset;
        hsize_t size;
        if (H5Pget_external(creation, (unsigned)i, sizeof(file) - 1, file, &offset, &size) < 0)
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' cannot be read: HDF5 does not say where its raw data lie",
                        path, name);
        const char *const problem = find_outside(outside, OUTSIDE_RAW, path, file, found);
        if (problem)
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' cannot be read: the file '%s' of its raw data %s", path,
                        name, file, problem);
    }
    return MINIAPP_DONE;
}

/* ---- all of them ---- */

static enum miniapp_status check_at(hid_t dataset, const char *path, const char *name,
                                    struct outside *outside, int depth)
{
    const hid_t creation = H5Dget_create_plist(dataset);
    size_t count = 0;
    if (creation < 0)
        return MINIAPP_DONE;
    enum miniapp_status status = check_raw(path, name, creation, outside);
    if (!status && H5Pget_layout(creation) == H5D_VIRTUAL) {
        if (depth > DEEPEST || H5Pget_virtual_count(creation, &count) < 0 || count == 0)
            status = fail(MINIAPP_INPUT,
                          "%s: dataset '%s' is virtual, but has no sources, or no end of them",
                          path, name);
        if (depth == 0) /* not again for each source: they may lead round in a circle */
            guard_data(0, LOOK_UPS * count);
        for (size_t i = 0; i < count && !status; i++)
            status = check_mapping(dataset, path, name, creation, i, outside, depth);
    }
    H5Pclose(creation);
    return status;
}

enum miniapp_status check_sources(hid_t dataset, const char *path, const char *name,
                                  struct outside *outside)
{
    return check_at(dataset, path, name, outside, 0);
}
