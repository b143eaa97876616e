#include "cgroup.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

#define ROOT "/sys/fs/cgroup"

/* Up to two numbers on the first line of a file; their count. "max" is none. */
static int numbers_in(const char *folder, const char *name, double numbers[2])
{
    char path[PATH + 64];
    int count = 0;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    if (file) {
        count = fscanf(file, "%lf %lf", &numbers[0], &numbers[1]);
        fclose(file);
    }
    return count;
}

/* most - used, of two files */
static double left_of(const char *folder, const char *most_name, const char *used_name)
{
    double most[2], used[2];
    if (numbers_in(folder, most_name, most) < 1 || numbers_in(folder, used_name, used) < 1)
        return INFINITY;
    return most[0] - used[0];
}

static double memory_of(const char *folder)
{
    return fmin(left_of(folder, "memory.max", "memory.current"),
                left_of(folder, "memory.limit_in_bytes", "memory.usage_in_bytes"));
}

static double cpus_of(const char *folder)
{
    double time[2], period[2];
    if (numbers_in(folder, "cpu.max", time) == 2)
        return time[0] / time[1];
    if (numbers_in(folder, "cpu.cfs_quota_us", time) == 1 && time[0] > 0 &&
        numbers_in(folder, "cpu.cfs_period_us", period) == 1)
        return time[0] / period[0];
    return INFINITY;
}

/* Whether a comma-separated list has the word. */
static bool lists(const char *list, const char *word)
{
    char commas[PATH + 8], wanted[64];
    snprintf(commas, sizeof(commas), ",%s,", list);
    snprintf(wanted, sizeof(wanted), ",%s,", word);
    return strstr(commas, wanted) != NULL;
}

/* This process's group for a controller of v1, or for all of them in v2 (""); below the root,
 * which is what a container sees of its own. Lines of the file are number:controllers:group. */
static void find_group(const char *controller, char group[PATH])
{
    char line[PATH];
    FILE *file = fopen("/proc/self/cgroup", "r");
    group[0] = '\0';
    while (file && fgets(line, sizeof(line), file)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (controller[0] ? lists(controllers + 1, controller) : controllers[1] == '\0')
            snprintf(group, PATH, "%s", path);
    }
    if (file)
        fclose(file);
}

/* A group has the limits of all groups that it is in. */
static double least_of_groups(const char *controller, double (*limit)(const char *folder))
{
    char group[PATH], folder[PATH + 64];
    double least = INFINITY;
    find_group(controller, group);
    for (char *slash = group; slash;) {
        snprintf(folder, sizeof(folder), ROOT "/%s%s", controller, group);
        least = fmin(least, limit(folder));
        slash = strrchr(group, '/');
        if (slash)
            *slash = '\0';
    }
    return least;
}

double cgroup_memory(void)
{
    return fmin(least_of_groups("", memory_of), least_of_groups("memory", memory_of));
}

double cgroup_cpus(void)
{
    return fmin(least_of_groups("", cpus_of), least_of_groups("cpu", cpus_of));
}
