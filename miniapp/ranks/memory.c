#include "cgroup.h"
#include "program.h"
#include "ranks.h"

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static double address_space_leaves(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    const double pages = number_in("/proc/self/statm", "%lf");
    return (double)limit.rlim_cur - pages * (double)sysconf(_SC_PAGESIZE);
}

bool miniapp_host_has(double bytes, char lack[MINIAPP_LACK])
{
    const double share = ranks_on_node(); /* the processes of a node share its memory */
    const double machine = 1024 * number_in("/proc/meminfo", "MemAvailable: %lf") / share;
    const double group = cgroup_memory() / share;
    const double space = address_space_leaves();
    const double least = fmin(fmin(machine, group), space);
    const char *const limit = least == space   ? "the limit on address space (ulimit -v) leaves"
                              : least == group ? "the control group leaves"
                                               : "the machine has";
    snprintf(lack, MINIAPP_LACK, "needs %.3g GB, but %s %.3g GB", bytes / 1e9, limit,
             fmax(least, 0) / 1e9);
    return isnan(least) || bytes <= fmax(least, 0);
}
