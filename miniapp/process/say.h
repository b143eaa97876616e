/* The lines of failures and warnings on stderr, and which of several processes prints them. */
#ifndef SAY_H
#define SAY_H

#include <stdbool.h>

/* From here on, all failures and warnings become lines. Of several processes each holds those of
 * failures, because only one speaks for all; and all but the first hold their warnings, because
 * the first may have the same. */
void say_all(void);

/* Prints the failures that were held, or forgets them. */
void say_failures(bool speaks);

/* The first process prints the warnings that the others have about their parts. All call it. */
void say_warnings(void);

/* The warnings so far, a line each, without "miniapp: warning: "; "" without any. Of several
 * processes, the first has those of all up to the last say_warnings. Valid until the next one. */
const char *warnings_so_far(void);

#endif
