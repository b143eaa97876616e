#include "same.h"
#include "describe.h"
#include "ranks.h"
#include "status.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_that_of_the_first(const char *text)
{
    char own[SHA256_TEXT], first[SHA256_TEXT];
    digest_text(text, own);
    memcpy(first, own, sizeof(first));
    ranks_broadcast(0, first, sizeof(first));
    return strcmp(own, first) == 0;
}

enum miniapp_status same_build(struct run *run)
{
    static struct provenance own;
    char text[PROVENANCE_TEXT] = "";
    size_t used = 0;
    if (ranks_count() == 1)
        return MINIAPP_DONE;
    provenance_of_build(&own);
    for (size_t i = 0; i < own.count && used < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s ", own.texts[i]);
    ranks_broadcast(0, &run->options.seed, sizeof(run->options.seed));
    return is_that_of_the_first(text)
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "process %d runs another build than the first", ranks_own());
}

enum miniapp_status same_options(const struct run *run)
{
    return ranks_count() == 1 || is_that_of_the_first(run->command_line)
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "process %d has other options than the first", ranks_own());
}

enum miniapp_status same_input(const struct run *run)
{
    char text[2 * PROVENANCE_TEXT], settings[PROVENANCE_TEXT];
    struct stat found = {0};
    if (ranks_count() == 1)
        return MINIAPP_DONE;
    stat(run->options.input, &found);
    snprintf(text, sizeof(text), "%lld %s %s", (long long)found.st_size,
             settings_text(run->options.settings, settings), miniapp_input_grid_text(run->input));
    return is_that_of_the_first(text)
               ? MINIAPP_DONE
               : fail(MINIAPP_INPUT,
                      "%s: process %d has read another file of that name than the first: its size, "
                      "grid or settings differ",
                      run->options.input, ranks_own());
}

enum miniapp_status same_snapshot(const char *path, size_t count, char texts[][MINIAPP_TEXT])
{
    char all[SHA256_TEXT * SAME_TEXTS + 32];
    struct stat found = {0};
    if (ranks_count() == 1)
        return MINIAPP_DONE;
    stat(path, &found);
    size_t used = (size_t)snprintf(all, sizeof(all), "%lld", (long long)found.st_size);
    for (size_t i = 0; i < count && i < SAME_TEXTS; i++) {
        char digest[SHA256_TEXT];
        digest_text(texts[i], digest);
        used += (size_t)snprintf(all + used, sizeof(all) - used, " %s", digest);
    }
    return is_that_of_the_first(all)
               ? MINIAPP_DONE
               : fail(MINIAPP_INPUT,
                      "%s: process %d has read another file of that name than the first: its size "
                      "or attributes differ",
                      path, ranks_own());
}
