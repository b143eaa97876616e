/*
 * The tables, from the descriptions, and what the public headers ask of them.
 */
#include "common/table.h"
#include "program.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* ---- fields ---- */

#define Z_Y_X {MINIAPP_Z, MINIAPP_Y, MINIAPP_X}
#define Y_X {MINIAPP_Y, MINIAPP_X}
#define Z_Y {MINIAPP_Z, MINIAPP_Y}
#define Z_X {MINIAPP_Z, MINIAPP_X}
#define X_ONLY {MINIAPP_X}
#define Y_ONLY {MINIAPP_Y}
#define Z_ONLY {MINIAPP_Z}
#define NO_AXES {MINIAPP_NO_AXIS}
#define IP_KR_Z_Y_X {MINIAPP_IP, MINIAPP_KR, MINIAPP_Z, MINIAPP_Y, MINIAPP_X}
#define JP_KR_Z_Y_X {MINIAPP_JP, MINIAPP_KR, MINIAPP_Z, MINIAPP_Y, MINIAPP_X}
#define IP_JP_KR_Y_X {MINIAPP_IP, MINIAPP_JP, MINIAPP_KR, MINIAPP_Y, MINIAPP_X}

#define FIELD_ROW(name, type, ...) [FIELD_##name] = {#name, MINIAPP_##type, __VA_ARGS__},

static struct miniapp_field table[MOST_FIELDS] = {
#define FIELD FIELD_ROW
#define DESCRIPTIONS "ocean.fields"
#include "common/describe.h"
#undef DESCRIPTIONS
#define FIELD FIELD_ROW
#define DESCRIPTIONS "all.kernels"
#include "common/describe.h"
};

const struct miniapp_field *const fields = table;
static _Atomic size_t field_count = FIELDS - 1;

bool append_fields(const struct miniapp_field *rows, size_t number)
{
    const size_t end = field_count + 1;
    if (number > MOST_FIELDS - end)
        return false;
    memcpy(table + end, rows, number * sizeof(*rows));
    field_count += number;
    return true;
}

/* NULL, which a failed look-up returns, has an empty row. */
static const struct miniapp_field *field_row(const struct miniapp_field *field)
{
    return field ? field : &fields[NO_FIELD];
}

size_t miniapp_field_count(void)
{
    return field_count;
}

const struct miniapp_field *miniapp_field_at(size_t place)
{
    return place < field_count ? &fields[place + 1] : NULL;
}

const struct miniapp_field *miniapp_field_find(const char *name)
{
    for (size_t id = 1; name && id <= field_count; id++)
        if (strcmp(fields[id].name, name) == 0)
            return &fields[id];
    return NULL;
}

enum field_id field_id(const struct miniapp_field *field)
{
    return (enum field_id)(field - fields);
}

bool has_axis(const struct miniapp_field *field, enum miniapp_axis wanted)
{
    for (const enum miniapp_axis *axis = field->axes; *axis != MINIAPP_NO_AXIS; axis++)
        if (*axis == wanted)
            return true;
    return false;
}

bool same_shape(const struct miniapp_field *a, const struct miniapp_field *b)
{
    return a->type == b->type && memcmp(a->axes, b->axes, sizeof(a->axes)) == 0;
}

const char *miniapp_field_name(const struct miniapp_field *field)
{
    return field_row(field)->name;
}

const char *miniapp_field_units(const struct miniapp_field *field)
{
    return field_row(field)->units;
}

const char *miniapp_field_long_name(const struct miniapp_field *field)
{
    return field_row(field)->long_name;
}

const char *miniapp_field_standard_name(const struct miniapp_field *field)
{
    return field_row(field)->standard_name;
}

const char *miniapp_field_surface_units(const struct miniapp_field *field)
{
    return field_row(field)->at_surface.units;
}

const char *miniapp_field_surface_name(const struct miniapp_field *field)
{
    return field_row(field)->at_surface.long_name;
}

double miniapp_field_surface_most(const struct miniapp_field *field)
{
    return field_row(field)->at_surface.most;
}

enum miniapp_type miniapp_field_type(const struct miniapp_field *field)
{
    return field_row(field)->type;
}

bool miniapp_field_is_optional(const struct miniapp_field *field)
{
    return field_row(field)->is_optional;
}

