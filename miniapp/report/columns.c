#include "results.h"

#include <math.h>
#include <stddef.h>

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
