/* A run: file -> fields -> device -> kernel -> compare / report / write. */
#ifndef MINIAPP_RUN_H
#define MINIAPP_RUN_H

#include "device.h"
#include "input.h"
#include "options.h"
#include "output.h"
#include "results.h"

/* What all parts of a run need. */
struct run {
    char command_line[PROVENANCE_TEXT];
    struct options options;
    struct device devices[MAX_REPEATS];
    struct input input;
    double setting[PHYSICS_SETTINGS];
    struct output output; /* where options.output is given */
    struct results results;
};

/* Does what the options ask for, but for listing. results.interrupted says whether a signal ended
 * it. */
enum physics_status run_all(struct run *run);

void run_release(struct run *run);

#endif
