#include "load.h"
#include "columns.h"
#include "status.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *text_or_empty(const json_t *object, const char *name)
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

static struct transfer_times transfer_of(const json_t *object, const char *way)
{
    char bytes[32], seconds[32], pinned[32];
    snprintf(bytes, sizeof(bytes), "%s_bytes", way);
    snprintf(seconds, sizeof(seconds), "%s_s", way);
    snprintf(pinned, sizeof(pinned), "%s_pinned_s", way);
    return (struct transfer_times){number_or(object, bytes, 0), number_or(object, seconds, 0),
                                   number_or(object, pinned, 0)};
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
    if (!result->shares)
        return fail(MINIAPP_DEVICE, "out of memory for results");
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

static enum miniapp_status load_row(const json_t *row, const json_t *transfers,
                                    struct results *results)
{
    struct result *result = results_add(results);
    if (!result)
        return MINIAPP_DEVICE;
    *result = labels_of(row);
    for (const struct column *column = columns; column->name; column++)
        if (column->place)
            *(double *)((char *)result + column->place) = number_or(row, column->name, NAN);
    result->timing.calls = count_of(row, "calls");
    result->timing.first = number_or(transfers, "first_call_s", NAN);
    result->each_call = strcmp(text_or_empty(row, "transfer"), "each-call") == 0;
    result->cache = text_or_empty(row, "cache");
    result->state_bytes = number_or(transfers, "state_bytes", 0);
    result->processes = processes_of(json_object_get(row, "processes"));
    result->to_device = transfer_of(transfers, "to_device");
    result->from_device = transfer_of(transfers, "from_device");
    snprintf(result->marks, RESULT_MARKS, "%s", text_or_empty(row, "marks")); /* by its own clock */
    return load_shares(json_object_get(row, "shares"), result);
}

static enum miniapp_status load_checksum(const json_t *entry, struct results *results)
{
    struct checksum *checksum = results_add_checksum(results);
    if (!checksum)
        return MINIAPP_DEVICE;
    checksum->row = labels_of(entry);
    checksum->variable = text_or_empty(entry, "variable");
    snprintf(checksum->text, sizeof(checksum->text), "%s", text_or_empty(entry, "sha256"));
    return MINIAPP_DONE;
}

static void load_provenance(json_t *object, struct results *results)
{
    const char *name;
    json_t *value;
    json_object_foreach (object, name, value)
        provenance_add(&results->provenance, name,
                       json_string_value(value) ? json_string_value(value) : "");
}

enum miniapp_status results_load(const char *path, struct results *results)
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
    enum miniapp_status status = MINIAPP_DONE;
    if (!json_is_array(rows) || !json_is_object(json_object_get(root, "provenance")))
        return fail(MINIAPP_INPUT, "%s: cannot be resumed: it holds no results of miniapp", path);
    load_provenance(json_object_get(root, "provenance"), results);
    json_array_foreach (rows, i, entry)
        if (!status)
            status = load_row(entry, json_array_get(transfers, i), results);
    json_array_foreach (json_object_get(root, "checksums"), i, entry)
        if (!status)
            status = load_checksum(entry, results);
    results->earlier_count = results->result_count;
    return status;
}
