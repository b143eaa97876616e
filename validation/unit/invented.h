/*
 * Fields that are made up from the table, the same in every run, whatever fields there are.
 */
#ifndef VALIDATION_INVENTED_H
#define VALIDATION_INVENTED_H

#include "owned.h"
#include "table.h"
#include "unit.h"

#include <miniapp.h>

/* A state, and an array of numbers, that the end of their scope frees. */
#define OWN_STATE __attribute__((cleanup(free_state))) struct miniapp_state *const
#define OWN_VALUES OWNED double *const

static inline void free_state(struct miniapp_state *const *state)
{
    miniapp_state_free(*state);
}

/* Reals between 1/2 and 3/2; pressures that reach through all of eos on seven levels. */
static inline double invented(const struct miniapp_field *field, size_t i, size_t levels)
{
    const uint32_t mixed = ((uint32_t)i + 1) * 2654435761u ^ (uint32_t)field_id(field) * 40503u;
    const double value = 0.5 + (double)(mixed >> 8) / (1 << 24);
    switch (field->type) {
    case MINIAPP_MASK: return value < 1.3;
    case MINIAPP_INDEX: return floor((value - 0.5) * (double)(levels + 1));
    default: return field_id(field) == FIELD_p ? 1900.0 * (double)i : value;
    }
}

/* The caller frees it. */
static inline double *invent(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    const size_t elements = miniapp_field_elements(field, grid);
    double *const values = malloc(elements * sizeof(*values));
    assert_non_null(values);
    for (size_t i = 0; i < elements; i++)
        values[i] = invented(field, i, grid->nz);
    return values;
}

/* Gives a field of a state the values of one of the table. */
static inline void set_invented(struct miniapp_state *state, const char *name, const char *like)
{
    const struct miniapp_grid grid = miniapp_state_grid(state);
    OWN_VALUES values = invent(miniapp_field_find(like), &grid);
    assert_done(miniapp_state_set(state, name, values));
}

/* Sets what a sequence reads. */
static inline void set_inputs(struct miniapp_state *state, const struct miniapp_sequence *sequence)
{
    for (size_t id = 1; id < FIELDS; id++)
        if (miniapp_sequence_reads(sequence, &fields[id]))
            set_invented(state, fields[id].name, fields[id].name);
}

/* What a field of a state holds, whose shape is that of one of the table; the caller frees it. */
static inline double *values_of(struct miniapp_state *state, const char *name, const char *like)
{
    const struct miniapp_grid grid = miniapp_state_grid(state);
    double *const values =
        malloc(miniapp_field_elements(miniapp_field_find(like), &grid) * sizeof(*values));
    assert_non_null(values);
    assert_done(miniapp_state_get(state, name, values));
    return values;
}

/* The library refuses something, in these words. */
static inline void assert_refused(enum miniapp_status status, enum miniapp_status expected,
                                  const char *message)
{
    assert_int_equal(status, expected);
    assert_int_equal(miniapp_last_failure(), expected);
    assert_string_equal(miniapp_message(), message);
}

static inline const struct miniapp_sequence *sequence_of(const char *text)
{
    const struct miniapp_sequence *sequence;
    assert_done(miniapp_sequence_find(text, &sequence));
    return sequence;
}

static inline struct miniapp_state *state_on(const struct miniapp_device *device,
                                             enum miniapp_precision precision,
                                             struct miniapp_grid grid)
{
    struct miniapp_state *state;
    assert_done(miniapp_state_create(device, precision, &grid, &state));
    return state;
}

#endif
