#include "provenance.h"
#include "build.h"
#include "cgroup.h"

#include <hdf5.h>
#include <hwloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- SHA-256 ---- */

void digest_end(struct sha256_ctx *context, char text[SHA256_TEXT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static bool add_file(struct sha256_ctx *context, const char *path)
{
    uint8_t block[1 << 16];
    size_t count;
    FILE *const file = fopen(path, "rb");
    while (file && (count = fread(block, 1, sizeof(block), file)) > 0)
        sha256_update(context, count, block);
    const bool is_read = file && !ferror(file);
    if (file)
        fclose(file);
    return is_read;
}

void digest_file(const char *path, char text[SHA256_TEXT])
{
    struct sha256_ctx context;
    sha256_init(&context);
    const bool is_read = add_file(&context, path);
    digest_end(&context, text);
    if (!is_read)
        text[0] = '\0';
}

void digest_text(const char *words, char text[SHA256_TEXT])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, strlen(words), (const uint8_t *)words);
    digest_end(&context, text);
}

/* ---- items ---- */

/* A text that is cut still differs from all others. */
static void end_with_digest(char kept[PROVENANCE_TEXT], const char *text)
{
    static const char mark[] = "... of SHA-256 ";
    char *const end = kept + PROVENANCE_TEXT - SHA256_TEXT;
    snprintf(end - strlen(mark), strlen(mark) + 1, "%s", mark);
    digest_text(text, end);
}

char *provenance_item(struct provenance *provenance, const char *name)
{
    size_t place = 0;
    while (place < provenance->count && strcmp(provenance->names[place], name) != 0)
        place++;
    if (place == PROVENANCE_ITEMS)
        return NULL;
    if (place == provenance->count) {
        provenance->names[provenance->count++] = name;
        provenance->texts[place][0] = '\0';
    }
    return provenance->texts[place];
}

void provenance_add(struct provenance *provenance, const char *name, const char *text)
{
    char *const kept = provenance_item(provenance, name);
    if (kept && snprintf(kept, PROVENANCE_TEXT, "%s", text) >= PROVENANCE_TEXT)
        end_with_digest(kept, text);
}

void provenance_of_build(struct provenance *provenance)
{
    unsigned major = 0, minor = 0, release = 0;
    H5get_libversion(&major, &minor, &release);
    provenance->count = 0;
    provenance_add(provenance, "version", BUILD_VERSION);
    provenance_add(provenance, "git_commit", BUILD_COMMIT);
    provenance_add(provenance, "build_type", BUILD_TYPE);
    provenance_add(provenance, "compiler", BUILD_COMPILER);
    provenance_add(provenance, "flags", BUILD_FLAGS);
    provenance_add(provenance, "offload_target", BUILD_OFFLOAD);
    provenance_append(provenance, "hdf5_version", "", "%u.%u.%u", major, minor, release);
}

const char *provenance_text(const struct provenance *provenance, const char *name)
{
    for (size_t i = 0; i < provenance->count; i++)
        if (strcmp(provenance->names[i], name) == 0)
            return provenance->texts[i];
    return "";
}

/* ---- the machine ---- */

static const hwloc_obj_type_t levels[CACHE_LEVELS] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE,
                                                      HWLOC_OBJ_L3CACHE};
static const char *const level_names[CACHE_LEVELS] = {"L1", "L2", "L3"};

static void find_caches(hwloc_topology_t topology, struct caches *caches)
{
    for (int i = 0; i < CACHE_LEVELS; i++) {
        const hwloc_obj_t first = hwloc_get_obj_by_type(topology, levels[i], 0);
        caches->count[i] = hwloc_get_nbobjs_by_type(topology, levels[i]);
        caches->bytes[i] = first ? (double)first->attr->cache.size : 0;
    }
}

static void add_topology(struct provenance *provenance, hwloc_topology_t topology,
                         const struct caches *caches)
{
    provenance_append(provenance, "topology", "", "packages %d, cores %d, CPUs %d, NUMA nodes %d",
                      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
                      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE),
                      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU),
                      hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
    for (int i = 0; i < CACHE_LEVELS; i++)
        if (caches->count[i] > 0)
            provenance_append(provenance, "topology", ", ", "%s %d x %.0f KiB", level_names[i],
                              caches->count[i], caches->bytes[i] / 1024);
}

const char *clock_text(const char *folder, char text[CLOCK_TEXT])
{
    static const char *const names[] = {"scaling_governor", "cpuinfo_min_freq", "cpuinfo_max_freq"};
    char words[3][32], path[256];
    bool are_there = true;
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        are_there = are_there && scan_lines(path, "%31s", words[i]);
    }
    snprintf(text, CLOCK_TEXT, "not known: the system has no cpufreq");
    if (are_there)
        snprintf(text, CLOCK_TEXT, "governor %s, %.0f to %.0f MHz", words[0],
                 strtod(words[1], NULL) / 1000, strtod(words[2], NULL) / 1000);
    return text;
}

/* It is that of the first CPU that the process may use: others are rarely set in another way. */
static void add_clock(struct provenance *provenance, hwloc_topology_t topology)
{
    const hwloc_obj_t cpu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, 0);
    char folder[128], text[CLOCK_TEXT];
    snprintf(folder, sizeof(folder), "/sys/devices/system/cpu/cpu%u/cpufreq",
             cpu ? cpu->os_index : 0);
    provenance_add(provenance, "clock", clock_text(folder, text));
}

void topology_add(struct provenance *provenance, struct caches *caches)
{
    char word[32];
    double load;
    hwloc_topology_t topology;
    *caches = (struct caches){0};
    /* Plugins find what is not reported, such as displays, and take as long to load as the whole
     * kernel of a small ocean. */
    setenv("HWLOC_PLUGINS_PATH", "", 0);
    if (hwloc_topology_init(&topology) == 0) {
        if (hwloc_topology_load(topology) == 0) {
            find_caches(topology, caches);
            add_topology(provenance, topology, caches);
            add_clock(provenance, topology);
        }
        hwloc_topology_destroy(topology);
    }
    if (scan_lines("/sys/devices/system/cpu/smt/control", "%31s", word))
        provenance_add(provenance, "smt", word);
    /* the word in brackets, as in "always [madvise] never" */
    if (scan_lines("/sys/kernel/mm/transparent_hugepage/enabled", "%*[^[][%31[^]]", word) ||
        scan_lines("/sys/kernel/mm/transparent_hugepage/enabled", "[%31[^]]", word))
        provenance_add(provenance, "huge_pages", word);
    if (getloadavg(&load, 1) == 1)
        provenance_append(provenance, "load", "", "%.2f", load);
}

static double bytes_of_level(const struct caches *caches, int level, int threads)
{
    const int count = caches->count[level];
    return (count < threads ? count : threads) * caches->bytes[level];
}

const char *cache_that_holds(const struct caches *caches, int threads, double bytes)
{
    for (int i = 0; i < CACHE_LEVELS; i++)
        if (bytes_of_level(caches, i, threads) >= bytes && bytes > 0)
            return level_names[i];
    return "";
}

double last_cache_bytes(const struct caches *caches, int threads)
{
    int last = CACHE_LEVELS - 1;
    while (last > 0 && caches->count[last] == 0)
        last--;
    return bytes_of_level(caches, last, threads);
}
