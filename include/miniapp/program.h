/*
 * What a program needs that measures and reports, as miniapp does. Other clients can do without.
 */
#ifndef MINIAPP_PROGRAM_H
#define MINIAPP_PROGRAM_H

#include <miniapp/api.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_device;
struct miniapp_input;
struct miniapp_state;

/* ---- failures ---- */

/* Reports a failure as the library does, and returns its status. */
enum miniapp_status miniapp_fail(enum miniapp_status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports a warning. */
void miniapp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes an output that is half written. A signal handler may call it. */
void miniapp_abandon(void);

/* HDF5 crashes on some damaged files, or never returns, and an offload runtime may end the process.
 * A program that calls this before all else gets one line on stderr then, and the exit code
 * MINIAPP_INPUT or MINIAPP_DEVICE: while the library reads files or opens devices it catches
 * SIGSEGV, SIGBUS, SIGFPE, SIGABRT and SIGPROF. An exit with 1 counts as the offload runtime's,
 * unless the last failure was a MINIAPP_MISMATCH. */
void miniapp_own_process(bool owned);

/* ---- devices ---- */

const char *miniapp_host_processor(void);

/* Whether a device's fields take the host's memory, as those of an emulated device do. */
bool miniapp_device_takes_host_memory(const struct miniapp_device *);

/* How many seconds a call of an empty kernel takes; 0 on the host. */
double miniapp_device_empty_call(const struct miniapp_device *);

/* How many blocks, and threads in each, a loop of so many points gets; zeros on the host. */
void miniapp_device_geometry(const struct miniapp_device *, int points, int *blocks, int *threads);

/* Measures how long it takes to copy these fields to the device, or from it, by memory that is
 * pinned or not: the least of some tries. 0 on the host, and where there is no such memory. */
enum miniapp_status miniapp_state_time_copies(struct miniapp_state *, const char *const *names,
                                              size_t count, bool to_device, bool pinned,
                                              double *seconds);

/* ---- inputs ---- */

/* The grid, in words. */
const char *miniapp_input_grid_text(const struct miniapp_input *);

/* What was done to what was read so far, in words such as "unpacked". The next call changes them.
 */
const char *miniapp_input_text(struct miniapp_input *);

/* The true path of one of the other files that were read so far; NULL after the last. */
const char *miniapp_input_external_file(const struct miniapp_input *, size_t index);

/* How many bytes of the host's memory loading a field takes on the way. */
double miniapp_input_passing_bytes(const struct miniapp_input *);

MINIAPP_END

#endif
