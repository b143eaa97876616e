#include "report_data.h"
#include "columns.h"
#include "printable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

/* JSON knows no Inf or NaN: they become null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* A whole number, written without a decimal point. */
static json_t *whole_number(double value)
{
    return fabs(value) <= MOST_WHOLE ? json_integer((json_int_t)value) : number(value);
}

/* JSON is UTF-8; a path or command line may hold any bytes. */
static json_t *text_value(const char *text)
{
    char printable[PROVENANCE_TEXT];
    json_t *const value = text ? json_string(text) : json_null();
    return value ? value : json_string(make_printable(text, printable, sizeof(printable)));
}

static json_t *provenance_object(const struct provenance *provenance)
{
    json_t *object = json_object();
    for (size_t i = 0; i < provenance->count; i++)
        json_object_set_new(object, provenance->names[i], text_value(provenance->texts[i]));
    return object;
}

/* Each kernel's share of the time of a sequence. */
static json_t *shares_object(const struct result *r)
{
    json_t *steps = json_array();
    for (size_t s = 0; s < r->share_count; s++) {
        const struct share *const share = &r->shares[s];
        json_t *object = json_object();
        json_object_set_new(object, "kernel", json_string(share->kernel));
        json_object_set_new(object, "share", number(share->share));
        json_object_set_new(object, "bytes", whole_number(share->bytes));
        json_object_set_new(object, "flops", whole_number(share->flops));
        json_object_set_new(object, "share_of_ceilings",
                            number(known_share(share_of_ceilings(share, r))));
        json_array_append_new(steps, object);
    }
    return steps;
}

/* Neither true nor false, but null, where a budget is not judged or cannot tell. */
static json_t *kept(const struct march *march, const struct miniapp_budget *budget)
{
    const bool is_told = !is_balanced(budget) || budget_can_tell(budget);
    return march->is_judged && is_told ? json_boolean(is_balanced(budget)) : json_null();
}

static json_t *budgets_array(const struct march *march)
{
    json_t *budgets = json_array();
    for (size_t b = 0; b < march->budget_count; b++) {
        const struct miniapp_budget *const budget = &march->budgets[b];
        json_t *object = json_object();
        json_object_set_new(object, "budget", json_string(budget->name));
        json_object_set_new(object, "units", json_string(budget->units));
        json_object_set_new(object, "steps", json_integer((json_int_t)budget->steps));
        json_object_set_new(object, "is_of_all_steps", json_boolean(budget->is_of_all_steps));
        json_object_set_new(object, "change", number(budget->change));
        json_object_set_new(object, "gain", number(budget->gain));
        json_object_set_new(object, "residual", number(budget->residual));
        json_object_set_new(object, "bound", number(budget->bound));
        json_object_set_new(object, "size", number(budget->size));
        json_object_set_new(object, "gross", number(budget->gross));
        json_object_set_new(object, "kept", kept(march, budget));
        json_object_set_new(object, "verdict", json_string(budget_verdict(march, budget)));
        json_array_append_new(budgets, object);
    }
    return budgets;
}

static json_t *flow_object(const struct miniapp_flow *flow)
{
    json_t *object = json_object();
    json_object_set_new(object, "courant_x", number(flow->courant[0]));
    json_object_set_new(object, "courant_y", number(flow->courant[1]));
    json_object_set_new(object, "courant_z", number(flow->courant[2]));
    json_object_set_new(object, "divergence_below", number(flow->below));
    json_object_set_new(object, "divergence_in_top_level", number(flow->top));
    return object;
}

/* The JSON of a result's steps in time. */
static json_t *march_object(const struct result *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "first", json_integer((json_int_t)r->march->first));
    json_object_set_new(object, "last", json_integer((json_int_t)r->march->last));
    json_object_set_new(object, "time_step_s", number(r->march->time_step));
    json_object_set_new(object, "years_per_day", number(result_years_per_day(r)));
    if (r->march->flow.is_there)
        json_object_set_new(object, "flow", flow_object(&r->march->flow));
    json_object_set_new(object, "budgets", budgets_array(r->march));
    return object;
}

