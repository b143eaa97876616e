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

/* Memory of a device; NULL where there is not enough. */
void *device_allocate(const struct miniapp_device *device, size_t bytes);

#endif
