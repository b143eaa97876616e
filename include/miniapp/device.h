/*
 * Devices: where kernels run and fields live.
 *
 * "cpu" are the host's threads. "gpu" and "gpu:N" are devices of the offload module, which is
 * loaded when the first of them is opened; "auto" is the first of them or else the cpu. A device
 * may also be named by its kind, as "nvidia", "nvidia:1", "amd" or "emulated". The module is
 * lib/miniapp-offload.so, installed by a build for GPUs beside the shared library.
 */
#ifndef MINIAPP_DEVICE_H
#define MINIAPP_DEVICE_H

#include <miniapp/api.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_device;

/* Finds and probes a device; MINIAPP_DEVICE, with the reason, and NULL in `device`, if it cannot be
 * used. */
MINIAPP_API enum miniapp_status miniapp_device_open(const char *name,
                                                    struct miniapp_device **device);

/* Frees a device. The states on it have to be freed before. NULL is allowed. */
MINIAPP_API void miniapp_device_close(struct miniapp_device *device);

/* "cpu" or "gpu:N" */
MINIAPP_API const char *miniapp_device_label(const struct miniapp_device *device);

/* The hardware: "NVIDIA H200" */
MINIAPP_API const char *miniapp_device_name(const struct miniapp_device *device);

/* "host", "nvidia", "amd" or "emulated" */
MINIAPP_API const char *miniapp_device_kind(const struct miniapp_device *device);

/* Whether what it holds counts against the host's memory. An emulated device takes host memory, and
 * fields are copied to it all the same. */
MINIAPP_API bool miniapp_device_takes_host_memory(const struct miniapp_device *device);

/* The seconds that one call of an empty kernel took; 0 on the host. */
MINIAPP_API double miniapp_device_empty_call(const struct miniapp_device *device);

/* How a nest of so many points runs: its blocks, and the threads in each; zeros on the host. */
MINIAPP_API void miniapp_device_geometry(const struct miniapp_device *device, int points,
                                         int *blocks, int *threads);

/* Describes the offload device of that number, whether or not it can be used. If there is none, it
 * gives the reason and returns false. */
MINIAPP_API bool miniapp_device_describe(int number, char *text, size_t size);

/* ---- the host ---- */

/* The number of CPUs that the process may use, by its affinity and its control group's quota; the
 * number of threads that kernels run on; and a way to set it, where 0 means OMP_NUM_THREADS or else
 * all of the CPUs. */
MINIAPP_API int miniapp_host_cpus(void);
MINIAPP_API int miniapp_host_threads(void);
MINIAPP_API void miniapp_host_set_threads(int threads);

/* The processor's model. */
MINIAPP_API const char *miniapp_host_processor(void);

/* Bytes of memory that are left to the process, and what limits them, such as "the machine has". */
MINIAPP_API double miniapp_host_memory(const char **limit);

MINIAPP_END

#endif
