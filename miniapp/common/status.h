/* How a failure travels: whoever finds it tells its one line and returns its status, and everyone
 * above hands the status on, to the caller of the library or to main, which makes it the exit code. */
#ifndef STATUS_H
#define STATUS_H

#include <miniapp/status.h>

#define fail miniapp_fail
#define warn miniapp_warn

/* Whoever opens something that must not be left half done says once how it is given up, by calls
 * that a signal handler may make. miniapp_abandon() does all of that. */
void on_abandon(void (*give_up)(void));

/* Whether the program has said so by miniapp_own_process. */
bool owns_process(void);

#endif
