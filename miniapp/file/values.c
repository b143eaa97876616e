/* The values of a field: read, checked against what the field may hold, or filled with what stands
 * in for them. */
#include "format.h"
#include "hdf5_file.h"
#include "input.h"
#include "owned.h"
#include "status.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

/* ---- what a value may be ---- */

static bool is_accepted(const struct miniapp_input *input, const struct miniapp_field *field,
                        double value)
{
    if (!isfinite(value))
        return input->allow & MINIAPP_ALLOW_NONFINITE;
    return (input->allow & MINIAPP_ALLOW_INVALID) ||
           is_in_range(value, field->valid_min, field->valid_max, input->precision);
}

/* Whether an element lies on water; one of a field without levels does if its surface cell does. */
static bool is_on_water(const struct miniapp_input *input, const struct miniapp_field *field,
                        const uint8_t *water, size_t element)
{
    const size_t plane = input->window.grid.nx * input->window.grid.ny;
    const size_t below = miniapp_field_rank(field) == 3 ? 0 : (input->window.grid.nz - 1) * plane;
    return !water || water[below + element];
}

/* Says how many there are, since one gap and a field full of gaps have different causes. */
static enum miniapp_status refuse_nonfinite(const struct miniapp_input *input, enum field_id id,
                                            const double *values, size_t elements, size_t first)
{
    const size_t in_all = miniapp_field_elements(&fields[id], &input->window.whole);
    char axes[AXES_TEXT], place[ELEMENT_NAME];
    size_t count = 0;
    for (size_t i = first; i < elements; i++)
        count += !isfinite(values[i]);
    return fail(MINIAPP_INPUT,
                "%s: %s is %g, by %s; values that are not finite%s: %zu (--allow-nonfinite accepts "
                "them)",
                input->path, place_in_file(input, id, first, place), values[first],
                axes_text(&fields[id], axes), elements < in_all ? " in this part" : "", count);
}

static enum miniapp_status refuse_value(const struct miniapp_input *input, enum field_id id,
                                        size_t element, double value)
{
    const struct miniapp_field *const field = &fields[id];
    char range[RANGE_TEXT], place[ELEMENT_NAME];
    place_in_file(input, id, element, place);
    if (is_in_range(value, field->valid_min, field->valid_max, MINIAPP_FLOAT64))
        return fail(MINIAPP_INPUT, "%s: %s is %g, which %s cannot hold", input->path, place, value,
                    miniapp_precision_name(input->precision));
    return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s%s", input->path, place, value,
                range_text(field->valid_min, field->valid_max, range),
                field->wet ? ", or 0 on land" : "");
}

/* Only if a value is 0 where 0 is out of range does it matter what is land. */
static enum miniapp_status check_values_read(struct miniapp_input *input, enum field_id id,
                                             const double *values, size_t elements)
{
    const struct miniapp_field *const field = &fields[id];
    const uint8_t *water = NULL;
    bool is_water_known = false;
    for (size_t i = 0; i < elements; i++) {
        if (is_accepted(input, field, values[i]))
            continue;
        if (!isfinite(values[i]))
            return refuse_nonfinite(input, id, values, elements, i);
        if (values[i] != 0 || !field->wet)
            return refuse_value(input, id, i, values[i]);
        if (!is_water_known) {
            TRY(find_water(input, field->wet, &water));
            is_water_known = true;
        }
        if (is_on_water(input, field, water, i))
            return refuse_value(input, id, i, values[i]);
    }
    return MINIAPP_DONE;
}

/* Levels go from the bottom up, below the surface. */
static enum miniapp_status check_heights(const struct miniapp_input *input, enum field_id id,
                                         const double *values)
{
    char place[ELEMENT_NAME];
    if (input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    for (size_t z = 0; z < input->window.grid.nz; z++) {
        if (!isfinite(values[z])) /* which is allowed, if it comes here */
            continue;
        if (z > 0 && isfinite(values[z - 1]) && values[z] <= values[z - 1])
            return fail(MINIAPP_INPUT,
                        "%s: %s is %g, but must lie above the level before, at %g: levels go from "
                        "the bottom up" TURN_INTO_INPUT,
                        input->path, place_in_file(input, id, z, place), values[z], values[z - 1],
                        input->path);
        if (id == FIELD_zt && values[z] > 0)
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be at most 0, the surface",
                        input->path, place_in_file(input, id, z, place), values[z]);
    }
    return MINIAPP_DONE;
}

/* ---- reading ---- */

