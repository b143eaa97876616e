/*
 * OpenMP target offload as a backend: the module that holds the kernels' device code. It is
 * compiled, with the kernels' offload builds, by the offload compiler, and loaded on demand.
 */
#include "backend.h"
#include "build.h"
#include "clock.h"

#include <limits.h>
#include <link.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const struct kernel_functions functions_offload_float64, functions_offload_float32;

/* LLVM's plug-in for the CPU loads a copy of the device code from /tmp, and leaves the file
 * there. */
static int remove_copy(struct dl_phdr_info *loaded, size_t size, void *nothing)
{
    static const char copy[] = "/tmp/tmpfile_";
    (void)size;
    (void)nothing;
    if (strncmp(loaded->dlpi_name, copy, strlen(copy)) == 0)
        unlink(loaded->dlpi_name);
    return 0;
}

/* Regions here are loops even where there is nothing to repeat: of a region that is none, Clang
 * makes code that calls what a whole program (cmake/whole_program) lacks. */

/* 1 on a device; 0 where the runtime fell back to the host. */
static int runs_on_device(int number)
{
    int on_device = 0;
#pragma omp target teams distribute parallel for map(from : on_device) device(number)
    for (int i = 0; i < 1; i++)
        on_device = !omp_is_initial_device();
    dl_iterate_phdr(remove_copy, NULL);
    return on_device;
}

enum { IS_EMULATED = MINIAPP_OFFLOAD_KIND == TARGET_EMULATED };
_Static_assert(!IS_EMULATED || !MINIAPP_OFFLOAD_ASSEMBLED_AT_START,
               "CMake says that machine code is assembled at start");

static bool fits(const struct gpu *gpu)
{
    return targets_fit(MINIAPP_OFFLOAD_TARGETS, MINIAPP_OFFLOAD_ASSEMBLED_AT_START, &gpu->target);
}

/* OpenMP tells nothing about a device, so we ask NVIDIA's driver, which is loaded by then. The
 * runtime does not count GPUs that the machine code does not fit: here they are numbered after the
 * others. */
static bool ask_driver(int number, struct gpu *gpu)
{
    if (MINIAPP_OFFLOAD_KIND != TARGET_NVIDIA)
        return false;
    if (MINIAPP_OFFLOAD_ASSEMBLED_AT_START)
        return driver_gpu(number, gpu);
    for (int wanted = 1; wanted >= 0; wanted--)
        for (int i = 0; driver_gpu(i, gpu); i++)
            if (fits(gpu) == wanted && number-- == 0)
                return true;
    return false;
}

static void name_device(int number, char name[DEVICE_TEXT])
{
    struct gpu gpu;
    if (IS_EMULATED)
        snprintf(name, DEVICE_TEXT, "plug-in device %d, emulated on the CPU", number);
    else if (ask_driver(number, &gpu))
        snprintf(name, DEVICE_TEXT, "%s", gpu.name);
    else if (MINIAPP_OFFLOAD_KIND == TARGET_AMD)
        snprintf(name, DEVICE_TEXT, "AMD GPU %d", number);
    else
        snprintf(name, DEVICE_TEXT, "GPU %d, whose name is unknown", number);
}

static void describe_gpu(const struct gpu *gpu, char text[DEVICE_TEXT])
{
    char target[TARGET_TEXT], free_text[64] = "";
    target_print(&gpu->target, target);
    if (gpu->free_bytes)
        snprintf(free_text, sizeof(free_text), ", %.1f GB of them free",
                 (double)gpu->free_bytes / 1e9);
    snprintf(text, DEVICE_TEXT, "%s, %s, %.1f GB%s; this build's %s code %s", gpu->name, target,
             (double)gpu->bytes / 1e9, free_text, MINIAPP_OFFLOAD_TARGETS,
             fits(gpu) ? "fits" : "DOES NOT FIT");
}

static bool describe(int number, char text[DEVICE_TEXT])
{
    struct gpu gpu;
    if (ask_driver(number, &gpu)) {
        describe_gpu(&gpu, text);
        return true;
    }
    name_device(number, text);
    const size_t length = strlen(text);
    if (IS_EMULATED)
        snprintf(text + length, DEVICE_TEXT - length, ", in the host's %.1f GB",
                 (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1e9);
    return number < omp_get_num_devices();
}

static double cache_bytes(int number)
{
    struct gpu gpu;
    return ask_driver(number, &gpu) ? gpu.cache_bytes : 0;
}

static double empty_call(int number)
{
    const double start = seconds_now();
#pragma omp target teams distribute parallel for device(number)
    for (int i = 0; i < 1; i++) {
    }
    return seconds_now() - start;
}

static void geometry(int number, int points, int *blocks, int *threads)
{
    int all = 0, in_each = 0;
#pragma omp target teams distribute parallel for device(number) map(from : all, in_each)
    for (int i = 0; i < points; i++)
        if (i == 0) {
            all = omp_get_num_teams();
            in_each = omp_get_num_threads();
        }
    *blocks = all;
    *threads = in_each;
}

static void explain_absence(int number, char reason[DEVICE_TEXT])
{
    struct gpu gpu;
    char target[TARGET_TEXT];
    const int length = snprintf(
        reason, DEVICE_TEXT, "the runtime finds %d device%s that this build's %s code fits",
        omp_get_num_devices(), omp_get_num_devices() == 1 ? "" : "s", MINIAPP_OFFLOAD_TARGETS);
    if (length >= DEVICE_TEXT || !ask_driver(number, &gpu))
        return;
    target_print(&gpu.target, target);
    snprintf(reason + length, DEVICE_TEXT - (size_t)length, "; GPU %d is %s, %s", number, gpu.name,
             target);
}

/* The runtimes try to assemble code even for GPUs that are too old for it. */
static bool is_too_old(int number, char reason[DEVICE_TEXT])
{
    struct gpu gpu;
    char target[TARGET_TEXT];
    if (!ask_driver(number, &gpu) || fits(&gpu))
        return false;
    target_print(&gpu.target, target);
    snprintf(reason, DEVICE_TEXT, "this build's %s code does not fit GPU %d, which is %s, %s",
             MINIAPP_OFFLOAD_TARGETS, number, gpu.name, target);
    return true;
}

/* ---- compilation at start ---- */

/* The code generator for NVIDIA's GPUs. It is in LLVM's library, which LLVM's runtime brings; but
 * Debian's build of the runtime does not register it. */
extern void LLVMInitializeNVPTXTargetInfo(void) __attribute__((weak));
extern void LLVMInitializeNVPTXTarget(void) __attribute__((weak));
extern void LLVMInitializeNVPTXTargetMC(void) __attribute__((weak));
extern void LLVMInitializeNVPTXAsmPrinter(void) __attribute__((weak));

static void register_code_generator(void)
{
    void (*const parts[])(void) = {LLVMInitializeNVPTXTargetInfo, LLVMInitializeNVPTXTarget,
                                   LLVMInitializeNVPTXTargetMC, LLVMInitializeNVPTXAsmPrinter};
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i])
            parts[i]();
}

