/* Limits of this process's control groups: cgroup v2, and v1 where containers mount it; and values
 * in small text files, such as those in /proc and /sys. */
#ifndef CGROUP_H
#define CGROUP_H

#include <stdbool.h>

/* Reads the first line that matches `format`, which is scanf's and has one value; false if no line
 * does or there is no such file. */
bool scan_lines(const char *path, const char *format, void *value);

/* The number in the first line that matches `format`, which has one %lf; NAN if none does. */
double number_in(const char *path, const char *format);

/* Bytes that may still be taken; infinite where nothing limits them. */
double cgroup_memory(void);

/* CPUs' worth of time, such as 1.5; infinite where nothing limits it. */
double cgroup_cpus(void);

#endif
