#include "device.h"
#include "build.h"
#include "clock.h"
#include "host.h"
#include "output.h"
#include "status.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The module lies beside the program: bin/miniapp and lib/miniapp-offload.so. */
static void module_path(char path[PATH_MAX])
{
    char program[PATH_MAX] = "";
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    for (int up = 0; length > 0 && up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (slash)
            *slash = '\0';
    }
    const char *const module = "/lib/miniapp-offload.so";
    snprintf(path, PATH_MAX, "%.*s%s", (int)(PATH_MAX - strlen(module) - 1), program, module);
}

/* The offload runtime ends the process when a kernel does not start: that is a device that cannot
 * be used. It has said why by then. */
static void runtime_gave_up(int signal_number)
{
    static const char line[] = "miniapp: the offload runtime gave up on the device\n";
    (void)signal_number;
    output_abandon();
    if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
        _exit(PHYSICS_OUTPUT);
    _exit(PHYSICS_DEVICE);
}

/* The offload module, or NULL and why it cannot be had. */
static const struct backend *load_offload(char reason[DEVICE_TEXT])
{
    static const struct backend *backend;
    char path[PATH_MAX];
    if (backend)
        return backend;
    module_path(path);
    if (access(path, R_OK) != 0) {
        snprintf(reason, DEVICE_TEXT, "this build has no offload; configure it with the preset "
                                      "nvptx or emulated");
        return NULL;
    }
    signal(SIGABRT, runtime_gave_up);
    /* global: libomp finds libomptarget, which the module brings, by symbols' names */
    void *module = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    backend = module ? dlsym(module, OFFLOAD_BACKEND_NAME) : NULL;
    if (!backend)
        snprintf(reason, DEVICE_TEXT, "%s", dlerror());
    else if (strcmp(backend->build, BUILD_VERSION " " BUILD_OFFLOAD) != 0 ||
             backend->call_bytes != sizeof(struct physics_call)) {
        snprintf(reason, DEVICE_TEXT, "lib/miniapp-offload.so is of another build: %s",
                 backend->build);
        backend = NULL;
    }
    return backend;
}

static bool open_host(struct device *device)
{
    device->backend = &host_backend;
    snprintf(device->label, sizeof(device->label), "cpu");
    return host_backend.open(0, device->name, NULL);
}

static bool open_offload(int number, struct device *device, char reason[DEVICE_TEXT])
{
    device->number = number;
    device->backend = load_offload(reason);
    snprintf(device->label, sizeof(device->label), "gpu:%d", number);
    return device->backend && device->backend->open(number, device->name, reason);
}

enum physics_status device_open(const char *asked, struct device *device)
{
    char reason[DEVICE_TEXT] = "";
    *device = (struct device){0};
    if (strcmp(asked, "cpu") == 0) {
        open_host(device);
        return PHYSICS_DONE;
    }
    const int number = strncmp(asked, "gpu:", 4) == 0 ? atoi(asked + 4) : 0;
    if (open_offload(number, device, reason))
        return PHYSICS_DONE;
    if (strcmp(asked, "auto") != 0)
        return fail(PHYSICS_DEVICE, "device '%s' cannot be used: %s", asked, reason);
    warn("--device auto takes the cpu: %s", reason);
    open_host(device);
    return PHYSICS_DONE;
}

void list_devices(FILE *stream)
{
    struct device device = {0};
    char reason[DEVICE_TEXT] = "";
    open_host(&device);
    fprintf(stream, "cpu    %s\n", device.name);
    const struct backend *offload = load_offload(reason);
    const int count = offload ? offload->count() : 0;
    for (int number = 0; number < count; number++) {
        if (open_offload(number, &device, reason))
            fprintf(stream, "gpu:%-2d %s\n", number, device.name);
        else
            fprintf(stream, "gpu:%-2d cannot be used: %s\n", number, reason);
    }
    if (count == 0)
        fprintf(stream, "gpu    none: %s\n",
                offload ? "the offload runtime finds no device that this build's code fits"
                        : reason);
}

static void *allocate(struct arrays *arrays, const struct physics_field *field)
{
    const size_t elements = physics_field_elements(field, &arrays->call.grid);
    const size_t bytes = physics_element_bytes(field->type, arrays->precision);
    void *memory = NULL;
    if (elements <= PTRDIFF_MAX / bytes)
        memory = arrays->device->backend->allocate(elements * bytes);
    if (!memory)
        fail(PHYSICS_DEVICE, "device '%s' is out of memory: '%s' takes %.3g GB",
             arrays->device->label, field->name, (double)elements * (double)bytes / 1e9);
    return memory;
}

/* Reals are held as double on the host. In float32 they are narrowed on their way, into a new
 * array. What float32 cannot hold is refused. */
