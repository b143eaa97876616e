/* How the host's threads lie on its cores. */
#include "program.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A core goes by its first CPU: CPUs of one core share its units. */
static size_t core_of(size_t cpu)
{
    char path[96];
    size_t first = cpu;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list",
             cpu);
    FILE *const list = fopen(path, "r");
    if (list && fscanf(list, "%zu", &first) != 1)
        first = cpu;
    if (list)
        fclose(list);
    return first < MINIAPP_CORES ? first : cpu;
}

/* The calling thread counts as a part of one on each core that it may run on. */
static void add_own(const size_t cores[MINIAPP_CORES], double threads[MINIAPP_CORES],
                    double there[MINIAPP_CORES])
{
    bool may[MINIAPP_CORES] = {false};
    cpu_set_t mask;
    size_t count = 0;
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0)
        return;
    for (size_t cpu = 0; cpu < MINIAPP_CORES; cpu++)
        if (CPU_ISSET(cpu, &mask) && !may[cores[cpu]]) {
            may[cores[cpu]] = true;
            count++;
        }
    for (size_t core = 0; core < MINIAPP_CORES; core++)
        if (may[core]) {
            threads[core] += 1.0 / (double)count;
            there[core] = 1;
        }
}

/* A process may use the cores of all places, too, if its first thread is bound already. */
static void add_places(const size_t cores[MINIAPP_CORES], double there[MINIAPP_CORES])
{
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int count = omp_get_place_num_procs(place);
        int *const cpus = malloc((size_t)count * sizeof(*cpus));
        if (cpus)
            omp_get_place_proc_ids(place, cpus);
        for (int i = 0; i < count && cpus; i++)
            if (cpus[i] >= 0 && cpus[i] < MINIAPP_CORES)
                there[cores[cpus[i]]] = 1;
        free(cpus);
    }
}

void miniapp_host_load(double threads[MINIAPP_CORES], double there[MINIAPP_CORES])
{
    size_t cores[MINIAPP_CORES];
    memset(threads, 0, MINIAPP_CORES * sizeof(*threads));
    memset(there, 0, MINIAPP_CORES * sizeof(*there));
    for (size_t cpu = 0; cpu < MINIAPP_CORES; cpu++)
        cores[cpu] = core_of(cpu);
#pragma omp parallel num_threads(miniapp_host_threads())
#pragma omp critical
    add_own(cores, threads, there);
    add_places(cores, there);
}
