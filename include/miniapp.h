/*
 * The library of miniapp: kernels of the Veros ocean model on host threads and GPUs.
 *
 *     miniapp/status.h    status codes, and the message of the last failure
 *     miniapp/grid.h      the grid, its axes and ghost cells
 *     miniapp/field.h     the fields: names, axes, units, valid ranges
 *     miniapp/setting.h   the numeric settings
 *     miniapp/kernel.h    the kernels: what each reads and writes
 *     miniapp/sequence.h  kernels one after the other, bound to fields
 *     miniapp/device.h    where kernels run
 *     miniapp/state.h     fields in a device's memory, and kernels that run on them
 *     miniapp/file.h      inputs and outputs in HDF5
 *
 * The library owns the descriptions of fields, settings, kernels and sequences. Look them up by
 * name; the pointers stay valid. A compiled client works with newer minor versions.
 *
 * The core of a client, where salt, temp and dHdT are [nz][ny][nx] and p is [nz]; docs/client has
 * complete clients, and says how to compile them:
 *
 *     struct miniapp_grid grid = {nx, ny, nz}; // nx and ny include two ghosts on each side
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
 * Use a state and its plans from one thread at a time. Only one thread at a time may read or write
 * files.
 */
#ifndef MINIAPP_H
#define MINIAPP_H

#include <miniapp/device.h>
#include <miniapp/field.h>
#include <miniapp/file.h>
#include <miniapp/grid.h>
#include <miniapp/kernel.h>
#include <miniapp/sequence.h>
#include <miniapp/setting.h>
#include <miniapp/state.h>
#include <miniapp/status.h>

#endif
