/* The timed calls of a bench's rows, which take turns. */
#include "bench.h"
#include "clock.h"
#include "progress.h"
#include "ranks.h"
#include "status.h"
#include "stop.h"

#include <stdio.h>
#include <stdlib.h>

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

/* The seconds of a call on the slowest process and on the fastest, and of this one's exchanges. */
struct call {
    double slowest, fastest, exchanged;
};

/* Times one call, with the transfers of its data if each_call is set. All processes start together,
 * after the agreement that ended the previous call; the slowest one's time counts. */
static enum miniapp_status time_call(struct row *row, struct call *call)
{
    if (row->threads)
        miniapp_host_set_threads(row->threads);
    const double exchanged = miniapp_state_exchange_seconds(row->state);
    const double start = seconds_now();
    const bool is_filled = !row->each_call || refill(row);
    if (!is_filled && ranks_count() > 1)
        ranks_abort(MINIAPP_DEVICE); /* others wait for ghosts */
    enum miniapp_status status = !is_filled      ? MINIAPP_DEVICE
                                 : row->advances ? miniapp_plan_advance(row->plan)
                                                 : miniapp_plan_run(row->plan);
    if (!status && row->each_call && !copy_back(row, true))
        status = MINIAPP_DEVICE;
    const double own = seconds_now() - start;
    double times[] = {own, -own};
    status = agree_on(status, times, 2);
    *call =
        (struct call){times[0], -times[1], miniapp_state_exchange_seconds(row->state) - exchanged};
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
    row->samples.seconds[row->samples.count++] = call.slowest;
    row->fastest += call.fastest;
    row->exchanged += call.exchanged;
    if (row->advances && row->samples.count == 1)
        row->timing.first = call.slowest;
    for (size_t s = 0; s < miniapp_sequence_step_count(row->sequence); s++)
        row->step_seconds[s] += miniapp_plan_seconds(row->plan, s);
    return status || !row->advances ? status : method->after_step(method->context, row);
}

/* A row's calls are made in ten turns, or in more if a turn would take too long, so that a run
 * which is ended early has measured something of each row. */
static size_t turn_length(size_t calls, double call)
{
    enum { TURNS = 10 };
    const double longest = 0.5; /* seconds */
    const size_t length = (calls + TURNS - 1) / TURNS;
    if ((double)length * call <= longest)
        return length;
    return call >= longest ? 1 : (size_t)(longest / call);
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
    enum miniapp_status status =
        agree(row->each_call && !copy_back(row, false) ? MINIAPP_DEVICE : MINIAPP_DONE);
    if (!status)
        status = call_once(row, &row->timing.first);
    if (!status)
        announce(method, row, "first call");
    row->last = row->timing.first;
    for (size_t i = 0; i < method->burnin && !status && !stop_signal(); i++)
        status = call_once(row, &row->last);
    /* the very first call says little about the next ones */
    if (!status && method->repetitions == 0 && method->burnin == 0)
        status = call_once(row, &row->last);
    return status;
}

static enum miniapp_status warm_up(struct row *row, const struct method *method)
{
    enum miniapp_status status = burn_in(row, method);
    struct samples *samples = &row->samples;
    samples->wanted =
        method->repetitions ? method->repetitions : calls_within(method->seconds, row->last);
    row->turn = turn_length(samples->wanted, row->last);
    samples->seconds = malloc(samples->wanted * sizeof(*samples->seconds));
    row->step_seconds = calloc(miniapp_sequence_step_count(row->sequence), sizeof(double));
    if (!status && (!samples->seconds || !row->step_seconds))
        status = fail(MINIAPP_DEVICE, "out of memory for the times of %zu calls", samples->wanted);
    return status;
}

/* Makes some calls of a row. If they are short enough for it to matter, a call that is not timed
 * comes first, to replace what other rows left in the caches. */
static enum miniapp_status take_turn(struct row *row, const struct method *method, bool others_ran)
{
    struct samples *samples = &row->samples;
    const size_t end = samples->count + row->turn;
    enum miniapp_status status = MINIAPP_DONE;
    if (others_ran && row->turn > 1 && !row->advances)
        status = call_once(row, &row->last);
    while (!status && !stop_signal() && samples->count < end && samples->count < samples->wanted)
        status = sample_call(row, method);
    return status;
}

