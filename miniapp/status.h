/* How a failure travels: whoever finds it prints its one line and returns its status, and
 * everyone above hands the status on, until main returns it as the exit code. */
#ifndef MINIAPP_STATUS_H
#define MINIAPP_STATUS_H

#include <physics/status.h>

/* Prints "miniapp: ..." to stderr and returns the status. */
enum physics_status fail(enum physics_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The status of the last failure; PHYSICS_DONE where there was none. */
enum physics_status last_failure(void);

/* Prints "miniapp: warning: ..." to stderr. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
