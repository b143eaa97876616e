/*
 * The library of miniapp: kernels of the Veros ocean model on host threads and GPUs.
 *
 *     miniapp/status.h    what a call can come to, and the message of the last failure
 *     miniapp/grid.h      the grid, its axes and ghost cells
 *     miniapp/field.h     the fields: names, axes, units, valid ranges
 *     miniapp/setting.h   the numeric settings
 *     miniapp/kernel.h    the kernels: what each reads, writes and costs
 *     miniapp/sequence.h  kernels one after the other, bound to fields
 *     miniapp/device.h    where kernels run
 *     miniapp/state.h     fields in a device's memory, and kernels that run on them
 *     miniapp/file.h      inputs, references and outputs in HDF5
 *     miniapp/program.h   what only a program needs that measures and reports
 *
 * Fields, settings, kernels and sequences are rows of the library's tables, which never move. They
 * are found by name, and functions tell what they are; the few structures that are not opaque never
 * change. So a client that was compiled against an older minor version goes on working.
 *
 * The core of a client, where salt, temp and dHdT are [nz][ny][nx] and p is [nz]. docs/install.md
 * has a whole one, and how to compile and run it:
 *
 *     struct miniapp_grid grid = {nx, ny, nz}; // with two ghosts on each side of x and y
 *     struct miniapp_device *device = NULL;
 *     struct miniapp_state *state = NULL;
 *     if (miniapp_device_open("gpu", &device) ||
 *         miniapp_state_create(device, MINIAPP_FLOAT64, &grid, &state) ||
 *         miniapp_state_set(state, "salt", salt) || miniapp_state_set(state, "temp", temp) ||
 *         miniapp_state_set(state, "p", p) || miniapp_run(state, "eos") ||
 *         miniapp_state_get(state, "dHdT", dHdT))
 *         fprintf(stderr, "%s\n", miniapp_message());
 *     miniapp_state_free(state);
 *     miniapp_device_close(device);
 *
 * A state, and what is made on it, is used by one thread at a time; different states may be used
 * by different threads. Files are read and written by one thread of the process at a time.
 */
#ifndef MINIAPP_H
#define MINIAPP_H

#include <miniapp/device.h>
#include <miniapp/field.h>
#include <miniapp/file.h>
#include <miniapp/grid.h>
#include <miniapp/kernel.h>
#include <miniapp/program.h>
#include <miniapp/sequence.h>
#include <miniapp/setting.h>
#include <miniapp/state.h>
#include <miniapp/status.h>

#endif
