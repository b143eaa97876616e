/*
 * The module of a directive variant: all kernels, built under its directives. CMake builds it for
 * each of MINIAPP_VARIANTS, and defines VARIANT_FLOAT64, VARIANT_FLOAT32 and PHYSICS_DIRECTIVES.
 * The variant's header may define
 *   FIELDS_ARE_MAPPED   nests take addresses of the host, of arrays that are mapped
 *   NESTS_ARE_DEFERRED  they may run after the kernel returns, in the order of queue_of_nests
 */
#include "backend.h"
#include "build.h"
#include "directives.h"

extern const struct kernel_functions VARIANT_FLOAT64, VARIANT_FLOAT32;

#if defined(FIELDS_ARE_MAPPED)

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/*
 * Memory of a device by data directives, for variants whose nests take addresses of the host: each
 * array exists twice, and the device's copy is mapped to that of the host.
 */
enum { BEFORE = 64 }; /* the array, so that it is aligned: its size */

static void *allocate_mapped(int number, size_t bytes, size_t ahead)
{
    (void)ahead;
    char *const base =
        bytes < SIZE_MAX / 2 ? aligned_alloc(64, (bytes + 2 * BEFORE) & ~63UL) : NULL;
    if (!base)
        return NULL;
    char *const memory = base + BEFORE;
    memcpy(base, &bytes, sizeof(bytes));
#pragma omp target enter data map(alloc : memory[ : bytes]) device(number)
    return memory;
}

static void release_mapped(int number, void *array)
{
    char *const memory = array;
    size_t bytes;
    if (!array)
        return;
    memcpy(&bytes, memory - BEFORE, sizeof(bytes));
#pragma omp target exit data map(delete : memory[ : bytes]) device(number)
    free(memory - BEFORE);
}

static bool update_device(int number, void *array, const void *host, size_t bytes)
{
    char *const memory = array;
    memcpy(memory, host, bytes);
#pragma omp target update to(memory[ : bytes]) device(number)
    return true;
}

static bool update_host(int number, void *host, const void *array, size_t bytes)
{
    const char *const memory = array;
#pragma omp target update from(memory[ : bytes]) device(number)
    memcpy(host, memory, bytes);
    return true;
}

static void vary_memory(struct backend *backend)
{
    backend->allocate = allocate_mapped;
    backend->release = release_mapped;
    backend->to_device = update_device;
    backend->from_device = update_host;
    backend->is_indirect = true;
}

#elif defined(NESTS_ARE_DEFERRED)

char queue_of_nests;
static struct backend before; /* what it does when no nest runs */

static void wait_for_nests(void)
{
#pragma omp taskwait
}

static void release_later(int number, void *memory)
{
    wait_for_nests();
    before.release(number, memory);
}

static bool wait_and_copy_in(int number, void *device, const void *host, size_t bytes)
{
    wait_for_nests();
    return before.to_device(number, device, host, bytes);
}

static bool wait_and_copy_out(int number, void *host, const void *device, size_t bytes)
{
    wait_for_nests();
    return before.from_device(number, host, device, bytes);
}

static void vary_memory(struct backend *backend)
{
    before = *backend;
    backend->release = release_later;
    backend->to_device = wait_and_copy_in;
    backend->from_device = wait_and_copy_out;
    backend->wait = wait_for_nests;
    backend->is_indirect = true;
}

#else

static void vary_memory(struct backend *backend)
{
    (void)backend;
}

#endif

static void vary(struct backend *backend)
{
    backend->functions[MINIAPP_FLOAT64] = &VARIANT_FLOAT64;
    backend->functions[MINIAPP_FLOAT32] = &VARIANT_FLOAT32;
    vary_memory(backend);
}

__attribute__((visibility("default"))) const struct variant_module VARIANT_MODULE = {
    .build = BUILD_OF_MODULES,
    .vary = vary,
};
