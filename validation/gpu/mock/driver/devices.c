/* Devices and their contexts, of which each has one. */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_GPUS = 8 };
static struct gpu gpus[MOST_GPUS];
static int count, current;
static bool initialized;

struct gpu *current_gpu(void)
{
    return &gpus[current];
}

bool is_initialized(void)
{
    return initialized;
}

static struct gpu *gpu_at(int number)
{
    return number >= 0 && number < count ? &gpus[number] : NULL;
}

/* MOCK_GPUS lists the capabilities: "90", or "70,90" for two GPUs. */
API int cuInit(unsigned flags)
{
    if (has_to_fail("cuInit") || flags)
        return NO_DEVICE;
    if (initialized)
        return OK;
    for (const char *word = setting("MOCK_GPUS", "90"); *word && count < MOST_GPUS; count++) {
        char *end;
        gpus[count].capability = (int)strtol(word, &end, 10);
        word = *end == ',' ? end + 1 : end;
    }
    initialized = memory_initialize();
    return initialized ? OK : OUT_OF_MEMORY;
}

API int cuDriverGetVersion(int *version)
{
    *version = 12090;
    return OK;
}

API int cuDeviceGetCount(int *number)
{
    *number = count;
    return initialized ? OK : NOT_INITIALIZED;
}

API int cuDeviceGet(int *device, int number)
{
    *device = number;
    return gpu_at(number) ? OK : INVALID_DEVICE;
}

/* No report may look like one of a GPU. */
API int cuDeviceGetName(char *name, int length, int device)
{
    snprintf(name, (size_t)length, "mock GPU (on the CPU: its times say nothing)");
    return gpu_at(device) ? OK : INVALID_DEVICE;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = memory_of_a_gpu();
    return gpu_at(device) ? OK : INVALID_DEVICE;
}

/* CUdevice_attribute; what is not here is 0. */
API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } known[] = {
        {1, 1024},    {2, 1024},       {3, 64}, /* most threads of a block, in all and by axis */
        {4, 64},      {5, 2147483647},          /* and blocks */
        {6, 65535},   {7, 65535},      {8, 49152},   {9, 65536}, {10, 32},
        {12, 65536},  {15, 1}, /* registers, overlap, multiprocessors */
        {19, 1},      {31, 1},         {39, 2048},   {40, 2},    {41, 1},
        {81, 233472}, {82, 65536},     {97, 232448}, {106, 32},
    };
    const struct gpu *const gpu = gpu_at(device);
    *value = 0;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    if (attribute == 38)
        *value = atoi(setting("MOCK_L2", "52428800"));
    if (attribute == 16)
        *value = atoi(setting("MOCK_MULTIPROCESSORS", "132"));
    if (gpu && attribute == 75)
        *value = gpu->capability / 10;
    if (gpu && attribute == 76)
        *value = gpu->capability % 10;
    return gpu ? OK : INVALID_DEVICE;
}

API int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    (void)device;
    (void)peer;
    *can = 0;
    return OK;
}

/* ---- contexts ---- */

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    const struct gpu *const gpu = gpu_at(device);
    if (!gpu)
        return INVALID_DEVICE;
    *flags = gpu->flags;
    *active = gpu->retained > 0;
    return OK;
}

API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
    struct gpu *const gpu = gpu_at(device);
    if (!gpu)
        return INVALID_DEVICE;
    gpu->flags = flags;
    return OK;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    struct gpu *const gpu = gpu_at(device);
    if (!gpu || has_to_fail("cuDevicePrimaryCtxRetain"))
        return INVALID_DEVICE;
    gpu->retained++;
    say("# context of GPU %d: flags %u", device, gpu->flags);
    *context = gpu;
    return OK;
}

/* The last release resets the flags, as the driver does. */
API int cuDevicePrimaryCtxRelease_v2(int device)
{
    struct gpu *const gpu = gpu_at(device);
    if (!gpu || !gpu->retained)
        return INVALID_DEVICE;
    if (--gpu->retained == 0)
        gpu->flags = 0;
    return OK;
}

API int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    struct gpu *const gpu = gpu_at(device);
    if (!gpu)
        return INVALID_DEVICE;
    gpu->flags = flags;
    current = device;
    *context = gpu;
    return OK;
}

API int cuCtxDestroy_v2(void *context)
{
    return context ? OK : INVALID_VALUE;
}

API int cuCtxSetCurrent(void *context)
{
    if (!context)
        return INVALID_VALUE;
    current = (int)((struct gpu *)context - gpus);
    return OK;
}

API int cuCtxPushCurrent_v2(void *context)
{
    return cuCtxSetCurrent(context);
}

API int cuCtxPopCurrent_v2(void **context)
{
    *context = &gpus[current];
    return OK;
}

API int cuCtxGetCurrent(void **context)
{
    *context = NULL;
    return OK;
}

API int cuCtxGetDevice(int *device)
{
    *device = current;
    return NOT_INITIALIZED * !initialized;
}

API int cuCtxGetLimit(size_t *value, int limit)
{
    *value = limit == 0 ? 1024 : 8 << 20; /* the stack of a thread, the heap */
    return OK;
}

API int cuCtxSetLimit(int limit, size_t value)
{
    say("# limit %d: %zu", limit, value);
    return OK;
}

API int cuCtxSynchronize(void)
{
    return stream_wait_all();
}

API int cuGetErrorString(int error, const char **text)
{
    static char number[64];
    snprintf(number, sizeof(number), "mock CUDA error %d", error);
    *text = error == OUT_OF_MEMORY     ? "out of memory"
            : error == ILLEGAL_ADDRESS ? "an illegal memory access was encountered"
            : error == LAUNCH_FAILED   ? "unspecified launch failure"
                                       : number;
    return OK;
}
