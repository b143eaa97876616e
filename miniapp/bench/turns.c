/* The timed calls of a bench's rows, which take turns. */
#include "bench.h"
#include "clock.h"
#include "owned.h"
#include "progress.h"
#include "ranks.h"
#include "status.h"
#include "stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Marks the host's copies of what the row reads as the only current ones, as if they had just been
 * filled. */
static bool refill(struct row *row)
{
    bool done = true;
    for (size_t i = 0; i < row->field_count && done; i++)
        if (row->fields[i].reads)
            done = miniapp_state_write(row->state, row->fields[i].name) != NULL;
    return done;
}

/* Brings the host's copies of what the row reads, or of what it writes, up to date. */
static bool copy_back(struct row *row, bool what_it_writes)
{
    bool done = true;
    for (size_t i = 0; i < row->field_count && done; i++)
        if (what_it_writes ? row->fields[i].writes : row->fields[i].reads)
            done = miniapp_state_read(row->state, row->fields[i].name) != NULL;
    return done;
}

/* The seconds of a call on the slowest process and on the fastest, and of this one's exchanges and
 * gathers. */
struct call {
    double slowest, fastest, exchanged, gathered;
};

/* Times one call, with the transfers of its data if each_call is set. All processes start together,
 * after the agreement that ended the previous call; the slowest one's time counts. */
static enum miniapp_status time_call(struct row *row, struct call *call)
{
    if (row->threads)
        miniapp_host_set_threads(row->threads);
    const double exchanged = miniapp_state_exchange_seconds(row->state);
    const double gathered = miniapp_state_gather_seconds(row->state);
    const double start = seconds_now();
    const bool is_filled = !row->each_call || refill(row);
    enum miniapp_status status = !is_filled      ? ranks_end_all(MINIAPP_DEVICE)
                                 : row->advances ? miniapp_plan_advance(row->plan)
                                                 : miniapp_plan_run(row->plan);
    if (!status && row->each_call && !copy_back(row, true))
        status = MINIAPP_DEVICE;
    const double own = seconds_now() - start;
    double times[] = {own, -own};
    status = agree_on(status, times, 2);
    *call =
        (struct call){times[0], -times[1], miniapp_state_exchange_seconds(row->state) - exchanged,
                      miniapp_state_gather_seconds(row->state) - gathered};
    return status;
}

/* A call that is not among the samples. */
static enum miniapp_status call_once(struct row *row, double *seconds)
{
    struct call call;
    const enum miniapp_status status = time_call(row, &call);
    *seconds = call.slowest;
    return status;
}

static enum miniapp_status sample_call(struct row *row, const struct method *method)
{
    struct call call;
    const enum miniapp_status status = time_call(row, &call);
    samples_add(&row->samples, call.slowest);
    row->fastest += call.fastest;
    row->exchanged += call.exchanged;
    row->gathered += call.gathered;
    if (row->advances && row->samples.count == 1)
        row->timing.first = call.slowest;
    for (size_t s = 0; s < miniapp_sequence_step_count(row->sequence); s++)
        row->step_seconds[s] += miniapp_plan_seconds(row->plan, s);
    return status || !row->advances ? status : method->after_step(method->context, row);
}

/* Shows a user of --verbose that a long run is alive; tests wait for this line. */
static void announce(const struct method *method, const struct row *row, const char *what)
{
    if (!method->verbose || ranks_own() > 0)
        return;
    progress_clear();
    fprintf(stderr, "miniapp: %s on %s, %zu x %zu x %zu points: %s done\n",
            miniapp_sequence_name(row->sequence), miniapp_device_label(row->device), row->grid.nx,
            row->grid.ny, row->grid.nz, what);
}

/* Makes the calls that are not timed; a row that advances has none. */
static enum miniapp_status burn_in(struct row *row, const struct method *method)
{
    if (row->advances)
        return MINIAPP_DONE;
    /* the host's copies have to be there before they can be sent */
    TRY(agree(row->each_call && !copy_back(row, false) ? MINIAPP_DEVICE : MINIAPP_DONE));
    TRY(call_once(row, &row->timing.first));
    announce(method, row, "first call");
    row->last = row->timing.first;
    for (size_t i = 0; i < method->burnin && !stop_signal(); i++)
        TRY(call_once(row, &row->last));
    /* the very first call says little about the next ones */
    const bool needs_another = method->repetitions == 0 && method->burnin == 0;
    return needs_another ? call_once(row, &row->last) : MINIAPP_DONE;
}

/* A row's calls are made in ten turns, or in more if a turn would take too long, so that a run
 * which is ended early has measured something of each row. */
static void plan_turns(struct row *row, const struct method *method)
{
    enum { TURNS = 10 };
    const double longest = 0.5; /* seconds */
    row->wanted = method->repetitions;
    row->turn = row->wanted ? (row->wanted + TURNS - 1) / TURNS : SIZE_MAX;
    row->turn_seconds = row->wanted ? longest : fmin(method->seconds / TURNS, longest);
}

/* The turns of a ceiling are shared out among the rows that it belongs to. */
static void share_out_turns(struct bench *bench)
{
    for (int c = 0; c < bench->count; c++) {
        struct row *const ceiling = &bench->rows[c];
        size_t users = 0;
        for (const struct row *row = bench->rows; row < bench->rows + bench->count; row++)
            users += row->triad == c || row->fma == c;
        if (ceiling->is_ceiling && users > 1) {
            ceiling->turn = ceiling->turn / users + (ceiling->turn % users > 0);
            ceiling->turn_seconds /= (double)users;
        }
    }
}

