/* Optional datasets that the input lacks, and what stands in for them. */
#ifndef ABSENT_H
#define ABSENT_H

#include "run.h"

/* "w (0), kappaH (kappaM times 0.1; the closest is 'kappa_H')"; "" where nothing is absent. */
const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT]);

#endif
