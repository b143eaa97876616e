/*
 * The memory and kernels behind a device name, as the library uses them. Host threads are built in;
 * offload is a module that is loaded only when a device other than cpu is named, so that --device
 * cpu starts fast, and starts on machines that lack the offload runtime.
 *
 * A backend numbers its devices. Only kernels have a current device: they run on the default device
 * of the calling thread.
 */
#ifndef BACKEND_H
#define BACKEND_H

#include "table.h"
#include "target.h"

#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

enum { DEVICE_TEXT = 256 };

struct backend {
    const char *build;     /* the library refuses a module of another build */
    enum target_kind kind; /* of its devices */

    /* Describes a device, whether or not it can be used: "NVIDIA T4, nvidia:sm_75, ...".
     * False if no device has that number. */
    bool (*describe)(int number, char text[DEVICE_TEXT]);

    /* Runs a probe on a device. False, with the reason, where the probe did not run there.
     * `name` becomes the device's name. */
    bool (*open)(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT]);

    /* The bytes of a device's last cache; 0 where they are not known. */
    double (*cache_bytes)(int number);

    /* The seconds that a call of an empty kernel took. */
    double (*empty_call)(int number);

    /* How many blocks, and threads in each, a loop nest of that many points gets. */
    void (*geometry)(int number, int points, int *blocks, int *threads);

    /* The kernels of each precision. They run on the device that this thread selected last, if it
     * could be. */
    const struct kernel_functions *functions[MINIAPP_PRECISIONS];
    enum miniapp_status (*select)(int number);

    /* Memory of a device; NULL where there is not enough. The host's begins so many bytes `ahead`
     * of a cache line. */
    void *(*allocate)(int number, size_t bytes, size_t ahead);
    void (*release)(int number, void *memory);
    bool (*to_device)(int number, void *device, const void *host, size_t bytes);
    bool (*from_device)(int number, void *host, const void *device, size_t bytes);

    /* Pinned memory of the host, which the system does not page, so that the device can access it
     * directly; NULL if there is none. Both functions are NULL if the device is the host. */
    void *(*allocate_pinned)(int number, size_t bytes);
    void (*release_pinned)(int number, void *memory);

    void (*wait)(void); /* for kernels that have been started; NULL: they end before they return */
    bool
        is_indirect; /* MPI cannot take what allocate() gives, nor a kernel's outputs as they are */
    bool is_host;    /* the device's memory is the host's: nothing is copied */
    bool takes_host_memory; /* allocate() counts against the memory of the host */
};

/* The symbol that an offload module exports. */
#define OFFLOAD_BACKEND miniapp_offload_backend
#define OFFLOAD_BACKEND_NAME "miniapp_offload_backend"

/* The functions that the module of a directive variant exports. */
struct variant_module {
    const char *build;
    void (*vary)(struct backend *backend); /* puts functions of its own in the place of others */
};
#define VARIANT_MODULE miniapp_variant_module
#define VARIANT_MODULE_NAME "miniapp_variant_module"

/* ---- driver.c: NVIDIA's driver, loaded when first asked: a start needs no CUDA ---- */

struct gpu {
    char name[128];
    struct target target; /* its compute capability */
    size_t bytes;         /* of memory */
    size_t free_bytes;    /* 0 where it is not known */
    int cache_bytes;      /* of L2; likewise */
};

/* False where there is no driver or no such GPU. */
bool driver_gpu(int number, struct gpu *gpu);

/* Makes LLVM's runtime, which is not loaded yet, poll GPUs while it waits for them: it uses a
 * context that exists as it is, whereas one that it creates waits for an interrupt after every loop
 * nest. */
void driver_spin(void);

#endif
