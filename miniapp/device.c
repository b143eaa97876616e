#include "device.h"
#include "build.h"
#include "clock.h"
#include "host.h"
#include "measure.h"
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

/* GCC's runtime ends the process with exit(1) there. That status is ours too, but only after a
 * failed comparison. */
static void runtime_ended(int status, void *nothing)
{
    (void)nothing;
    if (status == EXIT_FAILURE && last_failure() != PHYSICS_MISMATCH)
        runtime_gave_up(0);
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
    on_exit(runtime_ended, NULL);
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

/* The median of many calls: no kernel is faster. */
static double empty_call(const struct backend *offload)
{
    enum { CALLS = 201 };
    double seconds[CALLS];
    struct samples samples = {seconds, CALLS, CALLS};
    struct timing timing;
    offload->empty_call(); /* the first is not counted */
    for (int i = 0; i < CALLS; i++)
        seconds[i] = offload->empty_call();
    summarise(&samples, &timing);
    return timing.median;
}

/* A line for a device; false where none has that number. */
static bool list_offload(FILE *stream, const struct backend *offload, int number)
{
    struct device device = {0};
    char text[DEVICE_TEXT] = "", reason[DEVICE_TEXT] = "";
    if (!offload->describe(number, text))
        return false;
    if (open_offload(number, &device, reason))
        fprintf(stream, "gpu:%-2d %s; an empty kernel takes %.3g us\n", number, text,
                1e6 * empty_call(offload));
    else
        fprintf(stream, "gpu:%-2d cannot be used: %s: %s\n", number, text, reason);
    return true;
}

void list_devices(FILE *stream)
{
    struct device device = {0};
    char reason[DEVICE_TEXT] = "the offload runtime finds no device that this build's code fits";
    int number = 0;
    open_host(&device);
    fprintf(stream, "cpu    %s\n", device.name);
    const struct backend *offload = load_offload(reason);
    while (offload && list_offload(stream, offload, number))
        number++;
    if (number == 0)
        fprintf(stream, "gpu    none: %s\n", reason);
}

/* ---- arrays ---- */

static size_t bytes_of(const struct arrays *arrays, enum physics_field_id id)
{
    const struct physics_field *field = &physics_fields[id];
    return physics_field_elements(field, &arrays->call.grid) *
           physics_element_bytes(field->type, arrays->precision);
}

static void *allocate(struct arrays *arrays, enum physics_field_id id)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &arrays->call.grid);
    const size_t bytes = physics_element_bytes(field->type, arrays->precision);
    void *memory = NULL;
    if (elements <= PTRDIFF_MAX / bytes)
        memory = arrays->device->backend->allocate(elements * bytes);
    if (!memory)
        fail(PHYSICS_DEVICE, "device '%s' is out of memory: '%s' takes %.3g GB",
             arrays->device->label, field->name, (double)elements * (double)bytes / 1e9);
    arrays->bytes += (double)elements * (double)bytes;
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

/* A copy on the host that calls transfer. */
static enum physics_status keep(const struct arrays *arrays, enum physics_field_id id,
                                const void *data, void **copy)
{
    const size_t bytes = bytes_of(arrays, id);
    *copy = malloc(bytes);
    if (!*copy)
        return fail(PHYSICS_DEVICE, "out of memory for a copy of '%s'", physics_fields[id].name);
    if (data)
        memcpy(*copy, data, bytes);
    else
        memset(*copy, 0, bytes); /* so that it is there when calls are timed */
    return PHYSICS_DONE;
}

static enum physics_status send(struct arrays *arrays, enum physics_field_id id, const void *data)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t bytes = bytes_of(arrays, id);
    const double start = seconds_now();
    const bool sent = arrays->device->backend->to_device((void *)arrays->call.input[id], data,
                                                         bytes);
    arrays->to_device.seconds += seconds_now() - start;
    arrays->to_device.bytes += (double)bytes;
    if (!sent)
        return fail(PHYSICS_DEVICE, "device '%s' did not take '%s'", arrays->device->label,
                    field->name);
    return arrays->each_call ? keep(arrays, id, data, &arrays->host_input[id]) : PHYSICS_DONE;
}

static enum physics_status open_input(struct arrays *arrays, enum physics_field_id id,
                                      const void *data)
{
    const struct physics_field *field = &physics_fields[id];
    const size_t elements = physics_field_elements(field, &arrays->call.grid);
    const bool narrow = field->type == PHYSICS_REAL && arrays->precision == PHYSICS_FLOAT32;
    float *copy = NULL;
    arrays->call.input[id] = allocate(arrays, id);
    if (!arrays->call.input[id])
        return PHYSICS_DEVICE;
    enum physics_status status = narrow ? narrowed(field, data, elements, &copy) : PHYSICS_DONE;
    if (!status)
        status = send(arrays, id, narrow ? copy : data);
    free(copy);
    return status;
}