/* The window's part of a field's dataset. */
static struct box box_in_file(const struct miniapp_input *input, const struct miniapp_field *field)
{
    const int leading = input->records[field_id(field)] > 0;
    struct box box = {.rank = miniapp_field_rank(field) + leading};
    box.first[0] = input->record;
    box.count[0] = 1;
    for (int i = leading; i < box.rank; i++) {
        box.first[i] = first_along(field->axes[i - leading], &input->window);
        box.count[i] = miniapp_axis_length(field->axes[i - leading], &input->window.grid);
    }
    return box;
}

enum miniapp_status read_dataset(struct miniapp_input *input, enum field_id id, double *values)
{
    const char *const name = input->source[id];
    const struct box box = box_in_file(input, &fields[id]);
    CLOSED hid_t dataset = H5I_INVALID_HID;
    TRY(open_dataset(input->file, input->path, name, &dataset));
    return read_box(dataset, input->path, name, &box, values);
}

static enum miniapp_status check_read(struct miniapp_input *input, enum field_id id,
                                      const double *values, size_t elements)
{
    if (!miniapp_is_real(fields[id].type))
        return check_mask(input, id, values);
    TRY(check_values_read(input, id, values, elements));
    return id == FIELD_zt || id == FIELD_zw ? check_heights(input, id, values) : MINIAPP_DONE;
}

/* Fills a field that is absent with what stands in for it. */
static enum miniapp_status fill_absent(struct miniapp_input *input, enum field_id id,
                                       double *values, size_t elements)
{
    const struct miniapp_field *const field = &fields[id];
    OWNED double *source = NULL;
    if (field->stand_in && !field->is_sampled)
        TRY(read_field(input, field->stand_in, &source));
    for (size_t i = 0; i < elements; i++)
        values[i] = field->is_sampled ? sample_of(element_in_file(input, field, i))
                    : source          ? field->stand_in_factor * source[i]
                                      : 0;
    return MINIAPP_DONE;
}

enum miniapp_status read_field(struct miniapp_input *input, enum field_id id, double **values)
{
    const size_t elements = miniapp_field_elements(&fields[id], &input->window.grid);
    *values = elements <= PTRDIFF_MAX / sizeof(double) ? malloc(elements * sizeof(double)) : NULL;
    TRY(allocated(*values, "'%s': it needs %.3g GB", fields[id].name,
                  (double)elements * sizeof(double) / 1e9));
    if (!input->is_there[id])
        return fill_absent(input, id, *values, elements);
    TRY(read_dataset(input, id, *values));
    return check_read(input, id, *values, elements);
}

/* ---- levels ---- */

/* A line of values, each of which lies between two heights, or is about how far they are apart:
 * value k + after is of heights k and k + 1. */
struct rule {
    enum field_id line, heights;
    size_t after;
    bool is_spacing;
};

static enum miniapp_status check_rule(const struct miniapp_input *input, const struct rule *rule,
                                      const double *line, const double *heights)
{
    char place[ELEMENT_NAME];
    for (size_t z = 0; z + 1 < input->window.grid.nz; z++) {
        const double low = heights[z], high = heights[z + 1], value = line[z + rule->after];
        const bool is_off = rule->is_spacing ? value < (high - low) / 2 || value > 2 * (high - low)
                                             : value <= low || value >= high;
        if (is_off && isfinite(value + low + high)) /* else it is allowed, if it comes here */
            return fail(MINIAPP_INPUT, "%s: %s is %g, but '%s' goes from %g to %g there",
                        input->path, place_in_file(input, rule->line, z + rule->after, place),
                        value, fields[rule->heights].name, low, high);
    }
    return MINIAPP_DONE;
}

static bool is_known(const struct miniapp_input *input, enum field_id id)
{
    return input->needed[id] && input->is_there[id] && !input->is_bad[id];
}

enum miniapp_status check_levels(struct miniapp_input *input)
{
    static const struct rule rules[] = {{FIELD_zw, FIELD_zt, 0, false},
                                        {FIELD_dzw, FIELD_zt, 0, true},
                                        {FIELD_dzt, FIELD_zw, 1, true}};
    for (size_t r = 0; r < sizeof(rules) / sizeof(*rules); r++) {
        OWNED double *line = NULL, *heights = NULL;
        if (!is_known(input, rules[r].line) || !is_known(input, rules[r].heights))
            continue;
        TRY(read_field(input, rules[r].line, &line));
        TRY(read_field(input, rules[r].heights, &heights));
        TRY(check_rule(input, &rules[r], line, heights));
    }
    return MINIAPP_DONE;
}
