#include "bench.h"
#include "owned.h"
#include "progress.h"
#include "ranks.h"
#include "shape.h"
#include "status.h"
#include "stop.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

static bool same_state(const struct row *a, const struct row *b)
{
    return a->device == b->device && a->precision == b->precision && same_grid(&a->grid, &b->grid);
}

/* Cuts the grid into blocks, as the user asked; but a ceiling's grid may be too small for that cut.
 * The cut depends on nothing but the grid, because rows that share a state share its blocks. */
static enum miniapp_status cut(struct row *row, const struct method *method)
{
    const struct miniapp_grid inner = miniapp_grid_interior(&row->grid);
    const bool fits = (size_t)method->along_x <= inner.nx && (size_t)method->along_y <= inner.ny;
    const bool is_asked = method->along_x && (fits || !row->is_ceiling);
    TRY(blocks_cut(&row->grid, ranks_count(), is_asked ? method->along_x : 0,
                   is_asked ? method->along_y : 0, &row->blocks));
    row->part = block_of(&row->blocks, ranks_own()).grid;
    return MINIAPP_DONE;
}

/* Several processes cannot share a row that writes a single number, because OpenMP's reduction adds
 * up only the part of one process. */
static enum miniapp_status check_parts_of(const struct row *row)
{
    for (size_t i = 0; i < miniapp_field_count() && ranks_count() > 1; i++)
        if (miniapp_sequence_writes(row->sequence, miniapp_field_at(i)) &&
            miniapp_field_rank(miniapp_field_at(i)) == 0)
            return fail(MINIAPP_USAGE, "'%s' is a single number: several processes cannot share it",
                        miniapp_field_name(miniapp_field_at(i)));
    return MINIAPP_DONE;
}

/* `place` becomes the row's, or that of one like it. */
static enum miniapp_status add_row(struct bench *bench, struct row row, const struct method *method,
                                   int *place)
{
    for (*place = 0; *place < bench->count; ++*place) {
        struct row *const other = &bench->rows[*place];
        if (other->sequence == row.sequence && other->threads == row.threads &&
            same_state(other, &row)) {
            other->is_ceiling &= row.is_ceiling;
            return MINIAPP_DONE;
        }
    }
    TRY(check_parts_of(&row));
    TRY(cut(&row, method));
    struct row *rows = realloc(bench->rows, (size_t)(bench->count + 1) * sizeof(*rows));
    TRY(allocated(rows, "%d rows", bench->count + 1));
    bench->rows = rows;
    row.advances = method->advances && !row.is_ceiling;
    rows[bench->count++] = row;
    return MINIAPP_DONE;
}

static const struct miniapp_sequence *known(const char *name)
{
    const struct miniapp_sequence *sequence;
    miniapp_sequence_find(name, &sequence);
    return sequence;
}

const struct miniapp_sequence *ceiling_of_bytes(void)
{
    return known("triad");
}

const struct miniapp_sequence *ceiling_of_flops(void)
{
    return known("fma");
}

/* A triad that moves as many bytes as the row does, so that it lives in the same caches. */
static struct row triad_of(const struct row *row)
{
    const double least = 64, most = 1e18; /* points; more than there is memory for */
    struct row triad = *row;
    triad.is_ceiling = true;
    triad.sequence = ceiling_of_bytes();
    const struct miniapp_grid point = {1, 1, 1};
    const double points =
        row_moves(row).bytes /
        miniapp_sequence_moves(triad.sequence, &point, row->precision, row->settings).bytes;
    if (row->sequence != triad.sequence)
        triad.grid = grid_of_size((size_t)fmin(fmax(points, least), most));
    return triad;
}

/* An fma row of as many points as the row has, up to a number beyond which its rate is the same. */
static struct row fma_of(const struct row *row)
{
    enum { ENOUGH_POINTS = 1 << 22 };
    struct row fma = *row;
    fma.is_ceiling = true;
    fma.sequence = ceiling_of_flops();
    if (miniapp_grid_points(&row->grid) > ENOUGH_POINTS)
        fma.grid = grid_of_size(ENOUGH_POINTS);
    return fma;
}

