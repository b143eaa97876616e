#include "cgroup.h"
#include "device.h"
#include "program.h"
#include "ranks.h"
#include "status.h"

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Large pages save most of the TLB misses of a kernel that walks twenty arrays at once. */
enum { LARGE_PAGE = 2 << 20 };

/* Arrays whose bases are equal modulo a page compete for the same cache sets: each one starts two
 * cache lines further on than the one before it. More lines cost time: with 17, so that the arrays
 * of a loop reach the ends of their pages one after the other, eos was a tenth slower. */
enum { CACHE_LINE = 64, STAGGER = 2 * CACHE_LINE, STAGGERS = 16 };

/* A processor that has little beside others of its kind, as the compiler names it. */
#if defined(__aarch64__)
#define MODEST_PROCESSOR "generic"
#else
#define MODEST_PROCESSOR "x86-64-v3"
#endif

const char *processor_in(const char *cpuinfo, char *text)
{
    _Static_assert(MINIAPP_PROCESSOR == 128, "the format below has another size");
    char maker[16], part[16];
    if (scan_lines(cpuinfo, "model name : %127[^\n]", text))
        return text;
    if (!scan_lines(cpuinfo, "CPU implementer : %15s", maker) ||
        !scan_lines(cpuinfo, "CPU part : %15s", part))
        return "unknown processor";
    snprintf(text, MINIAPP_PROCESSOR, "ARM, implementer %s, part %s", maker, part);
    return text;
}

const char *miniapp_host_processor(char text[MINIAPP_PROCESSOR])
{
    return processor_in("/proc/cpuinfo", text);
}

const char *missing_feature(const char *const *features)
{
    const struct {
        const char *name;
        bool is_there;
    } known[] = {
#if defined(__x86_64__)
        {"avx", __builtin_cpu_supports("avx")},
        {"avx2", __builtin_cpu_supports("avx2")},
        {"fma", __builtin_cpu_supports("fma")},
        {"bmi2", __builtin_cpu_supports("bmi2")},
        {"avx512f", __builtin_cpu_supports("avx512f")},
        {"avx512dq", __builtin_cpu_supports("avx512dq")},
        {"avx512vl", __builtin_cpu_supports("avx512vl")},
        {"avx512bw", __builtin_cpu_supports("avx512bw")},
#elif defined(__aarch64__)
        {"sve", getauxval(AT_HWCAP) & HWCAP_SVE},
        {"sve2", getauxval(AT_HWCAP2) & HWCAP2_SVE2},
#endif
        {"", false},
    };
    for (; *features; features++) {
        bool is_there = false;
        for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
            is_there = is_there || (known[i].is_there && strcmp(known[i].name, *features) == 0);
        if (!is_there)
            return *features;
    }
    return NULL;
}

extern const char *const host_features[];

static bool host_open(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT])
{
    char model[MINIAPP_PROCESSOR];
    const char *const missing = missing_feature(host_features);
    (void)number;
    if (missing) {
        snprintf(reason, DEVICE_TEXT,
                 "this build is for a processor with %s, which this one lacks: build it here, or "
                 "with -DMINIAPP_ARCH=" MODEST_PROCESSOR,
                 missing);
        return false;
    }
    if (threads_refused(0, reason))
        return false;
    snprintf(name, DEVICE_TEXT, "%s, %d thread%s", miniapp_host_processor(model),
             miniapp_host_threads(), miniapp_host_threads() == 1 ? "" : "s");
    return true;
}

/* ---- memory ---- */

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

/* The base and the size lie just before the memory that is handed out. */
struct allocation {
    void *base;
    size_t bytes;
};

/* A page belongs to the NUMA node of the thread that touches it first: each thread touches what it
 * will later compute on, so the threads divide an array as they divide the rows of a field. */
static void touch(char *memory, size_t bytes)
{
    const ptrdiff_t chunk = 1 << 16;
    const ptrdiff_t total = (ptrdiff_t)bytes;
    char reason[DEVICE_TEXT];
    const bool is_shared = !threads_refused(0, reason);
#pragma omp parallel for schedule(static) if (is_shared)
    for (ptrdiff_t start = 0; start < total; start += chunk)
        memset(memory + start, 0, (size_t)(total - start < chunk ? total - start : chunk));
}

static void *host_allocate(int number, size_t bytes, size_t ahead)
{
    static atomic_uint allocations;
    const size_t offset =
        2 * CACHE_LINE - ahead % CACHE_LINE + STAGGER * (allocations++ % STAGGERS);
    (void)number;
    if (bytes > PTRDIFF_MAX - offset - LARGE_PAGE)
        return NULL;
    void *base = mmap(NULL, bytes + offset + LARGE_PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    madvise(base, bytes + offset + LARGE_PAGE, MADV_HUGEPAGE);
    char *memory = (char *)base + offset;
    ((struct allocation *)memory)[-1] = (struct allocation){base, bytes + offset + LARGE_PAGE};
    touch(memory, bytes);
    return memory;
}

static void host_release(int number, void *memory)
{
    (void)number;
    if (memory)
        munmap(((struct allocation *)memory)[-1].base, ((struct allocation *)memory)[-1].bytes);
}

/* A thread may be the first to call from where it is: a new thread, or a forked child. */
static enum miniapp_status select_host(int number)
{
    char reason[DEVICE_TEXT];
    const enum miniapp_status status = threads_refused(0, reason);
    (void)number;
    return status ? fail(status, "%s", reason) : MINIAPP_DONE;
}

extern const struct kernel_functions functions_host_float64, functions_host_float32;

const struct backend host_backend = {
    .build = "",
    .kind = TARGET_HOST,
    .open = host_open,
    .functions =
        {[MINIAPP_FLOAT64] = &functions_host_float64, [MINIAPP_FLOAT32] = &functions_host_float32},
    .select = select_host,
    .allocate = host_allocate,
    .release = host_release,
    .is_host = true,
    .takes_host_memory = true,
};
