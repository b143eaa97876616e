#include "owned.h"
#include "report.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one run at a time ---- */

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
        if (error == EWOULDBLOCK) {
            resume->is_made = false;
            return held_by_another(resume);
        }
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
    CLOSED_REPLACEMENT struct replacement new;
    return replace_start(&resume->place, &new);
}

enum miniapp_status resume_open(const char *path, struct resume *resume)
{
    *resume = NO_RESUME;
    TRY(place_find(path, &resume->place));
    TRY(check_writable(resume));
    TRY(lock(resume));
    remove_if_abandoned(resume->is_made ? resume->place.target : NULL);
    return MINIAPP_DONE;
}

void resume_close(struct resume *resume)
{
    remove_if_abandoned(NULL);
    if (resume->is_made && is_in_place(resume))
        unlink(resume->place.target);
    if (resume->file >= 0)
        close(resume->file);
    resume->file = -1;
}

/* ---- the rows of a file ---- */

/* The text of that name in an object, or "". */
static const char *text_or_empty(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* JSON has null for what is not finite. */
static double number_or(const json_t *object, const char *name, double otherwise)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* 0 if it is not a number that can be a count. */
static size_t count_of(const json_t *object, const char *name)
{
    const double number = number_or(object, name, 0);
    return number > 0 && number <= MOST_WHOLE ? (size_t)number : 0;
}

static int threads_of(const json_t *object)
{
    const size_t threads = count_of(object, "threads");
    return threads <= INT_MAX ? (int)threads : 0;
}

static enum miniapp_precision precision_of(const json_t *object)
{
    return strcmp(text_or_empty(object, "precision"), "float32") == 0 ? MINIAPP_FLOAT32
                                                                      : MINIAPP_FLOAT64;
}

static struct miniapp_grid read_grid(const json_t *object)
{
    return (struct miniapp_grid){count_of(object, "nx"), count_of(object, "ny"),
                                 count_of(object, "nz")};
}

/* Which row it is. */
static struct result labels_of(const json_t *object)
{
    return (struct result){
        .kernel = text_or_empty(object, "kernel"),
        .device = text_or_empty(object, "device"),
        .variant = text_or_empty(object, "variant"),
        .threads = threads_of(object),
        .precision = precision_of(object),
        .grid = read_grid(object),
    };
}

static enum miniapp_status load_shares(const json_t *steps, struct result *result)
{
    const json_t *step;
    size_t i;
    if (!json_is_array(steps))
        return MINIAPP_DONE;
    result->shares = calloc(json_array_size(steps) + 1, sizeof(*result->shares));
    TRY(allocated(result->shares, "results"));
    result->share_count = json_array_size(steps);
    json_array_foreach (steps, i, step)
        result->shares[i] = (struct share){
            .kernel = text_or_empty(step, "kernel"),
            .share = number_or(step, "share", NAN),
            .bytes = number_or(step, "bytes", NAN),
            .flops = number_or(step, "flops", NAN),
        };
    return MINIAPP_DONE;
}

static struct processes processes_of(const json_t *all)
{
    if (!json_is_object(all))
        return (struct processes){0};
    return (struct processes){
        .count = (int)count_of(all, "count"),
        .along_x = (int)count_of(all, "along_x"),
        .along_y = (int)count_of(all, "along_y"),
        .largest = read_grid(json_object_get(all, "largest_block")),
        .fastest = number_or(all, "fastest", NAN),
        .exchange = number_or(all, "exchange", NAN),
        .gather = number_or(all, "gather", 0),
    };
}

static struct miniapp_solution solution_of(const json_t *all)
{
    return (struct miniapp_solution){
        .is_there = json_is_object(all),
        .iterations = (int)count_of(all, "iterations"),
        .nests = (int)count_of(all, "nests"),
        .residual = number_or(all, "residual", NAN),
    };
}

static void read_columns(const json_t *object, const struct column *column, struct result *result)
{
    for (; column->name; column++)
        if (column->place)
            *(double *)((char *)result + column->place) = number_or(object, column->name, NAN);
}

static enum miniapp_status load_row(const json_t *row, const json_t *transfers,
                                    struct results *results)
{
    struct result *const result = grow(&results->results, &results->result_count, sizeof(*result));
    TRY(allocated(result, "results"));
    *result = labels_of(row);
    read_columns(row, columns, result);
    read_columns(transfers, transfer_columns, result);
    result->timing.calls = count_of(row, "calls");
    result->each_call = strcmp(text_or_empty(row, "transfer"), "each-call") == 0;
    result->cache = text_or_empty(row, "cache");
    result->processes = processes_of(json_object_get(row, "processes"));
    result->solution = solution_of(json_object_get(row, "solution"));
    snprintf(result->marks, RESULT_MARKS, "%s", text_or_empty(row, "marks")); /* by its own clock */
    return load_shares(json_object_get(row, "shares"), result);
}

static enum miniapp_status load_checksum(const json_t *entry, struct results *results)
{
    struct checksum *const checksum =
        grow(&results->checksums, &results->checksum_count, sizeof(*checksum));
    TRY(allocated(checksum, "results"));
    checksum->row = labels_of(entry);
    checksum->variable = text_or_empty(entry, "variable");
    snprintf(checksum->text, sizeof(checksum->text), "%s", text_or_empty(entry, "sha256"));
    return MINIAPP_DONE;
}

static void load_provenance(json_t *object, struct provenance *provenance)
{
    const char *name;
    json_t *value;
    json_object_foreach (object, name, value)
        provenance_add(provenance, name, json_string_value(value) ? json_string_value(value) : "");
}

enum miniapp_status results_load(const char *path, struct results *results,
                                 struct provenance *provenance)
{
    json_error_t error;
    FILE *const file = fopen(path, "rb");
    if (!file)
        return fail(MINIAPP_INPUT, "%s: cannot be resumed: %s", path, strerror(errno));
    json_t *const root = results->loaded = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!root)
        return fail(MINIAPP_INPUT, "%s: cannot be resumed: %s (line %d)", path, error.text,
                    error.line);
    const json_t *const rows = json_object_get(root, "results");
    const json_t *const transfers = json_object_get(root, "transfers");
    const json_t *entry;
    size_t i;
    if (!json_is_array(rows) || !json_is_object(json_object_get(root, "provenance")))
        return fail(MINIAPP_INPUT, "%s: cannot be resumed: it holds no results of miniapp", path);
    load_provenance(json_object_get(root, "provenance"), provenance);
    json_array_foreach (rows, i, entry)
        TRY(load_row(entry, json_array_get(transfers, i), results));
    json_array_foreach (json_object_get(root, "checksums"), i, entry)
        TRY(load_checksum(entry, results));
    results->earlier_count = results->result_count;
    return MINIAPP_DONE;
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
    static struct provenance then;
    const char *const path = resume->place.path;
    struct stat there;
    if (fstat(resume->file, &there) == 0 && there.st_size == 0)
        return MINIAPP_DONE;
    TRY(results_load(path, results, &then));
    TRY(check_provenance(path, &then, &results->provenance));
    return check_rows_of(path, results);
}

bool resume_has(const struct results *results, const struct result *wanted, bool with_ceilings)
{
    for (size_t i = 0; i < results->earlier_count; i++)
        if (same_row(&results->results[i], wanted) &&
            (!with_ceilings || result_bound(&results->results[i])))
            return true;
    return false;
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
    errno = ENOMEM;
    const bool written = report_json(results, stream) && fflush(stream) == 0;
    const int reason = errno;
    fclose(stream);
    errno = reason;
    return written;
}

enum miniapp_status resume_save(struct resume *resume, const struct results *results)
{
    CLOSED_REPLACEMENT struct replacement new;
    TRY(replace_start(&resume->place, &new));
    if (!write_results(new.path, results))
        return unwritable(&resume->place, strerror(errno));
    remove_if_abandoned(NULL);          /* from now on it may hold rows */
    flock(new.file, LOCK_EX | LOCK_NB); /* nobody else can have it, but not all can be locked */
    TRY(replace_finish(&new));
    close(resume->file);
    resume->file = new.file;
    resume->is_made = false;
    new.file = -1;
    return MINIAPP_DONE;
}
