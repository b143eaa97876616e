/* Where the results of a run come from. */
#ifndef DESCRIBE_H
#define DESCRIBE_H

#include "run.h"

/* NAME=VALUE of all settings, as --set takes them. */
const char *settings_text(const struct miniapp_settings *settings, char text[PROVENANCE_TEXT]);

/* Fills the parts of run->results that do not depend on times. */
void describe_run(struct run *run);

#endif
