#include "cgroup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

#define ROOT "/sys/fs/cgroup"
#define NO_LIMIT 0x1p62

bool scan_lines(const char *path, const char *format, void *value)
{
    char line[256];
    bool is_found = false;
    FILE *const file = fopen(path, "r");
    while (file && !is_found && fgets(line, sizeof(line), file))
        is_found = sscanf(line, format, value) == 1;
    if (file)
        fclose(file);
    return is_found;
}

double number_in(const char *path, const char *format)
{
    double value;
    return scan_lines(path, format, &value) ? value : NAN;
}

static double read_number(const char *folder, const char *name, const char *format)
{
    char path[PATH + 128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return number_in(path, format);
}

/* The memory that is left, most - used, from two files; NAN if there is no limit, which v1 writes
 * as the largest number that it knows. Then no other file is read, since that can take longer than
 * reading a dataset. Cached contents of files count as used, but the kernel drops them when memory
 * is needed, so they are counted as left. */
static double left_of(const char *folder, const char *most_name, const char *used_name,
                      const char *inactive, const char *active)
{
    const double most = read_number(folder, most_name, "%lf");
    if (!(most < NO_LIMIT))
        return NAN;
    const double used = read_number(folder, used_name, "%lf");
    const double cached =
        read_number(folder, "memory.stat", inactive) + read_number(folder, "memory.stat", active);
    return most - (isnan(cached) ? used : fmax(used - cached, 0));
}

static double memory_of(const char *folder)
{
    return fmin(
        left_of(folder, "memory.max", "memory.current", "inactive_file %lf", "active_file %lf"),
        left_of(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file %lf",
                "total_active_file %lf"));
}

static double cpus_of(const char *folder)
{
    const double quota = read_number(folder, "cpu.cfs_quota_us", "%lf");
    return fmin(read_number(folder, "cpu.max", "%lf") / read_number(folder, "cpu.max", "%*f %lf"),
                quota > 0 ? quota / read_number(folder, "cpu.cfs_period_us", "%lf") : NAN);
}

/* The path of this process's group, for a controller of v1 or for all of them in v2 (""). It is
 * relative to the root; a container sees its own group as the root. Lines of the file are
 * number:controllers:group, with commas between controllers. */
static void find_group(const char *controller, char group[PATH])
{
    char line[PATH];
    FILE *file = fopen("/proc/self/cgroup", "r");
    group[0] = '\0';
    while (file && fgets(line, sizeof(line), file)) {
        char *rest = line + strcspn(line, ":");
        rest += *rest == ':';
        char *controllers = strsep(&rest, ":");
        for (char *word; rest && (word = strsep(&controllers, ","));)
            if (strcmp(word, controller) == 0)
                snprintf(group, PATH, "%.*s", (int)strcspn(rest, "\n"), rest);
    }
    if (file)
        fclose(file);
}

/* The limits of all groups around a group apply to it, too. NAN stands for no limit. */
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
