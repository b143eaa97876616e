#include "columns.h"

#include <math.h>

static double positive_or_nan(double rate)
{
    return rate > 0 ? rate : NAN;
}

/* clang-format off */
static double nx(const struct result *r) { return (double)r->grid.nx; }
static double ny(const struct result *r) { return (double)r->grid.ny; }
static double nz(const struct result *r) { return (double)r->grid.nz; }
static double calls(const struct result *r) { return (double)r->timing.calls; }
static double mean(const struct result *r) { return r->timing.mean; }
static double stdev(const struct result *r) { return r->timing.stdev; }
static double minimum(const struct result *r) { return r->timing.min; }
static double p25(const struct result *r) { return r->timing.p25; }
static double median(const struct result *r) { return r->timing.median; }
static double p75(const struct result *r) { return r->timing.p75; }
static double most(const struct result *r) { return r->timing.max; }
static double speedup(const struct result *r) { return r->speedup; }
static double bytes(const struct result *r) { return r->bytes; }
static double empty_call_time(const struct result *r) { return positive_or_nan(r->empty_call); }
static double traffic(const struct result *r) { return r->traffic; }
static double flops(const struct result *r) { return r->flops; }
static double device_bytes(const struct result *r) { return r->device_bytes; }
static double threads(const struct result *r) { return r->threads ? r->threads : NAN; }
static double bandwidth(const struct result *r) { return positive_or_nan(r->bandwidth); }
static double share(const struct result *r) { return known_share(result_share(r)); }
static double best_share(const struct result *r) { return known_share(result_best_share(r)); }
static double best_bandwidth(const struct result *r) { return positive_or_nan(r->best_bandwidth); }
static double best_flop_rate(const struct result *r) { return positive_or_nan(r->best_flop_rate); }
static double flop_rate(const struct result *r) { return positive_or_nan(r->flop_rate); }
/* clang-format on */

double result_points(const struct result *r)
{
    return (double)miniapp_grid_points(&r->grid);
}

double result_ns_per_point(const struct result *r)
{
    return 1e9 * r->timing.median / result_points(r);
}

double result_gb_per_s(const struct result *r)
{
    return 1e-9 * r->bytes / r->timing.median;
}

double result_gflop_per_s(const struct result *r)
{
    return 1e-9 * r->flops / r->timing.median;
}

double result_best_gb_per_s(const struct result *r)
{
    return 1e-9 * r->bytes / r->timing.min;
}

double result_best_gflop_per_s(const struct result *r)
{
    return 1e-9 * r->flops / r->timing.min;
}

double result_intensity(const struct result *r)
{
    return r->flops / r->bytes;
}

static const char *kernel(const struct result *r, const struct results *all)
{
    (void)all;
    return r->kernel;
}

static const char *device(const struct result *r, const struct results *all)
{
    (void)all;
    return r->device;
}

static const char *variant(const struct result *r, const struct results *all)
{
    (void)all;
    return r->variant;
}

static const char *precision(const struct result *r, const struct results *all)
{
    (void)all;
    return miniapp_precision_name(r->precision);
}

static const char *bound(const struct result *r, const struct results *all)
{
    (void)all;
    return result_bound(r);
}

static const char *marks(const struct result *r, const struct results *all)
{
    (void)all;
    return r->marks;
}

static const char *cache(const struct result *r, const struct results *all)
{
    (void)all;
    return r->cache;
}

static const char *transfer(const struct result *r, const struct results *all)
{
    (void)all;
    return r->each_call ? "each-call" : "once";
}

const struct column columns[] = {
    {"kernel", .text = kernel},
    {"device", .text = device},
    {"precision", .text = precision},
    {"nx", nx, .whole = true},
    {"ny", ny, .whole = true},
    {"nz", nz, .whole = true},
    {"points", result_points, .whole = true},
    {"calls", calls, .whole = true},
    {"mean_s", mean},
    {"stdev_s", stdev},
    {"min_s", minimum},
    {"p25_s", p25},
    {"median_s", median},
    {"p75_s", p75},
    {"max_s", most},
    {"ns_per_point", result_ns_per_point},
    {"gb_per_s", result_gb_per_s},
    {"speedup", speedup},
    {"threads", threads, .whole = true},
    {"efficiency", .in_results = result_efficiency},
    {"gflop_per_s", result_gflop_per_s},
    {"bytes", bytes, .whole = true},
    {"flops", flops, .whole = true},
    {"intensity", result_intensity},
    {"bound", .text = bound},
    {"share", share},
    {"ceiling_bytes_per_s", bandwidth},
    {"ceiling_flops_per_s", flop_rate},
    {"device_bytes", device_bytes, .whole = true},
    {"transfer", .text = transfer},
    {"marks", .text = marks},
    {"measured_s", result_measured},
    {"best_gb_per_s", result_best_gb_per_s},
    {"best_gflop_per_s", result_best_gflop_per_s},
    {"best_share", best_share},
    {"best_ceiling_bytes_per_s", best_bandwidth},
    {"best_ceiling_flops_per_s", best_flop_rate},
    {"traffic_bytes", traffic, .whole = true},
    {"cache", .text = cache},
    {"variant", .text = variant},
    {"empty_call_s", empty_call_time},
    {0},
};

double column_number(const struct column *column, const struct result *result,
                     const struct results *results)
{
    if (column->in_results)
        return column->in_results(result, results);
    return column->number ? column->number(result) : NAN;
}
