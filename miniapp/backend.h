/*
 * What the program needs of the memory and kernels behind a device name. Host threads are
 * built in; offload is a module that is loaded only when a device other than cpu is named, so
 * that --device cpu starts fast, and starts on machines that lack the offload runtime.
 */
#ifndef MINIAPP_BACKEND_H
#define MINIAPP_BACKEND_H

#include <physics/kernel.h>
#include <stdbool.h>
#include <stddef.h>

enum { DEVICE_TEXT = 256 };

struct backend {
    /* What both sides must agree on: the program refuses a module of another build. */
    const char *build;
    size_t call_bytes;

    /* What is known of a device, whether or not it can be used: "NVIDIA T4, sm_75, ...". False where
     * none has that number. */
    bool (*describe)(int number, char text[DEVICE_TEXT]);

    /* The seconds that a call of an empty kernel took on the current device. */
    double (*empty_call)(void);

    /* Runs a probe on a device. False, with the reason, where the probe did not run there.
     * `name` becomes the device's name. */
    bool (*open)(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT]);

    /* Makes a device the one that all other functions and the kernels use. */
    void (*select)(int number);

    const struct physics_kernel *(*kernels)(enum physics_precision precision);

    /* Memory of the current device; NULL where there is not enough. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);
    bool (*to_device)(void *device, const void *host, size_t bytes);
    bool (*from_device)(void *host, const void *device, size_t bytes);

    /* Memory of the host that the system does not page, so that the device can read it by itself;
     * NULL where there is none. Both are NULL where the device is the host. */
    void *(*allocate_pinned)(size_t bytes);
    void (*release_pinned)(void *memory);

    bool takes_host_memory; /* allocate() counts against the memory of the host */
};

/* The symbol that an offload module exports. */
#define OFFLOAD_BACKEND miniapp_offload_backend
#define OFFLOAD_BACKEND_NAME "miniapp_offload_backend"

#endif
