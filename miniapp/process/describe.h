/* Where the results of a run come from. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "run.h"

/* The optional datasets that the input lacks, and what stands in for them: "w (0), kappaH (kappaM
 * times 0.1; the closest is 'kappa_H')"; "" where nothing is absent. */
const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT]);

/* Fills the parts of run->results that do not depend on times. */
void describe_run(struct run *run);

#endif