static json_t *processes_object(const struct processes *all)
{
    const struct miniapp_grid *const grid = &all->largest;
    json_t *object = json_object();
    json_object_set_new(object, "count", json_integer(all->count));
    json_object_set_new(object, "along_x", json_integer(all->along_x));
    json_object_set_new(object, "along_y", json_integer(all->along_y));
    json_object_set_new(object, "largest_block",
                        json_pack("{s:I, s:I, s:I}", "nx", (json_int_t)grid->nx, "ny",
                                  (json_int_t)grid->ny, "nz", (json_int_t)grid->nz));
    json_object_set_new(object, "fastest", number(all->fastest));
    json_object_set_new(object, "exchange", number(all->exchange));
    json_object_set_new(object, "gather", number(all->gather));
    return object;
}

static json_t *result_object(const struct result *r, const struct results *results)
{
    json_t *object = json_object();
    for (const struct column *column = columns; column->name; column++) {
        const double value = column_number(column, r, results);
        json_object_set_new(object, column->name,
                            column->text    ? text_value(column->text(r))
                            : column->whole ? whole_number(value)
                                            : number(value));
    }
    if (r->shares)
        json_object_set_new(object, "shares", shares_object(r));
    if (r->march)
        json_object_set_new(object, "steps", march_object(r));
    if (r->processes.count)
        json_object_set_new(object, "processes", processes_object(&r->processes));
    return object;
}

/* A new object, which names the kernel, device, variant and precision of a row, and its threads
 * where they vary. */
static json_t *entry(const struct results *results, const struct result *row)
{
    json_t *object =
        json_pack("{ss ss ss ss}", "kernel", row->kernel, "device", row->device, "variant",
                  row->variant, "precision", miniapp_precision_name(row->precision));
    if (results_vary_threads(results))
        json_object_set_new(object, "threads",
                            row->threads ? json_integer(row->threads) : json_null());
    return object;
}

static void add_transfer(json_t *object, const char *way, const struct transfer_times *times)
{
    char name[64];
    snprintf(name, sizeof(name), "%s_bytes", way);
    json_object_set_new(object, name, number(times->bytes));
    snprintf(name, sizeof(name), "%s_s", way);
    json_object_set_new(object, name, number(times->seconds));
    snprintf(name, sizeof(name), "%s_pinned_s", way);
    json_object_set_new(object, name,
                        number(times->pinned_seconds > 0 ? times->pinned_seconds : NAN));
}

static json_t *transfer_object(const struct result *r, const struct results *results)
{
    const struct result *base = results_base(results, r);
    json_t *object = entry(results, r);
    json_object_set_new(object, "points", whole_number(result_points(r)));
    add_transfer(object, "to_device", &r->to_device);
    add_transfer(object, "from_device", &r->from_device);
    json_object_set_new(object, "first_call_s", number(r->timing.first));
    json_object_set_new(object, "state_bytes", number(r->state_bytes));
    if (strcmp(base->device, r->device) != 0) {
        json_object_set_new(object, "wins_from_points", number(results_points_to_win(results, r)));
        json_object_set_new(object, "wins_from_calls", number(result_calls_to_win(r, base)));
    }
    return object;
}

static json_t *check_object(const struct check *c, const struct results *results)
{
    const struct verdict *v = &c->verdict;
    json_t *object = entry(results, &c->row);
    json_t *index = json_array();
    for (int i = 0; i < v->rank; i++)
        json_array_append_new(index, json_integer((json_int_t)v->worst_index[i]));
    json_object_set_new(object, "variable", json_string(c->variable));
    json_object_set_new(object, "max_abs", number(v->max_abs));
    json_object_set_new(object, "max_rel", number(v->max_rel));
    json_object_set_new(object, "max_ref", number(v->largest));
    json_object_set_new(object, "rtol", number(v->rtol));
    json_object_set_new(object, "atol", number(v->atol));
    json_object_set_new(object, "compared", json_integer((json_int_t)v->compared));
    json_object_set_new(object, "below_atol", number(v->below_atol));
    json_object_set_new(object, "worst_index", index);
    json_object_set_new(object, "passed", json_boolean(v->passed));
    return object;
}

static json_t *checksum_object(const struct checksum *c, const struct results *results)
{
    json_t *object = entry(results, &c->row);
    json_object_set_new(object, "nx", json_integer((json_int_t)c->row.grid.nx));
    json_object_set_new(object, "ny", json_integer((json_int_t)c->row.grid.ny));
    json_object_set_new(object, "nz", json_integer((json_int_t)c->row.grid.nz));
    json_object_set_new(object, "variable", json_string(c->variable));
    json_object_set_new(object, "sha256", text_value(c->text));
    return object;
}

static json_t *clock_object(const struct clock_quality *clock)
{
    json_t *object = json_object();
    json_object_set_new(object, "cost_s", number(clock->cost));
    json_object_set_new(object, "resolution_s", number(clock->resolution));
    return object;
}

