#include "printable.h"
#include "report.h"

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

static json_t *shares_object(const struct result *r)
{
    json_t *steps = json_array();
    for (const struct share *s = r->shares; s < r->shares + r->share_count; s++)
        json_array_append_new(steps, json_pack("{ss so so so so}", "kernel", s->kernel, "share",
                                               number(s->share), "bytes", whole_number(s->bytes),
                                               "flops", whole_number(s->flops), "share_of_ceilings",
                                               number(known_share(share_of_ceilings(s, r)))));
    return steps;
}

/* Neither true nor false, but null, where a budget is not judged or cannot tell. */
static json_t *kept(const struct march *march, const struct miniapp_budget *budget)
{
    const bool is_told = !is_balanced(budget) || budget_can_tell(budget);
    return march->is_judged && is_told ? json_boolean(is_balanced(budget)) : json_null();
}

static json_t *budget_object(const struct march *march, const struct miniapp_budget *b)
{
    json_t *const gains = json_object();
    for (size_t i = 0; i < b->gain_count; i++)
        json_object_set_new(gains, b->gains[i].name, number(b->gains[i].value));
    return json_pack("{ss ss sI sb so so so so so so so so ss}", "budget", b->name, "units",
                     b->units, "steps", (json_int_t)b->steps, "is_of_all_steps", b->is_of_all_steps,
                     "change", number(b->change), "gain", number(b->gain), "gains", gains,
                     "residual", number(b->residual), "bound", number(b->bound), "size",
                     number(b->size), "gross", number(b->gross), "kept", kept(march, b), "verdict",
                     budget_verdict(march, b));
}

static json_t *flow_object(const struct miniapp_flow *flow)
{
    return json_pack("{so so so so so}", "courant_x", number(flow->courant[0]), "courant_y",
                     number(flow->courant[1]), "courant_z", number(flow->courant[2]),
                     "divergence_below", number(flow->below), "divergence_in_top_level",
                     number(flow->top));
}

static json_t *march_object(const struct result *r)
{
    const struct march *const march = r->march;
    json_t *const budgets = json_array();
    for (size_t b = 0; b < march->budget_count; b++)
        json_array_append_new(budgets, budget_object(march, &march->budgets[b]));
    json_t *const object =
        json_pack("{sI sI so so so}", "first", (json_int_t)march->first, "last",
                  (json_int_t)march->last, "time_step_s", number(march->time_step), "years_per_day",
                  number(result_years_per_day(r)), "budgets", budgets);
    if (march->flow.is_there)
        json_object_set_new(object, "flow", flow_object(&march->flow));
    return object;
}

static json_t *grid_object(const struct miniapp_grid *grid)
{
    return json_pack("{sI sI sI}", "nx", (json_int_t)grid->nx, "ny", (json_int_t)grid->ny, "nz",
                     (json_int_t)grid->nz);
}

static json_t *processes_object(const struct processes *all)
{
    return json_pack("{si si si so so so so}", "count", all->count, "along_x", all->along_x,
                     "along_y", all->along_y, "largest_block", grid_object(&all->largest),
                     "fastest", number(all->fastest), "exchange", number(all->exchange), "gather",
                     number(all->gather));
}

static json_t *solution_object(const struct miniapp_solution *solution)
{
    return json_pack("{si si so}", "iterations", solution->iterations, "nests", solution->nests,
                     "residual", number(solution->residual));
}

/* A column's number; NAN where it is not known, or is a text. */
static double column_number(const struct column *column, const struct result *result,
                            const struct results *results)
{
    if (column->in_results)
        return column->in_results(result, results);
    if (!column->place)
        return column->number ? column->number(result) : NAN;
    const double value = *(const double *)((const char *)result + column->place);
    return column->above_0 && !(value > 0) ? NAN : value;
}

static void put_columns(json_t *object, const struct column *column, const struct result *r,
                        const struct results *results)
{
    for (; column->name; column++) {
        const double value = column_number(column, r, results);
        json_object_set_new(object, column->name,
                            column->text    ? text_value(column->text(r))
                            : column->whole ? whole_number(value)
                                            : number(value));
    }
}

