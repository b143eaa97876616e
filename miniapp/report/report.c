#include "report.h"
#include "printable.h"
#include "shape.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table that people read ---- */

/* Bytes and time, and the rate; pinned memory too where it was measured. */
static int print_transfer(int column, const char *what, const struct transfer_times *times)
{
    char seconds[16], rates[64] = "";
    if (!(times->bytes > 0))
        return column;
    if (times->pinned_seconds > 0)
        snprintf(rates, sizeof(rates), " (%.1f GB/s, pinned %.1f)",
                 times->bytes / times->seconds / 1e9, times->bytes / times->pinned_seconds / 1e9);
    column = page_item(column, ",");
    return page_item(column, " %s %.1f MB in %s%s", what, times->bytes / 1e6,
                     time_in_words(times->seconds, seconds), rates);
}

static bool share_state(const struct result *a, const struct result *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->variant, b->variant) == 0 &&
           a->precision == b->precision && same_grid(&a->grid, &b->grid);
}

/* The device of a row or, where rows differ in their directives, "cpu (dynamic)". */
static const char *place_text(const struct page *page, const struct result *r, char text[64])
{
    if (!page->has_variants)
        return r->device;
    snprintf(text, 64, "%s (%s)", r->device, r->variant);
    return text;
}

/* How much memory the rows of a state hold together, if that is less than the sum of what each
 * holds. */
static void print_shared(const struct page *page)
{
    const struct results *const results = page->results;
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const first = &results->results[i];
        double apart = 0;
        char place[64];
        bool is_known = false;
        size_t rows = 0;
        for (size_t j = 0; j < results->result_count; j++)
            if (share_state(first, &results->results[j])) {
                is_known = is_known || j < i;
                apart += results->results[j].device_bytes;
                rows++;
            }
        if (!is_known && rows > 1 && apart > first->state_bytes)
            print("%s in %s, %.0f points: %zu rows share %.1f MB (%.1f MB unshared)\n",
                  place_text(page, first, place), miniapp_precision_name(first->precision),
                  result_points(first), rows, first->state_bytes / 1e6, apart / 1e6);
    }
}

/* A step's share beyond which processes that compute the whole ocean's external mode, each for
 * itself, do not scale. */
static const double MOST_OF_A_STEP = 0.05;

static void print_processes(const struct page *page)
{
    for_each_result (r, page->results) {
        const struct processes *const all = &r->processes;
        if (all->count == 0)
            continue;
        char shape[64];
        page_head(page, r);
        print(" %d x %d blocks of at most %s points, one a process\n", all->along_x, all->along_y,
              shape_text(&all->largest, shape));
        print("    the fastest process took %.0f %% of the slowest one's time; ghosts %.1f %%\n",
              100 * all->fastest, 100 * all->exchange);
        if (all->gather > 0)
            print("    %sgathering the whole ocean for the external mode took %.1f %%\n",
                  r->shares && all->gather > MOST_OF_A_STEP ? "warning: " : "", 100 * all->gather);
    }
}

/* How the external mode was solved in the last call. A kernel's time an iteration has all in it
 * that the kernel does. */
static void print_solutions(const struct page *page)
{
    for_each_result (r, page->results) {
        const struct miniapp_solution *const s = &r->solution;
        char text[16];
        if (!s->is_there)
            continue;
        page_head(page, r);
        if (s->iterations == 0) {
            print(" no iteration: the right-hand side is 0, or the guess solves it\n");
            continue;
        }
        print(" %d iteration%s", s->iterations, s->iterations == 1 ? "" : "s");
        if (!r->shares)
            print(" of %s", time_in_words(r->timing.median / s->iterations, text));
        if (r->threads == 0)
            print(", %.1f launches each", (double)s->nests / s->iterations);
        print(", relative residual %.1e\n", s->residual);
    }
}

/* Each kernel's share of the time of a sequence. */
static void print_shares(const struct page *page)
{
    for_each_result (r, page->results) {
        if (!r->shares)
            continue;
        int column = page_head(page, r);
        for (size_t s = 0; s < r->share_count; s++)
            column =
                page_item(column, " %s %.0f %%%s", r->shares[s].kernel, 100 * r->shares[s].share,
                          s + 1 < r->share_count ? "," : " of the time");
        print("\n");
    }
}

