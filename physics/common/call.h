/*
 * What a kernel's function is called with. It knows no kernel and no field, so that a new
 * description compiles no other kernel again.
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
     * order in which blocks are added, so sums have to be exact. */
    void (*reduce)(void *context, bool is_sum, double *numbers, size_t count);
};

/* What a kernel gets: an array for each argument, and all settings. */
struct kernel_call {
    struct miniapp_grid grid;
    const double *setting;
    void *const *argument;
    const struct totals *totals;
};

typedef void kernel_function(const struct kernel_call *call);

#endif
