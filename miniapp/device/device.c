#include "device.h"
#include "backend.h"
#include "build.h"
#include "status.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file that this code is in: the program, or the shared library. */
static void own_path(char path[PATH_MAX])
{
    Dl_info here;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = '\0';
    if (dladdr((void *)own_path, &here) && here.dli_fname &&
        strstr(basename(here.dli_fname), ".so") && !realpath(here.dli_fname, path))
        snprintf(path, PATH_MAX, "%s", here.dli_fname);
}

static void up(char path[PATH_MAX])
{
    char *const slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

/* A module lies in the folder lib: that of the shared library, or the one beside the program's
 * bin. */
static void module_path(const char *name, char path[PATH_MAX])
{
    char folder[PATH_MAX];
    own_path(folder);
    up(folder);
    up(folder);
    snprintf(path, PATH_MAX, "%.*s/lib/%s", (int)(PATH_MAX - strlen(name) - 6), folder, name);
}

/* LLVM's runtime starts when the offload module is loaded. For NVIDIA's GPUs it needs libcuda.so,
 * which only development packages have: a library of ours has that soname and loads libcuda.so.1,
 * the driver itself. It is built for this runtime only, and cannot be loaded without a driver. */
static void prepare_llvm(void)
{
    char path[PATH_MAX];
    module_path("miniapp-libcuda.so", path);
    if (!dlopen(path, RTLD_NOW))
        return;
    /* a loop nest then gets as many blocks as its points need, not at most 3,200: docs/gpus.md */
    setenv("LIBOMPTARGET_REUSE_BLOCKS_FOR_HIGH_TRIP_COUNT", "false", 0);
    setenv("LIBOMPTARGET_JIT_SKIP_OPT", "true", 0); /* bitcode was optimised when it was linked */
    driver_spin();
}

/* The offload runtime ends the process if a kernel does not start. We report that as a device that
 * cannot be used; the runtime has said why by then. */
static void runtime_gave_up(int signal_number)
{
    static const char line[] = "miniapp: the offload runtime gave up on the device\n";
    (void)signal_number;
    miniapp_abandon();
    if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
        _exit(MINIAPP_OUTPUT);
    _exit(MINIAPP_DEVICE);
}

/* GCC's runtime ends the process with exit(1) in that case. We use that exit code, too, but only
 * for a failed comparison. */
static void runtime_ended(int status, void *nothing)
{
    (void)nothing;
    if (status == EXIT_FAILURE && miniapp_last_failure() != MINIAPP_MISMATCH)
        runtime_gave_up(0);
}

/* Loads a module of the folder lib and returns its export, which begins with a text that names its
 * build; NULL, with the reason, if it cannot be loaded. */
static const void *load_module(const char *file, int flags, const char *symbol,
                               char reason[DEVICE_TEXT])
{
    char path[PATH_MAX];
    module_path(file, path);
    void *const module = dlopen(path, flags);
    const char *const *const exported = module ? dlsym(module, symbol) : NULL;
    if (exported && strcmp(*exported, BUILD_OF_MODULES) == 0)
        return exported;
    if (exported)
        snprintf(reason, DEVICE_TEXT, "lib/%s is of another build: %s", file, *exported);
    else
        snprintf(reason, DEVICE_TEXT, "%s", dlerror());
    return NULL;
}

static const struct backend *load_backend(char reason[DEVICE_TEXT])
{
    static const char file[] = "miniapp-offload.so";
    char path[PATH_MAX];
    module_path(file, path);
    if (access(path, R_OK) != 0) {
        snprintf(reason, DEVICE_TEXT,
                 "this build has no offload; configure it with the preset "
                 "nvptx, amdgpu or emulated");
        return NULL;
    }
    if (owns_process()) {
        signal(SIGABRT, runtime_gave_up);
        on_exit(runtime_ended, NULL);
    }
    prepare_llvm();
    /* global, because libomp looks up the symbols of libomptarget, which the module loads */
    return load_module(file, RTLD_NOW | RTLD_GLOBAL, OFFLOAD_BACKEND_NAME, reason);
}

static const struct backend *load_offload(char reason[DEVICE_TEXT])
{
    static const struct backend *backend;
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&loading);
    if (!backend)
        backend = load_backend(reason);
    pthread_mutex_unlock(&loading);
    return backend;
}

