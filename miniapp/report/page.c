#include "printable.h"
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

static int wider_count(int width, size_t count)
{
    const int digits = snprintf(NULL, 0, "%zu", count);
    return digits > width ? digits : width;
}

struct page page_of(const struct results *results)
{
    struct page page = {.results = results, .name = 10, .device = 6, .variant = 7};
    page.shape = 12, page.calls = 7, page.points = 8;
    page.has_variants = results_vary_variants(results);
    page.has_threads = results_vary_threads(results);
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const r = &results->results[i], *const first = results->results;
        char shape[64];
        page.has_devices = page.has_devices || strcmp(r->device, first->device) != 0;
        page.has_precisions = page.has_precisions || r->precision != first->precision;
        page.name = wider(page.name, r->kernel);
        page.device = wider(page.device, r->device);
        page.variant = wider(page.variant, r->variant);
        page.shape = wider(page.shape, shape_text(&r->grid, shape));
        page.calls = wider_count(page.calls, r->timing.calls);
        page.points = wider_count(page.points, miniapp_grid_points(&r->grid));
    }
    return page;
}

/* Prints the first columns of a line, as far as rows differ in them, and returns how wide they are.
 * Numbers of threads stand on the right of theirs. */
static int print_first(const struct page *page, const char *const texts[])
{
    const bool is_there[] = {true, page->has_devices, page->has_variants, page->has_precisions,
                             page->has_threads};
    const int widths[] = {page->name, page->device, page->variant, 9, 7};
    int used = 0;
    for (int i = 0; i < 5; i++)
        if (is_there[i]) {
            print("%s%*s", i ? " " : "", i < 4 ? -widths[i] : widths[i], texts[i]);
            used += (i > 0) + widths[i];
        }
    return used;
}

void page_columns(const struct page *page)
{
    print_first(page, (const char *[]){"kernel", "device", "variant", "precision", "threads"});
}

int page_row(const struct page *page, const struct result *row)
{
    char threads[16] = "";
    if (row->threads)
        snprintf(threads, sizeof(threads), "%d", row->threads);
    return print_first(page, (const char *[]){row->kernel, row->device, row->variant,
                                              miniapp_precision_name(row->precision), threads});
}

int page_head(const struct page *page, const struct result *row)
{
    const int column = page_row(page, row);
    print(" %*zu points:", page->points, miniapp_grid_points(&row->grid));
    return column + page->points + 9;
}

int page_item(int column, const char *format, ...)
{
    enum { INDENT = 4 };
    char item[2 * PAGE_WIDTH];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(item, sizeof(item), format, arguments);
    va_end(arguments);
    const bool breaks = column + length > PAGE_WIDTH && column > INDENT;
    if (breaks)
        print("\n");
    print("%*s%s", breaks ? INDENT : 0, "", item + (breaks && item[0] == ' '));
    return (breaks ? INDENT : column) + length;
}

const char *shape_text(const struct miniapp_grid *grid, char text[64])
{
    snprintf(text, 64, "%zu x %zu x %zu", grid->nx, grid->ny, grid->nz);
    return text;
}

/* "1.234 ms", "12.34 s " */
static const char *time_in_column(double seconds, char text[16])
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

const char *time_in_words(double seconds, char text[16])
{
    time_in_column(seconds, text);
    char *const last = text + strlen(text) - 1;
    if (*last == ' ')
        *last = '\0';
    return text;
}

/* ---- times ---- */

static void print_efficiency(const struct page *page, const struct result *r)
{
    const double efficiency = result_efficiency(r, page->results);
    if (efficiency > 99.99) /* of a disturbed call */
        print(" >999%%");
    else if (!isnan(efficiency))
        print(" %4.0f%%", 100 * efficiency);
    else
        print(" %5s", "");
}

static bool has_speedups(const struct page *page)
{
    return page->has_devices || page->has_variants || page->has_threads;
}

/* With two columns for devices, variants and threads there is no room for quartiles; JSON and CSV
 * have them. */
static bool has_quartiles(const struct page *page)
{
    return page->has_devices + page->has_variants + page->has_threads < 2;
}

static void print_times(const struct page *page, const struct result *r)
{
    const double times[] = {r->timing.min, r->timing.p25, r->timing.median, r->timing.p75};
    char text[64];
    page_row(page, r);
    print(" %-*s %*zu", page->shape, shape_text(&r->grid, text), page->calls, r->timing.calls);
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        if (i % 2 == 0 || has_quartiles(page))
            print(" %8s", time_in_column(times[i], text));
    if (has_speedups(page))
        print(" %7.2f", r->speedup);
    if (page->has_threads)
        print_efficiency(page, r);
    print("%s%s\n", r->marks[0] ? "  " : "", r->marks);
}

