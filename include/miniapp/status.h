/*
 * The outcome of a call, and how a failure is reported.
 *
 * In all headers: functions that create or open something set their result to NULL if they fail;
 * functions that free or close something ignore NULL. For an unknown name, a function with a status
 * returns MINIAPP_USAGE; a _find that returns a pointer returns NULL and reports no failure. NULL,
 * such as what a failed _find returned, is answered with MINIAPP_USAGE or, by functions without a
 * status, with NULL, 0 or false, and so is an index beyond the last; only numbers that a function
 * sets, such as `least`, need a place.
 */
#ifndef MINIAPP_STATUS_H
#define MINIAPP_STATUS_H

#include <miniapp/api.h>

MINIAPP_BEGIN

/* The values are also the exit codes of the command miniapp. */
enum miniapp_status {
    MINIAPP_DONE = 0,     /* what was asked for is done */
    MINIAPP_MISMATCH = 1, /* a result is wrong: the command miniapp's, or a solver that fails */
    MINIAPP_USAGE = 2,    /* the call or command line is wrong */
    MINIAPP_INPUT = 3,    /* an input cannot be used */
    MINIAPP_DEVICE = 4,   /* a device cannot be used: absent, not built in, out of memory */
    MINIAPP_OUTPUT = 5,   /* an output cannot be written */
};

/* The calling thread's last failure: its status, and its one-line message, which is "" at first. A
 * success does not clear them. */
enum miniapp_status miniapp_last_failure(void);
const char *miniapp_message(void);

/* The library prints nothing. Failures, and warnings (as MINIAPP_DONE), go to the process's
 * listener, in the calling thread. miniapp_listen sets it, NULL for none, and returns the previous
 * one. */
typedef void (*miniapp_listener)(enum miniapp_status, const char *line);
miniapp_listener miniapp_listen(miniapp_listener);

const char *miniapp_version(void); /* of the library: "0.2.0" */

MINIAPP_END

#endif
