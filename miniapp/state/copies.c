/* Copies between the host and a state's fields on its device, and how long they take. */
#include "clock.h"
#include "state.h"
#include "status.h"
#include "text.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PART = 1 << 13 }; /* doubles in the buffer for elements on their way to a device and back */

/* ---- between callers' arrays of double and a field's own type ---- */

static bool fits_type(double value, enum miniapp_type type)
{
    switch (type) {
    case MINIAPP_MASK: return value == 0 || value == 1;
    case MINIAPP_INDEX: return value >= 0 && value <= INT32_MAX && value == floor(value);
    default: return !isfinite(value) || isfinite((float)value);
    }
}

/* The place of the first value that the type cannot hold, or `count`. */
static size_t first_misfit(const double *values, size_t count, enum miniapp_type type,
                           enum miniapp_precision precision)
{
    size_t i = is_double(type, precision) ? count : 0;
    while (i < count && fits_type(values[i], type))
        i++;
    return i;
}

#define CONVERT(from_type, from, to_type, to)                                                      \
    for (size_t i = 0; i < count; i++)                                                             \
    ((to_type *)(to))[i] = (to_type)((const from_type *)(from))[i]

/* These convert values that fit. */
static void convert_from_double(const double *values, size_t count, enum miniapp_type type,
                                enum miniapp_precision precision, void *to)
{
    if (type == MINIAPP_MASK)
        CONVERT(double, values, uint8_t, to);
    else if (type == MINIAPP_INDEX)
        CONVERT(double, values, int32_t, to);
    else if (is_double(type, precision))
        memcpy(to, values, count * sizeof(*values));
    else
        CONVERT(double, values, float, to);
}

static void convert_to_double(const void *from, size_t count, enum miniapp_type type,
                              enum miniapp_precision precision, double *values)
{
    if (type == MINIAPP_MASK)
        CONVERT(uint8_t, from, double, values);
    else if (type == MINIAPP_INDEX)
        CONVERT(int32_t, from, double, values);
    else if (is_double(type, precision))
        memcpy(values, from, count * sizeof(*values));
    else
        CONVERT(float, from, double, values);
}

/* ---- a field ---- */

static enum miniapp_status never_set(const struct slot *slot)
{
    return fail(MINIAPP_USAGE, "field '%s' is read, but was never set", slot->name);
}

enum miniapp_status state_to_device(struct miniapp_state *state, struct slot *slot)
{
    if (slot->device_current)
        return MINIAPP_DONE;
    if (!slot->host_current)
        return never_set(slot);
    TRY(state_allocate(state, slot));
    TRY(device_send(state->device, slot->device, slot->host, slot_bytes(state, slot), slot->name));
    slot->device_current = true;
    return MINIAPP_DONE;
}

void state_written(struct slot *slot, const signed char ghosts[MINIAPP_SIDES])
{
    slot->changes++;
    slot->device_current = true;
    slot->host_current = false;
    memmove(slot->ghosts, ghosts, sizeof(slot->ghosts));
}

/* The host's memory for a field; NULL, with a message, if there is not enough. */
static void *mirror(struct miniapp_state *state, struct slot *slot)
{
    if (backend_of(state)->is_host)
        return state_allocate(state, slot) ? NULL : slot->device;
    if (!slot->host)
        slot->host = malloc(slot_bytes(state, slot));
    if (!slot->host)
        fail(MINIAPP_DEVICE, "out of memory for a copy of '%s'", slot->name);
    return slot->host;
}

const void *miniapp_state_read(struct miniapp_state *state, const char *name)
{
    struct slot *const slot = state_slot(state, name);
    if (slot && !is_set(slot))
        never_set(slot);
    void *const memory = slot && is_set(slot) ? mirror(state, slot) : NULL;
    if (!memory || backend_of(state)->is_host || slot->host_current)
        return memory;
    if (device_fetch(state->device, memory, slot->device, slot_bytes(state, slot), slot->name))
        return NULL;
    slot->host_current = true;
    return memory;
}

/* A client's flow is no longer that of a start from rest. */
static void note_flow(struct miniapp_state *state, const struct slot *slot)
{
    if (slot->field->is_flow && has_axis(slot->field, MINIAPP_Z))
        state->is_from_rest = false;
}