void miniapp_field_range(const struct miniapp_field *field, double *least, double *most)
{
    *least = field_row(field)->valid_min;
    *most = field_row(field)->valid_max;
}

static const struct miniapp_field *row_of(enum field_id id)
{
    return id == NO_FIELD ? NULL : &fields[id];
}

const struct miniapp_field *miniapp_field_wet(const struct miniapp_field *field)
{
    return row_of(field_row(field)->wet);
}

const struct miniapp_field *miniapp_field_stand_in(const struct miniapp_field *field,
                                                   double *factor)
{
    *factor = field_row(field)->stand_in_factor;
    return row_of(field_row(field)->stand_in);
}

const struct miniapp_field *miniapp_field_partner(const struct miniapp_field *field)
{
    return row_of(field_row(field)->partner);
}

const char *miniapp_field_needed_by(const struct miniapp_field *field, size_t index)
{
    const struct miniapp_field *const row = field_row(field);
    return index < sizeof(row->needed_by) / sizeof(*row->needed_by) ? row->needed_by[index] : NULL;
}

bool miniapp_field_is_extended(const struct miniapp_field *field)
{
    return field_row(field)->is_extended;
}

bool miniapp_field_is_flow(const struct miniapp_field *field)
{
    return field_row(field)->is_flow;
}

bool miniapp_field_has_wall(const struct miniapp_field *field)
{
    return field_row(field)->has_wall;
}

void miniapp_field_limits(const struct miniapp_field *field, double *least, double *most)
{
    const bool has_limits = field_row(field)->limits[0] < field_row(field)->limits[1];
    *least = has_limits ? field_row(field)->limits[0] : -DBL_MAX;
    *most = has_limits ? field_row(field)->limits[1] : DBL_MAX;
}

int miniapp_field_rank(const struct miniapp_field *field)
{
    int rank = 0;
    while (field_row(field)->axes[rank] != MINIAPP_NO_AXIS)
        rank++;
    return rank;
}

enum miniapp_axis miniapp_field_axis(const struct miniapp_field *field, int place)
{
    return place >= 0 && place < miniapp_field_rank(field) ? field->axes[place] : MINIAPP_NO_AXIS;
}

size_t miniapp_element_bytes(enum miniapp_type type, enum miniapp_precision precision)
{
    switch (type) {
    case MINIAPP_MASK: return sizeof(uint8_t);
    case MINIAPP_INDEX: return sizeof(int32_t);
    case MINIAPP_DOUBLE: return sizeof(double);
    default: return precision == MINIAPP_FLOAT64 ? sizeof(double) : sizeof(float);
    }
}

const char *miniapp_precision_name(enum miniapp_precision precision)
{
    return precision == MINIAPP_FLOAT64 ? "float64" : "float32";
}

double sample_of(size_t element)
{
    const double multiple = (double)(element + 1) * 0.6180339887498949;
    return multiple - (double)(size_t)multiple;
}

/* ---- the grid ---- */

const char *miniapp_axis_name(enum miniapp_axis axis)
{
    static const char *const names[MINIAPP_AXES] = {"", "x", "y", "z", "ip", "jp", "kr"};
    return (unsigned)axis < MINIAPP_AXES ? names[axis] : "";
}

static const struct miniapp_grid *grid_row(const struct miniapp_grid *grid)
{
    static const struct miniapp_grid empty;
    return grid ? grid : &empty;
}

size_t miniapp_axis_length(enum miniapp_axis axis, const struct miniapp_grid *grid)
{
    switch (axis) {
    case MINIAPP_X: return grid_row(grid)->nx;
    case MINIAPP_Y: return grid_row(grid)->ny;
    case MINIAPP_Z: return grid_row(grid)->nz;
    default: return 2; /* ip, jp and kr number the corners of a face */
    }
}

