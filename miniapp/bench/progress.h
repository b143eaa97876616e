/* A bar on stderr, where that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>

/* Shows how much is done, between 0 and 1, and what is being done. */
void progress_show(double done, const char *what);

void progress_clear(void);

/* Whether it is shown: by one process for all of them. */
bool progress_is_shown(void);

#endif