/* "NAME=VALUE ..." as an object of numbers. */
static json_t *settings_object(const struct provenance *provenance)
{
    json_t *object = json_object();
    char text[PROVENANCE_TEXT], *rest = text;
    snprintf(text, sizeof(text), "%s", provenance_text(provenance, "settings"));
    for (char *name; (name = strsep(&rest, " ")) != NULL;) {
        char *const value = strchr(name, '=');
        if (!value)
            continue;
        *value = '\0';
        json_object_set_new(object, name, number(strtod(value + 1, NULL)));
    }
    return object;
}

/* "1, 2" as an array of numbers. */
static json_t *threads_array(const struct provenance *provenance)
{
    json_t *array = json_array();
    const char *text = provenance_text(provenance, "threads");
    for (char *end; *text; text = end + strspn(end, ", ")) {
        json_array_append_new(array, json_integer(strtol(text, &end, 10)));
        if (end == text)
            break;
    }
    return array;
}

static json_t *warnings_array(const char *lines)
{
    json_t *const warnings = json_array();
    for (const char *line = lines, *end; line && (end = strchr(line, '\n')) != NULL; line = end + 1)
        json_array_append_new(warnings, json_stringn(line, (size_t)(end - line)));
    return warnings;
}

json_t *results_object(const struct results *results)
{
    json_t *root = json_object();
    json_t *rows = json_array(), *transfers = json_array();
    json_t *validation = json_array(), *checksums = json_array();
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *result = &results->results[i];
        json_array_append_new(rows, result_object(result, results));
        json_array_append_new(transfers, transfer_object(result, results));
    }
    for (size_t i = 0; i < results->check_count; i++)
        json_array_append_new(validation, check_object(&results->checks[i], results));
    for (size_t i = 0; i < results->checksum_count; i++)
        json_array_append_new(checksums, checksum_object(&results->checksums[i], results));
    json_object_set_new(root, "provenance", provenance_object(&results->provenance));
    json_object_set_new(root, "settings", settings_object(&results->provenance));
    json_object_set_new(root, "threads", threads_array(&results->provenance));
    json_object_set_new(root, "seed", json_integer((json_int_t)results->seed));
    json_object_set_new(root, "clock", clock_object(&results->clock));
    json_object_set_new(root, "warnings", warnings_array(results->warnings));
    json_object_set_new(root, "interrupted", text_value(results->interrupted));
    json_object_set_new(root, "read_s", number(results->read_seconds));
    json_object_set_new(root, "write_s", number(results->write_seconds));
    json_object_set_new(root, "results", rows);
    json_object_set_new(root, "transfers", transfers);
    json_object_set_new(root, "validation", validation);
    json_object_set_new(root, "checksums", checksums);
    return root;
}

void report_json(const struct results *results)
{
    json_t *const root = results_object(results);
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(root);
}

/* ---- CSV: the rows, after where they come from in comments ---- */

static void csv_comments(const struct results *results)
{
    const struct provenance *const provenance = &results->provenance;
    for (size_t i = 0; i < provenance->count; i++)
        print("# %s: %s\n", provenance->names[i], provenance->texts[i]);
    if (results->interrupted)
        print("# interrupted: %s\n", results->interrupted);
}

/* Puts a text into quotes if it has a comma or a quote in it, as the bindings of a kernel do. */
static void csv_text(const char *text)
{
    if (!strpbrk(text, ",\"")) {
        print("%s", text);
        return;
    }
    putchar('"');
    for (const char *end; (end = strchr(text, '"')) != NULL; text = end + 1)
        print("%.*s\"\"", (int)(end - text), text);
    print("%s\"", text);
}

static void csv_cell(const struct column *column, const struct result *r,
                     const struct results *results)
{
    const char *text = column->text ? column->text(r) : NULL;
    const double value = column_number(column, r, results);
    if (text)
        csv_text(text);
    else if (isfinite(value))
        print("%.*g", column->whole ? 17 : 9, value);
}

void report_csv(const struct results *results)
{
    csv_comments(results);
    for (const struct column *column = columns; column->name; column++)
        print("%s%s", column == columns ? "" : ",", column->name);
    putchar('\n');
    for (size_t i = 0; i < results->result_count; i++)
        for (const struct column *column = columns; column->name; column++) {
            csv_cell(column, &results->results[i], results);
            putchar(column[1].name ? ',' : '\n');
        }
}
