/* Whether fields that a client has set are in their ranges. */
#include "owned.h"
#include "state.h"
#include "status.h"
#include "text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a field has a meaning: by a mask on (z, y, x) or kbot on (y, x); else everywhere. */
struct water {
    const uint8_t *mask;
    const int32_t *kbot;
    size_t level; /* elements of a level */
};

static bool is_water(const struct water *water, bool has_levels, size_t element)
{
    const size_t column = water->level ? element % water->level : 0;
    if (water->mask)
        return water->mask[element] != 0;
    if (!water->kbot)
        return true;
    const int32_t lowest = water->kbot[column];
    return lowest > 0 && (!has_levels || element / water->level + 1 >= (size_t)lowest);
}

/* A mask or kbot that is set, or NULL. */
static const void *read_mask(struct miniapp_state *state, const struct miniapp_field *field,
                             enum miniapp_type type)
{
    const struct miniapp_field *const wet = &fields[field->wet];
    return field->wet && wet->type == type && miniapp_state_has(state, wet->name)
               ? miniapp_state_read(state, wet->name)
               : NULL;
}

/* A value where nothing tells land from water may be that of land, which is 0. */
static enum miniapp_status check_slot(const struct miniapp_state *state, const struct slot *slot,
                                      const struct water *water, const double *values)
{
    const struct miniapp_field *const field = slot->field;
    const double least = field->valid_min, most = field->valid_max;
    const bool may_be_land = field->wet && !water->mask && !water->kbot;
    const bool has_levels = has_axis(field, MINIAPP_Z);
    const size_t elements = miniapp_field_elements(field, &state->grid);
    char place[ELEMENT_NAME], range[RANGE_TEXT];
    for (size_t i = 0; i < elements; i++) {
        if ((values[i] >= least && values[i] <= most) || (values[i] == 0 && may_be_land) ||
            !is_water(water, has_levels, i))
            continue;
        return fail(MINIAPP_INPUT, "%s is %g, but must be %s %s",
                    element_name(slot->name, field, &state->grid, i, place), values[i],
                    range_text(least, most, range), field->units);
    }
    return MINIAPP_DONE;
}

bool state_can_check(const struct miniapp_state *state, const struct slot *slot)
{
    return state->checks && miniapp_is_real(slot->field->type) &&
           (!slot->field->wet || miniapp_state_has(state, fields[slot->field->wet].name));
}

bool state_is_checked(const struct miniapp_state *state, const struct slot *slot)
{
    return !state->checks || slot->is_checked || !miniapp_is_real(slot->field->type);
}

enum miniapp_status state_check(struct miniapp_state *state, struct slot *slot)
{
    if (state_is_checked(state, slot))
        return MINIAPP_DONE;
    const size_t elements = miniapp_field_elements(slot->field, &state->grid);
    const struct water water = {read_mask(state, slot->field, MINIAPP_MASK),
                                read_mask(state, slot->field, MINIAPP_INDEX),
                                state->grid.nx * state->grid.ny};
    OWNED double *const values = malloc(elements * sizeof(*values));
    TRY(allocated(values, "a copy of '%s'", slot->name));
    TRY(miniapp_state_get(state, slot->name, values));
    TRY(check_slot(state, slot, &water, values));
    slot->is_checked = true;
    return MINIAPP_DONE;
}

void miniapp_state_set_checks(struct miniapp_state *state, bool checks)
{
    if (state)
        state->checks = checks;
}
