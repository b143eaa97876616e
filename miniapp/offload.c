/*
 * OpenMP target offload as a backend: the module that holds the kernels' device code. It is
 * compiled, with the kernels' offload builds, by the offload compiler, and loaded on demand.
 */
#include "backend.h"
#include "build.h"
#include "clock.h"
#include "driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct physics_kernel physics_kernels_offload_float64[];
extern const struct physics_kernel physics_kernels_offload_float32[];

static int current;

static int count(void)
{
    return omp_get_num_devices();
}

/* LLVM's plug-in for the CPU loads a copy of the device code from /tmp, and leaves it there. */
static int remove_copy(struct dl_phdr_info *loaded, size_t size, void *nothing)
{
    static const char copy[] = "/tmp/tmpfile_";
    (void)size;
    (void)nothing;
    if (strncmp(loaded->dlpi_name, copy, strlen(copy)) == 0)
        unlink(loaded->dlpi_name);
    return 0;
}

/* 1 on a device; 0 where the runtime fell back to the host. */
static int runs_on_device(void)
{
    int on_device = 0;
#pragma omp target map(from : on_device)
    on_device = !omp_is_initial_device();
    dl_iterate_phdr(remove_copy, NULL);
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

/* Whether code of this build runs on a GPU. Machine code runs on GPUs of its own generation that
 * are not older, PTX and bitcode on all that are not older. */
static bool code_fits(const struct gpu *gpu)
{
    for (const char *arch = strstr(MINIAPP_OFFLOAD_TARGET, "sm_"); arch;
         arch = strstr(arch + 1, "sm_")) {
        const int number = atoi(arch + 3);
        const bool is_older = gpu->major * 10 + gpu->minor < number;
        if (!is_older && (MINIAPP_OFFLOAD_ASSEMBLED_AT_START || gpu->major == number / 10))
            return true;
    }
    return false;
}

static bool describe(int number, char text[DEVICE_TEXT])
{
    struct gpu gpu;
    if (MINIAPP_OFFLOAD_EMULATED) {
        const double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
        snprintf(text, DEVICE_TEXT, "%s device %d, emulated on the CPU, in the host's %.1f GB",
                 MINIAPP_OFFLOAD_TARGET, number, bytes / 1e9);
        return number < count();
    }
    if (!driver_gpu(number, &gpu)) {
        snprintf(text, DEVICE_TEXT, "GPU %d, of which the driver says nothing", number);
        return number < count();
    }
    char free_text[64] = "";
    if (gpu.free_bytes)
        snprintf(free_text, sizeof(free_text), ", %.1f GB of them free",
                 (double)gpu.free_bytes / 1e9);
    snprintf(text, DEVICE_TEXT, "%s, sm_%d%d, %.1f GB%s; this build's %s code %s", gpu.name,
             gpu.major, gpu.minor, (double)gpu.bytes / 1e9, free_text, MINIAPP_OFFLOAD_TARGET,
             code_fits(&gpu) ? "fits" : "DOES NOT FIT");
    return true;
}

/* OpenMP has no name for a device; NVIDIA's driver, which is loaded by then, has. */
static void name_gpu(int number, char name[DEVICE_TEXT])
{
    struct gpu gpu;
    if (driver_gpu(number, &gpu))
        snprintf(name, DEVICE_TEXT, "%s", gpu.name);
    else
        snprintf(name, DEVICE_TEXT, "GPU %d, whose name is unknown", number);
}

static double empty_call(void)
{
    const double start = seconds_now();
#pragma omp target
    {
    }
    return seconds_now() - start;
}

/* What stands in the way where the runtime counts no device of that number. */
static void explain_absence(int number, char reason[DEVICE_TEXT])
{
    struct gpu gpu;
    const int length =
        snprintf(reason, DEVICE_TEXT, "the runtime finds %d device%s that this build's %s code "
                 "fits", count(), count() == 1 ? "" : "s", MINIAPP_OFFLOAD_TARGET);
    if (!MINIAPP_OFFLOAD_EMULATED && driver_gpu(number, &gpu))
        snprintf(reason + length, DEVICE_TEXT - (size_t)length, "; GPU %d is %s, sm_%d%d", number,
                 gpu.name, gpu.major, gpu.minor);
}

static bool open_device(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT])
{
    if (number >= count()) {
        explain_absence(number, reason);
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
    .describe = describe,
    .empty_call = empty_call,
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
