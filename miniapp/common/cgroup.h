/* Limits of this process's control groups: cgroup v2, and v1 where containers mount it. */
#ifndef CGROUP_H
#define CGROUP_H

/* Bytes that may still be taken; infinite where nothing limits them. */
double cgroup_memory(void);

/* CPUs' worth of time, such as 1.5; infinite where nothing limits it. */
double cgroup_cpus(void);

#endif
