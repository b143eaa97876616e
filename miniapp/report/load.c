#include "load.h"
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

static struct timing timing_of(const json_t *row, const json_t *transfers)
{
    return (struct timing){
        .calls = count_of(row, "calls"),
        .first = number_or(transfers, "first_call_s", NAN),
        .mean = number_or(row, "mean_s", NAN),
        .stdev = number_or(row, "stdev_s", NAN),
        .min = number_or(row, "min_s", NAN),
        .p25 = number_or(row, "p25_s", NAN),
        .median = number_or(row, "median_s", NAN),
        .p75 = number_or(row, "p75_s", NAN),
        .max = number_or(row, "max_s", NAN),
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

static struct miniapp_budget load_budget(const json_t *entry)
{
    return (struct miniapp_budget){
        .name = text_or_empty(entry, "budget"),
        .units = text_or_empty(entry, "units"),
        .is_kept = true,
        .is_of_all_steps = json_is_true(json_object_get(entry, "is_of_all_steps")),
        .steps = count_of(entry, "steps"),
        .change = number_or(entry, "change", NAN),
        .gain = number_or(entry, "gain", NAN),
        .residual = number_or(entry, "residual", NAN),
        .bound = number_or(entry, "bound", NAN),
        .size = number_or(entry, "size", NAN),
        .gross = number_or(entry, "gross", NAN),
    };
}

static struct miniapp_flow load_flow(const json_t *flow)
{
    return (struct miniapp_flow){
        .is_there = json_is_object(flow),
        .courant = {number_or(flow, "courant_x", NAN), number_or(flow, "courant_y", NAN),
                    number_or(flow, "courant_z", NAN)},
        .below = number_or(flow, "divergence_below", NAN),
        .top = number_or(flow, "divergence_in_top_level", NAN),
    };
}

static enum miniapp_status load_march(const json_t *steps, struct result *result)
{
    const json_t *entry;
    size_t i;
    if (!json_is_object(steps))
        return MINIAPP_DONE;
    struct march *const march = result->march = calloc(1, sizeof(*march));
    if (!march)
        return fail(MINIAPP_DEVICE, "out of memory for results");
    march->first = count_of(steps, "first");
    march->last = count_of(steps, "last");
    march->time_step = number_or(steps, "time_step_s", NAN);
    march->flow = load_flow(json_object_get(steps, "flow"));
    json_array_foreach (json_object_get(steps, "budgets"), i, entry) {
        march->is_judged = strcmp(text_or_empty(entry, "verdict"), "not judged") != 0;
        if (march->budget_count < MINIAPP_BUDGETS)
            march->budgets[march->budget_count++] = load_budget(entry);
    }
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
    };
}

static enum miniapp_status load_row(const json_t *row, const json_t *transfers,
                                    struct results *results)
{
    struct result *result = results_add(results);
    if (!result)
        return MINIAPP_DEVICE;
    *result = (struct result){
        .kernel = text_or_empty(row, "kernel"),
        .device = text_or_empty(row, "device"),
        .threads = threads_of(row),
        .precision = precision_of(row),
        .grid = read_grid(row),
        .timing = timing_of(row, transfers),
        .each_call = strcmp(text_or_empty(row, "transfer"), "each-call") == 0,
        .bytes = number_or(row, "bytes", 0),
        .flops = number_or(row, "flops", 0),
        .speedup = number_or(row, "speedup", NAN),
        .device_bytes = number_or(row, "device_bytes", 0),
        .state_bytes = number_or(transfers, "state_bytes", 0),
        .processes = processes_of(json_object_get(row, "processes")),
        .to_device = transfer_of(transfers, "to_device"),
        .from_device = transfer_of(transfers, "from_device"),
        .loaded_marks = text_or_empty(row, "marks"),
        .bandwidth = number_or(row, "ceiling_bytes_per_s", 0),
        .flop_rate = number_or(row, "ceiling_flops_per_s", 0),
        .best_bandwidth = number_or(row, "best_ceiling_bytes_per_s", 0),
        .best_flop_rate = number_or(row, "best_ceiling_flops_per_s", 0),
    };
    const enum miniapp_status status = load_shares(json_object_get(row, "shares"), result);
    return status ? status : load_march(json_object_get(row, "steps"), result);
}

static enum miniapp_status load_check(const json_t *entry, struct results *results)
{
    const json_t *place;
    size_t i;
    struct check *check = results_add_check(results);
    if (!check)
        return MINIAPP_DEVICE;
    *check = (struct check){
        .kernel = text_or_empty(entry, "kernel"),
        .device = text_or_empty(entry, "device"),
        .threads = threads_of(entry),
        .precision = precision_of(entry),
        .variable = text_or_empty(entry, "variable"),
        .verdict = {.passed = json_is_true(json_object_get(entry, "passed")),
                    .max_abs = number_or(entry, "max_abs", INFINITY),
                    .max_rel = number_or(entry, "max_rel", INFINITY),
                    .largest = number_or(entry, "max_ref", NAN),
                    .rtol = number_or(entry, "rtol", NAN),
                    .atol = number_or(entry, "atol", NAN),
                    .compared =
                        json_object_get(entry, "compared") ? count_of(entry, "compared") : 1,
                    .below_atol = number_or(entry, "below_atol", NAN)},
    };
    json_array_foreach (json_object_get(entry, "worst_index"), i, place)
        if (i < MINIAPP_MAX_RANK)
            check->verdict.worst_index[check->verdict.rank++] = (size_t)json_integer_value(place);
    return MINIAPP_DONE;
}

static enum miniapp_status load_checksum(const json_t *entry, struct results *results)
{
    struct checksum *checksum = results_add_checksum(results);
    if (!checksum)
        return MINIAPP_DEVICE;
    *checksum = (struct checksum){
        .kernel = text_or_empty(entry, "kernel"),
        .device = text_or_empty(entry, "device"),
        .threads = threads_of(entry),
        .precision = precision_of(entry),
        .grid = read_grid(entry),
        .variable = text_or_empty(entry, "variable"),
    };
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
    results->input = provenance_text(&results->provenance, "input");
}

enum miniapp_status results_load(const char *path, const char *what, struct results *results)
{
    json_error_t error;
    struct stat there;
    FILE *const file = fopen(path, "rb");
    if (!file)
        return fail(MINIAPP_INPUT, "%s: cannot %s: %s", path, what, strerror(errno));
    const bool is_known = fstat(fileno(file), &there) == 0;
    const bool is_folder = is_known && S_ISDIR(there.st_mode);
    const bool is_empty = is_known && S_ISREG(there.st_mode) && there.st_size == 0;
    json_t *const root =
        is_empty || is_folder ? NULL : json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (is_folder)
        return fail(MINIAPP_INPUT, "%s: cannot %s: %s", path, what, strerror(EISDIR));
    if (is_empty)
        return fail(MINIAPP_INPUT, "%s: cannot %s: it is empty: no size was finished yet", path,
                    what);
    if (!root)
        return fail(MINIAPP_INPUT, "%s: cannot %s: %s (line %d)", path, what, error.text,
                    error.line);
    const json_t *const rows = json_object_get(root, "results");
    const json_t *const transfers = json_object_get(root, "transfers");
    const json_t *entry;
    size_t i;
    enum miniapp_status status = MINIAPP_DONE;
    results->loaded = root;
    if (!json_is_array(rows) || !json_is_object(json_object_get(root, "provenance")))
        return fail(MINIAPP_INPUT, "%s: cannot %s: it holds no results of miniapp", path, what);
    load_provenance(json_object_get(root, "provenance"), results);
    results->seed = (uint64_t)json_integer_value(json_object_get(root, "seed"));
    results->read_seconds = number_or(root, "read_s", NAN);
    results->write_seconds = number_or(root, "write_s", 0);
    results->interrupted = json_string_value(json_object_get(root, "interrupted"));
    results->reference = "a reference";
    results->clock =
        (struct clock_quality){number_or(json_object_get(root, "clock"), "cost_s", NAN),
                               number_or(json_object_get(root, "clock"), "resolution_s", NAN)};
    json_array_foreach (rows, i, entry)
        if (!status)
            status = load_row(entry, json_array_get(transfers, i), results);
    json_array_foreach (json_object_get(root, "validation"), i, entry)
        if (!status)
            status = load_check(entry, results);
    json_array_foreach (json_object_get(root, "checksums"), i, entry)
        if (!status)
            status = load_checksum(entry, results);
    results->earlier_count = results->result_count;
    return status;
}
