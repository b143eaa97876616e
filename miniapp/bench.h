/*
 * The rows of a run, and their timed calls.
 *
 * All rows are open at once and take turns in random order, so that a machine that grows slow or
 * fast treats them alike.
 */
#ifndef MINIAPP_BENCH_H
#define MINIAPP_BENCH_H

#include "input.h"
#include "measure.h"

#include <stdint.h>

enum { NO_ROW = -1 };

/* A kernel on a device in a precision and size. */
struct row {
    const struct physics_kernel *kernel;
    const struct device *device;
    enum physics_precision precision;
    struct physics_grid grid;
    int triad, fma;  /* the rows that measure its ceilings, or NO_ROW */
    bool is_ceiling; /* is here to measure the ceiling of others only */
    struct arrays arrays;
    double last; /* the time of the last untimed call */
    struct samples samples;
    struct timing timing; /* of the samples, where there are any */
    size_t turn; /* calls in a turn */
};

struct bench {
    struct row *rows;
    int count;
};

/* How rows are measured. */
struct method {
    size_t burnin;
    size_t repetitions; /* 0: as many as take `seconds` */
    double seconds;
    uint64_t seed;
    bool each_call; /* transfers data at each call */
    bool own_grid;  /* fields of the file's own grid are taken as they are */
    bool verbose;   /* announces each row's first call and first turn */
};

/* The kernels that measure the ceilings of others. */
const struct physics_kernel *ceiling_of_bytes(void);
const struct physics_kernel *ceiling_of_flops(void);

/* The input's own grid, with the ghosts that kernels want. */
struct physics_grid grid_of_input(const struct input *input);

/* Adds a row, unless there is one like it, with the rows of its ceilings where `roofline` is true;
 * its place, or NO_ROW, with a line printed, without memory. Earlier rows move. */
int bench_add(struct bench *bench, const struct physics_kernel *kernel,
              const struct device *device, enum physics_precision precision,
              const struct physics_grid *grid, bool roofline);

/* Whether there is enough memory for all rows; PHYSICS_DEVICE, and how much is needed, if not. */
enum physics_status bench_check_memory(const struct bench *bench, const struct input *input,
                                       const struct method *method);

/* Puts the fields of all rows where they are computed; of fewer where a signal asks for an end. */
enum physics_status bench_open(struct bench *bench, const struct input *input,
                               const double setting[PHYSICS_SETTINGS],
                               const struct method *method);

/* Makes the calls, as many as `method` says, or fewer where a signal asks for an end, and
 * summarises them. */
enum physics_status bench_measure(struct bench *bench, const struct method *method);

void bench_close(struct bench *bench);

#endif
