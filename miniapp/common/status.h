/* How a failure travels: the function that finds it reports one line and returns a status. Its
 * callers pass the status on, up to the caller of the library, or to main, whose exit code it
 * is. */
#ifndef STATUS_H
#define STATUS_H

#include "program.h"

#define fail miniapp_fail
#define warn miniapp_warn

/* The status of a call whose argument is NULL but must not be, such as the result of a failed
 * look-up. */
#define null_given() fail(MINIAPP_USAGE, "%s: an argument is NULL", __func__)

/* MINIAPP_DEVICE if memory is NULL; the message goes on with what it was for. */
#define allocated(memory, ...)                                                                     \
    ((memory) ? MINIAPP_DONE : fail(MINIAPP_DEVICE, "out of memory for " __VA_ARGS__))

/* Passes on the failure of a call at once; only where the function has nothing to release but what
 * its block owns (owned.h). */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const enum miniapp_status tried = (call);                                                  \
        if (tried)                                                                                 \
            return tried;                                                                          \
    } while (0)

/* The first failure counts, where work goes on after one: to report all that is wrong, or because
 * other processes wait. */
static inline enum miniapp_status first_of(enum miniapp_status before, enum miniapp_status now)
{
    return before ? before : now;
}

/* Whether the program has said by miniapp_own_process that it owns the process. */
bool owns_process(void);

#endif