static void print_flow(const struct march *march)
{
    const struct miniapp_flow *const flow = &march->flow;
    if (!flow->is_there)
        return;
    print("Courant numbers %.3g along x, %.3g along y, %.3g along z\n", flow->courant[0],
          flow->courant[1], flow->courant[2]);
    print("largest divergence in the first step %.2g below the top level, %.2g in it\n",
          flow->below, flow->top);
    if (flow->top >= 1e-6)
        print("a tracer of 1 drifts by up to %.2g in the first step: %s\n", flow->top,
              flow->is_from_rest ? "w is 0 at the start from rest"
                                 : "water goes through the surface");
}

static void print_gains(const struct miniapp_budget *budget)
{
    int column = page_item(0, "gain of %s in %s:", budget->name, budget->units);
    for (size_t i = 0; i < budget->gain_count; i++)
        column = page_item(column, " %s %.4g%s", budget->gains[i].name, budget->gains[i].value,
                           i + 1 < budget->gain_count ? "," : "");
    print("\n");
}

/* How fast the ocean is stepped, and its budgets. */
static void print_march(const struct page *page, const struct result *r)
{
    char place[64];
    print("\n%s on %s in %s: ", r->kernel, place_text(page, r, place),
          miniapp_precision_name(r->precision));
    if (r->march->first > 0)
        print("from step %zu on, ", r->march->first);
    print("%zu steps of %g s took %.3g s: %.3g years a day\n", r->timing.calls, r->march->time_step,
          result_measured(r), result_years_per_day(r));
    print_flow(r->march);
    print("%-8s %-15s %-7s %15s %15s %11s %11s  %s\n", "budget", "mean over", "unit", "change",
          "gain", "residual", "bound", "verdict");
    for (size_t b = 0; b < r->march->budget_count; b++) {
        const struct miniapp_budget *const budget = &r->march->budgets[b];
        char over[32] = "the last step";
        if (budget->is_of_all_steps)
            snprintf(over, sizeof(over), "%zu steps", budget->steps);
        print("%-8s %-15s %-7s %15.7g %15.7g %11.2e %11.2e  %s\n", budget->name, over,
              budget->units, budget->change, budget->gain, budget->residual, budget->bound,
              budget_verdict(r->march, budget));
    }
    for (size_t b = 0; b < r->march->budget_count; b++)
        if (strcmp(r->march->budgets[b].name, "kinetic") == 0)
            print_gains(&r->march->budgets[b]);
}

static void print_transfers(const struct page *page)
{
    const struct results *const results = page->results;
    char text[16];
    print("\nNot timed: file read %s", time_in_words(results->read_seconds, text));
    if (results->write_seconds > 0)
        print(", outputs written %s", time_in_words(results->write_seconds, text));
    print("\n");
    for_each_result (r, results) {
        int column = page_head(page, r);
        column = page_item(column, " %.1f MB held, first call %s", r->device_bytes / 1e6,
                           time_in_words(r->timing.first, text));
        if (r->empty_call > 0)
            column = page_item(column, ", an empty call %s", time_in_words(r->empty_call, text));
        column = print_transfer(column, "inputs to the device", &r->to_device);
        print_transfer(column, "outputs back", &r->from_device);
        print("\n");
    }
}

/* The size and the number of calls from which a device is faster than the first one. */
static void print_wins(const struct page *page)
{
    const struct results *const results = page->results;
    bool titled = false;
    for_each_result (r, results) {
        const struct result *base = results_base(results, r);
        if (strcmp(base->device, r->device) == 0 || r->each_call)
            continue;
        if (!titled)
            print("\nbreak-even against the first device\n");
        titled = true;
        const double points = results_points_to_win(results, r);
        const double calls = result_calls_to_win(r, base);
        int column = page_head(page, r);
        if (isinf(calls))
            column = page_item(column, " never at this size;");
        else
            column = page_item(column, " with one transfer in and out, from %.0f call%s on;", calls,
                               calls == 1 ? "" : "s");
        if (isinf(points))
            page_item(column, " with data resident, at no size measured");
        else
            page_item(column, " with data resident, from %.0f points on", points);
        print("\n");
    }
}