enum miniapp_status bench_add(struct bench *bench, const struct row *wanted, bool roofline,
                              const struct method *method)
{
    struct row row = *wanted;
    int place, triad, fma;
    row.triad = row.fma = NO_ROW;
    TRY(add_row(bench, row, method, &place));
    if (!roofline)
        return MINIAPP_DONE;
    TRY(add_row(bench, triad_of(&row), method, &triad));
    TRY(add_row(bench, fma_of(&row), method, &fma));
    bench->rows[place].triad = triad;
    bench->rows[place].fma = fma;
    return MINIAPP_DONE;
}

static const struct bound_field *find_field(const struct row *row,
                                            const struct miniapp_field *field)
{
    for (size_t i = 0; i < row->field_count; i++)
        if (row->fields[i].field == field)
            return &row->fields[i];
    return NULL;
}

double row_kernel_flops(const struct row *row, const struct miniapp_kernel *kernel)
{
    const struct miniapp_field *const level = miniapp_kernel_level_of_flops(kernel);
    const struct bound_field *const bound = level ? find_field(row, level) : NULL;
    double flops = miniapp_kernel_flops(kernel, &row->grid, row->settings);
    OWNED double *const values = bound ? malloc(row->grid.nz * sizeof(*values)) : NULL;
    if (values && !miniapp_state_get(row->state, bound->name, values))
        flops = miniapp_kernel_flops_on(kernel, &row->grid, row->settings, values);
    return flops + miniapp_kernel_flops_of_iteration(kernel, &row->grid) *
                       miniapp_plan_solution(row->plan).iterations;
}

double row_flops(const struct row *row)
{
    double flops = 0;
    for (size_t s = 0; s < miniapp_sequence_step_count(row->sequence); s++)
        if (miniapp_sequence_runs(row->sequence, s, row->settings))
            flops += row_kernel_flops(row, miniapp_sequence_kernel(row->sequence, s));
    return flops;
}

struct miniapp_moves row_moves(const struct row *row)
{
    return miniapp_sequence_moves(row->sequence, &row->grid, row->precision, row->settings);
}

/* ---- which fields a row shares ---- */

static bool reads(const struct row *row, const struct miniapp_field *field)
{
    return miniapp_sequence_takes(row->sequence, field, row->settings);
}

static bool writes(const struct row *row, const struct miniapp_field *field)
{
    return miniapp_sequence_makes(row->sequence, field, row->settings);
}

bool is_result(const struct miniapp_sequence *sequence, const struct miniapp_field *field,
               const struct miniapp_settings *settings, bool advances)
{
    return advances ? miniapp_sequence_carries(sequence, field)
                    : miniapp_sequence_makes(sequence, field, settings);
}

static bool has(const struct row *row, const struct miniapp_field *field)
{
    return reads(row, field) || writes(row, field);
}

/* Whether the row has a copy of the field for itself, because it writes it and a row of another
 * kernel has the field, too. Rows of the same kernel on other numbers of threads share one copy,
 * which row_settle fills for the row that asks. */
static bool is_own(const struct bench *bench, const struct row *row,
                   const struct miniapp_field *field)
{
    if (!writes(row, field))
        return false;
    for (const struct row *other = bench->rows; other < bench->rows + bench->count; other++)
        if (other->sequence != row->sequence && same_state(other, row) && has(other, field))
            return true;
    return false;
}

/* Whether an earlier row brings the row's copy of the field into the state. */
static bool is_there(const struct bench *bench, const struct row *row,
                     const struct miniapp_field *field)
{
    const bool own = is_own(bench, row, field);
    for (const struct row *other = bench->rows; other < row; other++)
        if (same_state(other, row) && has(other, field) &&
            (own ? other->sequence == row->sequence : !is_own(bench, other, field)))
            return true;
    return false;
}

/* ---- memory ---- */

static double bytes_of(const struct row *row, const struct miniapp_field *field,
                       enum miniapp_precision precision)
{
    return (double)miniapp_field_elements(field, &row->part) *
           (double)miniapp_element_bytes(miniapp_field_type(field), precision);
}

/* Whether the row keeps what the field held before its first call. */
static bool is_kept(const struct row *row, const struct miniapp_field *field)
{
    return !row->advances && reads(row, field) && writes(row, field);
}

