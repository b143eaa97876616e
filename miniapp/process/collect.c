#include "clock.h"
#include "owned.h"
#include "ranks.h"
#include "run.h"
#include "status.h"
#include "stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- outputs ---- */

/* Checks the reference for each precision, because each has tolerances of its own. */
static enum miniapp_status check_variable(const struct run *run,
                                          const struct miniapp_sequence *sequence,
                                          const struct miniapp_field *field)
{
    const struct options *options = &run->options;
    const struct miniapp_grid grid = miniapp_input_facts(run->input).grid;
    for (size_t p = 0; p < options->precision_count; p++) {
        struct miniapp_reference reference;
        TRY(miniapp_reference_read(run->references, miniapp_sequence_name(sequence), field, &grid,
                                   options->precisions[p], options->allow, &reference));
        miniapp_reference_release(&reference);
    }
    return MINIAPP_DONE;
}

enum miniapp_status check_reference(struct run *run)
{
    const struct options *options = &run->options;
    if (ranks_own() > 0)
        return MINIAPP_DONE;
    TRY(miniapp_references_open(options->reference, &run->references));
    for (size_t i = 0; i < options->kernel_count; i++)
        for (size_t f = 0; f < miniapp_field_count(); f++)
            if (is_result(options->kernels[i], miniapp_field_at(f), options->settings,
                          options->steps > 0))
                TRY(check_variable(run, options->kernels[i], miniapp_field_at(f)));
    return MINIAPP_DONE;
}

/* The uses of an output: the first process compares, hashes and writes it, plane by plane. */
struct output_use {
    struct run *run;
    const struct row *row;
    const struct miniapp_field *field;
    struct miniapp_grid grid; /* as in the file */
    struct miniapp_reference reference;
    struct comparison comparison;
    struct sha256_ctx digest;
};

static enum miniapp_status begin_use(struct output_use *use)
{
    struct run *const run = use->run;
    const struct row *const row = use->row;
    const char *const sequence = miniapp_sequence_name(row->sequence);
    if (run->options.reference)
        TRY(miniapp_reference_read(run->references, sequence, use->field, &use->grid,
                                   row->precision, run->options.allow, &use->reference));
    compare_begin(&use->comparison, &use->reference);
    sha256_init(&use->digest);
    if (run->options.output)
        TRY(miniapp_output_begin(run->output, sequence, use->field, &use->grid, row->precision,
                                 miniapp_sequence_is_at_surface(row->sequence, row->settings)));
    return MINIAPP_DONE;
}

static enum miniapp_status use_plane(struct output_use *use, size_t plane, const double *values,
                                     size_t elements)
{
    const struct run *const run = use->run;
    if (run->options.reference)
        compare_add(&use->comparison, &use->reference, values, plane * elements, elements);
    if (run->options.checksums)
        sha256_update(&use->digest, elements * sizeof(*values), (const uint8_t *)values);
    return run->options.output ? miniapp_output_plane(run->output, plane, values) : MINIAPP_DONE;
}

static enum miniapp_status add_check(struct output_use *use)
{
    struct results *const results = &use->run->results;
    struct check *const check = grow(&results->checks, &results->check_count, sizeof(*check));
    TRY(allocated(check, "results"));
    check->row = result_like(use->row);
    check->variable = miniapp_field_name(use->field);
    compare_end(&use->comparison, use->field, &use->grid, &check->verdict);
    return MINIAPP_DONE;
}

static enum miniapp_status add_checksum(struct output_use *use)
{
    struct results *const results = &use->run->results;
    struct checksum *const checksum =
        grow(&results->checksums, &results->checksum_count, sizeof(*checksum));
    TRY(allocated(checksum, "results"));
    checksum->row = result_like(use->row);
    checksum->variable = miniapp_field_name(use->field);
    digest_end(&use->digest, checksum->text);
    return MINIAPP_DONE;
}

