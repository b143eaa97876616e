/* What a run found, to be reported in any format. */
#ifndef MINIAPP_RESULTS_H
#define MINIAPP_RESULTS_H

#include "device.h"
#include "measure.h"
#include "provenance.h"
#include "validate.h"

/* One kernel on one device in one precision and size. */
struct result {
    const struct physics_kernel *kernel;
    const char *device; /* a label */
    enum physics_precision precision;
    struct physics_grid grid;
    struct timing timing;
    double bytes;   /* that a call must move */
    double speedup; /* over the first device, by the median */
    double to_device_bytes, to_device_seconds;
    double from_device_bytes, from_device_seconds; /* 0 where no output was needed */
};

/* One output variable of one result. */
struct check {
    const struct physics_kernel *kernel;
    const char *device;
    enum physics_precision precision;
    const struct physics_field *field;
    struct verdict verdict;
};

struct results {
    struct provenance provenance;
    const char *input;
    const char *reference; /* or NULL */
    double read_seconds;
    struct result *results;
    size_t result_count;
    struct check *checks;
    size_t check_count;
};

/* A new, empty result or check; NULL, with a line printed, without memory. Earlier ones move. */
struct result *results_add(struct results *results);
struct check *results_add_check(struct results *results);

void results_release(struct results *results);

/* Whether every variable that was compared passed. */
bool results_passed(const struct results *results);

#endif
