/*
 * Devices: where kernels run and fields live.
 *
 * "cpu" are the host's threads; "gpu" and "gpu:N" are the devices of the offload module, which a
 * build for GPUs installs beside the library; "auto" is the first of them that there is, or else
 * the cpu. A kind may stand for "gpu": "nvidia", "nvidia:1", "amd", "emulated".
 */
#ifndef MINIAPP_DEVICE_H
#define MINIAPP_DEVICE_H

#include <miniapp/api.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_device;

/* MINIAPP_DEVICE, with the reason, where the device cannot be used. */
enum miniapp_status miniapp_device_open(const char *name, struct miniapp_device **);

/* The states on a device have to be freed before it. */
void miniapp_device_close(struct miniapp_device *);

const char *miniapp_device_label(const struct miniapp_device *); /* "cpu", "gpu:0" */
const char *miniapp_device_kind(const struct miniapp_device *);  /* "host", "nvidia", "emulated" */
const char *miniapp_device_name(const struct miniapp_device *);  /* "NVIDIA H200" */

/* Whether its fields take the host's memory, as those of an emulated device do. */
bool miniapp_device_takes_host_memory(const struct miniapp_device *);

/* Seconds that a call of an empty kernel takes; 0 on the host. */
double miniapp_device_empty_call(const struct miniapp_device *);

/* Blocks, and threads in each, of a nest of so many points; zeros on the host. */
void miniapp_device_geometry(const struct miniapp_device *, int points, int *blocks, int *threads);

/* Describes GPU `number`, usable or not. If there is none: the reason, and false. */
bool miniapp_device_describe(int number, char *text, size_t size);

/* ---- the host ---- */

int miniapp_host_cpus(void);                /* that the process may use */
int miniapp_host_threads(void);             /* that kernels run on */
void miniapp_host_set_threads(int threads); /* 0: OMP_NUM_THREADS, or else a thread for each CPU */
const char *miniapp_host_processor(void);

/* Bytes that are left to the process, and what limits them: "the machine has". */
double miniapp_host_memory(const char **limit);

MINIAPP_END

#endif
