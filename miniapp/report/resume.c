#include "resume.h"
#include "report_data.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* Times of another program or input do not belong in the same file. */
static enum miniapp_status check_provenance(const char *path, const json_t *root,
                                            const struct provenance *now)
{
    static const char *const same[] = {"version", "git_commit", "build_type", "compiler", "flags",
                                       "offload_target", "threads", "input_sha256", "settings"};
    const json_t *then = json_object_get(root, "provenance");
    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        if (strcmp(text_of(then, same[i]), provenance_text(now, same[i])) != 0)
            return fail(MINIAPP_INPUT, "%s: cannot be resumed: its %s is '%s', but this run's is "
                                       "'%s'", path, same[i], text_of(then, same[i]),
                        provenance_text(now, same[i]));
    return MINIAPP_DONE;
}

void resume_compare(const char *path, const struct results *results)
{
    static const char *const better_same[] = {"cpu", "device"};
    const json_t *then = json_object_get(results->earlier, "provenance");
    const struct provenance *now = &results->provenance;
    for (size_t i = 0; then && i < sizeof(better_same) / sizeof(*better_same); i++)
        if (strcmp(text_of(then, better_same[i]), provenance_text(now, better_same[i])) != 0)
            warn("%s: the %s was '%s', but is '%s' now", path, better_same[i],
                 text_of(then, better_same[i]), provenance_text(now, better_same[i]));
}

static enum miniapp_status unwritable(const char *path, const char *reason)
{
    return fail(MINIAPP_OUTPUT, "%s: cannot be written: %s", path, reason);
}

/* The name of the file that will take the old one's place. */
static enum miniapp_status name_beside(const char *path, char beside[PATH_MAX])
{
    if (snprintf(beside, PATH_MAX, "%s.%ld.tmp", path, (long)getpid()) >= PATH_MAX)
        return unwritable(path, "the path is too long");
    return MINIAPP_DONE;
}

/* Before anything is measured. */
static enum miniapp_status check_writable(const char *path)
{
    char beside[PATH_MAX];
    const enum miniapp_status status = name_beside(path, beside);
    FILE *file = status ? NULL : fopen(beside, "w");
    if (!status && !file)
        return unwritable(path, strerror(errno));
    if (file) {
        fclose(file);
        unlink(beside);
    }
    return status;
}

enum miniapp_status resume_load(const char *path, struct results *results)
{
    json_error_t error;
    const enum miniapp_status status = check_writable(path);
    if (status || (access(path, F_OK) != 0 && errno == ENOENT))
        return status;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return fail(MINIAPP_INPUT, "%s: cannot be resumed: %s (line %d)", path, error.text,
                    error.line);
    if (!json_is_array(json_object_get(root, "results")) ||
        !json_is_object(json_object_get(root, "provenance"))) {
        json_decref(root);
        return fail(MINIAPP_INPUT, "%s: cannot be resumed: it holds no results of miniapp", path);
    }
    results->earlier = root;
    return check_provenance(path, root, &results->provenance);
}

static bool is_number(const json_t *row, const char *name, size_t value)
{
    return json_integer_value(json_object_get(row, name)) == (json_int_t)value;
}

static const json_t *find_row(const struct results *results, const struct miniapp_sequence *kernel,
                              const char *device, enum miniapp_precision precision,
                              const struct miniapp_grid *grid, bool each_call)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(results->earlier, "results"), i, row)
        if (strcmp(text_of(row, "kernel"), miniapp_sequence_name(kernel)) == 0 &&
            strcmp(text_of(row, "device"), device) == 0 &&
            strcmp(text_of(row, "precision"), miniapp_precision_name(precision)) == 0 &&
            strcmp(text_of(row, "transfer"), each_call ? "each-call" : "once") == 0 &&
            is_number(row, "nx", grid->nx) && is_number(row, "ny", grid->ny) &&
            is_number(row, "nz", grid->nz))
            return row;
    return NULL;
}

bool resume_has(const struct results *results, const struct miniapp_sequence *kernel,
                const char *device, enum miniapp_precision precision,
                const struct miniapp_grid *grid, bool each_call)
{
    return find_row(results, kernel, device, precision, grid, each_call) != NULL;
}

bool resume_has_ceilings(const struct results *results, const struct miniapp_sequence *kernel,
                         const char *device, enum miniapp_precision precision,
                         const struct miniapp_grid *grid)
{
    const json_t *row = find_row(results, kernel, device, precision, grid, false);
    return row && json_is_string(json_object_get(row, "bound"));
}

/* Onto the disk before it takes the old file's name. */
static bool write_file(const json_t *root, const char *path)
{
    FILE *file = fopen(path, "w");
    bool written = file && json_dumpf(root, file, JSON_INDENT(2)) == 0 &&
                   fputc('\n', file) != EOF && fflush(file) == 0 && fsync(fileno(file)) == 0;
    const int reason = errno;
    if (file && fclose(file) != 0)
        written = false;
    errno = reason;
    return written;
}

enum miniapp_status resume_save(const char *path, const struct results *results)
{
    char beside[PATH_MAX];
    json_t *root = results_object(results);
    enum miniapp_status status = name_beside(path, beside);
    if (!status && (!write_file(root, beside) || rename(beside, path) != 0)) {
        status = unwritable(path, strerror(errno));
        unlink(beside);
    }
    json_decref(root);
    return status;
}
