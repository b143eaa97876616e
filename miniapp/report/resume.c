#include "resume.h"
#include "load.h"
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
static enum miniapp_status check_provenance(const char *path, const struct provenance *then,
                                            const struct provenance *now)
{
    static const char *const same[] = {
        "version",        "git_commit", "build_type",   "compiler",        "flags",
        "offload_target", "threads",    "input_sha256", "external_sha256", "settings"};
    for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
        if (strcmp(provenance_text(then, same[i]), provenance_text(now, same[i])) != 0)
            return fail(MINIAPP_INPUT,
                        "%s: cannot be resumed: its %s is '%s', but this run's is "
                        "'%s'",
                        path, same[i], provenance_text(then, same[i]),
                        provenance_text(now, same[i]));
    return MINIAPP_DONE;
}

void resume_compare(const char *path, const struct results *results)
{
    static const char *const better_same[] = {"cpu", "device"};
    const json_t *then = json_object_get(results->loaded, "provenance");
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

/* These checks come before anything is measured. */
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
    static struct results earlier;
    enum miniapp_status status = check_writable(path);
    if (status || (access(path, F_OK) != 0 && errno == ENOENT))
        return status;
    status = results_load(path, "be resumed", &earlier);
    if (!status)
        status = check_provenance(path, &earlier.provenance, &results->provenance);
    results->results = earlier.results;
    results->result_count = results->earlier_count = earlier.result_count;
    results->checksums = earlier.checksums;
    results->checksum_count = earlier.checksum_count;
    results->loaded = earlier.loaded;
    free(earlier.checks);
    return status;
}

static const struct result *find_earlier(const struct results *results, const struct result *wanted)
{
    for (size_t i = 0; i < results->earlier_count; i++)
        if (same_row(&results->results[i], wanted))
            return &results->results[i];
    return NULL;
}

bool resume_has(const struct results *results, const struct result *wanted)
{
    return find_earlier(results, wanted) != NULL;
}

bool resume_has_ceilings(const struct results *results, const struct result *wanted)
{
    const struct result *const row = find_earlier(results, wanted);
    return row && result_bound(row);
}

/* The file is on the disk before it takes the old file's name. */
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
