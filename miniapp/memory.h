/* How much memory this process may still take. */
#ifndef MINIAPP_MEMORY_H
#define MINIAPP_MEMORY_H

/*
 * The least of what the machine has available, what the control group leaves (cgroup v2 or v1) and
 * what the limit on address space leaves, in bytes; infinite where nothing says. `limit` becomes
 * the name of what is least.
 */
double memory_available(const char **limit);

#endif
