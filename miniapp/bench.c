#include "bench.h"
#include "memory.h"
#include "progress.h"
#include "status.h"
#include "stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static int find_row(const struct bench *bench, const struct row *wanted)
{
    for (int i = 0; i < bench->count; i++) {
        const struct row *row = &bench->rows[i];
        if (row->kernel == wanted->kernel && row->device == wanted->device &&
            row->precision == wanted->precision && same_grid(&row->grid, &wanted->grid))
            return i;
    }
    return NO_ROW;
}

static int add_row(struct bench *bench, struct row row)
{
    const int there = find_row(bench, &row);
    if (there != NO_ROW) {
        bench->rows[there].is_ceiling &= row.is_ceiling;
        return there;
    }
    struct row *rows = realloc(bench->rows, (size_t)(bench->count + 1) * sizeof(*rows));
    if (!rows) {
        fail(PHYSICS_DEVICE, "out of memory for %d rows", bench->count + 1);
        return NO_ROW;
    }
    bench->rows = rows;
    rows[bench->count] = row;
    return bench->count++;
}

const struct physics_kernel *ceiling_of_bytes(void)
{
    return physics_find_kernel(physics_host_kernels(PHYSICS_FLOAT64), "triad");
}

const struct physics_kernel *ceiling_of_flops(void)
{
    return physics_find_kernel(physics_host_kernels(PHYSICS_FLOAT64), "fma");
}

/* A triad that moves as many bytes as the row does, so that it lives in the same caches. */
static struct row triad_of(const struct row *row)
{
    enum { LEAST_POINTS = 64 };
    struct row triad = *row;
    triad.is_ceiling = true;
    triad.kernel = ceiling_of_bytes();
    const double bytes = physics_kernel_bytes(row->kernel, &row->grid, row->precision);
    const struct physics_grid point = {1, 1, 1};
    const double points = bytes / physics_kernel_bytes(triad.kernel, &point, row->precision);
    if (row->kernel != triad.kernel)
        triad.grid = grid_of_size(points < LEAST_POINTS ? LEAST_POINTS : (size_t)points);
    return triad;
}

/* As many multiply-adds as the row has points, up to a number beyond which the rate is the same. */
static struct row fma_of(const struct row *row)
{
    enum { ENOUGH_POINTS = 1 << 22 };
    struct row fma = *row;
    fma.is_ceiling = true;
    fma.kernel = ceiling_of_flops();
    if (physics_grid_points(&row->grid) > ENOUGH_POINTS)
        fma.grid = grid_of_size(ENOUGH_POINTS);
    return fma;
}

int bench_add(struct bench *bench, const struct physics_kernel *kernel,
              const struct device *device, enum physics_precision precision,
              const struct physics_grid *grid, bool roofline)
{
    const struct row row = {.kernel = kernel, .device = device, .precision = precision,
                            .grid = *grid, .triad = NO_ROW, .fma = NO_ROW};
    const int place = add_row(bench, row);
    if (place == NO_ROW || !roofline)
        return place;
    const int triad = add_row(bench, triad_of(&row));
    const int fma = triad == NO_ROW ? NO_ROW : add_row(bench, fma_of(&row));
    bench->rows[place].triad = triad;
    bench->rows[place].fma = fma;
    return fma == NO_ROW ? NO_ROW : place;
}

/* ---- memory ---- */

struct physics_grid grid_of_input(const struct input *input)
{
    return input->has_ghosts ? input->fields.grid : with_ghosts(&input->fields.grid);
}

static bool is_own(const struct input *input, const struct physics_grid *grid, bool own_grid)
{
    const struct physics_grid own = grid_of_input(input);
    return own_grid && same_grid(grid, &own);
}

/* Whether the rows on a grid get the input's fields as they are: neither resampled nor with ghosts
 * added. */
static bool takes_as_they_are(const struct input *input, const struct physics_grid *grid,
                              bool own_grid)
{
    return input->has_ghosts && is_own(input, grid, own_grid);
}

