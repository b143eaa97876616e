#include "memory.h"
#include "cgroup.h"

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
    const double group = cgroup_memory();
    const double space = address_space_leaves();
    const double least = fmin(fmin(machine, group), space);
    *limit = least == space   ? "the limit on address space (ulimit -v) leaves"
             : least == group ? "the control group leaves"
                              : "the machine has";
    return isnan(least) ? INFINITY : fmax(least, 0);
}
