/*
 * The argument of a kernel's function. This header names no kernel and no field, so that a new
 * description recompiles no other kernel.
 */
#ifndef PHYSICS_CALL_H
#define PHYSICS_CALL_H

#include <miniapp/grid.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* SETTING_dt_tracer, ... */
enum setting_id {
#define SETTING_ROW(name, ...) SETTING_##name,
#include "ocean.settings"
#undef SETTING_ROW
    SETTINGS
};

/* How a kernel gets a total of the whole ocean. */
struct totals {
    void *context;
    /* The host's copy of scratch; NULL where the copy failed: then the step fails, too. */
    const double *(*on_host)(void *context, const double *scratch, size_t count);
    /* Makes each number its sum over all blocks of the ocean, or else the largest. MPI chooses the
     * order in which blocks are added, so sums have to be exact. All blocks call it, also where a
     * copy failed; behind the numbers is room for one more. */
    void (*reduce)(void *context, bool is_sum, double *numbers, size_t count);
};

/* Memory that a kernel keeps from one call of a plan to the next. */
struct keeper {
    void *context;
    /* The memory that take_host gave first; NULL where there is none, or where settings, lines of
     * the grid, masks or indices have changed since: the memory is then freed, and the kernel
     * has to prepare anew. */
    void *(*recall)(void *context);
    /* Cleared memory; NULL if there is none: then the step fails, too. */
    void *(*take_host)(void *context, size_t bytes);
    void *(*take_device)(void *context, size_t bytes); /* on a cache line */
    bool (*to_device)(void *context, void *device, const void *host, size_t bytes);
    /* Says that memory of its own is lacking, unless the step has failed already. */
    void (*lack_memory)(void *context);
    /* Says that numbers are wrong, and fails the step; or only warns. */
    void (*give_up)(void *context, const char *line);
    void (*tell)(void *context, const char *line);
    /* Says how an elliptic problem was solved: `left` is the residual of the right-hand side, and
     * `nests` a device's launches in all iterations. */
    void (*solved)(void *context, int iterations, int nests, double left);
};

/* An array for each argument of a kernel, and all settings. */
struct kernel_call {
    struct miniapp_grid grid;
    const double *setting;
    void *const *argument;
    const struct totals *totals;
    const struct keeper *keeper;
    bool cyclic_x;
};

typedef void kernel_function(const struct kernel_call *call);

#endif
