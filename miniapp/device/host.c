#include "host.h"
#include "cgroup.h"
#include "program.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large pages save most of the TLB misses of a kernel that walks twenty arrays at once. */
enum { LARGE_PAGE = 2 << 20 };

/* Arrays whose bases are equal modulo a page compete for the same cache sets: each one starts two
 * cache lines further on than the one before it. More lines cost time: with 17, so that the arrays
 * of a loop reach the ends of their pages one after the other, eos was a tenth slower. */
enum { STAGGER = 2 * 64, STAGGERS = 16 };

/* By the affinity mask and the quota of the control group. */
int miniapp_host_cpus(void)
{
    const int procs = omp_get_num_procs();
    const double quota = ceil(cgroup_cpus());
    return quota < procs ? (int)fmax(quota, 1) : procs;
}

/* The threads are counted, because a limit of the runtime may leave fewer than were asked for. */
int miniapp_host_threads(void)
{
    int threads = 1;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return threads;
}

void miniapp_host_set_threads(int threads)
{
    static int at_first;
    if (!at_first)
        at_first = getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : miniapp_host_cpus();
    omp_set_dynamic(0);
    omp_set_num_threads(threads > 0 ? threads : at_first);
}

/* Where only places were asked for, GCC's runtime says that threads are bound, LLVM's how. */
static const char *policy_text(int policy)
{
    switch (policy) {
    case omp_proc_bind_master: return "primary";
    case omp_proc_bind_close: return "close";
    case omp_proc_bind_spread: return "spread";
    default: return "bound";
    }
}

enum { COUNT_TEXT = 40 }; /* "1 CPU", "2 to 4 CPUs" */

static void count_cpus(int least, int most, char text[COUNT_TEXT])
{
    const size_t used = least < most ? (size_t)snprintf(text, COUNT_TEXT, "%d to ", least) : 0;
    snprintf(text + used, COUNT_TEXT - used, "%d CPU%s", most, most == 1 ? "" : "s");
}

const char *miniapp_host_binding(char text[MINIAPP_BINDING])
{
    const int policy = omp_get_proc_bind(), places = omp_get_num_places();
    const bool is_bound = policy != omp_proc_bind_false;
    int least = omp_get_num_procs(), most = is_bound ? 0 : least;
    char cpus[COUNT_TEXT];
    for (int place = 0; place < places && is_bound; place++) {
        const int own = omp_get_place_num_procs(place);
        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    count_cpus(least, most, cpus);
    if (is_bound)
        snprintf(text, MINIAPP_BINDING, "%s, with %d place%s of %s", policy_text(policy), places,
                 places == 1 ? "" : "s", cpus);
    else
        snprintf(text, MINIAPP_BINDING, "none, on %s", cpus);
    return text;
}

const char *miniapp_host_processor(void)
{
    static char model[DEVICE_TEXT];
    char line[DEVICE_TEXT];
    FILE *file = model[0] ? NULL : fopen("/proc/cpuinfo", "r");
    if (!model[0])
        snprintf(model, sizeof(model), "unknown processor");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(model, sizeof(model), "%s", strchr(line, ':') + 2);
            break;
        }
    if (file)
        fclose(file);
    return model;
}

const char *missing_feature(const char *const *features)
{
#if defined(__x86_64__)
    const struct {
        const char *name;
        bool is_there;
    } known[] = {
        {"avx", __builtin_cpu_supports("avx")},
        {"avx2", __builtin_cpu_supports("avx2")},
        {"fma", __builtin_cpu_supports("fma")},
        {"bmi2", __builtin_cpu_supports("bmi2")},
        {"avx512f", __builtin_cpu_supports("avx512f")},
        {"avx512dq", __builtin_cpu_supports("avx512dq")},
        {"avx512vl", __builtin_cpu_supports("avx512vl")},
        {"avx512bw", __builtin_cpu_supports("avx512bw")},
    };
    for (; *features; features++) {
        bool is_there = false;
        for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
            is_there = is_there || (known[i].is_there && strcmp(known[i].name, *features) == 0);
        if (!is_there)
            return *features;
    }
#endif
    (void)features;
    return NULL;
}

extern const char *const host_features[];

static bool host_open(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT])
{
    const char *const missing = missing_feature(host_features);
    (void)number;
    if (missing) {
        snprintf(reason, DEVICE_TEXT,
                 "this build is for a processor with %s, which this one lacks: build it here, or "
                 "with -DMINIAPP_ARCH=x86-64-v3",
                 missing);
        return false;
    }
    snprintf(name, DEVICE_TEXT, "%s, %d thread%s", miniapp_host_processor(), miniapp_host_threads(),
             miniapp_host_threads() == 1 ? "" : "s");
    return true;
}

/* The base and the size lie just before the memory that is handed out. */
struct block {
    void *base;
    size_t bytes;
};

/* A page belongs to the NUMA node of the thread that touches it first: each thread touches what it
 * will later compute on, so the threads divide an array as they divide the rows of a field. */
static void touch(char *memory, size_t bytes)
{
    const ptrdiff_t chunk = 1 << 16;
    const ptrdiff_t total = (ptrdiff_t)bytes;
#pragma omp parallel for schedule(static)
    for (ptrdiff_t start = 0; start < total; start += chunk)
        memset(memory + start, 0, (size_t)(total - start < chunk ? total - start : chunk));
}

static void *host_allocate(int number, size_t bytes)
{
    static atomic_uint allocations;
    const size_t offset = sizeof(struct block) + 64 - sizeof(struct block) % 64 +
                          STAGGER * (allocations++ % STAGGERS);
    (void)number;
    if (bytes > PTRDIFF_MAX - offset - LARGE_PAGE)
        return NULL;
    void *base = mmap(NULL, bytes + offset + LARGE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    madvise(base, bytes + offset + LARGE_PAGE, MADV_HUGEPAGE);
    char *memory = (char *)base + offset;
    ((struct block *)memory)[-1] = (struct block){base, bytes + offset + LARGE_PAGE};
    touch(memory, bytes);
    return memory;
}

static void host_release(int number, void *memory)
{
    (void)number;
    if (memory)
        munmap(((struct block *)memory)[-1].base, ((struct block *)memory)[-1].bytes);
}

static void select_host(int number)
{
    (void)number;
}

extern const struct kernel_functions functions_host_float64, functions_host_float32;

static const struct kernel_functions *host_functions(enum miniapp_precision precision)
{
    return precision == MINIAPP_FLOAT64 ? &functions_host_float64 : &functions_host_float32;
}

const struct backend host_backend = {
    .build = "",
    .kind = TARGET_HOST,
    .open = host_open,
    .functions = host_functions,
    .select = select_host,
    .allocate = host_allocate,
    .release = host_release,
    .is_host = true,
    .takes_host_memory = true,
};
