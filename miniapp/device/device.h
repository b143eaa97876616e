/* Devices as the library itself sees them. */
#ifndef DEVICE_H
#define DEVICE_H

#include "backend.h"

#include <miniapp/device.h>

struct miniapp_device {
    char label[16];         /* as in results: "cpu", "gpu:0" */
    char name[DEVICE_TEXT]; /* the hardware: "NVIDIA H100" */
    const struct backend *backend;
    int number;
    const char *variant;   /* of the directives */
    struct backend varied; /* the backend, if the variant is not the default */
};

/* Memory of a device, which on the host begins so many bytes `ahead` of a cache line; NULL where
 * there is not enough. */
void *device_allocate(const struct miniapp_device *device, size_t bytes, size_t ahead);

/* Copy to a device or from it, also where that is the host; nothing where both are the same memory.
 * MINIAPP_DEVICE, with a message that names `what`, if that fails. */
enum miniapp_status device_send(const struct miniapp_device *device, void *to, const void *host,
                                size_t bytes, const char *what);
enum miniapp_status device_fetch(const struct miniapp_device *device, void *host, const void *from,
                                 size_t bytes, const char *what);

/* ---- host.c and threads.c: the OpenMP runtime ends a process whose threads cannot start ---- */

extern const struct backend host_backend;

/* The first of the features, a list that ends with NULL, that this processor lacks; or NULL. */
const char *missing_feature(const char *const *features);

/* The processor by a file like /proc/cpuinfo: a name or, as ARM's has none, numbers; in `text`, of
 * MINIAPP_PROCESSOR bytes, or a constant where the file tells neither. */
const char *processor_in(const char *cpuinfo, char *text);

/* Starts that many threads or, if it is 0, as many as the calling thread would start. MINIAPP_DONE
 * if they run, or have run before; else `reason` says why they cannot. */
enum miniapp_status threads_refused(int threads, char reason[DEVICE_TEXT]);

#endif
