#include "report.h"
#include "columns.h"
#include "printable.h"
#include "report_data.h"
#include "shape.h"
#include "status.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- the table that people read ---- */

/* The width of the column of kernels: a name with bindings is long. */
static int name_width(const struct results *results)
{
    size_t width = strlen("isoneutral");
    for (size_t i = 0; i < results->result_count; i++) {
        const size_t length = strlen(results->results[i].kernel);
        width = length > width ? length : width;
    }
    return (int)width;
}

/* Seconds with a unit that leaves at most three digits before the point. */
static const char *human_time(double seconds, char text[16])
{
    static const char *const units[] = {"s ", "ms", "us", "ns"};
    int unit = 0;
    while (unit < 3 && seconds < 1) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, 16, "%.*f %s", seconds >= 100 ? 1 : seconds >= 10 ? 2 : 3, seconds, units[unit]);
    return text;
}

/* The same within a sentence. */
static const char *time_in_words(double seconds, char text[16])
{
    human_time(seconds, text);
    char *const last = text + strlen(text) - 1;
    if (*last == ' ')
        *last = '\0';
    return text;
}

static void print_times(const struct timing *timing)
{
    const double times[] = {timing->mean,   timing->stdev, timing->min, timing->p25,
                            timing->median, timing->p75,   timing->max};
    char text[16];
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        print(" %9s", human_time(times[i], text));
}

static void print_threads(const struct result *result, const struct results *results)
{
    const double efficiency = result_efficiency(result, results);
    if (result->threads)
        print(" %7d", result->threads);
    else
        print(" %7s", "");
    if (!isnan(efficiency))
        print(" %9.0f%%", 100 * efficiency);
    else
        print(" %10s", "");
}

static void print_rows(const struct results *results)
{
    const bool has_threads = results_vary_threads(results);
    print("%-*s %-6s %-9s %-15s %9s %6s %9s %9s %9s %9s %9s %9s %9s %8s %7s %7s %8s%s\n",
          name_width(results), "kernel", "device", "precision", "nx x ny x nz", "points", "calls",
          "mean   ", "stdev   ", "min   ", "25%   ", "median   ", "75%   ", "max   ", "ns/point",
          "GB/s", "GFLOP/s", "speedup", has_threads ? " threads efficiency" : "");
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        const char *marks = result_marks(r, &results->clock);
        char shape[64];
        snprintf(shape, sizeof(shape), "%zu x %zu x %zu", r->grid.nx, r->grid.ny, r->grid.nz);
        print("%-*s %-6s %-9s %-15s %9.0f %6zu", name_width(results), r->kernel, r->device,
              miniapp_precision_name(r->precision), shape, result_points(r), r->timing.calls);
        print_times(&r->timing);
        print(" %8.2f %7.2f %7.2f %8.2f", result_ns_per_point(r), result_gb_per_s(r),
              result_gflop_per_s(r), r->speedup);
        if (has_threads)
            print_threads(r, results);
        print("%s%s\n", marks[0] ? "  " : "", marks);
    }
}

/* Explains the marks that occur. */
static void print_marks(const struct results *results)
{
    bool is_short = false, is_noisy = false, is_above = false;
    const struct result *const nonfinite = results_nonfinite(results);
    for (size_t i = 0; i < results->result_count; i++) {
        const char *marks = result_marks(&results->results[i], &results->clock);
        is_short = is_short || strstr(marks, "short");
        is_noisy = is_noisy || strstr(marks, "noisy");
        is_above = is_above || strstr(marks, "above");
    }
    if (is_short)
        print("short: a call takes less than %d readings of the clock\n", CLOCK_TICKS);
    if (is_noisy)
        print("noisy: the times spread (stdev / mean) by over 20 %%\n");
    if (is_above)
        print("above: faster than its own ceiling, which was disturbed or, "
              "for a kernel of a sequence, in slower memory: no share\n");
    if (nonfinite)
        print("nonfinite: outputs hold NaN or Inf where the inputs are finite\n");
}

/* ", 2 threads", where the number of threads varies. */
static void print_number_of_threads(const struct results *results, int threads)
{
    if (threads && results_vary_threads(results))
        print(", %d thread%s", threads, threads == 1 ? "" : "s");
}

/* What a line about a result begins with. */
static void print_head(const struct results *results, const struct result *r)
{
    print("%-*s %-6s %-9s %9.0f points", name_width(results), r->kernel, r->device,
          miniapp_precision_name(r->precision), result_points(r));
    print_number_of_threads(results, r->threads);
    putchar(':');
}

/* How near each kernel of a sequence comes to the ceilings. */
static void print_shares_of_ceilings(const struct results *results, const struct result *r)
{
    print("%s on %s in %s", r->kernel, r->device, miniapp_precision_name(r->precision));
    print_number_of_threads(results, r->threads);
    putchar(':');
    for (size_t s = 0; s < r->share_count; s++) {
        const double share = share_of_ceilings(&r->shares[s], r);
        print("%s %s ", s ? "," : "", r->shares[s].kernel);
        if (share <= 1)
            print("%.0f %%", 100 * share);
        else
            print(isnan(share) ? "unknown" : "above");
    }
    putchar('\n');
}

