#include "resume.h"
#include "difference.h"
#include "load.h"
#include "report_data.h"
#include "same_file.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one run at a time ---- */

/* The run whose file is still empty. A signal handler reads it. */
static const struct resume *volatile made;

static void remove_made(void)
{
    if (made)
        unlink(made->place.target);
}

/* The process that holds a lock on the file, by the kernel's list of locks; 0 if that does not
 * tell, for example because the process is on another machine. */
static long holder_of(int file)
{
    struct stat there;
    char line[256];
    FILE *const locks = fopen("/proc/locks", "r");
    long process = 0, found = 0;
    unsigned long inode;
    if (fstat(file, &there) != 0)
        there.st_ino = 0;
    while (locks && !found && fgets(line, sizeof(line), locks))
        if (sscanf(line, "%*d: FLOCK %*s %*s %ld %*x:%*x:%lu", &process, &inode) == 2 &&
            inode == there.st_ino)
            found = process;
    if (locks)
        fclose(locks);
    return found;
}

static enum miniapp_status held_by_another(const struct resume *resume)
{
    char reason[80] = "another process keeps its results there";
    const long process = holder_of(resume->file);
    if (process > 0)
        snprintf(reason, sizeof(reason), "process %ld keeps its results there", process);
    return unwritable(&resume->place, reason);
}

/* Opens what is in the place; a new, empty file where nothing is. */
static bool open_or_make(struct resume *resume)
{
    const int how = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const char *const path = resume->place.target;
    resume->is_made = false;
    resume->file = open(path, how);
    if (resume->file >= 0 || errno != ENOENT)
        return resume->file >= 0;
    resume->file = open(path, how | O_CREAT | O_EXCL, 0666);
    resume->is_made = resume->file >= 0;
    return resume->is_made || errno == EEXIST;
}

static bool is_in_place(const struct resume *resume)
{
    struct stat there, ours;
    return lstat(resume->place.target, &there) == 0 && fstat(resume->file, &ours) == 0 &&
           is_same_file(&there, &ours);
}

/* A run that has the lock replaces the file, or removes it if the run made no row. Then the file
 * that is locked here is no longer in its place, and the one that is there now is tried. */
static enum miniapp_status lock(struct resume *resume)
{
    for (;;) {
        if (!open_or_make(resume))
            return unwritable(&resume->place, strerror(errno));
        if (resume->file < 0) /* another run made it first */
            continue;
        const int error = flock(resume->file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (error == EWOULDBLOCK)
            return held_by_another(resume);
        if (is_in_place(resume)) {
            if (error)
                warn("%s: cannot be locked, so that another run may replace its rows: %s",
                     resume->place.path, strerror(error));
            return MINIAPP_DONE;
        }
        close(resume->file);
    }
}

/* Tries now what would otherwise fail only after the first size. */
static enum miniapp_status check_writable(const struct resume *resume)
{
    struct replacement new;
    const enum miniapp_status status = replace_start(&resume->place, &new);
    replace_close(&new);
    return status;
}

enum miniapp_status resume_open(const char *path, struct resume *resume)
{
    *resume = NO_RESUME;
    enum miniapp_status status = place_find(path, &resume->place);
    if (!status)
        status = check_writable(resume);
    if (!status)
        status = lock(resume);
    if (status)
        resume->is_made = false; /* it is another run's */
    on_abandon(remove_made);
    made = resume->is_made ? resume : NULL;
    return status;
}

void resume_close(struct resume *resume)
{
    made = NULL;
    if (resume->is_made && is_in_place(resume))
        unlink(resume->place.target);
    if (resume->file >= 0)
        close(resume->file);
    resume->file = -1;
}

/* ---- what an earlier run left ---- */

/* Times of another program or input do not belong in the same file. */
static enum miniapp_status check_provenance(const char *path, const struct provenance *then,
                                            const struct provenance *now)
{
    static const char *const same[] = {"version", "git_commit",     "build_type",       "compiler",
                                       "flags",   "offload_target", "processes",        "overlap",
                                       "threads", "input_sha256",   "tracers_start_as", "settings"};
    return check_alike(path, "cannot be resumed", then, now, same, sizeof(same) / sizeof(*same));
}

void resume_compare(const struct resume *resume, const struct results *results)
{
    static const char *const better_same[] = {"cpu", "device", "binding", "openmp"};
    const json_t *then = json_object_get(results->loaded, "provenance");
    const struct provenance *now = &results->provenance;
    for (size_t i = 0; then && i < sizeof(better_same) / sizeof(*better_same); i++)
        if (strcmp(text_or_empty(then, better_same[i]), provenance_text(now, better_same[i])) != 0)
            warn("%s: the %s was '%s', but is '%s' now", resume->place.path, better_same[i],
                 text_or_empty(then, better_same[i]), provenance_text(now, better_same[i]));
}

/* A row without a time would never be measured again. */
static enum miniapp_status check_rows_of(const char *path, const struct results *results)
{
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const row = &results->results[i];
        const double median = row->timing.median;
        if (!row->kernel[0] || !row->device[0] || miniapp_grid_points(&row->grid) == 0 ||
            !(median > 0 && isfinite(median)))
            return fail(MINIAPP_INPUT,
                        "%s: cannot be resumed: its row %zu lacks a kernel, a device, nx, ny, nz "
                        "or a median above 0",
                        path, i + 1);
    }
    return MINIAPP_DONE;
}

