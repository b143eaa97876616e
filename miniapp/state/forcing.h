/* Fields that change in time by records of the input: forcing such as wind. */
#ifndef FORCING_H
#define FORCING_H

#include "state.h"

/* The records of a field. They are fields of the state themselves, called NAME@0 and so on, so that
 * they are loaded, cut into blocks and given ghosts as the field would be. */
struct forcing {
    struct slot *field, **records;
    size_t count;
    double period; /* seconds from a record to the same one of the next cycle */
};

enum { RECORD_NAME = MOST_NAME + 24 };
const char *record_name(const char *field, size_t record, char text[RECORD_NAME]);

/* The field of the state that holds the mean of a field: miniapp_state_average makes it. */
const char *mean_name(const char *field, char text[RECORD_NAME]);

/* Lets a field follow records, whose values are then set. */
enum miniapp_status state_force(struct miniapp_state *state, const char *name, size_t count,
                                double period);

/* Makes each such field what it is at the state's time: linear between the two nearest records,
 * each of which is that of the middle of its part of the period, as in Veros 1.7. */
enum miniapp_status state_apply_forcing(struct miniapp_state *state);

/* A field that is set by hand follows its records no longer. */
void state_stop_forcing(struct miniapp_state *state, const struct slot *slot);

bool state_is_forced(const struct miniapp_state *state, const char *name);

void forcing_free(struct miniapp_state *state);

#endif