void *miniapp_state_write(struct miniapp_state *state, const char *name)
{
    struct slot *const slot = state_slot(state, name);
    void *const memory = slot ? mirror(state, slot) : NULL;
    if (!memory)
        return NULL;
    state_stop_forcing(state, slot);
    slot->device_current = backend_of(state)->is_host;
    slot->host_current = !backend_of(state)->is_host;
    slot->is_checked = false;
    slot->changes++;
    note_flow(state, slot);
    memcpy(slot->ghosts, all_ghosts, sizeof(slot->ghosts));
    return memory;
}

/* Finds the slot of a part of a field, and checks that the field has that part. */
static struct slot *slot_of_part(struct miniapp_state *state, const char *name, size_t first,
                                 size_t count)
{
    struct slot *const slot = state_slot(state, name);
    const size_t elements = slot ? slot_elements(state, slot) : 0;
    if (slot && (first > elements || count > elements - first)) {
        fail(MINIAPP_USAGE, "'%s' has %zu elements, not %zu from number %zu on", name, elements,
             count, first);
        return NULL;
    }
    return slot;
}

/* Elements of a field that are converted at a time. */
static size_t elements_at_once(const struct miniapp_state *state, const struct slot *slot)
{
    return PART * sizeof(double) / element_bytes(state, slot);
}

/* Puts values, which fit the field's type, into the device's memory. */
static enum miniapp_status put(struct miniapp_state *state, struct slot *slot, size_t first,
                               size_t count, const double *values)
{
    const size_t bytes = element_bytes(state, slot);
    const enum miniapp_type type = slot->field->type;
    const size_t part = elements_at_once(state, slot);
    char *const device = (char *)slot->device + first * bytes;
    double buffer[PART];
    if (backend_of(state)->is_host) {
        convert_from_double(values, count, type, state->precision, device);
        return MINIAPP_DONE;
    }
    if (is_double(type, state->precision))
        return device_send(state->device, device, values, count * bytes, slot->name);
    for (size_t done = 0; done < count; done += part) {
        const size_t now = count - done < part ? count - done : part;
        convert_from_double(values + done, now, type, state->precision, buffer);
        TRY(device_send(state->device, device + done * bytes, buffer, now * bytes, slot->name));
    }
    return MINIAPP_DONE;
}

static enum miniapp_status check_values(const struct miniapp_state *state, const struct slot *slot,
                                        const double *values, size_t count)
{
    const enum miniapp_type type = slot->field->type;
    const size_t misfit = first_misfit(values, count, type, state->precision);
    const enum miniapp_axis counts = slot->field->counts;
    const double levels = counts ? (double)miniapp_axis_length(counts, &state->grid) : DBL_MAX;
    const bool is_divisor = slot->field->valid_min > 0;
    for (size_t i = 0; i < misfit && (counts || is_divisor); i++) {
        if (counts && values[i] > levels)
            return fail(MINIAPP_INPUT, "'%s' holds %g, but there are %g levels", slot->name,
                        values[i], levels);
        if (is_divisor && values[i] > 0 && isfinite(values[i]) &&
            !is_held(values[i], state->precision))
            return fail(MINIAPP_INPUT, "'%s' holds %g, which is 0 in float32", slot->name,
                        values[i]);
    }
    if (misfit == count)
        return MINIAPP_DONE;
    return fail(MINIAPP_INPUT, "'%s' holds %g, which %s cannot", slot->name, values[misfit],
                type == MINIAPP_MASK    ? "a mask"
                : type == MINIAPP_INDEX ? "an index"
                                        : "float32");
}

