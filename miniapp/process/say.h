/* The lines of failures and warnings on stderr, and which of several processes prints them. */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>

/* From here on, all failures and warnings become lines. If there are several processes, each holds
 * its failures, because only one prints for all; and all but the first hold their warnings, because
 * the first may have the same. */
void say_all(void);

/* Prints the failures that were held, or drops them. */
void say_failures(bool speaks);

/* The first process prints the warnings that the others have about their parts. All call it. */
void say_warnings(void);

/* The warnings so far, a line each, without "miniapp: warning: "; "" without any. The first
 * of several processes has those of all up to the last say_warnings. Valid until the next. */
const char *warnings_so_far(void);

#endif
