#include "owned.h"
#include "ranks.h"
#include "run.h"
#include "status.h"
#include "stop.h"
#include "text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* It has no branches, so that it takes no longer than reading memory does. NaN is in no range. */
static bool are_all_within(const double *values, size_t count, double least, double most)
{
    int odd = 0;
    for (size_t i = 0; i < count; i++)
        odd |= !(values[i] >= least && values[i] <= most);
    return !odd;
}

/* Looks for the first element that is not finite, or beyond the limits, in this process's part of
 * plane number `plane` of the output file. */
static void look_through(const double *values, const struct part *part, size_t plane,
                         struct nonfinite *found)
{
    const size_t elements = part->x.whole_all * part->y.whole_all;
    for (size_t y = 0; y < part->y.count && !found->is_there; y++) {
        const double *const row = values + (part->y.start + y) * part->x.all + part->x.start;
        size_t x = 0;
        if (are_all_within(row, part->x.count, found->least, found->most))
            continue;
        while (row[x] >= found->least && row[x] <= found->most)
            x++;
        found->is_there = true;
        found->element = plane * elements + (part->y.whole_start + y) * part->x.whole_all +
                         part->x.whole_start + x;
        found->value = isnan(row[x]) ? NAN : row[x]; /* without the sign of a NaN */
    }
}

/* Gives all processes the element that comes first in the order of the file, and its value. */
static enum miniapp_status agree_on_first(enum miniapp_status status, struct nonfinite *found)
{
    if (ranks_count() == 1)
        return status;
    double place = found->is_there ? -(double)found->element : -INFINITY;
    const double own = place;
    status = agree_on(status, &place, 1);
    const bool is_own = found->is_there && place == own, is_nan = isnan(found->value);
    double kinds[] = {is_own, is_own && is_nan, is_own && !is_nan ? found->value : -INFINITY};
    status = agree_on(status, kinds, 3);
    found->is_there = kinds[0] > 0;
    found->element = found->is_there ? (size_t)-place : 0;
    found->value = kinds[1] > 0 ? NAN : kinds[2];
    return status;
}

enum miniapp_status find_nonfinite(const struct run *run, const struct row *row,
                                   const struct bound_field *output, struct nonfinite *found)
{
    const int allow = run->options.allow;
    const bool ghosts = miniapp_input_facts(run->input).has_ghosts;
    const struct planes planes = planes_of(output->field, &row->part);
    const struct part part = part_of_rank(&row->blocks, ranks_own(), output->field, ghosts);
    *found = (struct nonfinite){.output = output,
                                .grid = ghosts ? row->grid : miniapp_grid_interior(&row->grid),
                                .least = -DBL_MAX,
                                .most = DBL_MAX};
    if (allow & MINIAPP_ALLOW_NONFINITE)
        return MINIAPP_DONE;
    if (row->advances && !(allow & MINIAPP_ALLOW_INVALID))
        miniapp_field_limits(output->field, &found->least, &found->most);
    OWNED double *const plane = malloc(planes.elements * sizeof(*plane));
    enum miniapp_status status = allocated(plane, "a plane of '%s'", output->name);
    for (size_t p = 0; p < planes.count && !status && !found->is_there; p++) {
        const size_t first = p * planes.elements;
        status = miniapp_state_get_part(row->state, output->name, first, planes.elements, plane);
        if (!status)
            look_through(plane, &part, p, found);
    }
    return agree_on_first(status, found);
}

static const char others[] = "; so are ";

/* Whether a text of note_nonfinite names a field: as the first one, or in its list of others. */
static bool is_noted(const char *text, const char *name)
{
    const size_t length = strlen(name);
    const char *const list = strstr(text, others);
    if (strncmp(text, name, length) == 0 && strchr("[ ", text[length]))
        return true;
    for (const char *word = list ? list + strlen(others) : ""; *word; word += strspn(word, ", ")) {
        if (strcspn(word, ",") == length && strncmp(word, name, length) == 0)
            return true;
        word += strcspn(word, ",");
    }
    return false;
}

void note_nonfinite(const struct row *row, const struct nonfinite *found, size_t step,
                    char text[NONFINITE_TEXT])
{
    const struct miniapp_field *const field = found->output->field;
    const char *const name = miniapp_field_name(field);
    const size_t used = strlen(text), room = NONFINITE_TEXT - used;
    char place[ELEMENT_NAME], after[40] = "", flow[80] = "";
    const double *const courant = row->flow.courant;
    if (step > 0)
        snprintf(after, sizeof(after), " after step %zu", step);
    if (isfinite(found->value) && row->flow.is_there) /* else its steps take none */
        snprintf(flow, sizeof(flow), ", with Courant numbers %.3g, %.3g and %.3g", courant[0],
                 courant[1], courant[2]);
    if (used == 0)
        snprintf(text, room, "%s is %g%s in %s on %s in %s%s",
                 element_name(name, field, &found->grid, found->element, place), found->value,
                 after, miniapp_sequence_name(row->sequence), miniapp_device_label(row->device),
                 miniapp_precision_name(row->precision), flow);
    else if (!is_noted(text, name))
        snprintf(text + used, room, "%s%s", strstr(text, others) ? ", " : others, name);
}
