/*
 * Memory of a device by data directives, for variants whose nests take addresses of the host: each
 * array exists twice, and the device's copy is mapped to that of the host.
 */
#ifndef MAPPED_H
#define MAPPED_H

#include <omp.h>
#include <stdlib.h>
#include <string.h>

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

#endif
