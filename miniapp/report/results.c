#include "results.h"
#include "owned.h"
#include "shape.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool same_work(const struct result *a, const struct result *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && a->precision == b->precision &&
           same_grid(&a->grid, &b->grid);
}

static bool same_place(const struct result *a, const struct result *b)
{
    return strcmp(a->device, b->device) == 0 && strcmp(a->variant, b->variant) == 0 &&
           a->threads == b->threads;
}

bool same_row(const struct result *a, const struct result *b)
{
    return same_work(a, b) && same_place(a, b) && a->each_call == b->each_call;
}

struct result *results_find(const struct results *results, const struct result *wanted)
{
    for (size_t i = 0; i < results->result_count; i++)
        if (same_row(&results->results[i], wanted))
            return &results->results[i];
    return NULL;
}

static void free_result(struct result *result)
{
    free(result->shares);
    free(result->march);
    *result = (struct result){0};
}

struct result *results_put(struct results *results, const struct result *wanted)
{
    struct result *const known = results_find(results, wanted);
    if (!known)
        return grow(&results->results, &results->result_count, sizeof(*known));
    free_result(known);
    return known;
}

void results_release(struct results *results)
{
    for (size_t i = 0; i < results->result_count; i++)
        free_result(&results->results[i]);
    free(results->results);
    free(results->checks);
    free(results->checksums);
    json_decref(results->loaded);
}

bool results_passed(const struct results *results)
{
    for (size_t i = 0; i < results->check_count; i++)
        if (!results->checks[i].verdict.passed)
            return false;
    return true;
}

void results_judge(struct results *results, size_t first, bool is_land)
{
    size_t compared = 0;
    for (size_t i = first; i < results->check_count; i++) {
        struct verdict *const verdict = &results->checks[i].verdict;
        if (is_land)
            verdict->compared = 0;
        compared += verdict->compared;
    }
    for (size_t i = first; i < results->check_count && compared == 0; i++) {
        results->checks[i].verdict.passed = false;
        results->checks[i].is_void = true;
    }
}

const struct check *results_uncompared(const struct results *results)
{
    for (size_t i = 0; i < results->check_count; i++)
        if (results->checks[i].is_void)
            return &results->checks[i];
    return NULL;
}

double result_years_per_day(const struct result *result)
{
    const double days_of_year = 365.25;
    return result->march->time_step / (result->timing.mean * days_of_year);
}

bool is_balanced(const struct miniapp_budget *budget)
{
    return fabs(budget->residual) <= budget->bound;
}

/* The content counts twice in `size`, after and before the steps. */
bool budget_can_tell(const struct miniapp_budget *budget)
{
    const double content = (budget->size - budget->gross) / 2;
    return isfinite(budget->bound) &&
           budget->bound <= (budget->gross > 0 ? budget->gross : 1e-6 * content);
}

const char *budget_verdict(const struct march *march, const struct miniapp_budget *budget)
{
    if (!march->is_judged)
        return "not judged";
    if (!is_balanced(budget))
        return "BROKEN";
    return budget_can_tell(budget) ? "kept" : "cannot tell";
}

const struct result *results_base(const struct results *results, const struct result *result)
{
    const struct result *base = results->results;
    while (!same_work(base, result))
        base++;
    return base;
}

void results_compare_devices(struct results *results)
{
    for (size_t i = 0; i < results->result_count; i++) {
        struct result *result = &results->results[i];
        result->speedup = results_base(results, result)->timing.median / result->timing.median;
    }
}

double result_measured(const struct result *result)
{
    return result->timing.mean * (double)result->timing.calls;
}

/* The seconds that work takes at the rates of ceilings; NAN if these are not known. */
static double seconds_at(double bytes, double flops, double bandwidth, double flop_rate)
{
    return bandwidth > 0 && flop_rate > 0 ? fmax(bytes / bandwidth, flops / flop_rate) : NAN;
}

const char *result_bound(const struct result *r)
{
    if (!(r->bandwidth > 0 && r->flop_rate > 0))
        return NULL;
    return r->bytes / r->bandwidth >= r->flops / r->flop_rate ? "memory" : "arithmetic";
}

