/*
 * The kernels: a table of what each reads, writes and costs, and the call that runs one.
 *
 * A minimal client:
 *
 *     struct physics_call call = {.grid = {nx, ny, nz}};
 *     physics_default_settings(&call);
 *     call.input[PHYSICS_SALT] = salt; ...
 *     call.output[PHYSICS_DHDT] = dHdT;
 *     enum physics_status status =
 *         physics_run(physics_find_kernel(physics_host_kernels(PHYSICS_FLOAT64), "eos"), &call);
 */
#ifndef PHYSICS_KERNEL_H
#define PHYSICS_KERNEL_H

#include <physics/field.h>
#include <physics/grid.h>
#include <physics/setting.h>
#include <physics/status.h>

#define PHYSICS_MAX_FIELDS 32 /* in one list of a kernel */

/*
 * Everything that a kernel gets. Arrays are contiguous, in the precision and the memory
 * (host or device) of the kernel's table; inputs and outputs must not overlap.
 */
struct physics_call {
    struct physics_grid grid;
    double setting[PHYSICS_SETTINGS];
    const void *input[PHYSICS_FIELDS];
    void *output[PHYSICS_FIELDS];
};

typedef void physics_function(const struct physics_call *call);

struct physics_kernel {
    const char *name;
    const char *summary;
    const char *source; /* the paper or code that defines it */
    enum physics_field_id inputs[PHYSICS_MAX_FIELDS];
    enum physics_field_id outputs[PHYSICS_MAX_FIELDS];
    enum physics_setting_id settings[PHYSICS_SETTINGS];
    double flops; /* per grid point; a fused multiply-add counts two */
    bool calibration; /* measures the machine: not one of the ocean's kernels */
    physics_function *run;
};

/* The kernels for host threads in a precision, in the order of the table; a row without a
 * name ends it. Every table has the same rows but for `run`. */
const struct physics_kernel *physics_host_kernels(enum physics_precision precision);

/* The kernel of that name, or NULL. */
const struct physics_kernel *physics_find_kernel(const struct physics_kernel *table,
                                                 const char *name);

/* Bytes that one call must move: each input read once, each output written once. */
double physics_kernel_bytes(const struct physics_kernel *kernel, const struct physics_grid *grid,
                            enum physics_precision precision);

void physics_default_settings(struct physics_call *call);

/*
 * Runs the kernel. PHYSICS_USAGE, and nothing is written, where the kernel is NULL, the grid
 * is smaller than its ghosts or too large to index, or an array that the kernel needs is NULL.
 */
enum physics_status physics_run(const struct physics_kernel *kernel,
                                const struct physics_call *call);

#endif