enum miniapp_status resume_load(const struct resume *resume, struct results *results)
{
    static struct results earlier;
    const char *const path = resume->place.path;
    struct stat there;
    if (fstat(resume->file, &there) == 0 && there.st_size == 0)
        return MINIAPP_DONE;
    enum miniapp_status status = results_load(path, &earlier);
    if (!status)
        status = check_provenance(path, &earlier.provenance, &results->provenance);
    if (!status)
        status = check_rows_of(path, &earlier);
    results->results = earlier.results;
    results->result_count = results->earlier_count = earlier.result_count;
    results->checksums = earlier.checksums;
    results->checksum_count = earlier.checksum_count;
    results->loaded = earlier.loaded;
    return status;
}

static bool has_earlier(const struct results *results, const struct result *wanted,
                        bool with_ceilings)
{
    for (size_t i = 0; i < results->earlier_count; i++)
        if (same_row(&results->results[i], wanted) &&
            (!with_ceilings || result_bound(&results->results[i])))
            return true;
    return false;
}

bool resume_has(const struct results *results, const struct result *wanted)
{
    return has_earlier(results, wanted, false);
}

bool resume_has_ceilings(const struct results *results, const struct result *wanted)
{
    return has_earlier(results, wanted, true);
}

bool resume_has_checksums(const struct results *results, const struct result *wanted)
{
    for (size_t i = 0; i < results->checksum_count; i++) {
        const struct result *const hashed = &results->checksums[i].row;
        if (same_work(hashed, wanted) && strcmp(hashed->device, wanted->device) == 0 &&
            strcmp(hashed->variant, wanted->variant) == 0)
            return true;
    }
    return false;
}

/* ---- saving ---- */

static bool write_results(const char *path, const struct results *results)
{
    FILE *const stream = fopen(path, "w");
    if (!stream)
        return false;
    json_t *const root = results_object(results);
    errno = ENOMEM;
    const bool written = json_dumpf(root, stream, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0 &&
                         putc('\n', stream) != EOF && fflush(stream) == 0;
    const int reason = errno;
    fclose(stream);
    json_decref(root);
    errno = reason;
    return written;
}

enum miniapp_status resume_save(struct resume *resume, const struct results *results)
{
    struct replacement new;
    enum miniapp_status status = replace_start(&resume->place, &new);
    if (!status && !write_results(new.path, results))
        status = unwritable(&resume->place, strerror(errno));
    made = NULL; /* from now on it may hold rows */
    if (!status) {
        flock(new.file, LOCK_EX | LOCK_NB); /* nobody else can have it, but not all can be locked */
        status = replace_finish(&new);
    }
    if (!status) {
        close(resume->file);
        resume->file = new.file;
        resume->is_made = false;
        new.file = -1;
    }
    replace_close(&new);
    return status;
}
