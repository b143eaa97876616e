/* Devices by name, and fields in their memory. */
#ifndef MINIAPP_DEVICE_H
#define MINIAPP_DEVICE_H

#include "backend.h"
#include "fields.h"

#include <stdio.h>

struct device {
    char label[16];         /* as in results: "cpu", "gpu:0" */
    char name[DEVICE_TEXT]; /* the hardware: "NVIDIA H100" */
    const struct backend *backend;
    int number;
};

/* Finds and probes a device; PHYSICS_DEVICE, and why, where it cannot be used. */
enum physics_status device_open(const char *asked, struct device *device);

/* Prints what this build can run on here. */
void list_devices(FILE *stream);

/* The arrays of a kernel in a device's memory. */
struct arrays {
    const struct device *device;
    const struct physics_kernel *kernel;
    enum physics_precision precision;
    struct physics_call call;
    double to_device_bytes, to_device_seconds;
    double from_device_bytes, from_device_seconds;
};

/* Allocates inputs and outputs and copies the inputs in. */
enum physics_status arrays_open(const struct device *device, const struct physics_kernel *kernel,
                                enum physics_precision precision, const struct fields *fields,
                                const double setting[PHYSICS_SETTINGS], struct arrays *arrays);

/* Copies an output back, as double, into a new array that the caller frees. */
enum physics_status arrays_fetch(struct arrays *arrays, enum physics_field_id id,
                                 double **values);

void arrays_close(struct arrays *arrays);

#endif
