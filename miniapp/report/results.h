/* The results of a run, to be reported in any format. */
#ifndef RESULTS_H
#define RESULTS_H

#include "clock.h"
#include "measure.h"
#include "provenance.h"
#include "validate.h"

#include "program.h"
#include <jansson.h>

/* Up to here doubles hold all whole numbers. */
#define MOST_WHOLE 0x1p53

struct transfer_times {
    double bytes, seconds;
    double pinned_seconds; /* through pinned memory; 0: not measured */
};

/* The share of a sequence's time that one of its kernels takes. */
struct share {
    const char *kernel;
    double share;
    double bytes, flops; /* of this kernel alone, in a call */
};

/* Steps in time. */
struct march {
    size_t first, last; /* the step from which it went on, and the last one */
    double time_step;   /* of the ocean, in seconds */
    struct miniapp_flow flow;
    bool is_judged; /* by its budgets; not with interpolated masks, which disagree */
    struct miniapp_budget budgets[MINIAPP_BUDGETS];
    size_t budget_count;
};

/* The processes that share a result; `count` is 0 where one made it alone. */
struct processes {
    int count, along_x, along_y;
    struct miniapp_grid largest; /* block, with ghosts */
    double fastest;              /* the time of the fastest one, as a share of the slowest one's */
    double exchange, gather;     /* the most that one spent on ghosts, and on gathering the whole
                                    ocean for kernels, as shares of the same */
};

enum { RESULT_MARKS = 64 };

/* One kernel or sequence on one device in one precision and size. */
struct result {
    const char *kernel;  /* or a sequence */
    const char *device;  /* a label */
    const char *variant; /* of the directives */
    int threads;         /* of the host; 0 on another device */
    enum miniapp_precision precision;
    struct miniapp_grid grid;
    struct timing timing;
    double empty_call;    /* the time of an empty kernel on a GPU beside it, or 0 */
    double asked_seconds; /* that calls were to take together; 0: a number of calls was asked for */
    bool each_call;       /* the times hold the transfers of the data */
    double bytes, flops;  /* that a call must move, and do */
    const char *cache;    /* of the host that holds all its memory, such as "L3"; or "" */
    double traffic;       /* bytes that move if a line is fetched before it is written */
    double speedup;       /* over the first device, variant or number of threads, by the median */
    double device_bytes;  /* of memory that it needs itself; the most of any process */
    double state_bytes;   /* of memory that all on its state hold; likewise */
    struct share *shares; /* of the time, for each step; NULL for a kernel */
    size_t share_count;
    struct processes processes;
    struct miniapp_solution solution; /* of the external mode in the last call */
    struct march *march;              /* of steps in time, or NULL */
    struct transfer_times to_device, from_device;
    char marks[RESULT_MARKS];    /* those of result_mark, or "" */
    double bandwidth, flop_rate; /* the ceilings, above 0 if they were measured beside it */
    double best_bandwidth,
        best_flop_rate; /* by their best calls, where the others are by medians */
};

/* One output variable of one result. */
struct check {
    struct result row; /* which one; nothing of what was measured */
    const char *variable;
    struct verdict verdict;
    bool is_void; /* of a row for which nothing was really compared */
};

/* The SHA-256 of an output's values, as float64. */
struct checksum {
    struct result row; /* as in a check */
    const char *variable;
    char text[SHA256_TEXT];
};

struct results {
    struct provenance provenance;
    const char *reference; /* or NULL */
    double read_seconds;
    double write_seconds; /* outputs and snapshots, with comparing and hashing on the way */
    size_t seed;
    const struct miniapp_settings *settings; /* or NULL */
    const size_t *threads;                   /* that were asked for: so many */
    size_t thread_count;
    struct clock_quality clock;
    const char *warnings;    /* so far, a line each, or NULL */
    struct caches caches;    /* the host's */
    const char *interrupted; /* the name of the signal that ended the run, or NULL */
    struct result *results;
    size_t result_count;
    struct check *checks;
    size_t check_count;
    struct checksum *checksums;
    size_t checksum_count;
    json_t *loaded;       /* the loaded file, which owns the texts of its results; or NULL */
    size_t earlier_count; /* how many of the first results are from an earlier run */
};

/* Goes through the rows: `r` is each in turn. */
#define for_each_result(r, all)                                                                    \
    for (const struct result *r = (all)->results;                                                  \
         (size_t)(r - (all)->results) < (all)->result_count; r++)

/* A new, empty one, which may move the others; or one that is there and like `wanted`, emptied.
 * NULL if memory is short. */
struct result *results_put(struct results *results, const struct result *wanted);