static bool open_host(struct miniapp_device *device, char reason[DEVICE_TEXT])
{
    *device = (struct miniapp_device){.backend = &host_backend, .variant = "static"};
    snprintf(device->label, sizeof(device->label), "cpu");
    return host_backend.open(0, device->name, reason);
}

/* LLVM's runtime crashes where it cannot compile bitcode, for example if ptxas fails. */
static bool open_guarded(struct miniapp_device *device, char reason[DEVICE_TEXT])
{
    if (!owns_process())
        return device->backend->open(device->number, device->name, reason);
    void (*const before)(int) = signal(SIGSEGV, runtime_gave_up);
    const bool is_open = device->backend->open(device->number, device->name, reason);
    signal(SIGSEGV, before);
    return is_open;
}

static bool open_offload(int number, struct miniapp_device *device, char reason[DEVICE_TEXT])
{
    device->number = number;
    device->variant = "distribute";
    device->backend = load_offload(reason);
    snprintf(device->label, sizeof(device->label), "gpu:%d", number);
    return device->backend && open_guarded(device, reason);
}

/* The number in "gpu", "gpu:2", "auto" or "nvidia:2", or -1 if the name is none of these. Sets
 * `length` to the length of the part before the colon. */
static int number_after(const char *name, size_t *length)
{
    *length = strcspn(name, ":");
    const char *const digits = name + *length + 1;
    if (!name[*length])
        return 0;
    const size_t count = strspn(digits, "0123456789");
    return count > 0 && count <= 6 && !digits[count] ? atoi(digits) : -1;
}

static bool is_word(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(name, word, length) == 0;
}

static bool open_named(const char *name, struct miniapp_device *device, char reason[DEVICE_TEXT])
{
    size_t length;
    const int number = number_after(name, &length);
    const bool any = is_word(name, length, "gpu") || strcmp(name, "auto") == 0;
    const struct backend *const offload = any ? NULL : load_offload(reason);
    if (!any && !offload)
        return false;
    if (!any && !is_word(name, length, target_kind_name(offload->kind))) {
        snprintf(reason, DEVICE_TEXT, "the devices of this build are of the kind '%s'",
                 target_kind_name(offload->kind));
        return false;
    }
    return open_offload(number, device, reason);
}

bool miniapp_device_is_known(const char *name)
{
    size_t length;
    enum target_kind kind;
    if (strcmp(name, "cpu") == 0 || strcmp(name, "auto") == 0)
        return true;
    return number_after(name, &length) >= 0 &&
           (is_word(name, length, "gpu") || target_kind_find(name, length, &kind));
}

enum miniapp_status miniapp_device_open(const char *name, struct miniapp_device **opened)
{
    char reason[DEVICE_TEXT] = "";
    if (opened)
        *opened = NULL;
    if (!opened || !name)
        return null_given();
    if (!miniapp_device_is_known(name))
        return fail(MINIAPP_USAGE,
                    "unknown device '%s'; there are cpu, auto, gpu, nvidia, amd "
                    "and emulated, the last four also with :N",
                    name);
    struct miniapp_device *const device = calloc(1, sizeof(*device));
    TRY(allocated(device, "a device"));
    *opened = device;
    const bool is_cpu = strcmp(name, "cpu") == 0;
    bool is_open = is_cpu ? open_host(device, reason) : open_named(name, device, reason);
    if (!is_open && strcmp(name, "auto") == 0) {
        warn("device 'auto' is the cpu: %s", reason);
        is_open = open_host(device, reason);
    }
    if (is_open)
        return MINIAPP_DONE;
    free(device);
    *opened = NULL;
    return fail(MINIAPP_DEVICE, "device '%s' cannot be used: %s", name, reason);
}

/* ---- directive variants ---- */

#define VARIANT_ROW(name, ...) extern const char *const words_of_##name[];
#include "all.variants"
#undef VARIANT_ROW

enum { host, offload }; /* as in all.variants */