static void print_roofline(const struct results *results)
{
    print("\nshare of the ceilings that triad, with as many bytes, and fma reach in this run\n");
    print("%-*s %-6s %-9s %9s %9s %9s %9s %9s %9s  %-10s %6s\n", name_width(results), "kernel",
          "device", "precision", "points", "flop/byte", "GB/s", "triad", "GFLOP/s", "fma", "bound",
          "share");
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        if (!result_bound(r))
            continue;
        print("%-*s %-6s %-9s %9.0f %9.2f %9.2f %9.2f %9.2f %9.2f  %-10s ", name_width(results),
              r->kernel, r->device, miniapp_precision_name(r->precision), result_points(r),
              result_intensity(r), result_gb_per_s(r), r->bandwidth / 1e9,
              r->flops / r->timing.median / 1e9, r->flop_rate / 1e9, result_bound(r));
        if (result_share(r) <= 1)
            print("%5.0f%%", 100 * result_share(r));
        else
            print(" above");
        print_number_of_threads(results, r->threads);
        putchar('\n');
    }
    for (size_t i = 0; i < results->result_count; i++)
        if (results->results[i].shares && result_bound(&results->results[i]))
            print_shares_of_ceilings(results, &results->results[i]);
}

/* Bytes and time, and the rate; pinned memory too where it was measured. */
static void print_transfer(const char *what, const struct transfer_times *times)
{
    char seconds[16];
    if (!(times->bytes > 0))
        return;
    print(", %s %.1f MB in %s", what, times->bytes / 1e6, time_in_words(times->seconds, seconds));
    if (times->pinned_seconds > 0)
        print(" (%.1f GB/s, pinned %.1f)", times->bytes / times->seconds / 1e9,
              times->bytes / times->pinned_seconds / 1e9);
}

static bool same_state(const struct result *a, const struct result *b)
{
    return strcmp(a->device, b->device) == 0 && a->precision == b->precision &&
           same_grid(&a->grid, &b->grid);
}

/* How much memory the rows of a state hold together, if that is less than the sum of what each
 * holds. */
static void print_shared(const struct results *results)
{
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const first = &results->results[i];
        double apart = 0;
        bool is_known = false;
        size_t rows = 0;
        for (size_t j = 0; j < results->result_count; j++)
            if (same_state(first, &results->results[j])) {
                is_known = is_known || j < i;
                apart += results->results[j].device_bytes;
                rows++;
            }
        if (!is_known && rows > 1 && apart > first->state_bytes)
            print(
                "%-6s %-9s %9.0f points: %zu rows hold %.1f MB together, %.1f MB if each held its "
                "own\n",
                first->device, miniapp_precision_name(first->precision), result_points(first), rows,
                first->state_bytes / 1e6, apart / 1e6);
    }
}

/* How several processes shared the rows. */
static void print_processes(const struct results *results)
{
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const r = &results->results[i];
        const struct processes *const all = &r->processes;
        if (all->count == 0)
            continue;
        print_head(results, r);
        print(" %d x %d blocks of at most %zu x %zu x %zu points, one a process; the fastest took "
              "%.0f %% of the slowest's time; ghosts %.1f %%\n",
              all->along_x, all->along_y, all->largest.nx, all->largest.ny, all->largest.nz,
              100 * all->fastest, 100 * all->exchange);
    }
}

/* Each kernel's share of the time of a sequence. */
static void print_shares(const struct results *results)
{
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const r = &results->results[i];
        if (!r->shares)
            continue;
        print_head(results, r);
        for (size_t s = 0; s < r->share_count; s++)
            print("%s %s %.0f %%", s ? "," : "", r->shares[s].kernel, 100 * r->shares[s].share);
        print(" of the time\n");
    }
}

static void print_flow(const struct miniapp_flow *flow)
{
    if (!flow->is_there)
        return;
    print("Courant numbers %.3g along x, %.3g along y, %.3g along z; largest divergence in a step "
          "%.2g below the top level, %.2g in it\n",
          flow->courant[0], flow->courant[1], flow->courant[2], flow->below, flow->top);
    if (flow->top >= 1e-6)
        print("a tracer of 1 drifts by up to %.2g in a step in the top level, where water goes "
              "through the surface\n",
              flow->top);
}

/* How fast the ocean is stepped, and its budgets. */
static void print_march(const struct result *r)
{
    print("\n%s on %s in %s: ", r->kernel, r->device, miniapp_precision_name(r->precision));
    if (r->march->first > 0)
        print("from step %zu on, ", r->march->first);
    print("%zu steps of %g s took %.3g s: %.3g years a day\n", r->timing.calls, r->march->time_step,
          r->timing.mean * (double)r->timing.calls, result_years_per_day(r));
    print_flow(&r->march->flow);
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
}