double result_share(const struct result *r)
{
    return seconds_at(r->bytes, r->flops, r->bandwidth, r->flop_rate) / r->timing.median;
}

double result_best_share(const struct result *r)
{
    return seconds_at(r->bytes, r->flops, r->best_bandwidth, r->best_flop_rate) / r->timing.min;
}

double share_of_ceilings(const struct share *share, const struct result *r)
{
    const double seconds = share->share * r->timing.mean;
    return seconds_at(share->bytes, share->flops, r->bandwidth, r->flop_rate) / seconds;
}

double known_share(double share)
{
    return share <= 1 ? share : NAN;
}

void result_mark(struct result *result, const struct clock_quality *clock, bool is_nonfinite)
{
    const double tick = fmax(clock->cost, clock->resolution);
    const bool is_short = result->timing.median < CLOCK_TICKS * tick;
    const bool is_noisy = result->timing.stdev > 0.2 * result->timing.mean;
    const bool is_disturbed = result->timing.min < 0.8 * result->timing.median;
    const bool is_above = result_share(result) > 1;
    const bool is_cut = result_measured(result) < result->asked_seconds / 2;
    char marks[RESULT_MARKS];
    snprintf(marks, sizeof(marks), "%s%s%s%s%s%s", is_short ? " short" : "",
             is_noisy ? " noisy" : "", is_disturbed ? " disturbed" : "", is_above ? " above" : "",
             is_cut ? " cut" : "", is_nonfinite ? " nonfinite" : "");
    snprintf(result->marks, RESULT_MARKS, "%s", marks[0] ? marks + 1 : "");
}

const struct result *results_marked(const struct results *results, const char *mark)
{
    for_each_result (r, results)
        if (strstr(r->marks, mark))
            return r;
    return NULL;
}

double result_efficiency(const struct result *result, const struct results *results)
{
    const struct result *const base = results_base(results, result);
    if (strcmp(base->device, result->device) != 0 || strcmp(base->variant, result->variant) != 0 ||
        !result->threads || !base->threads)
        return NAN;
    return result->speedup * base->threads / result->threads;
}

static const struct result *first_of_device(const struct results *results, const struct result *r)
{
    const struct result *first = results->results;
    while (strcmp(first->device, r->device) != 0)
        first++;
    return first;
}

bool results_vary_variants(const struct results *results)
{
    for_each_result (r, results)
        if (strcmp(r->variant, first_of_device(results, r)->variant) != 0)
            return true;
    return false;
}

bool results_vary_threads(const struct results *results)
{
    for_each_result (r, results)
        if (r->threads != first_of_device(results, r)->threads)
            return true;
    return false;
}

double result_calls_to_win(const struct result *result, const struct result *base)
{
    const double gain = base->timing.median - result->timing.median;
    const double once = result->to_device.seconds + result->from_device.seconds;
    return gain > 0 ? floor(once / gain) + 1 : INFINITY;
}

/* Whether two results lie on one curve of time against size. */
static bool same_curve(const struct result *a, const struct result *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && a->precision == b->precision && same_place(a, b);
}

double results_points_to_win(const struct results *results, const struct result *result)
{
    double wins_from = INFINITY, loses_at = 0;
    for_each_result (other, results)
        if (same_curve(other, result) && other->speedup <= 1)
            loses_at = fmax(loses_at, result_points(other));
    for_each_result (other, results)
        if (same_curve(other, result) && result_points(other) > loses_at)
            wins_from = fmin(wins_from, result_points(other));
    return wins_from;
}

/* ---- columns for programs ---- */

/* clang-format off */
static double nx(const struct result *r) { return (double)r->grid.nx; }
static double ny(const struct result *r) { return (double)r->grid.ny; }
static double nz(const struct result *r) { return (double)r->grid.nz; }
static double calls(const struct result *r) { return (double)r->timing.calls; }
static double threads(const struct result *r) { return r->threads ? r->threads : NAN; }
static double share(const struct result *r) { return known_share(result_share(r)); }
static double intensity(const struct result *r) { return r->flops / r->bytes; }
static double best_share(const struct result *r) { return known_share(result_best_share(r)); }
static const char *kernel(const struct result *r) { return r->kernel; }
static const char *device(const struct result *r) { return r->device; }
static const char *variant(const struct result *r) { return r->variant; }
static const char *precision(const struct result *r) { return miniapp_precision_name(r->precision); }
static const char *marks(const struct result *r) { return r->marks; }
static const char *cache(const struct result *r) { return r->cache; }
static const char *transfer(const struct result *r) { return r->each_call ? "each-call" : "once"; }

