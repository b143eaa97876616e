/* Optional datasets that the input lacks, and what stands in for them. */
#ifndef ABSENT_H
#define ABSENT_H

#include "run.h"

/* MINIAPP_INPUT where the input has one half of a pair that means nothing alone. */
enum miniapp_status absent_check(const struct run *run);

/* "w (0), kappaH (kappaM times 0.1; the closest is 'kappa_H')"; "" where nothing is absent. */
const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT]);

#endif