static void print_transfers(const struct results *results)
{
    char read[16], written[16], first[16];
    print("\nnot in the times above: reading the file into memory %s; ",
          time_in_words(results->read_seconds, read));
    if (results->write_seconds > 0)
        print("writing outputs %s; ", time_in_words(results->write_seconds, written));
    print("then\n");
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        print_head(results, r);
        print(" %.1f MB held, first call %s", r->device_bytes / 1e6,
              time_in_words(r->timing.first, first));
        print_transfer("inputs to the device", &r->to_device);
        print_transfer("outputs back", &r->from_device);
        putchar('\n');
    }
}

/* The size and the number of calls from which a device is faster than the first one. */
static void print_wins(const struct results *results)
{
    bool titled = false;
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        const struct result *base = results_base(results, r);
        if (strcmp(base->device, r->device) == 0 || r->each_call)
            continue;
        if (!titled)
            print("\nwhere a device wins over the first one\n");
        titled = true;
        const double points = results_points_to_win(results, r);
        const double calls = result_calls_to_win(r, base);
        print_head(results, r);
        if (isinf(calls))
            print(" never at this size");
        else
            print(" with one transfer in and out, from %.0f call%s on", calls,
                  calls == 1 ? "" : "s");
        if (isinf(points))
            print("; with data resident, at no size measured\n");
        else
            print("; with data resident, from %.0f points on\n", points);
    }
}

/* In percent; "-" where there is none. */
static const char *share_text(double share, char text[16])
{
    if (isnan(share))
        return "-";
    snprintf(text, 16, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    return text;
}

static void print_checks(const struct results *results)
{
    const struct check *const uncompared = results_uncompared(results);
    size_t passed = 0;
    char index[INDEX_TEXT], share[16];
    print("\ncompared with %s; |x - ref| <= atol + rtol |ref| passes\n", results->reference);
    print("%-*s %-6s %-9s %-17s %11s %11s %11s %8s %8s %9s  %-18s %s\n", name_width(results),
          "kernel", "device", "precision", "variable", "max |x-ref|", "max |ref|", "max rel.",
          "atol", "rtol", "<= atol", "worst at", "verdict");
    for (size_t i = 0; i < results->check_count; i++) {
        const struct check *c = &results->checks[i];
        const struct verdict *v = &c->verdict;
        passed += v->passed;
        print("%-*s %-6s %-9s %-17s %11.2e %11.4g %11.2e %8.1e %8.1e %9s  %-18s %s\n",
              name_width(results), c->kernel, c->device, miniapp_precision_name(c->precision),
              c->variable, v->max_abs, v->largest, v->max_rel, v->atol, v->rtol,
              share_text(v->below_atol, share), index_text(v->worst_index, v->rank, index),
              v->passed ? "passed" : "FAILED");
    }
    print("<= atol: the share of the reference, where it is not 0, that the tolerance cannot tell "
          "from 0\n");
    if (uncompared)
        print("nothing was compared for %s: its outputs and reference tell nothing\n",
              uncompared->kernel);
    print("\nvalidation %s: %zu of %zu variables agree with the reference\n",
          results_passed(results) ? "PASSED" : "FAILED", passed, results->check_count);
}

static void print_checksums(const struct results *results)
{
    if (results->checksum_count)
        print("\nSHA-256 of the outputs, as float64\n");
    for (size_t i = 0; i < results->checksum_count; i++) {
        const struct checksum *c = &results->checksums[i];
        char shape[64];
        snprintf(shape, sizeof(shape), "%zu x %zu x %zu", c->grid.nx, c->grid.ny, c->grid.nz);
        print("%-*s %-6s %-9s %-15s %-17s %s\n", name_width(results), c->kernel, c->device,
              miniapp_precision_name(c->precision), shape, c->variable, c->text);
    }
}

static void report_table(const struct results *results)
{
    const struct provenance *provenance = &results->provenance;
    bool has_ceilings = false;
    for (size_t i = 0; i < provenance->count; i++)
        print("# %-14s %s\n", provenance->names[i], provenance->texts[i]);
    print("# %-14s %llu\n", "seed", (unsigned long long)results->seed);
    if (results->earlier_count > 0)
        print("# %-14s %zu rows were there already\n", "resumed", results->earlier_count);
    if (results->interrupted)
        print("# %-14s by %s: rows may lack calls, or be missing\n", "interrupted",
              results->interrupted);
    if (results->result_count == 0)
        return;
    putchar('\n');
    print_rows(results);
    print_marks(results);
    print_processes(results);
    print_shares(results);
    for (size_t i = 0; i < results->result_count; i++)
        has_ceilings = has_ceilings || result_bound(&results->results[i]);
    if (has_ceilings)
        print_roofline(results);
    for (size_t i = 0; i < results->result_count; i++)
        if (results->results[i].march)
            print_march(&results->results[i]);
    print_transfers(results);
    print_shared(results);
    print_wins(results);
    print_checksums(results);
    if (results->check_count > 0) /* there are none if a signal ended the run */
        print_checks(results);
}

enum miniapp_status report(const struct results *results, enum output_format format)
{
    switch (format) {
    case FORMAT_TABLE: report_table(results); break;
    case FORMAT_JSON: report_json(results); break;
    case FORMAT_CSV: report_csv(results); break;
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(MINIAPP_OUTPUT, "results cannot be written to standard output: %s",
                    strerror(errno));
    return MINIAPP_DONE;
}
