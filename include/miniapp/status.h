/*
 * The outcome of a call, and how a failure is reported.
 *
 * In all headers: a function that makes something and fails sets the result to NULL. Functions that
 * free or close take NULL. Functions that look for a row of a table return NULL where there is
 * none, and report nothing. Other functions answer an unknown name with MINIAPP_USAGE. An index has
 * to be below its count.
 */
#ifndef MINIAPP_STATUS_H
#define MINIAPP_STATUS_H

#include <miniapp/api.h>

MINIAPP_BEGIN

/* The values are also the exit codes of the program. */
enum miniapp_status {
    MINIAPP_DONE = 0,     /* what was asked for is done */
    MINIAPP_MISMATCH = 1, /* a result is wrong: only the program says so */
    MINIAPP_USAGE = 2,    /* the call or command line is wrong */
    MINIAPP_INPUT = 3,    /* an input cannot be used */
    MINIAPP_DEVICE = 4,   /* a device cannot be used: absent, not built in, out of memory */
    MINIAPP_OUTPUT = 5,   /* an output cannot be written */
};

/* The status and the message of the calling thread's last failure, which a success does not clear;
 * at first MINIAPP_DONE and "". The message is one line, in which control characters are escaped.
 */
enum miniapp_status miniapp_last_failure(void);
const char *miniapp_message(void);

/* The library prints nothing. It calls the listener for each failure, in the thread that failed,
 * and for each warning, then with MINIAPP_DONE. miniapp_listen returns the listener before; NULL is
 * none.
 */
typedef void (*miniapp_listener)(enum miniapp_status, const char *line);
miniapp_listener miniapp_listen(miniapp_listener);

const char *miniapp_version(void); /* of the library: "0.2.0" */

MINIAPP_END

#endif
