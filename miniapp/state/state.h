/* States as the library itself sees them. */
#ifndef STATE_H
#define STATE_H

#include "blocks.h"
#include "device.h"
#include "program.h"
#include "sequence.h"

/* Whether an array of that type is an array of double already. */
static inline bool is_double(enum miniapp_type type, enum miniapp_precision precision)
{
    return type == MINIAPP_DOUBLE || (type == MINIAPP_REAL && precision == MINIAPP_FLOAT64);
}

/* A field of a state. Where the device is the host, `device` is its only memory. */
struct slot {
    char name[MOST_NAME];
    const struct miniapp_field *field;
    void *device, *host;
    bool device_current, host_current; /* neither: it was never set */
    signed char ghosts[MINIAPP_SIDES];
    bool is_checked; /* since it was set */
    size_t changes;  /* how often it was set or written */
};

/* Memory that kernels share as scratch, one after the other. */
struct scratch {
    void *memory;
    size_t bytes;
};

struct exchange;
struct forcing;
struct kept;

struct miniapp_state {
    const struct miniapp_device *device;
    enum miniapp_precision precision;
    struct miniapp_grid grid, whole;
    size_t x0, y0; /* where its interior begins in that of the whole */
    bool cyclic_x, checks;
    struct exchange *exchange; /* with the blocks of other ranks, or NULL */
    struct miniapp_settings settings;
    struct slot **slots; /* each stays where it is: plans point at them */
    size_t slot_count;
    struct forcing *forcings; /* fields that follow records */
    size_t forcing_count;
    size_t steps;     /* in time that were made since the start */
    double forced_at; /* the time of which such fields are */
    struct scratch *scratch;
    size_t scratch_count;
    struct kept *kept; /* memory of its plans' kernels */
    double *room;      /* host memory for so many numbers on their way from the device */
    size_t room_elements;
    enum miniapp_status kernel_status; /* of totals that a kernel asks for while it runs */
    bool is_in_step;                   /* a plan is making a step in time */
    bool is_from_rest;                 /* no step was made of the flow that a start from rest has */
    double bytes;
};

/* Whether the external mode of its steps is the streamfunction under a lid. */
static inline bool is_under_lid(const struct miniapp_state *state)
{
    return state->settings.value[SETTING_enable_streamfunction] != 0;
}

/* How many ghosts are current on each side when all are. */
extern const signed char all_ghosts[MINIAPP_SIDES];

static inline const struct backend *backend_of(const struct miniapp_state *state)
{
    return state->device->backend;
}

/* Whether the state is a part of an ocean whose other parts this library does not know. */
bool lacks_parts(const struct miniapp_state *state);

static inline bool is_set(const struct slot *slot)
{
    return slot->device_current || slot->host_current;
}

static inline size_t slot_elements(const struct miniapp_state *state, const struct slot *slot)
{
    return miniapp_field_elements(slot->field, &state->grid);
}

static inline size_t element_bytes(const struct miniapp_state *state, const struct slot *slot)
{
    return miniapp_element_bytes(slot->field->type, state->precision);
}

/* Functions whose reals are those of a slot. */
static inline const struct kernel_functions *functions_for(const struct miniapp_state *state,
                                                           const struct slot *slot)
{
    const bool is_wide = is_double(slot->field->type, state->precision);
    return backend_of(state)->functions[is_wide ? MINIAPP_FLOAT64 : MINIAPP_FLOAT32];
}

static inline size_t slot_bytes(const struct miniapp_state *state, const struct slot *slot)
{
    return slot_elements(state, slot) * element_bytes(state, slot);
}

/* The slot of that name. If the state has none, a field of the table gets a new slot, without
 * memory. NULL, with a message, if there is no such field. */
struct slot *state_slot(struct miniapp_state *state, const char *name);

/* Fails where no grid has these lengths; `least` is that of nx and ny. */
enum miniapp_status check_grid(const struct miniapp_grid *grid, size_t least);

/* The slot of that name, which is added with the field's shape if there is none; NULL if memory is
 * short. */
struct slot *state_added_slot(struct miniapp_state *state, const char *name,
                              const struct miniapp_field *field);

/* Gives a slot memory on the device. */
enum miniapp_status state_allocate(struct miniapp_state *state, struct slot *slot);

/* Makes the scratch of that number at least as large as a field; `needed` becomes the field's
 * bytes. */
enum miniapp_status state_scratch(struct miniapp_state *state, size_t number,
                                  const struct miniapp_field *field, size_t *needed);

/* Host memory for so many numbers, until the next call; NULL if memory is short. The state keeps
 * it, because the system clears new memory every time. */
double *state_room(struct miniapp_state *state, size_t elements);

static inline struct planes slot_planes(const struct miniapp_state *state, const struct slot *slot)
{
    return planes_of(slot->field, &state->grid);
}

/* Gets the interior of some planes of this process's block. */
enum miniapp_status state_get_interior(struct miniapp_state *state, const struct slot *slot,
                                       size_t first, size_t count, double *values);

/* Gathers all planes of a field, as miniapp_state_gather does one. All processes agree on each
 * plane where one of them may lack memory for it, as in the first call. */
enum miniapp_status state_gather_all(struct miniapp_state *state, const char *name,
                                     bool with_ghosts, bool may_lack, double *values);

/* Arrays for fields of the whole ocean in the first process, in one piece of memory that the caller
 * frees, whatever happens: lines of the grid, which it gathers, and room for a level of any other.
 * All processes call it. A message about memory that is short ends with `what`. */
enum miniapp_status survey(struct miniapp_state *state, const char *const *names, size_t count,
                           bool with_ghosts, const char *what, double **arrays, double **memory);