static size_t multiply(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t miniapp_grid_points(const struct miniapp_grid *grid)
{
    return multiply(multiply(grid_row(grid)->nx, grid_row(grid)->ny), grid_row(grid)->nz);
}

struct miniapp_grid miniapp_grid_interior(const struct miniapp_grid *grid)
{
    const struct miniapp_grid *const all = grid_row(grid);
    return (struct miniapp_grid){all->nx - 2 * MINIAPP_HALO, all->ny - 2 * MINIAPP_HALO, all->nz};
}

struct miniapp_grid miniapp_grid_with_ghosts(const struct miniapp_grid *interior)
{
    const struct miniapp_grid *const inner = grid_row(interior);
    return (struct miniapp_grid){inner->nx + 2 * MINIAPP_HALO, inner->ny + 2 * MINIAPP_HALO,
                                 inner->nz};
}

size_t miniapp_field_elements(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    size_t elements = field ? 1 : 0;
    for (const enum miniapp_axis *axis = field_row(field)->axes; *axis != MINIAPP_NO_AXIS; axis++)
        elements = multiply(elements, miniapp_axis_length(*axis, grid));
    return elements;
}

/* ---- settings ---- */

const struct miniapp_setting settings[SETTINGS] = {
#define SETTING_ROW(name, ...) [SETTING_##name] = {#name, __VA_ARGS__},
#include "ocean.settings"
};

static const struct miniapp_setting *setting_row(const struct miniapp_setting *setting)
{
    static const struct miniapp_setting empty;
    return setting ? setting : &empty;
}

size_t miniapp_setting_count(void)
{
    return SETTINGS;
}

const struct miniapp_setting *miniapp_setting_at(size_t place)
{
    return place < SETTINGS ? &settings[place] : NULL;
}

const struct miniapp_setting *miniapp_setting_find(const char *name)
{
    for (size_t id = 0; name && id < SETTINGS; id++)
        if (strcmp(settings[id].name, name) == 0)
            return &settings[id];
    return NULL;
}

const char *miniapp_setting_name(const struct miniapp_setting *setting)
{
    return setting_row(setting)->name;
}

const char *miniapp_setting_units(const struct miniapp_setting *setting)
{
    return setting_row(setting)->units;
}

const char *miniapp_setting_long_name(const struct miniapp_setting *setting)
{
    return setting_row(setting)->long_name;
}

double miniapp_setting_default(const struct miniapp_setting *setting)
{
    return setting_row(setting)->value;
}

bool miniapp_setting_is_whole(const struct miniapp_setting *setting)
{
    return setting_row(setting)->is_whole;
}

void miniapp_setting_range(const struct miniapp_setting *setting, double *least, double *most)
{
    *least = setting_row(setting)->valid_min;
    *most = setting_row(setting)->valid_max;
}

/* ---- kernels ---- */

#undef DESCRIPTIONS
#define DESCRIPTIONS "all.kernels"

#define ACCESS_read MINIAPP_READ
#define ACCESS_write MINIAPP_WRITE
#define ACCESS_update MINIAPP_UPDATE
#define ACCESS_scratch MINIAPP_SCRATCH
#define TYPE_real MINIAPP_REAL
#define TYPE_uint8_t MINIAPP_MASK
#define TYPE_int32_t MINIAPP_INDEX
#define TYPE_double MINIAPP_DOUBLE
#define GHOSTS(west, east, south, north) {west, east, south, north}
#define AROUND(n) {n, n, n, n}
#define HERE {0}

/* clang-format off */
#define KERNEL(name, ...) static const struct argument name##_arguments[] = {
#define ARGUMENT(access, type, name, field, ...)                                                   \
    {#name, FIELD_##field, ACCESS_##access, TYPE_##type, __VA_ARGS__},
#define END };
#include "common/describe.h"

/* A kernel may have no settings, so each list ends with an entry that does not count. */
#define KERNEL(name, ...) static const enum setting_id name##_settings[] = {
#define SETTING(type, name) SETTING_##name,
#define END SETTINGS };
#include "common/describe.h"

#define real double
#define KERNEL(name, ...) static double name##_flops(const double *setting) { (void)setting;
#define SETTING(type, name)                                                                        \
    __attribute__((unused)) const type name = (type)setting[SETTING_##name];
#define FLOPS(expression) return expression;
#define END }
#include "common/describe.h"

/* Without FLOPS_AT, a level's number is that of all points. */
#define INLINED static inline
#include "eos/nodes.h"
#define KERNEL(name, ...)                                                                          \
    static double name##_flops_at(const double *setting, double level) {                           \
        double (*const all)(const double *) = name##_flops; (void)level;
#define SETTING(type, name)                                                                        \
    __attribute__((unused)) const type name = (type)setting[SETTING_##name];
#define FLOPS_AT(argument, expression) const double argument = level; return expression;
#define END return all(setting); }
#include "common/describe.h"

#define KERNEL(name, ...) enum { name##_level_of_flops = 0
#define FLOPS_AT(argument, expression) + FIELD_##argument
#define END };
#include "common/describe.h"

#define KERNEL(name, ...) enum { name##_flops_of_iteration = 0
#define FLOPS_OF_ITERATION(number) + (number)
#define END };
#include "common/describe.h"

#define KERNEL(name, ...) enum { name##_is_whole = 0
#define WHOLE_OCEAN || 1
#define END };
#include "common/describe.h"

#define KERNEL(name, ...)                                                                          \
    static enum extent name##_touches(const double *setting, const char *name_of_argument) {       \
        (void)setting; (void)name_of_argument;
#define SETTING(type, name)                                                                        \
    __attribute__((unused)) const type name = (type)setting[SETTING_##name];
#define UNTOUCHED(argument, condition)                                                             \
    if (strcmp(name_of_argument, #argument) == 0 && (condition)) return NOTHING;
#define ONE_LEVEL(argument)                                                                        \
    if (strcmp(name_of_argument, #argument) == 0) return ONE_LEVEL_OF_IT;
#define END return ALL_OF_IT; }
#include "common/describe.h"
#undef real

#define KERNEL(name, ...)                                                                          \
    _Static_assert(COUNT(name##_arguments) <= MOST_ARGUMENTS, #name " has too many arguments");
#include "common/describe.h"

const struct miniapp_kernel kernels[KERNELS] = {
#define KERNEL(name, subject, summary, source)                                                     \
    {KERNEL_##name, #name, subject, summary, source, name##_arguments, name##_settings,            \
     COUNT(name##_arguments), COUNT(name##_settings) - 1, name##_flops, name##_flops_at,           \
     name##_level_of_flops, name##_flops_of_iteration, name##_is_whole, name##_touches},
#include "common/describe.h"
};

/* clang-format on */

static const struct miniapp_kernel *kernel_row(const struct miniapp_kernel *kernel)
{
    static const struct miniapp_kernel empty;
    return kernel ? kernel : &empty;
}

static const struct argument *argument_row(const struct miniapp_kernel *kernel, size_t place)
{
    static const struct argument empty;
    return place < kernel_row(kernel)->argument_count ? &kernel->arguments[place] : &empty;
}

size_t miniapp_kernel_count(void)
{
    return KERNELS;
}

const struct miniapp_kernel *miniapp_kernel_at(size_t place)
{
    return place < KERNELS ? &kernels[place] : NULL;
}

const struct miniapp_kernel *miniapp_kernel_find(const char *name)
{
    for (size_t i = 0; name && i < KERNELS; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

const char *miniapp_kernel_name(const struct miniapp_kernel *kernel)
{
    return kernel_row(kernel)->name;
}

const char *miniapp_kernel_summary(const struct miniapp_kernel *kernel)
{
    return kernel_row(kernel)->summary;
}

const char *miniapp_kernel_citation(const struct miniapp_kernel *kernel)
{
    return kernel_row(kernel)->source;
}

const char *miniapp_kernel_subject(const struct miniapp_kernel *kernel)
{
    return kernel_row(kernel)->subject;
}

size_t miniapp_kernel_argument_count(const struct miniapp_kernel *kernel)
{
    return kernel_row(kernel)->argument_count;
}

const char *miniapp_argument_name(const struct miniapp_kernel *kernel, size_t place)
{
    return argument_row(kernel, place)->name;
}

const struct miniapp_field *miniapp_argument_field(const struct miniapp_kernel *kernel,
                                                   size_t place)
{
    return row_of(argument_row(kernel, place)->field);
}

enum miniapp_access miniapp_argument_access(const struct miniapp_kernel *kernel, size_t place)
{
    return argument_row(kernel, place)->access;
}

int miniapp_argument_ghosts(const struct miniapp_kernel *kernel, size_t place,
                            enum miniapp_side side)
{
    return (unsigned)side < MINIAPP_SIDES ? argument_row(kernel, place)->ghosts[side] : 0;
}

size_t miniapp_kernel_setting_count(const struct miniapp_kernel *kernel)
{
    return kernel_row(kernel)->setting_count;
}

const struct miniapp_setting *miniapp_kernel_setting(const struct miniapp_kernel *kernel,
                                                     size_t place)
{
    return place < kernel_row(kernel)->setting_count ? &settings[kernel->settings[place]] : NULL;
}
