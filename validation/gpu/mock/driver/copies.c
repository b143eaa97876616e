/* Memory and copies, as the offload runtimes ask for them. */
#define _GNU_SOURCE
#include "mock.h"

#include <stdlib.h>

/* ---- memory ---- */

API int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    if (has_to_fail("cuMemAlloc") || !bytes)
        return INVALID_VALUE;
    *address = (uint64_t)(uintptr_t)memory_allocate(bytes);
    say("# allocated %zu at %#llx", bytes, (unsigned long long)*address);
    return *address ? OK : OUT_OF_MEMORY;
}

API int cuMemFree_v2(uint64_t address)
{
    say("# freed %#llx", (unsigned long long)address);
    stream_wait_all();
    return !address || memory_free((uint8_t *)(uintptr_t)address) ? OK : INVALID_VALUE;
}

API int cuMemGetInfo_v2(size_t *free_bytes, size_t *bytes)
{
    *bytes = memory_of_a_gpu();
    *free_bytes = *bytes - current_gpu()->held;
    return OK;
}

API int cuMemGetAddressRange_v2(uint64_t *start, size_t *bytes, uint64_t address)
{
    return memory_piece(address, start, bytes) ? OK : NOT_FOUND;
}

API int cuMemAllocHost_v2(void **memory, size_t bytes)
{
    *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *memory ? OK : OUT_OF_MEMORY;
}

API int cuMemFreeHost(void *memory)
{
    free(memory);
    return OK;
}

API int cuMemHostGetDevicePointer_v2(uint64_t *address, void *memory, unsigned flags)
{
    (void)memory;
    (void)flags;
    *address = 0;
    return NOT_SUPPORTED;
}

/* ---- copies ---- */

static bool is_there(uint64_t address, size_t bytes)
{
    if (memory_holds(address, bytes))
        return true;
    complain("a copy of %zu bytes at %#llx, where as much is not allocated", bytes,
             (unsigned long long)address);
    return false;
}

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* The driver copies what is small at once; the rest it may still read later. */
static uint8_t *staged(const void *host, size_t bytes)
{
    uint8_t *const copy = bytes < 1 << 16 ? malloc(bytes) : NULL;
    if (copy)
        memcpy(copy, host, bytes);
    return copy;
}

API int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    stream_wait_all();
    return is_there(to, bytes) ? perform_now((struct operation){
                                     .what = COPY, .to = pointer(to), .from = from, .bytes = bytes})
                               : INVALID_VALUE;
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                             struct CUstream_st *stream)
{
    return is_there(to, bytes)
               ? stream_add(stream, (struct operation){.what = COPY,
                                                       .to = pointer(to),
                                                       .from = from,
                                                       .staged = staged(from, bytes),
                                                       .bytes = bytes})
               : INVALID_VALUE;
}

API int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    stream_wait_all();
    return is_there(from, bytes)
               ? perform_now((struct operation){
                     .what = COPY, .to = to, .from = pointer(from), .bytes = bytes})
               : INVALID_VALUE;
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, struct CUstream_st *stream)
{
    return is_there(from, bytes)
               ? stream_add(stream,
                            (struct operation){
                                .what = COPY, .to = to, .from = pointer(from), .bytes = bytes})
               : INVALID_VALUE;
}

API int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, struct CUstream_st *stream)
{
    return is_there(to, bytes) && is_there(from, bytes)
               ? stream_add(stream, (struct operation){.what = COPY,
                                                       .to = pointer(to),
                                                       .from = pointer(from),
                                                       .bytes = bytes})
               : INVALID_VALUE;
}

API int cuMemcpy(uint64_t to, uint64_t from, size_t bytes)
{
    stream_wait_all();
    return perform_now(
        (struct operation){.what = COPY, .to = pointer(to), .from = pointer(from), .bytes = bytes});
}