/* Whether two are of the same kernel, precision and size; and also of the same device, variant,
 * threads and way of transfer. */
bool same_work(const struct result *a, const struct result *b);
bool same_row(const struct result *a, const struct result *b);

/* How near a kernel of a sequence comes to the ceilings, as result_share is for the whole sequence;
 * NAN if the ceilings were not measured. */
double share_of_ceilings(const struct share *share, const struct result *result);

/* How many years of the ocean are simulated in a day. */
double result_years_per_day(const struct result *result);

/* Whether a budget's residual is no more than rounding. */
bool is_balanced(const struct miniapp_budget *budget);

/* Whether its bound is small enough: no more than the magnitudes of what comes in and goes out or,
 * where nothing does, a millionth of the content. */
bool budget_can_tell(const struct miniapp_budget *budget);

/* "kept", "cannot tell", "BROKEN" or "not judged" */
const char *budget_verdict(const struct march *march, const struct miniapp_budget *budget);

/* The one that is like it; or NULL. */
struct result *results_find(const struct results *results, const struct result *wanted);

void results_release(struct results *results);

/* Whether every variable that was compared passed. */
bool results_passed(const struct results *results);

/* Judges the checks of a kernel, which are those from number `first` on. They do not pass if
 * nothing was really compared: if all its outputs and their references are 0 or not finite, or if
 * all of the grid is land (`is_land`). */
void results_judge(struct results *results, size_t first, bool is_land);

/* The first check of a kernel for which nothing was really compared; or NULL. */
const struct check *results_uncompared(const struct results *results);

/* Sets each result's speedup over the first one with the same kernel, precision and size. */
void results_compare_devices(struct results *results);

/* ---- what a result says ---- */

/* The seconds that its calls took together. */
double result_measured(const struct result *result);

/* The ceiling that bounds a result: "memory", "arithmetic", or NULL where they are not known. */
const char *result_bound(const struct result *result);

/* The time at that ceiling over the time that it took; NAN if it is not known. A value above 1 only
 * says that the ceiling was disturbed. */
double result_share(const struct result *result);

/* The share of the best call in what the ceilings' best calls reached. */
double result_best_share(const struct result *result);

/* A share as it is reported: NAN if it is above 1. */
double known_share(double share);

/* The speedup over the base, divided by how many times as many threads there are; NAN if the base
 * is another device. */
double result_efficiency(const struct result *result, const struct results *results);

/* Marks a result that has to be taken with care: "short" for fewer than CLOCK_TICKS of the clock,
 * "noisy" for a spread of over 20 %, "disturbed" for a median above 1.25 of the least time, "above"
 * for a share above 100 %, "cut" for less than half of the time asked for, "nonfinite" if an output
 * is not finite though its inputs are. */
void result_mark(struct result *result, const struct clock_quality *clock, bool is_nonfinite);

/* The first result that has a mark, from now or from an earlier run; or NULL. */
const struct result *results_marked(const struct results *results, const char *mark);

/* Whether rows of a device have other directives than its first ones. */
bool results_vary_variants(const struct results *results);

/* Whether the rows of a device have several numbers of threads. Each line of a report asks. */
bool results_vary_threads(const struct results *results);

/* From how many calls on a device is faster than the first one, `base`, for the same kernel,
 * precision and size, with one transfer in and out; INFINITY: never. */
double result_calls_to_win(const struct result *result, const struct result *base);

/* The first result with the same kernel, precision and size: the result itself for the first
 * device. */
const struct result *results_base(const struct results *results, const struct result *result);

/* From how many points on a result's device is faster than the first one, at all sizes measured,
 * with data resident; INFINITY: never. */
double results_points_to_win(const struct results *results, const struct result *result);

/* ---- the columns of a result for programs, the same in JSON and CSV ---- */

/* Either `place` is not 0, or exactly one of the functions is not NULL. */
struct column {
    const char *name;
    size_t place; /* of the number in a result, which is read back from it */
    double (*number)(const struct result *result); /* NAN: not known */
    double (*in_results)(const struct result *result, const struct results *results);
    const char *(*text)(const struct result *result); /* or NULL */
    bool whole;
    bool above_0; /* or it was not measured */
};

/* A column without a name ends them. JSON has those about memory and transfers apart. */
extern const struct column columns[], transfer_columns[];

double result_points(const struct result *result);
double result_ns_per_point(const struct result *result);
double result_gb_per_s(const struct result *result); /* of the median call, as the next */
double result_gflop_per_s(const struct result *result);
double result_best_gb_per_s(const struct result *result); /* of the best call, as the next */
double result_best_gflop_per_s(const struct result *result);

#endif
