/*
 * OpenMP target offload as a backend: the module that holds the kernels' device code. It is
 * compiled, with the kernels' offload builds, by the offload compiler, and loaded on demand.
 */
#include "backend.h"
#include "build.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern const struct physics_kernel physics_kernels_offload_float64[];
extern const struct physics_kernel physics_kernels_offload_float32[];

static int current;

static int count(void)
{
    return omp_get_num_devices();
}

/* 1 on a device; 0 where the runtime fell back to the host. */
static int runs_on_device(void)
{
    int on_device = 0;
#pragma omp target map(from : on_device)
    on_device = !omp_is_initial_device();
    return on_device;
}

static const struct physics_kernel *kernels(enum physics_precision precision)
{
    return precision == PHYSICS_FLOAT64 ? physics_kernels_offload_float64
                                        : physics_kernels_offload_float32;
}

static void select_device(int number)
{
    current = number;
    omp_set_default_device(number);
}

/* OpenMP has no name for a device; NVIDIA's driver, which is loaded by then, has. */
static void name_gpu(int number, char name[DEVICE_TEXT])
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    int (*start)(unsigned) = NULL;
    int (*get)(int *, int) = NULL;
    int (*get_name)(char *, int, int) = NULL;
    int device;
    if (driver) {
        *(void **)&start = dlsym(driver, "cuInit");
        *(void **)&get = dlsym(driver, "cuDeviceGet");
        *(void **)&get_name = dlsym(driver, "cuDeviceGetName");
    }
    if (!start || !get || !get_name || start(0) || get(&device, number) ||
        get_name(name, DEVICE_TEXT, device))
        snprintf(name, DEVICE_TEXT, "GPU %d, whose name is unknown", number);
}

static bool open_device(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT])
{
    if (number >= count()) {
        snprintf(reason, DEVICE_TEXT, "the runtime finds %d device%s that this build's %s code "
                 "fits", count(), count() == 1 ? "" : "s", MINIAPP_OFFLOAD_TARGET);
        return false;
    }
    select_device(number);
    if (!runs_on_device()) {
        snprintf(reason, DEVICE_TEXT, "a probe was run by the host instead%s",
                 getenv("OMP_TARGET_OFFLOAD") ? "; OMP_TARGET_OFFLOAD is set" : "");
        return false;
    }
    if (MINIAPP_OFFLOAD_EMULATED)
        snprintf(name, DEVICE_TEXT, "%s device %d, emulated on the CPU", MINIAPP_OFFLOAD_TARGET,
                 number);
    else
        name_gpu(number, name);
    return true;
}

/* Where there is not enough memory the runtime prints a line of its own; the program says it
 * better. */
static void *allocate(size_t bytes)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int messages = dup(STDERR_FILENO);
    if (nowhere >= 0 && messages >= 0)
        dup2(nowhere, STDERR_FILENO);
    void *memory = omp_target_alloc(bytes, current);
    if (nowhere >= 0 && messages >= 0)
        dup2(messages, STDERR_FILENO);
    if (messages >= 0)
        close(messages);
    if (nowhere >= 0)
        close(nowhere);
    return memory;
}

static void release(void *memory)
{
    if (memory)
        omp_target_free(memory, current);
}

static bool to_device(void *device, const void *host, size_t bytes)
{
    return omp_target_memcpy(device, host, bytes, 0, 0, current, omp_get_initial_device()) == 0;
}

static bool from_device(void *host, const void *device, size_t bytes)
{
    return omp_target_memcpy(host, device, bytes, 0, 0, omp_get_initial_device(), current) == 0;
}

/* Of LLVM's runtime; other compilers' have none. */
extern void *llvm_omp_target_alloc_host(size_t bytes, int device) __attribute__((weak));
extern void llvm_omp_target_free_host(void *memory, int device) __attribute__((weak));

static void *allocate_pinned(size_t bytes)
{
    return llvm_omp_target_alloc_host ? llvm_omp_target_alloc_host(bytes, current) : NULL;
}

static void release_pinned(void *memory)
{
    llvm_omp_target_free_host(memory, current);
}

__attribute__((visibility("default"))) const struct backend OFFLOAD_BACKEND = {
    .build = BUILD_VERSION " " BUILD_OFFLOAD,
    .call_bytes = sizeof(struct physics_call),
    .count = count,
    .open = open_device,
    .select = select_device,
    .kernels = kernels,
    .allocate = allocate,
    .release = release,
    .to_device = to_device,
    .from_device = from_device,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .takes_host_memory = MINIAPP_OFFLOAD_EMULATED,
};