/* Makes the device's copy current; MINIAPP_USAGE if the field was never set. */
enum miniapp_status state_to_device(struct miniapp_state *state, struct slot *slot);

/* Checks a field that was set against its range on water, once; MINIAPP_INPUT with the first bad
 * index. It does nothing unless the state checks. */
enum miniapp_status state_check(struct miniapp_state *state, struct slot *slot);
bool state_is_checked(const struct miniapp_state *state, const struct slot *slot);

/* Whether the state checks a field when it is set, not only when it is used: what tells its water
 * has to be there. */
bool state_can_check(const struct miniapp_state *state, const struct slot *slot);

/* The status of work for which other ranks wait, such as a message to them: a failure ends them
 * all. A state that exchanges nothing just gets the status back. */
enum miniapp_status state_ends_all(const struct miniapp_state *state, enum miniapp_status status);

/* The status of all processes that have a part of the ocean, so that all return if one fails. */
enum miniapp_status state_agrees(const struct miniapp_state *state, enum miniapp_status status);

/* Makes all ghosts of some fields current. */
enum miniapp_status state_exchange(struct miniapp_state *state, struct slot *const *slots,
                                   size_t count);

/* Notes that only the device's copy is current, with so many ghosts on each side. */
void state_written(struct slot *slot, const signed char ghosts[MINIAPP_SIDES]);

/* Notes that all its ghosts on the device are current. */
void state_has_ghosts(struct slot *slot);

/* ---- budget.c ---- */

/* Adds a term to a budget's gain; `size` is the sum of the magnitudes of what it adds up. */
void budget_add_gain(struct miniapp_budget *, const char *name, double value, double size);

/* ---- work.c: the work of forces on the flow ---- */

/* Adds to a budget, in watts, what the tendencies of the flow did in the last step, friction
 * included, as its change, and what wind and sinking water put in, as its gain. The bound becomes
 * infinite where what frictions dissipate need not be what they take. Also gives what the external
 * mode replaced, in cubic metres a second: the moduli of all flow into and out of columns, before
 * and after. If the state is a part of an ocean, all processes call it. */
enum miniapp_status work_add(struct miniapp_state *, size_t steps, struct miniapp_budget *,
                             double *replaced);

/* ---- exchange.c: ghosts that come from the blocks of other ranks ---- */

/* Makes all ghosts of some fields current, by one message to each neighbour. All ranks call it with
 * the same fields. */
enum miniapp_status exchange_ghosts(struct miniapp_state *state, struct slot *const *slots,
                                    size_t count);

/* Whether ghosts may be in flight while kernels run. */
bool exchange_overlaps(const struct miniapp_state *state);

/* Asks for the ghosts of fields that are not written again before they are read. */
void exchange_ask(struct miniapp_state *state, struct slot *const *slots, size_t count);

/* Whether its ghosts were asked for since the last exchange_finish; the same on all ranks. */
bool exchange_was_asked(const struct miniapp_state *state, const struct slot *slot);

/* Between two kernels: unpacks what has arrived, and sends what waited for it. */
enum miniapp_status exchange_progress(struct miniapp_state *state);

/* Waits until all ghosts that were asked for are current. */
enum miniapp_status exchange_finish(struct miniapp_state *state);

/* How the ocean of a state that exchanges is cut. */
const struct blocks *exchange_blocks(const struct miniapp_state *state);

/* Adds the time since `start` to that of exchanges, if there are other ranks; or to that of
 * gathering the whole ocean for a kernel, and of taking the own block back. */
void exchange_note(struct miniapp_state *state, double start, bool is_gather);

void exchange_free(struct miniapp_state *state);

/* ---- forcing.c: fields that change in time by records of the input, such as wind ---- */

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

/* ---- keep.c: sums over the whole ocean, and memory that kernels keep between calls ---- */

/* A kernel's memory, which all plans share that run the kernel on the same grid, and what it
 * depends on. */
struct kept {
    struct miniapp_state *state;
    struct kept *next; /* of the same state */
    const struct miniapp_kernel *kernel;
    struct slot *grid[MOST_ARGUMENTS]; /* those of the arguments that are the grid's */
    void **host, **device;             /* pieces of memory */
    size_t host_pieces, device_pieces;
    double device_bytes;
    struct miniapp_solution solution;
    struct miniapp_settings settings;
    size_t changes; /* of the grid's fields that the kernel reads */
    bool cyclic_x;
    struct miniapp_state *whole; /* of a kernel that needs it where processes share the ocean */
    struct miniapp_plan *whole_plan;
};

/* That of a kernel with these arguments; NULL if there is no memory for it. The state frees it. */
struct kept *kept_for(struct miniapp_state *state, const struct miniapp_kernel *kernel,
                      struct slot *const *slots);

/* Hands a kernel's memory to it, after it is cleared if what it depends on has changed. */
struct keeper keeper_of(struct miniapp_state *state, struct kept *kept);

/* Frees the kernel's memory. */
void forget(struct kept *kept);
void keep_free(struct miniapp_state *state);

/* The totals for kernels of a state, which use its state_room. */
struct totals totals_of(struct miniapp_state *state);

/* Runs a kernel on a copy of the whole ocean that this process gathers, and takes its own block of
 * the outputs. All processes call it, and compute the same; later calls for the same grid need no
 * more memory, and agree once, at their beginning. */
enum miniapp_status whole_run(struct miniapp_state *state, struct kept *kept,
                              struct slot *const *slots);

/* ---- flow.c ---- */

/* Whether the sequence steps the streamfunction, whose flow takes the place of the depth mean's. */
bool has_psi(const struct miniapp_state *state, const struct miniapp_sequence *sequence);

/* Makes the streamfunction from u. All processes call it. */
enum miniapp_status state_make_psi(struct miniapp_state *state);

#endif
