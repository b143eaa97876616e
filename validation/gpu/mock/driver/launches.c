/* Launches: whether a GPU would take them, and their arguments. */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>

/* The values of CU_LAUNCH_PARAM_BUFFER_POINTER and CU_LAUNCH_PARAM_BUFFER_SIZE. */
static const void *in_buffer(void **extra, size_t *bytes)
{
    const void *buffer = NULL;
    for (; *extra; extra += 2)
        if (*extra == (void *)1)
            buffer = extra[1];
        else if (*extra == (void *)2)
            *bytes = *(size_t *)extra[1];
    return buffer;
}

/* A copy of the arguments; NULL where there are more or fewer bytes than the kernel's PTX has. */
static uint8_t *arguments(const struct ptx_kernel *kernel, void **parameters, void **extra)
{
    size_t bytes = kernel->parameter_bytes;
    const void *const buffer = extra ? in_buffer(extra, &bytes) : NULL;
    if (bytes != kernel->parameter_bytes || (extra && !buffer))
        return NULL;
    uint8_t *const copy = malloc(bytes + 1);
    if (buffer)
        memcpy(copy, buffer, bytes);
    for (size_t i = 0; !buffer && i < bytes / 8; i++) /* words of 8 bytes */
        memcpy(copy + 8 * i, parameters[i], 8);
    return copy;
}

static bool has_size(const struct grid *grid)
{
    const uint64_t threads = (uint64_t)grid->threads[0] * grid->threads[1] * grid->threads[2];
    return threads && threads <= grid->kernel->most_threads && grid->threads[2] <= 64 &&
           grid->blocks[0] && grid->blocks[0] <= 2147483647u && grid->blocks[1] &&
           grid->blocks[1] <= 65535 && grid->blocks[2] && grid->blocks[2] <= 65535;
}

/* Kernels with a word of MOCK_IDLE in their names do nothing. */
static bool is_idle(const struct ptx_kernel *kernel)
{
    char words[256];
    snprintf(words, sizeof(words), "%s", setting("MOCK_IDLE", ""));
    for (const char *word = strtok(words, ","); word; word = strtok(NULL, ","))
        if (strstr(kernel->name, word))
            return true;
    return false;
}

API int cuLaunchKernel(const struct CUfunc_st *function, unsigned blocks_x, unsigned blocks_y,
                       unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                       unsigned threads_z, unsigned shared_bytes, struct CUstream_st *stream,
                       void **parameters, void **extra)
{
    const struct grid grid = {.kernel = function->kernel,
                              .blocks = {blocks_x, blocks_y, blocks_z},
                              .threads = {threads_x, threads_y, threads_z},
                              .shared_bytes = function->module->shared_bytes + shared_bytes};
    struct operation launch = {.what = LAUNCH, .grid = grid};
    say("# launch %s: %u x %u x %u blocks of %u x %u x %u threads", function->kernel->name,
        blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z);
    if (has_to_fail("cuLaunchKernel"))
        return LAUNCH_FAILED;
    launch.staged = arguments(grid.kernel, parameters, extra);
    launch.grid.parameters = launch.staged;
    if (!launch.staged || !has_size(&grid)) {
        complain("%s: a launch of %s", grid.kernel->name,
                 launch.staged ? "a size that no GPU takes" : "other arguments than its own");
        free(launch.staged);
        return INVALID_VALUE;
    }
    if (is_idle(grid.kernel)) {
        free(launch.staged);
        return OK;
    }
    return stream_add(stream, launch);
}

API int cuOccupancyMaxPotentialBlockSize(int *blocks, int *threads,
                                         const struct CUfunc_st *function, void *shared_of_threads,
                                         size_t shared_bytes, int limit)
{
    (void)shared_of_threads;
    (void)shared_bytes;
    const int most = (int)function->kernel->most_threads;
    *threads = limit && limit < most ? limit : most;
    *blocks = 1;
    return OK;
}
