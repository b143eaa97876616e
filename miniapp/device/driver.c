#include "backend.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The driver's functions that are called here, by their names in libcuda.so.1; 0 is success. */
#define EACH_FUNCTION(DO)                                                                          \
    DO(cuInit, unsigned flags)                                                                     \
    DO(cuDeviceGet, int *device, int number)                                                       \
    DO(cuDeviceGetName, char *name, int length, int device)                                        \
    DO(cuDeviceGetAttribute, int *value, int attribute, int device)                                \
    DO(cuDeviceTotalMem_v2, size_t *bytes, int device)                                             \
    DO(cuDevicePrimaryCtxGetState, int device, unsigned *flags, int *active)                       \
    DO(cuDevicePrimaryCtxSetFlags_v2, int device, unsigned flags)                                  \
    DO(cuDevicePrimaryCtxRetain, void **context, int device)                                       \
    DO(cuDevicePrimaryCtxRelease_v2, int device)                                                   \
    DO(cuCtxPushCurrent_v2, void *context)                                                         \
    DO(cuCtxPopCurrent_v2, void **context)                                                         \
    DO(cuMemGetInfo_v2, size_t *free_bytes, size_t *bytes)

static struct {
#define DECLARE(function, ...) int (*function)(__VA_ARGS__);
    EACH_FUNCTION(DECLARE)
#undef DECLARE
} driver;

/* CUdevice_attribute, and CUctx_flags */
enum { L2_CACHE_SIZE = 38, CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
enum { SPIN = 1 };

static bool load_driver(void)
{
    static bool tried, loaded;
    if (tried)
        return loaded;
    tried = true;
    void *const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return false;
    loaded = true;
#define LOOK_UP(function, ...)                                                                     \
    *(void **)&driver.function = dlsym(library, #function);                                        \
    loaded = loaded && driver.function;
    EACH_FUNCTION(LOOK_UP)
#undef LOOK_UP
    loaded = loaded && driver.cuInit(0) == 0;
    return loaded;
}

/* The driver reports free memory only for the current context. */
static size_t free_memory(int device)
{
    size_t free_bytes = 0, bytes = 0;
    void *context = NULL;
    if (driver.cuDevicePrimaryCtxRetain(&context, device))
        return 0;
    if (!driver.cuCtxPushCurrent_v2(context)) {
        if (driver.cuMemGetInfo_v2(&free_bytes, &bytes))
            free_bytes = 0;
        driver.cuCtxPopCurrent_v2(&context);
    }
    driver.cuDevicePrimaryCtxRelease_v2(device);
    return free_bytes;
}

bool driver_gpu(int number, struct gpu *gpu)
{
    int device, major, minor;
    memset(gpu, 0, sizeof(*gpu));
    if (!load_driver() || driver.cuDeviceGet(&device, number) ||
        driver.cuDeviceGetName(gpu->name, sizeof(gpu->name), device) ||
        driver.cuDeviceGetAttribute(&major, CAPABILITY_MAJOR, device) ||
        driver.cuDeviceGetAttribute(&minor, CAPABILITY_MINOR, device) ||
        driver.cuDeviceTotalMem_v2(&gpu->bytes, device))
        return false;
    gpu->target = (struct target){.kind = TARGET_NVIDIA, .number = 10 * major + minor};
    gpu->free_bytes = free_memory(device);
    if (driver.cuDeviceGetAttribute(&gpu->cache_bytes, L2_CACHE_SIZE, device))
        gpu->cache_bytes = 0;
    return true;
}

/* The context stays until the process ends. One that another part of the process has made stays as
 * it is, and so do all if the user wants the host to wait. */
void driver_spin(void)
{
    const char *const told = getenv("MINIAPP_SPIN");
    if (told && strcmp(told, "0") == 0)
        return;
    int device, is_active;
    unsigned flags;
    void *context;
    for (int number = 0; load_driver() && !driver.cuDeviceGet(&device, number); number++)
        if (!driver.cuDevicePrimaryCtxGetState(device, &flags, &is_active) && !is_active &&
            !driver.cuDevicePrimaryCtxSetFlags_v2(device, SPIN))
            driver.cuDevicePrimaryCtxRetain(&context, device);
}