enum miniapp_status miniapp_state_set_part(struct miniapp_state *state, const char *name,
                                           size_t first, size_t count, const double *values)
{
    struct slot *const slot = slot_of_part(state, name, first, count);
    if (!slot || !values)
        return slot ? null_given() : MINIAPP_USAGE;
    TRY(check_values(state, slot, values, count));
    state_stop_forcing(state, slot);
    slot->is_checked = false;
    const bool keeps_some = is_set(slot) && count < slot_elements(state, slot);
    TRY(state_allocate(state, slot));
    if (keeps_some)
        TRY(state_to_device(state, slot));
    TRY(put(state, slot, first, count, values));
    state_written(slot, keeps_some ? slot->ghosts : all_ghosts);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_state_set(struct miniapp_state *state, const char *name,
                                      const double *values)
{
    struct slot *const slot = state_slot(state, name);
    if (!slot)
        return MINIAPP_USAGE;
    TRY(miniapp_state_set_part(state, name, 0, slot_elements(state, slot), values));
    note_flow(state, slot);
    return state_can_check(state, slot) ? state_check(state, slot) : MINIAPP_DONE;
}

/* Gets elements that only the device has. */
static enum miniapp_status get(struct miniapp_state *state, const struct slot *slot, size_t first,
                               size_t count, double *values)
{
    const size_t bytes = element_bytes(state, slot);
    const enum miniapp_type type = slot->field->type;
    const size_t part = elements_at_once(state, slot);
    const char *const device = (const char *)slot->device + first * bytes;
    double buffer[PART];
    if (is_double(type, state->precision))
        return device_fetch(state->device, values, device, count * bytes, slot->name);
    for (size_t done = 0; done < count; done += part) {
        const size_t now = count - done < part ? count - done : part;
        TRY(device_fetch(state->device, buffer, device + done * bytes, now * bytes, slot->name));
        convert_to_double(buffer, now, type, state->precision, values + done);
    }
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_state_get_part(struct miniapp_state *state, const char *name,
                                           size_t first, size_t count, double *values)
{
    struct slot *const slot = slot_of_part(state, name, first, count);
    if (!slot)
        return MINIAPP_USAGE;
    if (!values)
        return null_given();
    if (!is_set(slot))
        return never_set(slot);
    const char *const host = backend_of(state)->is_host ? slot->device
                             : slot->host_current       ? slot->host
                                                        : NULL;
    if (!host)
        return get(state, slot, first, count, values);
    convert_to_double(host + first * element_bytes(state, slot), count, slot->field->type,
                      state->precision, values);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_state_get(struct miniapp_state *state, const char *name, double *values)
{
    struct slot *const slot = state_slot(state, name);
    return slot ? miniapp_state_get_part(state, name, 0, slot_elements(state, slot), values)
                : MINIAPP_USAGE;
}

/* ---- timing copies ---- */

/* Copies a field to the device from `host`, or from the device to it; adds the least of three
 * times. */
static enum miniapp_status time_copy(const struct miniapp_state *state, const struct slot *slot,
                                     bool to_device, void *host, double *seconds)
{
    const struct miniapp_device *const device = state->device;
    const size_t bytes = slot_bytes(state, slot);
    double least = INFINITY;
    enum miniapp_status status = /* maps its pages */
        device_fetch(device, host, slot->device, bytes, slot->name);
    for (int i = 0; i < 3 && !status; i++) {
        const double start = seconds_now();
        status = to_device ? device_send(device, slot->device, host, bytes, slot->name)
                           : device_fetch(device, host, slot->device, bytes, slot->name);
        least = fmin(least, seconds_now() - start);
    }
    *seconds += least;
    return status;
}

enum miniapp_status miniapp_state_time_copies(struct miniapp_state *state, const char *const *names,
                                              size_t count, bool to_device, bool pinned,
                                              double *seconds)
{
    const struct backend *backend = backend_of(state);
    size_t largest = 0;
    enum miniapp_status status = MINIAPP_DONE;
    *seconds = 0;
    if (backend->is_host || (pinned && !backend->allocate_pinned))
        return MINIAPP_DONE;
    for (size_t i = 0; i < count && !status; i++) {
        struct slot *const slot = state_slot(state, names[i]);
        status = slot ? state_to_device(state, slot) : MINIAPP_USAGE;
        if (!status && slot_bytes(state, slot) > largest)
            largest = slot_bytes(state, slot);
    }
    void *const host = status   ? NULL
                       : pinned ? backend->allocate_pinned(state->device->number, largest)
                                : malloc(largest);
    for (size_t i = 0; i < count && host && !status; i++)
        status = time_copy(state, state_slot(state, names[i]), to_device, host, seconds);
    if (pinned && host)
        backend->release_pinned(state->device->number, host);
    else
        free(host);
    return status;
}
