/* The part of a file that is read: what is checked, and what states take of it. */
#include "input.h"
#include "regrid.h"
#include "state.h"

#include <stdlib.h>

/* ---- moving it ---- */

void drop_masks(struct miniapp_input *input)
{
    for (size_t id = 0; id <= miniapp_field_count(); id++) {
        free(input->water[id]);
        input->water[id] = NULL;
    }
}

void move_window(struct miniapp_input *input, struct window window)
{
    if (is_same_window(&input->window, &window))
        return;
    drop_masks(input);
    input->window = window;
}

/* ---- choosing it ---- */

static size_t with_margin(size_t end, size_t cells)
{
    return end < cells ? end + 1 : end;
}

static struct window window_from(const struct miniapp_input *input, struct cells x, struct cells y)
{
    struct window window = input->window;
    window.grid.nx = with_margin(x.end, window.whole.nx) - x.first;
    window.grid.ny = with_margin(y.end, window.whole.ny) - y.first;
    window.grid.nz = window.whole.nz;
    window.x0 = x.first;
    window.y0 = y.first;
    return window;
}

struct cells own_rows(const struct miniapp_input *input)
{
    const size_t ny = input->window.whole.ny, strip = (size_t)input->strip,
                 strips = (size_t)input->strips;
    return (struct cells){strip * ny / strips, (strip + 1) * ny / strips};
}

/* A process that has no rows of its own, where rows are few, looks at one of another. */
struct window own_window(const struct miniapp_input *input)
{
    struct cells rows = own_rows(input);
    rows.end += rows.end == rows.first;
    return window_from(input, (struct cells){0, input->window.whole.nx}, rows);
}

struct window window_of_state(const struct miniapp_state *state)
{
    return (struct window){state->grid, state->whole, state->x0, state->y0, true, false};
}

static struct cells cells_for(const struct miniapp_input *input, enum miniapp_axis axis,
                              const struct miniapp_destination *targets, size_t count)
{
    struct cells all = {SIZE_MAX, 0};
    for (size_t i = 0; i < count; i++) {
        const struct window to = window_of_state(targets[i].state);
        all = cells_of_both(all, regrid_sources(axis, &input->window, &to, targets[i].resample));
    }
    return all;
}

struct window window_for(const struct miniapp_input *input,
                         const struct miniapp_destination *targets, size_t count)
{
    return count == 0 ? own_window(input)
                      : window_from(input, cells_for(input, MINIAPP_X, targets, count),
                                    cells_for(input, MINIAPP_Y, targets, count));
}

/* ---- places in it ---- */

size_t element_in_file(const struct miniapp_input *input, const struct miniapp_field *field,
                       size_t element)
{
    size_t in_file = 0, block = 1;
    for (int i = miniapp_field_rank(field) - 1; i >= 0; i--) {
        const enum miniapp_axis axis = field->axes[i];
        const size_t cells = miniapp_axis_length(axis, &input->window.grid);
        in_file += (first_along(axis, &input->window) + element % cells) * block;
        element /= cells;
        block *= miniapp_axis_length(axis, &input->window.whole);
    }
    return in_file;
}

const char *place_in_file(const struct miniapp_input *input, enum field_id id, size_t element,
                          char text[ELEMENT_NAME])
{
    char name[ELEMENT_NAME];
    snprintf(name, sizeof(name), "record %zu of %.100s", input->record, input->source[id]);
    return element_name(input->records[id] ? name : input->source[id], &fields[id],
                        &input->window.whole, element_in_file(input, &fields[id], element), text);
}
