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

#include <physics/api.h>
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
PHYSICS_API const struct physics_kernel *physics_host_kernels(enum physics_precision precision);

/* The kernel of that name, or NULL. */
PHYSICS_API const struct physics_kernel *physics_find_kernel(const struct physics_kernel *table,
                                                             const char *name);

/* Bytes that one call must move: each input read once, each output written once. */
PHYSICS_API double physics_kernel_bytes(const struct physics_kernel *kernel,
                                        const struct physics_grid *grid,
                                        enum physics_precision precision);

PHYSICS_API void physics_default_settings(struct physics_call *call);

/*
 * Runs the kernel. PHYSICS_USAGE, and nothing is written, where the kernel is NULL, an axis of the
 * grid has more than PHYSICS_MAX_CELLS cells, nx or ny is below PHYSICS_MIN_CELLS, nz is 0, there
 * are too many points to index, or an array that the kernel needs is NULL.
 */
PHYSICS_API enum physics_status physics_run(const struct physics_kernel *kernel,
                                            const struct physics_call *call);

/* What the declarations of a caller in another language must agree with. */
struct physics_layout {
    size_t fields, settings, kernel_fields; /* lengths of the arrays in the structures */
    size_t field_bytes, setting_bytes, kernel_bytes, call_bytes;
};

PHYSICS_API extern const struct physics_layout physics_layout;

#endif