static json_t *result_object(const struct result *r, const struct results *results)
{
    json_t *object = json_object();
    put_columns(object, columns, r, results);
    if (r->shares)
        json_object_set_new(object, "shares", shares_object(r));
    if (r->march)
        json_object_set_new(object, "steps", march_object(r));
    if (r->solution.is_there)
        json_object_set_new(object, "solution", solution_object(&r->solution));
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

static json_t *transfer_object(const struct result *r, const struct results *results)
{
    const struct result *base = results_base(results, r);
    json_t *object = entry(results, r);
    put_columns(object, transfer_columns, r, results);
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
    json_object_update_new(
        object, json_pack("{ss so so so so so sI so so sb}", "variable", c->variable, "max_abs",
                          number(v->max_abs), "max_rel", number(v->max_rel), "max_ref",
                          number(v->largest), "rtol", number(v->rtol), "atol", number(v->atol),
                          "compared", (json_int_t)v->compared, "below_atol", number(v->below_atol),
                          "worst_index", index, "passed", v->passed));
    return object;
}

static json_t *checksum_object(const struct checksum *c, const struct results *results)
{
    json_t *const object = entry(results, &c->row);
    json_object_update_new(object, grid_object(&c->row.grid));
    json_object_update_new(
        object, json_pack("{ss so}", "variable", c->variable, "sha256", text_value(c->text)));
    return object;
}

static json_t *settings_object(const struct miniapp_settings *settings)
{
    json_t *object = json_object();
    for (size_t i = 0; settings && i < miniapp_setting_count(); i++) {
        const char *const name = miniapp_setting_name(miniapp_setting_at(i));
        json_object_set_new(object, name, number(miniapp_settings_get(settings, name)));
    }
    return object;
}

/* The numbers of threads that were asked for, or the one that is taken. */
static json_t *threads_array(const struct results *results)
{
    json_t *array = json_array();
    for (size_t i = 0; i < results->thread_count; i++)
        json_array_append_new(array, json_integer((json_int_t)results->threads[i]));
    if (results->thread_count == 0)
        json_array_append_new(array, json_integer(miniapp_host_threads()));
    return array;
}

static json_t *warnings_array(const char *lines)
{
    json_t *const warnings = json_array();
    for (const char *line = lines, *end; line && (end = strchr(line, '\n')) != NULL; line = end + 1)
        json_array_append_new(warnings, json_stringn(line, (size_t)(end - line)));
    return warnings;
}

static json_t *results_object(const struct results *results)
{
    json_t *rows = json_array(), *transfers = json_array();
    json_t *validation = json_array(), *checksums = json_array();
    for_each_result (result, results) {
        json_array_append_new(rows, result_object(result, results));
        json_array_append_new(transfers, transfer_object(result, results));
    }
    for (size_t i = 0; i < results->check_count; i++)
        json_array_append_new(validation, check_object(&results->checks[i], results));
    for (size_t i = 0; i < results->checksum_count; i++)
        json_array_append_new(checksums, checksum_object(&results->checksums[i], results));
    return json_pack(
        "{so so so sI s{so so} so so so so so so so so}", "provenance",
        provenance_object(&results->provenance), "settings", settings_object(results->settings),
        "threads", threads_array(results), "seed", (json_int_t)results->seed, "clock", "cost_s",
        number(results->clock.cost), "resolution_s", number(results->clock.resolution), "warnings",
        warnings_array(results->warnings), "interrupted", text_value(results->interrupted),
        "read_s", number(results->read_seconds), "write_s", number(results->write_seconds),
        "results", rows, "transfers", transfers, "validation", validation, "checksums", checksums);
}

bool report_json(const struct results *results, FILE *stream)
{
    json_t *const root = results_object(results);
    const bool is_written = json_dumpf(root, stream, JSON_INDENT(2) | JSON_ENSURE_ASCII) == 0 &&
                            putc('\n', stream) != EOF;
    json_decref(root);
    return is_written;
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
    for_each_result (r, results)
        for (const struct column *column = columns; column->name; column++) {
            csv_cell(column, r, results);
            putchar(column[1].name ? ',' : '\n');
        }
}
