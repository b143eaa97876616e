/*
 * The outcome of a call, and how a failure is reported.
 *
 * In all headers: a function that fails leaves NULL where it would have put what it makes; what
 * only frees or closes takes NULL; a table in which there is no such row gives NULL and reports
 * nothing; elsewhere an unknown name, or an argument that does not fit, is MINIAPP_USAGE.
 */
#ifndef MINIAPP_STATUS_H
#define MINIAPP_STATUS_H

#include <miniapp/api.h>
#include <stdbool.h>

MINIAPP_BEGIN

/* The values are also the exit codes of the program. */
enum miniapp_status {
    MINIAPP_DONE = 0,     /* what was asked for is done */
    MINIAPP_MISMATCH = 1, /* a result is wrong, by its reference or as such: of the program only */
    MINIAPP_USAGE = 2,    /* the call or command line is wrong */
    MINIAPP_INPUT = 3,    /* an input cannot be used */
    MINIAPP_DEVICE = 4,   /* a device cannot be used: absent, not built in, out of memory */
    MINIAPP_OUTPUT = 5,   /* an output cannot be written */
};

/* The calling thread's last failure, which no success clears: its status, and one line that says
 * what was expected, with escapes for what a terminal would obey. At first MINIAPP_DONE and "". */
enum miniapp_status miniapp_last_failure(void);
const char *miniapp_message(void);

/* The library prints nothing. The process's listener gets each failure as it happens, in the thread
 * that failed, and each warning, with MINIAPP_DONE. NULL for none; the previous one is returned. */
typedef void miniapp_listener(enum miniapp_status, const char *line);
miniapp_listener *miniapp_listen(miniapp_listener *);

/* Reports a failure, and returns its status, or a warning, as the library does. */
enum miniapp_status miniapp_fail(enum miniapp_status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void miniapp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes an output that is half written. A signal handler may call it. */
void miniapp_abandon(void);

/* HDF5 crashes on some damaged files, or never returns, and an offload runtime may end the process.
 * For a program that says, before all else, that it owns the process, the library handles the
 * signals, and such an end is one line on stderr and the exit code MINIAPP_INPUT or MINIAPP_DEVICE.
 */
void miniapp_own_process(bool owned);

const char *miniapp_version(void); /* of the library: "0.2.0" */

MINIAPP_END

#endif
