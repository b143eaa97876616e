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

/* What a transfer takes. */
struct transfer_times {
    double bytes, seconds;
    double pinned_seconds; /* by way of memory that the system does not page; 0: not measured */
};

/* The arrays of a kernel in a device's memory. */
struct arrays {
    const struct device *device;
    const struct physics_kernel *kernel;
    enum physics_precision precision;
    struct physics_call call;
    double bytes; /* all of them */
    struct transfer_times to_device, from_device;
    bool each_call;                     /* calls are to transfer their data: */
    void *host_input[PHYSICS_FIELDS];   /* from here, */
    void *host_output[PHYSICS_FIELDS];  /* and to here */
};

/* Allocates inputs and outputs and copies the inputs in. */
enum physics_status arrays_open(const struct device *device, const struct physics_kernel *kernel,
                                enum physics_precision precision, const struct fields *fields,
                                const double setting[PHYSICS_SETTINGS], bool each_call,
                                struct arrays *arrays);

/* Makes the device the one that calls run on: before each call where there are several. */
void arrays_select(const struct arrays *arrays);

/* Copies the inputs to the device once more, or the outputs back, where calls are to. */
bool arrays_send_again(struct arrays *arrays);
bool arrays_return(struct arrays *arrays);

/* Measures how long inputs take to an offload device and outputs back; leaves both as they are. */
enum physics_status arrays_time_transfers(struct arrays *arrays);

/* Copies an output back, as double, into a new array that the caller frees. */
enum physics_status arrays_fetch(struct arrays *arrays, enum physics_field_id id,
                                 double **values);

void arrays_close(struct arrays *arrays);

#endif
