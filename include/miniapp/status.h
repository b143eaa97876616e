/*
 * The outcome of a call, and how a failure is reported.
 */
#ifndef MINIAPP_STATUS_H
#define MINIAPP_STATUS_H

#include <miniapp/api.h>
#include <stdbool.h>

MINIAPP_BEGIN

/* The values are also the exit codes of the program, so that a number means the same everywhere. */
enum miniapp_status {
    MINIAPP_DONE = 0,     /* what was asked for is done */
    MINIAPP_MISMATCH = 1, /* a result is wrong, by its reference or as such: of the program only */
    MINIAPP_USAGE = 2,    /* the call or command line is wrong */
    MINIAPP_INPUT = 3,    /* an input cannot be used */
    MINIAPP_DEVICE = 4,   /* a device cannot be used: absent, not built in, out of memory */
    MINIAPP_OUTPUT = 5,   /* an output cannot be written */
};

/* The last failure of the calling thread in one line, which names the file or field and says what
 * was expected; "" if there was none. It is safe to print: what a terminal would obey is escaped,
 * as \u001b. It stays until that thread's next failure. */
MINIAPP_API const char *miniapp_message(void);

/* Its status; MINIAPP_DONE where there was none. */
MINIAPP_API enum miniapp_status miniapp_last_failure(void);

/* A listener gets the line of each failure as it happens, and of each warning, whose status is
 * MINIAPP_DONE. The library itself prints nothing. NULL takes the listener away; the previous one
 * is returned. */
typedef void miniapp_listener(enum miniapp_status status, const char *line);
MINIAPP_API miniapp_listener *miniapp_listen(miniapp_listener *listener);

/* Reports a failure, and returns its status, or a warning, as the library's own functions do. */
MINIAPP_API enum miniapp_status miniapp_fail(enum miniapp_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
MINIAPP_API void miniapp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Gives up what is half done, such as an output under its temporary name. For signal handlers: it
 * calls nothing that they may not call. */
MINIAPP_API void miniapp_abandon(void);

/* Other libraries may end the process: HDF5 crashes on some damaged files, or never returns, and an
 * offload runtime gives up if a kernel does not start. A program that owns the process may say so
 * here. Then such an end becomes one line on stderr and the exit code MINIAPP_INPUT or
 * MINIAPP_DEVICE. For this the library handles SIGABRT from the first offload device on, and
 * SIGSEGV, SIGBUS, SIGFPE and SIGPROF while it reads a file. */
MINIAPP_API void miniapp_own_process(bool owned);

/* The library's version, such as "0.2.0". */
MINIAPP_API const char *miniapp_version(void);

MINIAPP_END

#endif