static enum miniapp_status end_use(struct output_use *use)
{
    const struct options *const options = &use->run->options;
    if (options->output)
        TRY(miniapp_output_end(use->run->output));
    if (options->reference)
        TRY(add_check(use));
    return options->checksums ? add_checksum(use) : MINIAPP_DONE;
}

/* Brings one output to the host and to the form of the file, to be compared, hashed and written.
 * After a failure the other processes still send what they have, until the next agreement. */
static enum miniapp_status use_output(struct run *run, struct row *row,
                                      const struct bound_field *bound)
{
    const bool has_ghosts = miniapp_input_facts(run->input).has_ghosts;
    const bool is_user = ranks_own() == 0;
    struct output_use use = {.run = run,
                             .row = row,
                             .field = bound->field,
                             .grid = has_ghosts ? row->grid : miniapp_grid_interior(&row->grid)};
    const struct planes planes = planes_of(bound->field, &use.grid);
    OWNED double *const plane = is_user ? malloc(planes.elements * sizeof(*plane)) : NULL;
    enum miniapp_status status =
        allocated(plane || !is_user, "a plane of '%s'", miniapp_field_name(bound->field));
    if (!status && is_user)
        status = begin_use(&use);
    const size_t gathered_planes = agree(status) ? 0 : planes.count;
    for (size_t p = 0; p < gathered_planes && !(status && ranks_count() == 1); p++) {
        const enum miniapp_status gathered =
            miniapp_state_gather(row->state, bound->name, p, has_ghosts, plane);
        if (is_user && !status && !gathered)
            status = use_plane(&use, p, plane, planes.elements);
        status = first_of(status, gathered);
    }
    if (run->options.output && gathered_planes && !has_ghosts) {
        struct miniapp_output *const output = is_user && !status ? run->output : NULL;
        status =
            first_of(status, miniapp_output_wall(output, row->state, bound->field, bound->name));
    }
    if (is_user && !status && gathered_planes)
        status = end_use(&use);
    miniapp_reference_release(&use.reference);
    return agree(status);
}

/* Finite inputs must give finite outputs; if inputs may be NaN or Inf, so may outputs. */
static enum miniapp_status check_finite(struct run *run, struct row *row,
                                        const struct bound_field *output, bool *is_nonfinite)
{
    struct nonfinite found;
    const enum miniapp_status status = find_nonfinite(run, row, output, &found);
    if (!status && found.is_there && !row->advances)
        note_nonfinite(row, &found, 0, run->nonfinite);
    row->is_bad |= found.is_there;
    *is_nonfinite |= found.is_there && !isfinite(found.value);
    return status;
}

/* Kernels that measure the machine compute on land, too. */
static bool is_of_the_ocean(const struct row *row)
{
    return strcmp(miniapp_sequence_subject(row->sequence), "calibration") != 0;
}

/* A row that has run several times may hold other numbers than after one call, but it does not hold
 * NaN or Inf in other places: looking for these needs no extra call. */
static enum miniapp_status use_outputs(struct run *run, struct row *row, bool *is_nonfinite)
{
    const struct options *options = &run->options;
    const bool is_used = options->reference || options->output || options->checksums;
    const size_t first = run->results.check_count;
    enum miniapp_status status = is_used ? row_settle(row) : MINIAPP_DONE;
    for (size_t i = 0; i < row->field_count && !status && !stop_signal(); i++) {
        if (!row->fields[i].is_result)
            continue;
        status = check_finite(run, row, &row->fields[i], is_nonfinite);
        const double start = seconds_now();
        if (!status && is_used)
            status = use_output(run, row, &row->fields[i]);
        if (options->output)
            run->results.write_seconds += seconds_now() - start;
    }
    results_judge(&run->results, first, run->water.cells == 0 && is_of_the_ocean(row));
    return status;
}

/* ---- rows ---- */

/* The rate of the row that measures a ceiling, in bytes or flops a second, by its median call or
 * by its best one. */