static enum physics_status narrowed(const struct physics_field *field, const double *values,
                                    size_t elements, float **narrow)
{
    *narrow = malloc(elements * sizeof(**narrow));
    if (!*narrow)
        return fail(PHYSICS_DEVICE, "out of memory for '%s' in float32", field->name);
    for (size_t i = 0; i < elements; i++) {
        (*narrow)[i] = (float)values[i];
        if (isfinite(values[i]) && !isfinite((*narrow)[i])) {
            free(*narrow);
            *narrow = NULL;
            return fail(PHYSICS_INPUT, "'%s' holds %g, which float32 cannot", field->name,
                        values[i]);
        }
    }
    return PHYSICS_DONE;
}

/* Whether the kernel's settings survive in float32. */
static enum physics_status check_settings(const struct arrays *arrays)
{
    for (const enum physics_setting_id *id = arrays->kernel->settings; *id; id++) {
        const double value = arrays->call.setting[*id];
        const float narrow = (float)value;
        if (arrays->precision == PHYSICS_FLOAT32 &&
            (!isfinite(narrow) || (value != 0 && narrow == 0)))
            return fail(PHYSICS_USAGE, "setting '%s' is %g, which float32 cannot hold",
                        physics_settings[*id].name, value);
    }
    return PHYSICS_DONE;
}

static enum physics_status send(struct arrays *arrays, enum physics_field_id id, const void *data)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &arrays->call.grid);
    const size_t bytes = elements * physics_element_bytes(field->type, arrays->precision);
    const bool narrow = field->type == PHYSICS_REAL && arrays->precision == PHYSICS_FLOAT32;
    void *const memory = allocate(arrays, field);
    arrays->call.input[id] = memory;
    if (!memory)
        return PHYSICS_DEVICE;
    float *copy = NULL;
    const enum physics_status status =
        narrow ? narrowed(field, data, elements, &copy) : PHYSICS_DONE;
    if (status)
        return status;
    const double start = seconds_now();
    const bool sent = arrays->device->backend->to_device(memory, narrow ? copy : data, bytes);
    arrays->to_device_seconds += seconds_now() - start;
    arrays->to_device_bytes += (double)bytes;
    free(copy);
    if (!sent)
        return fail(PHYSICS_DEVICE, "device '%s' did not take '%s'", arrays->device->label,
                    field->name);
    return PHYSICS_DONE;
}

static enum physics_status fill(struct arrays *arrays, const struct fields *fields)
{
    for (const enum physics_field_id *id = arrays->kernel->inputs; *id; id++) {
        const enum physics_status status = send(arrays, *id, fields->data[*id]);
        if (status)
            return status;
    }
    for (const enum physics_field_id *id = arrays->kernel->outputs; *id; id++) {
        arrays->call.output[*id] = allocate(arrays, &physics_fields[*id]);
        if (!arrays->call.output[*id])
            return PHYSICS_DEVICE;
    }
    return PHYSICS_DONE;
}

enum physics_status arrays_open(const struct device *device, const struct physics_kernel *kernel,
                                enum physics_precision precision, const struct fields *fields,
                                const double setting[PHYSICS_SETTINGS], struct arrays *arrays)
{
    *arrays = (struct arrays){.device = device, .precision = precision};
    device->backend->select(device->number);
    arrays->kernel = physics_find_kernel(device->backend->kernels(precision), kernel->name);
    arrays->call.grid = fields->grid;
    memcpy(arrays->call.setting, setting, sizeof(arrays->call.setting));
    enum physics_status status = check_settings(arrays);
    if (!status)
        status = fill(arrays, fields);
    if (status)
        arrays_close(arrays);
    return status;
}

/* From float to double in place: the last first, so that none is overwritten unread. */
static void widen(double *values, size_t elements)
{
    for (size_t i = elements; i-- > 0;) {
        float narrow;
        memcpy(&narrow, (const char *)values + i * sizeof(narrow), sizeof(narrow));
        values[i] = (double)narrow;
    }
}

enum physics_status arrays_fetch(struct arrays *arrays, enum physics_field_id id, double **values)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &arrays->call.grid);
    const size_t bytes = elements * physics_element_bytes(field->type, arrays->precision);
    *values = malloc(elements * sizeof(**values));
    if (!*values)
        return fail(PHYSICS_DEVICE, "out of memory for a copy of '%s'", field->name);
    const double start = seconds_now();
    const bool got =
        arrays->device->backend->from_device(*values, arrays->call.output[id], bytes);
    arrays->from_device_seconds += seconds_now() - start;
    arrays->from_device_bytes += (double)bytes;
    if (!got) {
        free(*values);
        *values = NULL;
        return fail(PHYSICS_DEVICE, "device '%s' did not return '%s'", arrays->device->label,
                    field->name);
    }
    if (arrays->precision == PHYSICS_FLOAT32)
        widen(*values, elements);
    return PHYSICS_DONE;
}

void arrays_close(struct arrays *arrays)
{
    for (int id = 0; id < PHYSICS_FIELDS; id++) {
        arrays->device->backend->release((void *)arrays->call.input[id]);
        arrays->device->backend->release(arrays->call.output[id]);
        arrays->call.input[id] = NULL;
        arrays->call.output[id] = NULL;
    }
}