/* LLVM installs its signal handlers once, when it first makes a temporary file; they would end the
 * process in LLVM's own way after an abort. This makes LLVM install them now, and then restores
 * ours. */
extern void LLVMEnablePrettyStackTrace(void) __attribute__((weak));

static void keep_signals(void)
{
    struct sigaction ours[NSIG];
    static bool done;
    if (done || !LLVMEnablePrettyStackTrace)
        return;
    done = true;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, NULL, &ours[number]);
    LLVMEnablePrettyStackTrace();
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &ours[number], NULL);
}

/* Whether a program is in the PATH. The runtime crashes if it finds no ptxas. */
static bool is_in_path(const char *program)
{
    char path[PATH_MAX];
    const char *folder = getenv("PATH");
    while (folder) {
        const size_t length = strcspn(folder, ":");
        snprintf(path, sizeof(path), "%.*s/%s", (int)length, folder, program);
        if (access(path, X_OK) == 0)
            return true;
        folder = folder[length] ? folder + length + 1 : NULL;
    }
    return false;
}

/* Checks the tools that a build with bitcode needs when it starts on a GPU: LLVM compiles the
 * bitcode to PTX, and ptxas the PTX to machine code. */
static bool is_jit_ready(char reason[DEVICE_TEXT])
{
    register_code_generator();
    keep_signals();
    if (is_in_path("ptxas"))
        return true;
    snprintf(reason, DEVICE_TEXT,
             "this build holds bitcode, and no ptxas is in the PATH to assemble it: install a CUDA "
             "toolkit, or run run/cuda12 and build again");
    return false;
}

/* ---- opening ---- */

static bool open_device(int number, char name[DEVICE_TEXT], char reason[DEVICE_TEXT])
{
    if (number >= omp_get_num_devices()) {
        explain_absence(number, reason);
        return false;
    }
    if (is_too_old(number, reason) || (MINIAPP_OFFLOAD_IS_BITCODE && !is_jit_ready(reason)))
        return false;
    if (!runs_on_device(number)) {
        snprintf(reason, DEVICE_TEXT, "a probe was run by the host instead%s",
                 getenv("OMP_TARGET_OFFLOAD") ? "; OMP_TARGET_OFFLOAD is set" : "");
        return false;
    }
    name_device(number, name);
    return true;
}

static void *allocate(int number, size_t bytes, size_t ahead)
{
    (void)ahead;
    return omp_target_alloc(bytes, number);
}

static void release(int number, void *memory)
{
    if (memory)
        omp_target_free(memory, number);
}

static bool copy_to_device(int number, void *device, const void *host, size_t bytes)
{
    return omp_target_memcpy(device, host, bytes, 0, 0, number, omp_get_initial_device()) == 0;
}

static bool from_device(int number, void *host, const void *device, size_t bytes)
{
    return omp_target_memcpy(host, device, bytes, 0, 0, omp_get_initial_device(), number) == 0;
}

/* Only LLVM's runtime has these functions. */
extern void *llvm_omp_target_alloc_host(size_t bytes, int device) __attribute__((weak));
extern void llvm_omp_target_free_host(void *memory, int device) __attribute__((weak));

static void *allocate_pinned(int number, size_t bytes)
{
    return llvm_omp_target_alloc_host ? llvm_omp_target_alloc_host(bytes, number) : NULL;
}

static enum miniapp_status select_device(int number)
{
    omp_set_default_device(number);
    return MINIAPP_DONE;
}

static void release_pinned(int number, void *memory)
{
    llvm_omp_target_free_host(memory, number);
}

__attribute__((visibility("default"))) const struct backend OFFLOAD_BACKEND = {
    .build = BUILD_OF_MODULES,
    .kind = MINIAPP_OFFLOAD_KIND,
    .describe = describe,
    .cache_bytes = cache_bytes,
    .empty_call = empty_call,
    .geometry = geometry,
    .open = open_device,
    .functions = {[MINIAPP_FLOAT64] = &functions_offload_float64,
                  [MINIAPP_FLOAT32] = &functions_offload_float32},
    .select = select_device,
    .allocate = allocate,
    .release = release,
    .to_device = copy_to_device,
    .from_device = from_device,
    .allocate_pinned = allocate_pinned,
    .release_pinned = release_pinned,
    .takes_host_memory = IS_EMULATED,
};