static size_t turns_of(const struct row *row)
{
    return (row->samples.wanted + row->turn - 1) / row->turn;
}

/* Shuffles by the method of Fisher and Yates. */
static void shuffle(int *order, size_t count, uint64_t seed)
{
    unsigned short state[3] = {(unsigned short)seed, (unsigned short)(seed >> 16),
                               (unsigned short)(seed >> 32)};
    for (size_t i = count; i > 1; i--) {
        const size_t other = (size_t)(erand48(state) * (double)i);
        const int row = order[i - 1];
        order[i - 1] = order[other];
        order[other] = row;
    }
}

static enum miniapp_status take_turn_of(struct bench *bench, int place, int *before,
                                        const struct method *method)
{
    struct row *row = &bench->rows[place];
    const bool is_first = row->samples.count == 0;
    const enum miniapp_status status = take_turn(row, method, place != *before);
    if (is_first && !status && row->samples.count > 0)
        announce(method, row, "first turn");
    *before = place;
    return status;
}

/* The ceilings of a row are measured at nearly the same time: they take a turn after each of its
 * own. */
static enum miniapp_status take_turns(struct bench *bench, const int *order, size_t count,
                                      const struct method *method)
{
    enum miniapp_status status = MINIAPP_DONE;
    int before = NO_ROW;
    for (size_t i = 0; i < count && !status && !stop_signal(); i++) {
        const struct row *row = &bench->rows[order[i]];
        const int places[] = {order[i], row->triad, row->fma};
        char what[128];
        snprintf(what, sizeof(what), "%s %s %zu x %zu x %zu", miniapp_sequence_name(row->sequence),
                 miniapp_device_label(row->device), row->grid.nx, row->grid.ny, row->grid.nz);
        if (!row->advances) /* steps show their own progress */
            progress_show((double)i / (double)count, what);
        for (size_t p = 0; p < 3 && !status && !stop_signal(); p++)
            if (places[p] != NO_ROW &&
                bench->rows[places[p]].samples.count < bench->rows[places[p]].samples.wanted)
                status = take_turn_of(bench, places[p], &before, method);
    }
    return status;
}

/* A ceiling's calls are spread over the turns of the rows that it belongs to. */
static void spread_ceilings(struct bench *bench)
{
    for (int c = 0; c < bench->count; c++) {
        struct row *const ceiling = &bench->rows[c];
        size_t turns = 0;
        for (const struct row *row = bench->rows; row < bench->rows + bench->count; row++)
            if (row->triad == c || row->fma == c)
                turns += turns_of(row);
        if (ceiling->is_ceiling && turns > 0)
            ceiling->turn = (ceiling->samples.wanted + turns - 1) / turns;
    }
}

enum miniapp_status bench_measure(struct bench *bench, const struct method *method)
{
    enum miniapp_status status = MINIAPP_DONE;
    size_t turns = 0, filled = 0;
    for (int i = 0; i < bench->count && !status && !stop_signal(); i++) {
        progress_show((double)i / bench->count, "first calls");
        status = agree(warm_up(&bench->rows[i], method));
        turns += bench->rows[i].is_ceiling ? 0 : turns_of(&bench->rows[i]);
    }
    int *order = status || stop_signal() ? NULL : malloc((turns + 1) * sizeof(*order));
    if (!status && !stop_signal() && !order)
        status = fail(MINIAPP_DEVICE, "out of memory for %zu turns", turns);
    status = agree(status);
    if (order && !status) {
        spread_ceilings(bench);
        for (int i = 0; i < bench->count; i++)
            for (size_t turn = 0; !bench->rows[i].is_ceiling && turn < turns_of(&bench->rows[i]);
                 turn++)
                order[filled++] = i;
        shuffle(order, turns, method->seed);
        status = take_turns(bench, order, turns, method);
    }
    for (int i = 0; i < bench->count; i++)
        if (bench->rows[i].samples.count > 0)
            summarise(&bench->rows[i].samples, &bench->rows[i].timing);
    progress_clear();
    free(order);
    return status;
}
