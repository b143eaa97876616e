#include "memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number after `key` in a file, or on its first line where the key is ""; NAN without one. */
static double number_in(const char *path, const char *key)
{
    char line[256];
    double value = NAN, found;
    FILE *file = fopen(path, "r");
    while (file && isnan(value) && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &found) == 1)
            value = found;
    if (file)
        fclose(file);
    return value;
}

/* The group of this process has limits of its own and of the groups that it is in. A container
 * sees its own as the root. */
static double group_leaves(void)
{
    char line[4096], path[4200], folder[4096] = "";
    double least = INFINITY;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(folder, sizeof(folder), "%s", line + 3);
        }
    if (file)
        fclose(file);
    for (;;) {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", folder);
        const double most = number_in(path, "");
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.current", folder);
        const double used = number_in(path, "");
        if (isfinite(most) && isfinite(used))
            least = fmin(least, most - used);
        char *slash = strrchr(folder, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
    const double most = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
    const double used = number_in("/sys/fs/cgroup/memory/memory.usage_in_bytes", "");
    return isfinite(most) && isfinite(used) ? fmin(least, most - used) : least;
}

static double address_space_leaves(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    const double pages = number_in("/proc/self/statm", "");
    return (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE);
}

double memory_available(const char **limit)
{
    const double machine = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    const double group = group_leaves();
    const double space = address_space_leaves();
    const double least = fmin(fmin(machine, group), space);
    *limit = least == space   ? "the limit on address space (ulimit -v) leaves"
             : least == group ? "the control group leaves"
                              : "the machine has";
    return isnan(least) ? INFINITY : fmax(least, 0);
}