static double rate_of(const struct bench *bench, int place, bool of_bytes, bool is_best)
{
    const struct row *row = place == NO_ROW ? NULL : &bench->rows[place];
    if (!row || row->samples.count == 0)
        return 0;
    return (of_bytes ? row_moves(row).bytes : row_flops(row)) /
           (is_best ? row->timing.min : row->timing.median);
}

/* How long it takes to copy what the row reads to the device, or what it writes back. */
static enum miniapp_status time_transfer(const struct row *row, bool to_device,
                                         struct transfer_times *times)
{
    OWNED const char **const names = malloc((row->field_count + 1) * sizeof(*names));
    size_t count = 0;
    *times = (struct transfer_times){0};
    TRY(allocated(names, "the names of fields"));
    for (size_t i = 0; i < row->field_count; i++)
        if (to_device ? row->fields[i].reads : row->fields[i].writes) {
            const struct miniapp_field *const field = row->fields[i].field;
            names[count++] = row->fields[i].name;
            times->bytes +=
                (double)miniapp_field_elements(field, &row->part) *
                (double)miniapp_element_bytes(miniapp_field_type(field), row->precision);
        }
    TRY(miniapp_state_time_copies(row->state, names, count, to_device, false, &times->seconds));
    TRY(miniapp_state_time_copies(row->state, names, count, to_device, true,
                                  &times->pinned_seconds));
    if (times->seconds == 0) /* nothing is copied */
        times->bytes = 0;
    return MINIAPP_DONE;
}

static enum miniapp_status time_transfers(const struct row *row, struct result *result)
{
    TRY(time_transfer(row, true, &result->to_device));
    return time_transfer(row, false, &result->from_device);
}

/* The share of each step that runs in the time of a sequence; none for a kernel. */
static void find_shares(const struct row *row, struct result *result)
{
    const size_t count = miniapp_sequence_step_count(row->sequence);
    double sum = 0;
    result->shares = count > 1 ? malloc(count * sizeof(*result->shares)) : NULL;
    for (size_t s = 0; s < count; s++)
        sum += row->step_seconds[s];
    for (size_t s = 0; result->shares && s < count; s++) {
        const struct miniapp_kernel *const kernel = miniapp_sequence_kernel(row->sequence, s);
        if (!miniapp_sequence_runs(row->sequence, s, row->settings))
            continue;
        result->shares[result->share_count++] = (struct share){
            .kernel = miniapp_kernel_name(kernel),
            .share = row->step_seconds[s] / sum,
            .bytes = miniapp_kernel_moves(kernel, &row->grid, row->precision, row->settings).bytes,
            .flops = row_kernel_flops(row, kernel),
        };
    }
}

/* Joins what several processes found for a row, each in its own block. */
static enum miniapp_status agree_on_row(const struct row *row, struct result *result)
{
    const struct samples *const samples = &row->samples;
    double numbers[] = {miniapp_plan_bytes(row->plan), miniapp_state_bytes(row->state),
                        row->exchanged, row->gathered};
    const enum miniapp_status status = agree_on(MINIAPP_DONE, numbers, 4);
    result->device_bytes = numbers[0];
    result->state_bytes = numbers[1];
    result->solution = miniapp_plan_solution(row->plan);
    if (ranks_count() > 1)
        result->processes = (struct processes){
            .count = ranks_count(),
            .along_x = row->blocks.along_x,
            .along_y = row->blocks.along_y,
            .largest = block_of(&row->blocks, 0).grid, /* no block is larger than the first */
            .fastest = row->fastest / samples->total,
            .exchange = numbers[2] / samples->total,
            .gather = numbers[3] / samples->total,
        };
    return status;
}