static enum physics_status fill(struct arrays *arrays, const struct fields *fields)
{
    enum physics_status status = PHYSICS_DONE;
    for (const enum physics_field_id *id = arrays->kernel->inputs; *id && !status; id++)
        status = open_input(arrays, *id, fields->data[*id]);
    for (const enum physics_field_id *id = arrays->kernel->outputs; *id && !status; id++) {
        arrays->call.output[*id] = allocate(arrays, *id);
        if (!arrays->call.output[*id])
            status = PHYSICS_DEVICE;
        else if (arrays->each_call)
            status = keep(arrays, *id, NULL, &arrays->host_output[*id]);
    }
    return status;
}

enum physics_status arrays_open(const struct device *device, const struct physics_kernel *kernel,
                                enum physics_precision precision, const struct fields *fields,
                                const double setting[PHYSICS_SETTINGS], bool each_call,
                                struct arrays *arrays)
{
    *arrays = (struct arrays){.device = device, .precision = precision, .each_call = each_call};
    arrays_select(arrays);
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

void arrays_select(const struct arrays *arrays)
{
    arrays->device->backend->select(arrays->device->number);
}

bool arrays_send_again(struct arrays *arrays)
{
    bool sent = true;
    for (const enum physics_field_id *id = arrays->kernel->inputs; *id && sent; id++)
        sent = arrays->device->backend->to_device((void *)arrays->call.input[*id],
                                                  arrays->host_input[*id], bytes_of(arrays, *id));
    return sent;
}

bool arrays_return(struct arrays *arrays)
{
    bool returned = true;
    for (const enum physics_field_id *id = arrays->kernel->outputs; *id && returned; id++)
        returned = arrays->device->backend->from_device(
            arrays->host_output[*id], arrays->call.output[*id], bytes_of(arrays, *id));
    return returned;
}

/* Copies one array back and forth, by way of `host`. */
static bool time_array(const struct arrays *arrays, enum physics_field_id id, bool is_input,
                       void *host, double *seconds)
{
    const struct backend *backend = arrays->device->backend;
    const size_t bytes = bytes_of(arrays, id);
    void *memory = is_input ? (void *)arrays->call.input[id] : arrays->call.output[id];
    double least = INFINITY;
    bool done = backend->from_device(host, memory, bytes); /* its pages are there then */
    for (int i = 0; i < 3 && done; i++) {
        const double start = seconds_now();
        done = is_input ? backend->to_device(memory, host, bytes)
                        : backend->from_device(host, memory, bytes);
        least = fmin(least, seconds_now() - start);
    }
    *seconds += least;
    return done;
}

static bool time_list(const struct arrays *arrays, const enum physics_field_id *ids, bool is_input,
                      void *host, double *seconds)
{
    bool done = host != NULL;
    *seconds = 0;
    for (; *ids && done; ids++)
        done = time_array(arrays, *ids, is_input, host, seconds);
    return done;
}

static size_t largest_of(const struct arrays *arrays, const enum physics_field_id *ids, size_t most)
{
    for (; *ids; ids++)
        most = bytes_of(arrays, *ids) > most ? bytes_of(arrays, *ids) : most;
    return most;
}

enum physics_status arrays_time_transfers(struct arrays *arrays)
{
    const struct backend *backend = arrays->device->backend;
    const enum physics_field_id *inputs = arrays->kernel->inputs;
    const enum physics_field_id *outputs = arrays->kernel->outputs;
    if (!backend->allocate_pinned)
        return PHYSICS_DONE;
    const size_t largest = largest_of(arrays, outputs, largest_of(arrays, inputs, 0));
    arrays_select(arrays);
    void *pageable = malloc(largest);
    void *pinned = backend->allocate_pinned(largest);
    bool done = time_list(arrays, inputs, true, pageable, &arrays->to_device.seconds) &&
                time_list(arrays, outputs, false, pageable, &arrays->from_device.seconds);
    if (done && pinned)
        done = time_list(arrays, inputs, true, pinned, &arrays->to_device.pinned_seconds) &&
               time_list(arrays, outputs, false, pinned, &arrays->from_device.pinned_seconds);
    arrays->from_device.bytes = arrays->bytes - arrays->to_device.bytes;
    free(pageable);
    if (pinned)
        backend->release_pinned(pinned);
    if (!done)
        return fail(PHYSICS_DEVICE, "the transfers of '%s' to device '%s' and back failed",
                    arrays->kernel->name, arrays->device->label);
    return PHYSICS_DONE;
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
    const size_t bytes = bytes_of(arrays, id);
    *values = malloc(elements * sizeof(**values));
    if (!*values)
        return fail(PHYSICS_DEVICE, "out of memory for a copy of '%s'", field->name);
    arrays_select(arrays);
    const double start = seconds_now();
    const bool got =
        arrays->device->backend->from_device(*values, arrays->call.output[id], bytes);
    if (!arrays->device->backend->allocate_pinned) { /* elsewhere transfers are measured apart */
        arrays->from_device.seconds += seconds_now() - start;
        arrays->from_device.bytes += (double)bytes;
    }
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
    if (!arrays->device)
        return;
    arrays_select(arrays);
    for (int id = 0; id < PHYSICS_FIELDS; id++) {
        arrays->device->backend->release((void *)arrays->call.input[id]);
        arrays->device->backend->release(arrays->call.output[id]);
        free(arrays->host_input[id]);
        free(arrays->host_output[id]);
    }
    *arrays = (struct arrays){0};
}