const struct miniapp_variant *miniapp_variants(size_t *count)
{
    static const struct miniapp_variant variants[] = {
#define VARIANT_ROW(name, target, is_built, purpose)                                               \
    {#name, purpose, target == offload, is_built, words_of_##name},
#include "all.variants"
#undef VARIANT_ROW
    };
    *count = sizeof(variants) / sizeof(*variants);
    return variants;
}

/* The runtime may have started the device already: the next probe loads the variant's code. */
static bool open_variant(struct miniapp_device *device, char reason[DEVICE_TEXT])
{
    char file[64];
    snprintf(file, sizeof(file), "miniapp-variant-%s.so", device->variant);
    const struct variant_module *const module =
        load_module(file, RTLD_NOW, VARIANT_MODULE_NAME, reason);
    if (!module)
        return false;
    device->varied = *device->backend;
    module->vary(&device->varied);
    device->backend = &device->varied;
    return device->varied.is_host || open_guarded(device, reason);
}

enum miniapp_status miniapp_device_vary(const struct miniapp_device *like,
                                        const struct miniapp_variant *variant,
                                        struct miniapp_device **opened)
{
    char reason[DEVICE_TEXT] = "";
    struct miniapp_device *const device = *opened = malloc(sizeof(*device));
    TRY(allocated(device, "a device"));
    *device = *like;
    const bool is_default = strcmp(device->variant, variant->name) == 0;
    device->variant = variant->name;
    if (is_default || open_variant(device, reason))
        return MINIAPP_DONE;
    free(device);
    *opened = NULL;
    return fail(MINIAPP_DEVICE, "variant '%s' cannot be used: %s", variant->name, reason);
}

const char *miniapp_device_variant(const struct miniapp_device *device)
{
    return device->variant;
}

/* ---- what a device is ---- */

void miniapp_device_close(struct miniapp_device *device)
{
    free(device);
}

static void (*silence_runtime)(bool);

void miniapp_install_silence(void (*silence)(bool))
{
    silence_runtime = silence;
}

void *device_allocate(const struct miniapp_device *device, size_t bytes, size_t ahead)
{
    const bool is_silenced = silence_runtime && !device->backend->is_host;
    if (is_silenced)
        silence_runtime(true);
    void *const memory = device->backend->allocate(device->number, bytes, ahead);
    if (is_silenced)
        silence_runtime(false);
    return memory;
}

static bool transfer_bytes(const struct miniapp_device *device, bool to_device, void *to,
                           const void *from, size_t bytes)
{
    const struct backend *const backend = device->backend;
    if (to == from)
        return true;
    if (backend->is_host)
        return memcpy(to, from, bytes);
    return (to_device ? backend->to_device : backend->from_device)(device->number, to, from, bytes);
}

enum miniapp_status device_send(const struct miniapp_device *device, void *to, const void *host,
                                size_t bytes, const char *what)
{
    return transfer_bytes(device, true, to, host, bytes)
               ? MINIAPP_DONE
               : fail(MINIAPP_DEVICE, "device '%s' did not take '%s'", device->label, what);
}

enum miniapp_status device_fetch(const struct miniapp_device *device, void *host, const void *from,
                                 size_t bytes, const char *what)
{
    return transfer_bytes(device, false, host, from, bytes)
               ? MINIAPP_DONE
               : fail(MINIAPP_DEVICE, "device '%s' did not return '%s'", device->label, what);
}

const char *miniapp_device_label(const struct miniapp_device *device)
{
    return device ? device->label : NULL;
}

const char *miniapp_device_name(const struct miniapp_device *device)
{
    return device ? device->name : NULL;
}

const char *miniapp_device_kind(const struct miniapp_device *device)
{
    return device ? target_kind_name(device->backend->kind) : NULL;
}

bool miniapp_device_takes_host_memory(const struct miniapp_device *device)
{
    return device->backend->takes_host_memory;
}

double miniapp_device_cache(const struct miniapp_device *device)
{
    return device->backend->cache_bytes ? device->backend->cache_bytes(device->number) : 0;
}

double miniapp_device_empty_call(const struct miniapp_device *device)
{
    return device->backend->empty_call ? device->backend->empty_call(device->number) : 0;
}

void miniapp_device_geometry(const struct miniapp_device *device, int points, int *blocks,
                             int *threads)
{
    *blocks = *threads = 0;
    if (device->backend->geometry)
        device->backend->geometry(device->number, points, blocks, threads);
}

bool miniapp_device_describe(int number, char *text, size_t size)
{
    char long_text[DEVICE_TEXT] = "", reason[DEVICE_TEXT] = "";
    const struct backend *const offload = load_offload(reason);
    const bool is_there = offload && offload->describe(number, long_text);
    snprintf(text, size, "%s",
             is_there  ? long_text
             : offload ? "the offload runtime finds no device that this build's code fits"
                       : reason);
    return is_there;
}