/* In percent; "-" where there is none. */
static const char *percent_text(double share, char text[16])
{
    if (isnan(share))
        return "-";
    snprintf(text, 16, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

static void print_check(const struct page *page, const struct check *c, int width, bool has_rtol)
{
    const struct verdict *const v = &c->verdict;
    char index[INDEX_TEXT], share[16];
    page_row(page, &c->row);
    print(" %-*s %9.1e %7.1e", width, c->variable, v->max_abs, v->atol);
    if (has_rtol)
        print(" %7.1e", v->rtol);
    print(" %7s  %s%s%s\n", percent_text(v->below_atol, share), v->passed ? "passed" : "FAILED",
          v->rank ? "   " : "", index_text(v->worst_index, v->rank, index));
}

static void print_checks(const struct page *page)
{
    const struct results *const results = page->results;
    const struct check *const uncompared = results_uncompared(results);
    int width = (int)strlen("variable");
    size_t passed = 0;
    bool has_rtol = false;
    for (size_t i = 0; i < results->check_count; i++) {
        const struct check *const c = &results->checks[i];
        has_rtol = has_rtol || c->verdict.rtol > 0;
        passed += c->verdict.passed;
        if ((int)strlen(c->variable) > width)
            width = (int)strlen(c->variable);
    }
    print("\ncompared with %s; |x - ref| <= atol%s passes\n", results->reference,
          has_rtol ? " + rtol |ref|" : "");
    page_columns(page);
    print(" %-*s |x - ref|    atol%s <= atol  verdict  worst at\n", width, "variable",
          has_rtol ? "    rtol" : "");
    for (size_t i = 0; i < results->check_count; i++)
        print_check(page, &results->checks[i], width, has_rtol);
    print("<= atol: fraction of nonzero reference values below atol\n");
    if (uncompared)
        print("nothing was compared for %s: its outputs and reference tell nothing\n",
              uncompared->row.kernel);
    print("\nvalidation %s: %zu of %zu variables agree with the reference\n",
          results_passed(results) ? "PASSED" : "FAILED", passed, results->check_count);
}

static void print_checksums(const struct page *page)
{
    const struct results *const results = page->results;
    if (results->checksum_count)
        print("\nSHA-256 of the outputs, as float64\n");
    for (size_t i = 0; i < results->checksum_count; i++) {
        const struct checksum *c = &results->checksums[i];
        char shape[64];
        page_row(page, &c->row);
        print(" %-*s %-17s %s\n", page->shape, shape_text(&c->row.grid, shape), c->variable,
              c->text);
    }
}

/* Breaks the line at blanks, but not within the name of the input. */
static void print_provenance(const char *name, const char *text)
{
    const int indent = 16;
    int column = indent + 1;
    print("# %-14s", name);
    for (size_t length; *text; text += length + (text[length] == ' ')) {
        length = strcspn(text, strcmp(name, "input") == 0 ? "" : " ");
        if (column + 1 + (int)length > PAGE_WIDTH && column > indent + 1) {
            print("\n#%*s", indent - 1, "");
            column = indent;
        }
        print(" %.*s", (int)length, text);
        column += 1 + (int)length;
    }
    print("\n");
}

static void report_table(const struct results *results)
{
    const struct provenance *provenance = &results->provenance;
    const struct page page = page_of(results);
    for (size_t i = 0; i < provenance->count; i++)
        print_provenance(provenance->names[i], provenance->texts[i]);
    print("# %-14s %zu\n", "seed", results->seed);
    if (results->earlier_count > 0)
        print("# %-14s %zu rows were there already\n", "resumed", results->earlier_count);
    if (results->interrupted)
        print("# %-14s by %s: rows may lack calls, or be missing\n", "interrupted",
              results->interrupted);
    if (results->result_count == 0)
        return;
    print_rows(&page);
    print_processes(&page);
    print_solutions(&page);
    print_shares(&page);
    print_rates(&page);
    print_roofline(&page);
    for_each_result (r, results)
        if (r->march)
            print_march(&page, r);
    print_transfers(&page);
    print_shared(&page);
    print_wins(&page);
    print_checksums(&page);
    if (results->check_count > 0) /* there are none if a signal ended the run */
        print_checks(&page);
}

enum miniapp_status report(const struct results *results, enum output_format format)
{
    switch (format) {
    case FORMAT_TABLE: report_table(results); break;
    case FORMAT_JSON: report_json(results, stdout); break;
    case FORMAT_CSV: report_csv(results); break;
    }
    return end_of_stdout();
}
