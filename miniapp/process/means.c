#include "ranks.h"
#include "run.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

/* A row has those that its sequence reads or, with the run's settings, writes. */
static bool row_has(const struct row *row, const char *name)
{
    for (size_t i = 0; i < row->field_count; i++)
        if (strcmp(miniapp_field_name(row->fields[i].field), name) == 0)
            return true;
    return false;
}

/* Whether a snapshot can have it: the field lies on (y, x) or (z, y, x). */
static bool is_in_space(const struct miniapp_field *field)
{
    const int rank = miniapp_field_rank(field);
    return miniapp_is_real(miniapp_field_type(field)) && (rank == 2 || rank == 3) &&
           miniapp_field_axis(field, rank - 1) == MINIAPP_X &&
           miniapp_field_axis(field, rank - 2) == MINIAPP_Y &&
           (rank == 2 || miniapp_field_axis(field, 0) == MINIAPP_Z);
}

static enum miniapp_status add_field(const char *option, const char *name, const struct row *row,
                                     struct field_list *list)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    if (!field || !row_has(row, name) || !is_in_space(field))
        return fail(MINIAPP_USAGE,
                    "--%s: '%s' is no field in space that '%s' has with these settings", option,
                    name, miniapp_sequence_name(row->sequence));
    for (size_t i = 0; i < list->count; i++)
        if (list->fields[i] == field)
            return fail(MINIAPP_USAGE, "--%s: '%s' is given twice", option, name);
    if (list->count == MOST_CHOSEN)
        return fail(MINIAPP_USAGE, "--%s: there are more than %d fields", option, MOST_CHOSEN);
    list->fields[list->count++] = field;
    return MINIAPP_DONE;
}

/* Adds fields whose names have commas between; none where `names` is NULL. */
static enum miniapp_status add_fields(const char *option, const char *names, const struct row *row,
                                      struct field_list *list)
{
    char name[64];
    for (const char *rest = names, *end; rest; rest = *end ? end + 1 : NULL) {
        end = rest + strcspn(rest, ",");
        snprintf(name, sizeof(name), "%.*s", (int)(end - rest), rest);
        TRY(add_field(option, name, row, list));
    }
    return MINIAPP_DONE;
}

static enum miniapp_status add_usual(const struct row *row, struct field_list *list)
{
    static const char *const usual[] = {"temp", "salt", "u", "v", "w", "psi", "tke", "eke"};
    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++)
        if (row_has(row, usual[i]))
            TRY(add_field("average", usual[i], row, list));
    return MINIAPP_DONE;
}

enum miniapp_status steps_choose(struct run *run, const struct row *row)
{
    const size_t length = run->options.average, first = run->first_step;
    const size_t steps = run->options.steps, over = length ? steps % length : 0;
    TRY(add_fields("every", run->options.chosen, row, &run->chosen));
    if (length == 0)
        return MINIAPP_DONE;
    if (!run->options.averaged)
        TRY(add_usual(row, &run->averaged));
    TRY(add_fields("average", run->options.averaged, row, &run->averaged));
    if (first % length && ranks_own() == 0)
        warn("--average leaves out the mean of steps %zu to %zu, since the run continues from step "
             "%zu",
             first - first % length + 1, first - first % length + length, first);
    if (over && steps - over >= first && ranks_own() == 0)
        warn("--average leaves out the mean of steps %zu to %zu, since the run ends after step %zu",
             steps - over + 1, steps - over + length, steps);
    return MINIAPP_DONE;
}

enum miniapp_status means_after(struct run *run, struct row *row)
{
    const size_t length = run->options.average, step = steps_done(run, row);
    const size_t number = length ? (step - 1) % length + 1 : 0;
    const struct field_list *const list = &run->averaged;
    run->mean_has_begun |= number == 1;
    if (!run->mean_has_begun)
        return MINIAPP_DONE;
    for (size_t i = 0; i < list->count; i++)
        TRY(miniapp_state_average(row->state, miniapp_field_name(list->fields[i]), number));
    return number < length ? MINIAPP_DONE : steps_write(run, row, list, true);
}