static double host_bytes(const struct bench *bench, const struct input *input,
                         const struct method *method)
{
    double all = 0, most = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct row *row = &bench->rows[i];
        const double held = physics_kernel_bytes(row->kernel, &row->grid, row->precision);
        /* fields on their way, in double: resampled, and with ghosts */
        const double passing = 2 * physics_kernel_bytes(row->kernel, &row->grid, PHYSICS_FLOAT64);
        if (!takes_as_they_are(input, &row->grid, method->own_grid))
            most = fmax(most, passing);
        if (row->device->backend->takes_host_memory)
            all += held;
        if (method->each_call)
            all += held;
    }
    return all + most;
}

enum physics_status bench_check_memory(const struct bench *bench, const struct input *input,
                                       const struct method *method)
{
    const char *limit;
    const double needed = host_bytes(bench, input, method);
    const double available = memory_available(&limit);
    if (needed <= available)
        return PHYSICS_DONE;
    return fail(PHYSICS_DEVICE, "out of memory, give fewer or smaller sizes: the run needs %.3g GB, "
                                "but %s %.3g GB", needed / 1e9, limit, available / 1e9);
}

/* ---- fields ---- */

/* What the rows on a grid read, of what the input has; the data stay the input's. */
static struct fields fields_of(const struct bench *bench, const struct physics_grid *grid,
                               const struct input *input)
{
    struct fields fields = {.grid = input->fields.grid};
    for (int i = 0; i < bench->count; i++) {
        const struct row *row = &bench->rows[i];
        if (!same_grid(&row->grid, grid))
            continue;
        for (const enum physics_field_id *id = row->kernel->inputs; *id; id++)
            fields.data[*id] = input->fields.data[*id];
    }
    return fields;
}

/* The fields resampled, with ghosts. */
static enum physics_status resized(const struct fields *from, const struct input *input,
                                   const struct physics_grid *grid, struct fields *fields)
{
    struct fields interior = {0}, small = {0};
    const struct physics_grid inner = interior_of(grid);
    enum physics_status status = PHYSICS_DONE;
    if (input->has_ghosts)
        status = fields_interior(from, &interior);
    if (!status)
        status = fields_resample(input->has_ghosts ? &interior : from, &inner, &small);
    fields_release(&interior);
    if (!status)
        status = fields_add_ghosts(&small, input->cyclic_x, fields);
    fields_release(&small);
    return status;
}

/* Opens the rows on a grid. */
static enum physics_status open_grid(struct bench *bench, const struct physics_grid *grid,
                                     const struct input *input,
                                     const double setting[PHYSICS_SETTINGS],
                                     const struct method *method)
{
    const struct fields wanted = fields_of(bench, grid, input);
    const bool own = is_own(input, grid, method->own_grid);
    const bool as_they_are = takes_as_they_are(input, grid, method->own_grid);
    struct fields fields = {0};
    enum physics_status status = PHYSICS_DONE;
    if (as_they_are)
        fields = wanted;
    else if (own)
        status = fields_add_ghosts(&wanted, input->cyclic_x, &fields);
    else
        status = resized(&wanted, input, grid, &fields);
    for (int i = 0; i < bench->count && !status; i++) {
        struct row *row = &bench->rows[i];
        if (same_grid(&row->grid, grid))
            status = arrays_open(row->device, row->kernel, row->precision, &fields, setting,
                                 method->each_call, &row->arrays);
    }
    if (!as_they_are)
        fields_release(&fields);
    return status;
}

enum physics_status bench_open(struct bench *bench, const struct input *input,
                               const double setting[PHYSICS_SETTINGS], const struct method *method)
{
    enum physics_status status = PHYSICS_DONE;
    for (int i = 0; i < bench->count && !status && !stop_signal(); i++) {
        progress_show((double)i / bench->count, "reading and transferring fields");
        if (!bench->rows[i].arrays.device)
            status = open_grid(bench, &bench->rows[i].grid, input, setting, method);
    }
    return status;
}

/* ---- calls ---- */

/* A row's calls are made in ten turns, or in more where one would take too long: a run that is ended
 * early should have something of each row. */
static size_t turn_length(size_t calls, double call)
{
    enum { TURNS = 10 };
    const double longest = 0.5; /* seconds */
    const size_t length = (calls + TURNS - 1) / TURNS;
    if ((double)length * call <= longest)
        return length;
    return call >= longest ? 1 : (size_t)(longest / call);
}