static double host_bytes(const struct bench *bench, const struct row *row)
{
    const bool on_host = miniapp_device_takes_host_memory(row->device);
    const bool copies = row->each_call && strcmp(miniapp_device_kind(row->device), "host") != 0;
    double bytes = 0;
    for (size_t i = 0; i < miniapp_field_count(); i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        if (!has(row, field))
            continue;
        if (!is_there(bench, row, field))
            bytes += (on_host + copies) * bytes_of(row, field, row->precision);
        if (is_kept(row, field))
            bytes += bytes_of(row, field, MINIAPP_FLOAT64);
    }
    return bytes;
}

enum miniapp_status bench_check_memory(const struct bench *bench, const struct miniapp_input *input)
{
    char lack[MINIAPP_LACK];
    double needed = miniapp_input_facts(input).passing_bytes;
    for (int i = 0; i < bench->count; i++)
        needed += host_bytes(bench, &bench->rows[i]);
    if (miniapp_host_has(needed, lack))
        return MINIAPP_DONE;
    return fail(MINIAPP_DEVICE, "out of memory, give fewer or smaller sizes: the run %s", lack);
}

/* ---- states ---- */

static enum miniapp_status add_state(struct bench *bench, struct row *row,
                                     const struct method *method)
{
    struct miniapp_state **const state = grow(&bench->states, &bench->state_count, sizeof(*state));
    TRY(allocated(state, "a state"));
    TRY(miniapp_state_create(row->device, row->precision, &row->part, state));
    row->state = *state;
    TRY(miniapp_state_spread(row->state, &row->blocks));
    miniapp_state_overlap(row->state, method->overlaps);
    for (size_t i = 0; i < miniapp_setting_count(); i++) {
        const char *const name = miniapp_setting_name(miniapp_setting_at(i));
        TRY(miniapp_state_set_setting(row->state, name, miniapp_settings_get(row->settings, name)));
    }
    return MINIAPP_DONE;
}

static enum miniapp_status find_state(struct bench *bench, struct row *row,
                                      const struct method *method)
{
    for (const struct row *other = bench->rows; other < row; other++)
        if (same_state(other, row)) {
            row->state = other->state;
            return MINIAPP_DONE;
        }
    return add_state(bench, row, method);
}

/* The first row of the same kernel on the same state. */
static const struct row *first_like(const struct bench *bench, const struct row *row)
{
    const struct row *first = bench->rows;
    while (first->sequence != row->sequence || !same_state(first, row))
        first++;
    return first;
}

/* The row's own fields get names of their own. */
static enum miniapp_status name_fields(const struct bench *bench, struct row *row)
{
    row->fields = calloc(miniapp_field_count(), sizeof(*row->fields));
    for (const struct row *other = bench->rows; other < bench->rows + bench->count; other++)
        row->shares_outputs |=
            other != row && other->sequence == row->sequence && same_state(other, row);
    TRY(allocated(row->fields, "the fields of a row"));
    for (size_t i = 0; i < miniapp_field_count(); i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        struct bound_field *const bound = &row->fields[row->field_count];
        if (!has(row, field))
            continue;
        *bound = (struct bound_field){
            .field = field,
            .reads = reads(row, field),
            .writes = writes(row, field),
            .is_result = is_result(row->sequence, field, row->settings, row->advances)};
        if (is_own(bench, row, field))
            snprintf(bound->name, sizeof(bound->name), "%s#%d", miniapp_field_name(field),
                     (int)(first_like(bench, row) - bench->rows));
        else
            snprintf(bound->name, sizeof(bound->name), "%s", miniapp_field_name(field));
        row->field_count++;
    }
    return MINIAPP_DONE;
}

static enum miniapp_status bind_row(const struct bench *bench, struct row *row)
{
    char bindings[4096] = "";
    TRY(name_fields(bench, row));
    for (size_t i = 0; i < row->field_count; i++) {
        const char *const field = miniapp_field_name(row->fields[i].field);
        const char *const name = row->fields[i].name;
        if (strcmp(field, name) == 0)
            continue;
        if (!append(bindings, sizeof(bindings), ",", "%s=%s", field, name))
            return fail(MINIAPP_DEVICE, "a row has too many fields of its own");
        if (first_like(bench, row) == row)
            TRY(miniapp_state_add(row->state, name, field));
    }
    return miniapp_plan_create(row->state, row->sequence, bindings, &row->plan);
}

