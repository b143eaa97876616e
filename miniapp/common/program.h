/*
 * What the library shows to its own program, which measures and reports, and to its Python package.
 * Clients find nothing here: it is not installed, and may change with each version.
 */
#ifndef MINIAPP_PROGRAM_H
#define MINIAPP_PROGRAM_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/grid.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_device;
struct miniapp_input;
struct miniapp_input_options;
struct miniapp_output;
struct miniapp_sequence;
struct miniapp_state;

/* ---- failures ---- */

/* Reports a failure as the library does, and returns its status. */
enum miniapp_status miniapp_fail(enum miniapp_status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports a warning. */
void miniapp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes an output that is half written. A signal handler may call it. */
void miniapp_abandon(void);

/* Call this before all else. If HDF5 or an offload runtime crashes, hangs or ends the process, it
 * then prints one line and exits with MINIAPP_INPUT or MINIAPP_DEVICE. For that the library catches
 * SIGSEGV, SIGBUS, SIGFPE, SIGABRT and SIGPROF while it reads files or opens devices. An exit with
 * 1 counts as the offload runtime's, unless the last failure was a MINIAPP_MISMATCH. */
void miniapp_own_process(bool owned);

/* ---- devices ---- */

const char *miniapp_host_processor(void);

/* Whether a device's fields take the host's memory, as those of an emulated device do. */
bool miniapp_device_takes_host_memory(const struct miniapp_device *);

/* How many seconds a call of an empty kernel takes; 0 on the host. */
double miniapp_device_empty_call(const struct miniapp_device *);

/* How many blocks, and threads in each, a loop of `points` points gets; zeros on the host. */
void miniapp_device_geometry(const struct miniapp_device *, int points, int *blocks, int *threads);

/* Measures how long it takes to copy these fields to the device, or from it, through pinned or
 * ordinary memory: the shortest of several tries, or 0 if nothing is copied. */
enum miniapp_status miniapp_state_time_copies(struct miniapp_state *, const char *const *names,
                                              size_t count, bool to_device, bool pinned,
                                              double *seconds);

/* ---- inputs ---- */

/* Shares a file among `of` processes: this one, `number` from 0, checks its part of the rows, and
 * counts the water there. It holds no more of a field than that, or than the states take that it
 * loads. All have to open the file, since they agree about land then. */
void miniapp_input_options_share(struct miniapp_input_options *, int number, int of);

/* The grid, in words. */
const char *miniapp_input_grid_text(const struct miniapp_input *);

/* What was done to the fields that were read so far, such as "unpacked". The next call changes the
 * text. */
const char *miniapp_input_text(struct miniapp_input *);

/* The true path of an external file that was read; NULL after the last. */
const char *miniapp_input_external_file(const struct miniapp_input *, size_t index);

/* How many bytes of host memory are needed for a moment to load a field. */
double miniapp_input_passing_bytes(const struct miniapp_input *);

/* ---- outputs ---- */

/* Writes a field as miniapp_output_write does, plane by plane: the elements of each along y and
 * x. */
enum miniapp_status miniapp_output_begin(struct miniapp_output *, const char *sequence,
                                         const struct miniapp_field *, const struct miniapp_grid *,
                                         enum miniapp_precision);
enum miniapp_status miniapp_output_plane(struct miniapp_output *, size_t plane,
                                         const double *values);
enum miniapp_status miniapp_output_end(struct miniapp_output *);

/* ---- several processes ---- */

struct blocks;

/* Makes a state this process's own block of an ocean, which all processes share; it then exchanges
 * ghosts with the other blocks. */
enum miniapp_status miniapp_state_spread(struct miniapp_state *, const struct blocks *);

/* How many seconds it spent on that. */
double miniapp_state_exchange_seconds(const struct miniapp_state *);

/* Brings a plane of a field, from all blocks, to the first process; `values` has room for it there
 * and is not used elsewhere. With the ghosts of the whole ocean, or without. */
enum miniapp_status miniapp_state_gather(struct miniapp_state *, const char *name, size_t plane,
                                         bool with_ghosts, double *values);

/* ---- steps in time ---- */

/* What a step keeps: heat, salt, turbulent and eddy kinetic energy, and the energy of both. */
enum { MINIAPP_BUDGETS = 5 };
struct miniapp_budget {
    const char *name, *units;
    bool is_kept;         /* the sequence has it */
    bool is_of_all_steps; /* since the start; else of the last one, since its gain varies */
    double before;        /* the amount at the start */
    size_t steps;         /* that the following are means of */
    double change, gain;  /* in units */
    double residual;      /* change - gain, which is rounding if it is at most */
    double bound;
    double size; /* the sum of the magnitudes of what the residual is made of */
};

/* Opens the budgets before the first step of a sequence, and closes them after the last. */
enum miniapp_status miniapp_budgets_open(struct miniapp_state *, const struct miniapp_sequence *,
                                         struct miniapp_budget[MINIAPP_BUDGETS]);
enum miniapp_status miniapp_budgets_close(struct miniapp_state *, const struct miniapp_sequence *,
                                          size_t steps, struct miniapp_budget[MINIAPP_BUDGETS]);

/* Writes a snapshot into an output: what the next step needs of the last one, number `step` of a
 * run, in the layout of Veros's snapshots. `input` may be NULL: then axes are distances. All
 * processes call it; only the first has an output. */
enum miniapp_status miniapp_output_snapshot(struct miniapp_output *, const struct miniapp_input *,
                                            struct miniapp_state *, const struct miniapp_sequence *,
                                            const char *run, size_t step);

/* Makes land, and ghosts that are land, 0 in what the next step needs, as a snapshot does: steps
 * from a state, and from a snapshot of it, then end in the same bits. The ghosts of a part of an
 * ocean are not current afterwards, nor those after miniapp_snapshot_load. */
enum miniapp_status miniapp_snapshot_settle(struct miniapp_state *,
                                            const struct miniapp_sequence *);

/* Puts a snapshot of the same run, or a state's part of one, into a state whose other fields are
 * set. */
enum miniapp_status miniapp_snapshot_load(const char *path, struct miniapp_state *,
                                          const struct miniapp_sequence *, const char *run);

MINIAPP_END

#endif
