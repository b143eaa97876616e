/*
 * Devices: where kernels run and fields live.
 *
 * "cpu" is the host. "gpu:N" is GPU N; "gpu" is gpu:0. "auto" is gpu:0 or, if that cannot be used,
 * the cpu, with a warning. A kind may stand for "gpu": "nvidia", "nvidia:1", "amd", "emulated".
 */
#ifndef MINIAPP_DEVICE_H
#define MINIAPP_DEVICE_H

#include <miniapp/api.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_device;

/* Fails with MINIAPP_DEVICE, and the reason as the message, if the device cannot be used. */
enum miniapp_status miniapp_device_open(const char *name, struct miniapp_device **);

/* The states on a device have to be freed before it. */
void miniapp_device_close(struct miniapp_device *);

const char *miniapp_device_label(const struct miniapp_device *); /* "cpu", "gpu:0" */
const char *miniapp_device_kind(const struct miniapp_device *);  /* "host", "nvidia", "emulated" */
const char *miniapp_device_name(const struct miniapp_device *);  /* "NVIDIA H200" */

/* ---- the host ---- */

/* The number of threads, at most 4096, that run the kernels which the calling thread starts. 0
 * stands for $OMP_NUM_THREADS or, if that is not set, one thread for each CPU. MINIAPP_DEVICE if
 * the system cannot start that many; the number then stays as it was. With GCC's runtime, a child
 * that was forked after threads had run has one thread. */
int miniapp_host_threads(void);
enum miniapp_status miniapp_host_set_threads(int threads);

MINIAPP_END

#endif