static enum miniapp_status warm_up(struct row *row, const struct method *method)
{
    enum { MOST_EMPTY_CALLS = 1000 };
    TRY(burn_in(row, method));
    plan_turns(row, method);
    row->step_seconds = calloc(miniapp_sequence_step_count(row->sequence), sizeof(double));
    return allocated(row->step_seconds && samples_open(&row->samples, row->wanted) &&
                         samples_open(&row->empty, MOST_EMPTY_CALLS),
                     "the times of a row");
}

/* ---- turns ---- */

/* Whether a row has made its calls. A ceiling makes them as long as other rows take turns. */
static bool is_done(const struct row *row, const struct method *method)
{
    enum { FEWEST_CALLS = 5 };
    const struct samples *const samples = &row->samples;
    if (row->wanted)
        return samples->count >= row->wanted;
    return !row->is_ceiling && samples->count >= FEWEST_CALLS && samples->total >= method->seconds;
}

/* Calls of an empty kernel, at nearly the same time as the row's own. */
static enum miniapp_status call_empty(struct row *row)
{
    enum { CALLS = 5 };
    if (strcmp(miniapp_device_kind(row->device), "host") == 0)
        return MINIAPP_DONE;
    for (int i = 0; i < CALLS; i++)
        samples_add(&row->empty, miniapp_device_empty_call(row->device));
    return agree(MINIAPP_DONE); /* so that all processes start the next call together */
}

/* Makes some calls of a row. If they are short enough for it to matter, a call that is not timed
 * comes first, to replace what other rows left in the caches. */
static enum miniapp_status take_turn(struct row *row, const struct method *method, bool others_ran)
{
    const struct samples *const samples = &row->samples;
    const double until = samples->total + row->turn_seconds;
    const bool has_several = row->turn > 1 && 2 * row->last <= row->turn_seconds;
    const bool is_first = samples->count == 0;
    if (others_ran && has_several && !row->advances)
        TRY(call_once(row, &row->last));
    for (size_t i = 0; !stop_signal() && i < row->turn && !is_done(row, method); i++) {
        if (i > 0 && samples->total >= until)
            break;
        TRY(sample_call(row, method));
    }
    TRY(call_empty(row));
    if (is_first && samples->count > 0)
        announce(method, row, "first turn");
    return MINIAPP_DONE;
}

/* Shuffles by the method of Fisher and Yates. */
static void shuffle(int *order, int count, unsigned short state[3])
{
    for (int i = count; i > 1; i--) {
        const int other = (int)(erand48(state) * (double)i);
        const int row = order[i - 1];
        order[i - 1] = order[other];
        order[other] = row;
    }
}

/* How much of all calls has been made, between 0 and 1. */
static double progress_of(const struct bench *bench, const struct method *method)
{
    double done = 0;
    int rows = 0;
    for (const struct row *row = bench->rows; row < bench->rows + bench->count; row++) {
        const double part = row->wanted ? (double)row->samples.count / (double)row->wanted
                                        : row->samples.total / method->seconds;
        done += row->is_ceiling ? 0 : fmin(part, 1);
        rows += !row->is_ceiling;
    }
    return done / rows;
}

/* A row takes a turn, and its ceilings after it, so that they are measured at nearly the same
 * time. `before` is the row that ran last. */
static enum miniapp_status take_turns_of(struct bench *bench, int place, int *before,
                                         const struct method *method)
{
    const struct row *const row = &bench->rows[place];
    const int places[] = {place, row->triad, row->fma};
    char what[128];
    snprintf(what, sizeof(what), "%s %s %zu x %zu x %zu", miniapp_sequence_name(row->sequence),
             miniapp_device_label(row->device), row->grid.nx, row->grid.ny, row->grid.nz);
    if (!row->advances) /* steps show their own progress */
        progress_show(progress_of(bench, method), what);
    for (size_t p = 0; p < 3 && !stop_signal(); p++) {
        if (places[p] == NO_ROW || is_done(&bench->rows[places[p]], method))
            continue;
        TRY(take_turn(&bench->rows[places[p]], method, places[p] != *before));
        *before = places[p];
    }
    return MINIAPP_DONE;
}

/* Rounds in random order, in which each row that has calls to make takes a turn. */
static enum miniapp_status take_turns(struct bench *bench, int *order, const struct method *method)
{
    unsigned short state[3] = {(unsigned short)method->seed, (unsigned short)(method->seed >> 16),
                               (unsigned short)(method->seed >> 32)};
    for (int before = NO_ROW; !stop_signal();) {
        int count = 0;
        for (int i = 0; i < bench->count; i++)
            if (!bench->rows[i].is_ceiling && !is_done(&bench->rows[i], method))
                order[count++] = i;
        if (count == 0)
            break;
        shuffle(order, count, state);
        for (int i = 0; i < count && !stop_signal(); i++)
            TRY(take_turns_of(bench, order[i], &before, method));
    }
    return MINIAPP_DONE;
}

enum miniapp_status bench_measure(struct bench *bench, const struct method *method)
{
    for (int i = 0; i < bench->count && !stop_signal(); i++) {
        progress_show((double)i / bench->count, "first calls");
        TRY(agree(warm_up(&bench->rows[i], method)));
    }
    OWNED int *const order = malloc(((size_t)bench->count + 1) * sizeof(*order));
    TRY(agree(allocated(order, "the order of %d rows", bench->count)));
    share_out_turns(bench);
    TRY(take_turns(bench, order, method));
    for (int i = 0; i < bench->count; i++) {
        struct row *const row = &bench->rows[i];
        row->is_complete = row->is_ceiling ? !stop_signal() : is_done(row, method);
        if (row->samples.count > 0)
            summarise(&row->samples, &row->timing);
        if (row->empty.count > 0) {
            struct timing timing;
            summarise(&row->empty, &timing);
            row->empty_call = timing.median;
        }
    }
    progress_clear();
    return MINIAPP_DONE;
}