static void print_marks(const struct results *results)
{
    static const struct {
        const char *mark, *meaning;
    } marks[] = {
        {"noisy", "the times spread (stdev / mean) by over 20 %"},
        {"disturbed", "the median call took over 1.25 times as long as the best one"},
        {"above",
         "faster than its ceiling, which was disturbed or, in a sequence, in slower memory: "
         "no share"},
        {"cut", "the calls took less than half of the time asked for"},
        {"nonfinite", "outputs hold NaN or Inf where the inputs are finite"},
    };
    if (results_marked(results, "short"))
        print("short: a call takes less than %d readings of the clock\n", CLOCK_TICKS);
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (results_marked(results, marks[i].mark))
            print("%s: %s\n", marks[i].mark, marks[i].meaning);
}

void print_rows(const struct page *page)
{
    const struct results *const results = page->results;
    const struct result *const first = results->results;
    print("\ntimes of calls");
    if (!page->has_devices)
        print(" on %s", first->device);
    if (!page->has_precisions)
        print(" in %s", miniapp_precision_name(first->precision));
    print("\n");
    page_columns(page);
    print(" %-*s %*s %8s", page->shape, "nx x ny x nz", page->calls, "calls", "min");
    if (has_quartiles(page))
        print(" %8s %8s %8s", "25%", "median", "75%");
    else
        print(" %8s", "median");
    print("%s%s\n", has_speedups(page) ? " speedup" : "", page->has_threads ? "  eff." : "");
    for_each_result (r, results)
        print_times(page, r);
    print_marks(results);
}

/* ---- rates ---- */

/* So many columns wide, "-" where nothing was solved. */
static void print_flop_rate(int width, double rate)
{
    if (isnan(rate))
        print(" %*s", width, "-");
    else
        print(" %*.2f", width, rate);
}

void print_rates(const struct page *page)
{
    bool is_cached = false;
    print("\nrates of the best call and of the median call\n");
    page_columns(page);
    print(" %*s %8s %10s %7s %13s %7s\n", page->points, "points", "ns/point", "GB/s: best",
          "median", "GFLOP/s: best", "median");
    for_each_result (r, page->results) {
        page_row(page, r);
        is_cached = is_cached || r->cache[0];
        print(" %*.0f %8.2f %10.2f %7.2f", page->points, result_points(r), result_ns_per_point(r),
              result_best_gb_per_s(r), result_gb_per_s(r));
        print_flop_rate(13, result_best_gflop_per_s(r));
        print_flop_rate(7, result_gflop_per_s(r));
        print("%s%s\n", r->cache[0] ? " " : "", r->cache);
    }
    if (is_cached)
        print("L1, L2, L3: the row's data fit in that cache, so GB/s is the cache's bandwidth, not "
              "memory's\n");
}

/* ---- shares of the ceilings ---- */

/* " 75%", or "above" for what is no share. */
static const char *share_text(double share, char text[16])
{
    if (isnan(share))
        return "unknown";
    if (share > 1)
        return "above";
    snprintf(text, 16, "%.0f%%", 100 * share);
    return text;
}

/* How near each kernel of a sequence comes to the ceilings. */
static void print_shares_of_ceilings(const struct page *page, const struct result *r)
{
    int column = page_head(page, r);
    for (size_t s = 0; s < r->share_count; s++) {
        char share[16];
        column = page_item(column, " %s %s%s", r->shares[s].kernel,
                           share_text(share_of_ceilings(&r->shares[s], r), share),
                           s + 1 < r->share_count ? "," : " of the ceilings");
    }
    print("\n");
}

static void print_roof(const struct page *page, const struct result *r)
{
    const bool is_memory = strcmp(result_bound(r), "memory") == 0;
    const double of_median = result_share(r) * r->timing.median;
    char best[16], p25[16], median[16], p75[16];
    page_row(page, r);
    print(" %*.0f %6.2f %-10s %8.2f %-7s", page->points, result_points(r), r->flops / r->bytes,
          result_bound(r), 1e-9 * (is_memory ? r->bandwidth : r->flop_rate),
          is_memory ? "GB/s" : "GFLOP/s");
    print(" %5s %5s %6s %5s\n", share_text(result_best_share(r), best),
          share_text(of_median / r->timing.p25, p25), share_text(result_share(r), median),
          share_text(of_median / r->timing.p75, p75));
}

void print_roofline(const struct page *page)
{
    bool is_titled = false;
    for_each_result (r, page->results) {
        if (!result_bound(r))
            continue;
        if (!is_titled) {
            print("\nshares of the ceilings, triad with as many bytes and fma: best call of best, "
                  "others of median\n");
            page_columns(page);
            print(" %*s %6s %-10s %-16s %5s %5s %6s %5s\n", page->points, "points", "flop/B",
                  "bound", " ceiling", "best", "25%", "median", "75%");
        }
        is_titled = true;
        print_roof(page, r);
    }
    for_each_result (r, page->results)
        if (r->shares && result_bound(r))
            print_shares_of_ceilings(page, r);
}