/* Lists the fields of states into which a field of the file is read, each once. */
static size_t list_targets(const struct bench *bench, const struct miniapp_field *field,
                           const struct miniapp_grid *own, struct miniapp_destination *targets)
{
    size_t count = 0;
    for (int i = 0; i < bench->count; i++) {
        const struct row *const row = &bench->rows[i];
        const struct bound_field *const bound = find_field(row, field);
        bool is_known = !bound || !bound->reads;
        for (size_t t = 0; t < count && !is_known; t++)
            is_known = targets[t].state == row->state && strcmp(targets[t].name, bound->name) == 0;
        if (!is_known)
            targets[count++] = (struct miniapp_destination){row->state, bound->name,
                                                            !own || !same_grid(&row->grid, own)};
    }
    return count;
}

enum miniapp_status bench_load(struct bench *bench, struct miniapp_input *input, bool own_grid)
{
    const size_t fields = miniapp_field_count();
    const struct miniapp_grid own = miniapp_input_grid(input);
    OWNED struct miniapp_destination *const targets =
        malloc(((size_t)bench->count + 1) * sizeof(*targets));
    TRY(allocated(targets, "a list of fields"));
    for (size_t i = 0; i < fields && !stop_signal(); i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        const size_t count = list_targets(bench, field, own_grid ? &own : NULL, targets);
        progress_show((double)i / (double)fields, "reading and transferring fields");
        if (count > 0)
            TRY(agree(miniapp_input_load(input, field, targets, count)));
        for (size_t t = 0; t < count; t++) /* ghosts that lie in other blocks */
            TRY(miniapp_state_exchange(targets[t].state, targets[t].name));
    }
    return MINIAPP_DONE;
}

/* Keeps what the fields that the row updates hold before its first call. */
static enum miniapp_status keep_before(struct row *row)
{
    for (size_t i = 0; i < row->field_count; i++) {
        struct bound_field *const bound = &row->fields[i];
        if (!is_kept(row, bound->field))
            continue;
        bound->before = malloc(miniapp_field_elements(bound->field, &row->part) * sizeof(double));
        TRY(allocated(bound->before, "a copy of '%s'", bound->name));
        TRY(miniapp_state_get(row->state, bound->name, bound->before));
    }
    return MINIAPP_DONE;
}

enum miniapp_status bench_open(struct bench *bench, struct miniapp_input *input,
                               const struct method *method)
{
    for (int i = 0; i < bench->count; i++)
        TRY(agree(find_state(bench, &bench->rows[i], method)));
    for (int i = 0; i < bench->count && !stop_signal(); i++)
        TRY(agree(bind_row(bench, &bench->rows[i])));
    if (!stop_signal())
        TRY(agree(bench_load(bench, input, method->own_grid)));
    for (int i = 0; i < bench->count && !stop_signal(); i++)
        TRY(agree(keep_before(&bench->rows[i])));
    return MINIAPP_DONE;
}

/* ---- outputs ---- */

/* The next step may start from the outputs that are written, so these need current ghosts, too. */
static enum miniapp_status exchange_results(struct row *row)
{
    for (size_t i = 0; i < row->field_count; i++)
        if (row->fields[i].is_result)
            TRY(miniapp_state_exchange(row->state, row->fields[i].name));
    return MINIAPP_DONE;
}

enum miniapp_status row_settle(struct row *row)
{
    if (row->advances)
        return exchange_results(row);
    enum miniapp_status status = MINIAPP_DONE;
    bool again = row->shares_outputs;
    for (size_t i = 0; i < row->field_count && !status; i++) {
        const struct bound_field *const bound = &row->fields[i];
        if (!bound->before)
            continue;
        again = true;
        status = miniapp_state_set(row->state, bound->name, bound->before);
    }
    if (row->threads)
        miniapp_host_set_threads(row->threads);
    miniapp_plan_restart(row->plan);
    status = agree(status);
    return status || !again ? status : miniapp_plan_run(row->plan);
}

void bench_close(struct bench *bench)
{
    for (int r = 0; r < bench->count; r++) {
        struct row *const row = &bench->rows[r];
        miniapp_plan_free(row->plan);
        for (size_t i = 0; i < row->field_count; i++)
            free(row->fields[i].before);
        free(row->fields);
        free(row->step_seconds);
        free(row->budgets);
        free(row->samples.seconds);
        free(row->empty.seconds);
    }
    for (size_t i = 0; i < bench->state_count; i++)
        miniapp_state_free(bench->states[i]);
    free(bench->states);
    free(bench->rows);
    *bench = (struct bench){0};
}
