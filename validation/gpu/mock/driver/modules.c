/* Images, and the functions and variables in them. */
#define _GNU_SOURCE
#include "mock.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { EM_NVIDIA = 190 };

/* ---- what is loaded ---- */

/* Machine code is for GPUs of its own generation that are not older. */
static bool fits(int target)
{
    const int capability = current_gpu()->capability;
    return target / 10 == capability / 10 && target <= capability;
}

/* An image of several files is what the driver linked: PTX, which newer GPUs take as well. */
static bool all_fit(const struct CUmod_st *module)
{
    const bool is_linked = module->end - module->first > 2; /* a file and the built-in functions */
    if (!is_linked)
        return fits((*module->first)->target);
    for (struct ptx_module **ptx = module->first; ptx < module->end; ptx++)
        if ((*ptx)->target > current_gpu()->capability)
            return false;
    return true;
}

/* Variables that several files of PTX have in common are one for the host's linker, too. */
static bool place_variables(const struct ptx_module *ptx)
{
    for (const struct ptx_variable *one = ptx->variables; one->name; one++) {
        if (*one->place)
            continue;
        *one->place = memory_allocate(one->bytes);
        if (!*one->place)
            return false;
        memory_open((uint64_t)(uintptr_t)*one->place);
        memcpy(*one->place, one->image, one->bytes);
    }
    return true;
}

static void place_shared(struct CUmod_st *module, const struct ptx_module *ptx)
{
    for (const struct ptx_shared *one = ptx->shared; one->offset; one++) {
        module->shared_bytes = (module->shared_bytes + one->align - 1) / one->align * one->align;
        *one->offset = (uint32_t)module->shared_bytes;
        module->shared_bytes += one->bytes;
    }
}

static void set_addresses(const struct ptx_module *ptx)
{
    for (const struct ptx_address *one = ptx->addresses; one->place; one++) {
        void *const address = one->variable ? *one->variable : one->function;
        memcpy((uint8_t *)*one->place + one->offset, &address, sizeof(address));
    }
}

static void add_functions(struct CUmod_st *module, const struct ptx_module *ptx)
{
    for (const struct ptx_kernel *kernel = ptx->kernels; kernel->name; kernel++) {
        struct CUfunc_st *const function = malloc(sizeof(*function));
        *function = (struct CUfunc_st){kernel, module, module->functions};
        module->functions = function;
    }
}

static enum result set_up(struct CUmod_st *module)
{
    bool placed = true;
    for (struct ptx_module **ptx = module->first; ptx < module->end; ptx++) {
        *(*ptx)->runtime = runtime_of_blocks;
        (*ptx)->runtime->memory = (uint64_t)(uintptr_t)memory_start;
        (*ptx)->runtime->memory_bytes = memory_span;
        placed = placed && place_variables(*ptx);
        place_shared(module, *ptx);
        add_functions(module, *ptx);
    }
    for (struct ptx_module **ptx = module->first; placed && ptx < module->end; ptx++)
        set_addresses(*ptx);
    memory_close();
    return placed ? OK : OUT_OF_MEMORY;
}

static enum result load_library(struct CUmod_st *module, const char *path)
{
    void *const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        complain("%s", dlerror());
        return INVALID_IMAGE;
    }
    struct ptx_module **(*modules)(int);
    *(void **)&modules = dlsym(library, "ptx_modules_of_image");
    if (!modules)
        return INVALID_IMAGE;
    module->first = modules(0);
    module->end = modules(1);
    return all_fit(module) ? set_up(module) : NO_BINARY_FOR_GPU;
}

/* An image that `ptxas` made ends with its table of sections. */
static enum result load_from_memory(struct CUmod_st *module, const Elf64_Ehdr *image)
{
    char path[64];
    const int file = memfd_create("image", MFD_CLOEXEC);
    const size_t bytes = image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
    if (file < 0 || write(file, image, bytes) != (ssize_t)bytes)
        return OUT_OF_MEMORY;
    snprintf(path, sizeof(path), "/proc/self/fd/%d",
             file); /* open, so that no other has its name */
    return load_library(module, path);
}