double result_points(const struct result *r) { return (double)miniapp_grid_points(&r->grid); }
double result_ns_per_point(const struct result *r)
{
    return 1e9 * r->timing.median / result_points(r);
}
double result_gb_per_s(const struct result *r) { return 1e-9 * r->bytes / r->timing.median; }
static double gflop_per_s(const struct result *r, double seconds)
{
    const bool is_unsolved = r->solution.is_there && r->flops == 0;
    return is_unsolved ? NAN : 1e-9 * r->flops / seconds;
}
double result_gflop_per_s(const struct result *r) { return gflop_per_s(r, r->timing.median); }
double result_best_gb_per_s(const struct result *r) { return 1e-9 * r->bytes / r->timing.min; }
double result_best_gflop_per_s(const struct result *r) { return gflop_per_s(r, r->timing.min); }
/* clang-format on */

#define PLACE(member) .place = offsetof(struct result, member)

const struct column columns[] = {
    {"kernel", .text = kernel},
    {"device", .text = device},
    {"precision", .text = precision},
    {"nx", .number = nx, .whole = true},
    {"ny", .number = ny, .whole = true},
    {"nz", .number = nz, .whole = true},
    {"points", .number = result_points, .whole = true},
    {"calls", .number = calls, .whole = true},
    {"mean_s", PLACE(timing.mean)},
    {"stdev_s", PLACE(timing.stdev)},
    {"min_s", PLACE(timing.min)},
    {"p25_s", PLACE(timing.p25)},
    {"median_s", PLACE(timing.median)},
    {"p75_s", PLACE(timing.p75)},
    {"max_s", PLACE(timing.max)},
    {"ns_per_point", .number = result_ns_per_point},
    {"gb_per_s", .number = result_gb_per_s},
    {"speedup", PLACE(speedup)},
    {"threads", .number = threads, .whole = true},
    {"efficiency", .in_results = result_efficiency},
    {"gflop_per_s", .number = result_gflop_per_s},
    {"bytes", PLACE(bytes), .whole = true},
    {"flops", PLACE(flops), .whole = true},
    {"intensity", .number = intensity},
    {"bound", .text = result_bound},
    {"share", .number = share},
    {"ceiling_bytes_per_s", PLACE(bandwidth), .above_0 = true},
    {"ceiling_flops_per_s", PLACE(flop_rate), .above_0 = true},
    {"device_bytes", PLACE(device_bytes), .whole = true},
    {"transfer", .text = transfer},
    {"marks", .text = marks},
    {"measured_s", .number = result_measured},
    {"best_gb_per_s", .number = result_best_gb_per_s},
    {"best_gflop_per_s", .number = result_best_gflop_per_s},
    {"best_share", .number = best_share},
    {"best_ceiling_bytes_per_s", PLACE(best_bandwidth), .above_0 = true},
    {"best_ceiling_flops_per_s", PLACE(best_flop_rate), .above_0 = true},
    {"traffic_bytes", PLACE(traffic), .whole = true},
    {"cache", .text = cache},
    {"variant", .text = variant},
    {"empty_call_s", PLACE(empty_call), .above_0 = true},
    {0},
};

const struct column transfer_columns[] = {
    {"points", .number = result_points, .whole = true},
    {"to_device_bytes", PLACE(to_device.bytes)},
    {"to_device_s", PLACE(to_device.seconds)},
    {"to_device_pinned_s", PLACE(to_device.pinned_seconds), .above_0 = true},
    {"from_device_bytes", PLACE(from_device.bytes)},
    {"from_device_s", PLACE(from_device.seconds)},
    {"from_device_pinned_s", PLACE(from_device.pinned_seconds), .above_0 = true},
    {"first_call_s", PLACE(timing.first)},
    {"state_bytes", PLACE(state_bytes)},
    {0},
};