/* The march of a row that made all of its steps, or all up to one that went wrong. */
static enum miniapp_status make_march(const struct run *run, struct row *row, struct march **made)
{
    struct march *const march = *made = calloc(1, sizeof(*march));
    TRY(agree(allocated(march, "budgets")));
    TRY(steps_find_courant(row));
    TRY(miniapp_budgets_close(row->state, row->sequence, row->samples.count, row->budgets));
    march->first = run->first_step;
    march->flow = row->flow;
    march->last = steps_done(run, row);
    march->is_judged = run->options.method.own_grid;
    march->time_step = miniapp_settings_get(row->settings, "dt_tracer");
    for (size_t b = 0; b < MINIAPP_BUDGETS; b++)
        if (row->budgets[b].is_kept)
            march->budgets[march->budget_count++] = row->budgets[b];
    return MINIAPP_DONE;
}

struct result result_like(const struct row *row)
{
    return (struct result){
        .kernel = miniapp_sequence_name(row->sequence),
        .device = miniapp_device_label(row->device),
        .variant = miniapp_device_variant(row->device),
        .threads = row->threads,
        .precision = row->precision,
        .grid = row->grid,
        .each_call = row->each_call,
    };
}

static enum miniapp_status collect_row(struct run *run, struct bench *bench, struct row *row)
{
    const struct result like = result_like(row);
    /* a row may be there from an earlier size, where it was the ceiling of another */
    struct result *const result = results_put(&run->results, &like);
    bool is_nonfinite = false;
    TRY(allocated(result, "results"));
    *result = like;
    TRY(agree(row->is_complete ? time_transfers(row, result) : MINIAPP_DONE));
    if (!stop_signal() && !row->is_ceiling) /* a ceiling may have another grid */
        TRY(use_outputs(run, row, &is_nonfinite));
    if (!stop_signal() && row->advances)
        TRY(make_march(run, row, &result->march));
    result->timing = row->timing;
    result->empty_call = row->empty_call;
    result->asked_seconds = row->wanted ? 0 : run->options.method.seconds;
    const struct miniapp_moves moves = row_moves(row);
    result->bytes = moves.bytes;
    result->traffic = moves.traffic;
    result->flops = row_flops(row);
    find_shares(row, result);
    result->bandwidth = rate_of(bench, row->triad, true, false);
    result->flop_rate = rate_of(bench, row->fma, false, false);
    result->best_bandwidth = rate_of(bench, row->triad, true, true);
    result->best_flop_rate = rate_of(bench, row->fma, false, true);
    result_mark(result, &run->results.clock, is_nonfinite);
    TRY(agree_on_row(row, result));
    result->cache = cache_that_holds(&run->results.caches, row->threads, result->device_bytes);
    if (miniapp_device_cache(row->device) >= result->device_bytes)
        result->cache = "L2";
    return MINIAPP_DONE;
}

/* Sizes that are run one after the other may share a ceiling. The first process has the results of
 * earlier runs, too. */
static enum miniapp_status find_ceiling(const struct run *run, const struct row *row, bool *found)
{
    const struct result wanted = result_like(row);
    double is_known = ranks_own() == 0 && results_find(&run->results, &wanted);
    enum miniapp_status status = MINIAPP_DONE;
    if (row->is_ceiling)
        status = agree_on(status, &is_known, 1);
    *found = row->is_ceiling && is_known > 0;
    return status;
}

enum miniapp_status collect(struct run *run, struct bench *bench)
{
    for (int ceilings = 0; ceilings < 2; ceilings++)
        for (int i = 0; i < bench->count; i++) {
            struct row *row = &bench->rows[i];
            bool is_known;
            if (row->samples.count == 0 || row->is_ceiling != (ceilings == 1))
                continue;
            TRY(find_ceiling(run, row, &is_known));
            if (!is_known)
                TRY(collect_row(run, bench, row));
        }
    for (int i = 0; i < bench->count; i++)
        if (bench->rows[i].advances && bench->rows[i].is_bad)
            TRY(steps_find_nonfinite(run, bench, &bench->rows[i]));
    return MINIAPP_DONE;
}
