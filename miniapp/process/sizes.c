#include "sizes.h"
#include "ranks.h"
#include "shape.h"
#include "status.h"
#include "stop.h"

#include <math.h>
#include <string.h>

/* Fields in a cache of a quarter of their size are read from memory nearly as if there were none.
 */
enum { TIMES_THE_CACHES = 4 };

static int most_threads(const struct options *options)
{
    int most = options->thread_count ? 0 : miniapp_host_threads();
    for (size_t i = 0; i < options->thread_count; i++)
        most = (int)options->threads[i] > most ? (int)options->threads[i] : most;
    return most;
}

static double cache_of(const struct run *run, const struct miniapp_device *device)
{
    const bool is_on_host = strcmp(miniapp_device_kind(device), "host") == 0 ||
                            miniapp_device_takes_host_memory(device);
    return is_on_host ? last_cache_bytes(&run->results.caches, most_threads(&run->options))
                      : miniapp_device_cache(device);
}

static bool is_in_memory(const struct miniapp_grid *shape)
{
    return same_grid(shape, &grid_beyond_caches);
}

enum miniapp_status choose_bytes_beyond_caches(struct run *run)
{
    enum miniapp_status status = MINIAPP_DONE;
    bool is_asked = false;
    double most = 0;
    for (size_t i = 0; i < run->options.shape_count; i++)
        is_asked |= is_in_memory(&run->options.shapes[i]);
    for (size_t i = 0; i < run->device_count && is_asked && !status; i++) {
        const double bytes = cache_of(run, run->devices[i]);
        most = fmax(most, bytes);
        if (bytes == 0)
            status = fail(MINIAPP_USAGE,
                          "--size memory: the caches of '%s' are not known: give a number",
                          miniapp_device_label(run->devices[i]));
    }
    status = agree_on(status, &most, 1);
    run->beyond_caches = TIMES_THE_CACHES * most * ranks_count();
    return status;
}

/* The least of pyhpc-benchmarks' shapes, but for 2 %, on which the kernel moves so many bytes. */
static struct miniapp_grid grid_that_moves(double bytes, const struct miniapp_sequence *sequence,
                                           enum miniapp_precision precision,
                                           const struct miniapp_settings *settings)
{
    struct miniapp_grid grid;
    size_t points = 64;
    do {
        grid = grid_of_size(points);
        points += points / 64 + 1;
    } while (miniapp_sequence_bytes(sequence, &grid, precision, settings) < bytes);
    return grid;
}

struct miniapp_grid grid_of_row(const struct run *run, size_t shape,
                                const struct miniapp_sequence *sequence,
                                enum miniapp_precision precision)
{
    const struct miniapp_grid *const asked = &run->options.shapes[shape];
    if (is_in_memory(asked))
        return grid_that_moves(run->beyond_caches, sequence, precision, run->options.settings);
    return asked->nx ? *asked : miniapp_input_grid(run->input);
}