/* A user of --verbose sees that a long run is alive; tests wait for it. */
static void announce(const struct method *method, const struct row *row, const char *what)
{
    if (!method->verbose)
        return;
    progress_clear();
    fprintf(stderr, "miniapp: %s on %s, %zu x %zu x %zu points: %s done\n", row->kernel->name,
            row->device->label, row->grid.nx, row->grid.ny, row->grid.nz, what);
}

static enum physics_status warm_up(struct row *row, const struct method *method)
{
    arrays_select(&row->arrays);
    enum physics_status status = time_call(&row->arrays, &row->timing.first);
    if (!status)
        announce(method, row, "first call");
    row->last = row->timing.first;
    for (size_t i = 0; i < method->burnin && !status && !stop_signal(); i++)
        status = time_call(&row->arrays, &row->last);
    /* the very first call says little about the next ones */
    if (!status && method->repetitions == 0 && method->burnin == 0)
        status = time_call(&row->arrays, &row->last);
    struct samples *samples = &row->samples;
    samples->wanted =
        method->repetitions ? method->repetitions : calls_within(method->seconds, row->last);
    row->turn = turn_length(samples->wanted, row->last);
    samples->seconds = malloc(samples->wanted * sizeof(*samples->seconds));
    if (!status && !samples->seconds)
        status = fail(PHYSICS_DEVICE, "out of memory for the times of %zu calls", samples->wanted);
    return status;
}

/* Some calls of a row. What other rows left in the caches is replaced by a call that does not
 * count, where the calls are short enough for that to matter. */
static enum physics_status take_turn(struct row *row, bool others_ran)
{
    struct samples *samples = &row->samples;
    const size_t end = samples->count + row->turn;
    enum physics_status status = PHYSICS_DONE;
    arrays_select(&row->arrays);
    if (others_ran && row->turn > 1)
        status = time_call(&row->arrays, &row->last);
    while (!status && !stop_signal() && samples->count < end && samples->count < samples->wanted)
        status = time_call(&row->arrays, &samples->seconds[samples->count++]);
    return status;
}

static size_t turns_of(const struct row *row)
{
    return (row->samples.wanted + row->turn - 1) / row->turn;
}

/* Fisher and Yates */
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

static enum physics_status take_turns(struct bench *bench, const int *order, size_t count,
                                      const struct method *method)
{
    enum physics_status status = PHYSICS_DONE;
    int before = NO_ROW;
    for (size_t i = 0; i < count && !status && !stop_signal(); i++) {
        struct row *row = &bench->rows[order[i]];
        char what[64];
        snprintf(what, sizeof(what), "%s %s %zu x %zu x %zu", row->kernel->name,
                 row->device->label, row->grid.nx, row->grid.ny, row->grid.nz);
        progress_show((double)i / (double)count, what);
        const bool is_first = row->samples.count == 0;
        status = take_turn(row, order[i] != before);
        if (is_first && !status)
            announce(method, row, "first turn");
        before = order[i];
    }
    return status;
}

enum physics_status bench_measure(struct bench *bench, const struct method *method)
{
    enum physics_status status = PHYSICS_DONE;
    size_t turns = 0, filled = 0;
    for (int i = 0; i < bench->count && !status && !stop_signal(); i++) {
        progress_show((double)i / bench->count, "first calls");
        status = warm_up(&bench->rows[i], method);
        turns += turns_of(&bench->rows[i]);
    }
    int *order = status || stop_signal() ? NULL : malloc((turns + 1) * sizeof(*order));
    if (!status && !stop_signal() && !order)
        status = fail(PHYSICS_DEVICE, "out of memory for %zu turns", turns);
    if (order) {
        for (int i = 0; i < bench->count; i++)
            for (size_t turn = 0; turn < turns_of(&bench->rows[i]); turn++)
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

void bench_close(struct bench *bench)
{
    for (int i = 0; i < bench->count; i++) {
        arrays_close(&bench->rows[i].arrays);
        free(bench->rows[i].samples.seconds);
    }
    free(bench->rows);
    *bench = (struct bench){0};
}
