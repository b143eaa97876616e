#include "topology.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

static const hwloc_obj_type_t levels[CACHE_LEVELS] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                                      HWLOC_OBJ_L3CACHE};
static const char *const level_names[CACHE_LEVELS] = {"L1", "L2", "L3"};

static int number_of(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    const int count = hwloc_get_nbobjs_by_type(topology, type);
    return count > 0 ? count : 0;
}

static void find_caches(hwloc_topology_t topology, struct caches *caches)
{
    for (int i = 0; i < CACHE_LEVELS; i++) {
        const hwloc_obj_t first = hwloc_get_obj_by_type(topology, levels[i], 0);
        caches->count[i] = first ? number_of(topology, levels[i]) : 0;
        caches->bytes[i] = first ? (double)first->attr->cache.size : 0;
    }
}

static void describe_topology(hwloc_topology_t topology, const struct caches *caches,
                              char text[PROVENANCE_TEXT])
{
    int used = snprintf(text, PROVENANCE_TEXT, "packages %d, cores %d, CPUs %d, NUMA nodes %d",
                        number_of(topology, HWLOC_OBJ_PACKAGE), number_of(topology, HWLOC_OBJ_CORE),
                        number_of(topology, HWLOC_OBJ_PU), number_of(topology, HWLOC_OBJ_NUMANODE));
    for (int i = 0; i < CACHE_LEVELS; i++)
        if (caches->count[i] > 0)
            used += snprintf(text + used, (size_t)(PROVENANCE_TEXT - used), ", %s %d x %.0f KiB",
                             level_names[i], caches->count[i], caches->bytes[i] / 1024);
}

/* The word in brackets, as in "always [madvise] never". */
static bool selected_word(const char *path, char word[32])
{
    FILE *const file = fopen(path, "r");
    char line[128] = "";
    const char *begin = file && fgets(line, sizeof(line), file) ? strchr(line, '[') : NULL;
    if (file)
        fclose(file);
    return begin && sscanf(begin, "[%31[^]]", word) == 1;
}

void topology_add(struct provenance *provenance, struct caches *caches)
{
    char text[PROVENANCE_TEXT], word[32];
    double load;
    hwloc_topology_t topology;
    *caches = (struct caches){0};
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0) {
            find_caches(topology, caches);
            describe_topology(topology, caches, text);
            provenance_add(provenance, "topology", text);
        }
        hwloc_topology_destroy(topology);
    }
    if (selected_word("/sys/kernel/mm/transparent_hugepage/enabled", word))
        provenance_add(provenance, "huge_pages", word);
    if (getloadavg(&load, 1) == 1) {
        snprintf(text, sizeof(text), "%.2f", load);
        provenance_add(provenance, "load", text);
    }
}

const char *cache_that_holds(const struct caches *caches, int threads, double bytes)
{
    for (int i = 0; i < CACHE_LEVELS; i++) {
        const int used = caches->count[i] < threads ? caches->count[i] : threads;
        if (used * caches->bytes[i] >= bytes && used > 0)
            return level_names[i];
    }
    return "";
}