/* The name of one of the kernels in NVIDIA's machine code, or NULL. */
static const char *kernel_in(const Elf64_Ehdr *image)
{
    const uint8_t *const start = (const uint8_t *)image;
    const Elf64_Shdr *const sections = (const void *)(start + image->e_shoff);
    const char *const names = (const char *)start + sections[image->e_shstrndx].sh_offset;
    static const char prefix[] = ".text.__omp_offloading_";
    for (int i = 0; i < image->e_shnum; i++)
        if (strncmp(names + sections[i].sh_name, prefix, strlen(prefix)) == 0)
            return names + sections[i].sh_name + strlen(".text.");
    return NULL;
}

/* NVIDIA's machine code does not run here, but what `ptxas` made of its PTX: MOCK_IMAGES is a
 * folder in which each image has the names of its kernels. */
static enum result load_for_cubin(struct CUmod_st *module, const Elf64_Ehdr *image)
{
    const char *const folder = setting("MOCK_IMAGES", NULL);
    const char *const kernel = kernel_in(image);
    if (!fits(image->e_flags & 0xff))
        return NO_BINARY_FOR_GPU;
    if (!folder)
        complain("machine code of NVIDIA's: MOCK_IMAGES has to name what is to run in its place");
    if (!folder || !kernel)
        return INVALID_IMAGE;
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s.so", folder, kernel);
    return load_library(module, path);
}

API int cuModuleLoadData(struct CUmod_st **loaded, const void *data)
{
    const Elf64_Ehdr *const image = data;
    if (has_to_fail("cuModuleLoadData") || memcmp(data, ELFMAG, SELFMAG) != 0)
        return INVALID_IMAGE;
    *loaded = calloc(1, sizeof(**loaded));
    return image->e_machine == EM_NVIDIA ? load_for_cubin(*loaded, image)
                                         : load_from_memory(*loaded, image);
}

API int cuModuleLoad(struct CUmod_st **module, const char *path)
{
    *module = calloc(1, sizeof(**module));
    return load_library(*module, path);
}

API int cuModuleLoadDataEx(struct CUmod_st **module, const void *image, unsigned count,
                           const int *options, void **values)
{
    (void)count;
    (void)options;
    (void)values;
    return cuModuleLoadData(module, image);
}

API int cuModuleUnload(struct CUmod_st *module)
{
    say("cuModuleUnload");
    return module ? OK : INVALID_VALUE;
}

/* ---- what is in it ---- */

API int cuModuleGetFunction(struct CUfunc_st **found, struct CUmod_st *module, const char *name)
{
    for (*found = module->functions; *found; *found = (*found)->next)
        if (strcmp((*found)->kernel->name, name) == 0)
            return OK;
    return NOT_FOUND;
}

static const struct ptx_variable *find_variable(const struct CUmod_st *module, const char *name)
{
    for (struct ptx_module **ptx = module->first; ptx < module->end; ptx++)
        for (const struct ptx_variable *one = (*ptx)->variables; one->name; one++)
            if (strcmp(one->name, name) == 0)
                return one;
    return NULL;
}

API int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, struct CUmod_st *module,
                             const char *name)
{
    const struct ptx_variable *const found = find_variable(module, name);
    if (found && address)
        *address = (uint64_t)(uintptr_t)*found->place;
    if (found && bytes)
        *bytes = found->bytes;
    return found ? OK : NOT_FOUND;
}

/* CUfunction_attribute; registers are ptxas' affair. */
API int cuFuncGetAttribute(int *value, int attribute, const struct CUfunc_st *function)
{
    enum { MOST_THREADS = 0, SHARED_BYTES = 1, REGISTERS = 4 };
    *value = attribute == MOST_THREADS   ? (int)function->kernel->most_threads
             : attribute == SHARED_BYTES ? (int)function->module->shared_bytes
             : attribute == REGISTERS    ? 64
                                         : 0;
    return OK;
}

API int cuFuncSetAttribute(struct CUfunc_st *function, int attribute, int value)
{
    (void)attribute;
    (void)value;
    return function ? OK : INVALID_VALUE;
}
