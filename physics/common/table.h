/*
 * The rows of the library's tables, as the library itself sees them.
 */
#ifndef PHYSICS_TABLE_H
#define PHYSICS_TABLE_H

#include "boxes.h"
#include "call.h"

#include <miniapp/field.h>
#include <miniapp/kernel.h>
#include <miniapp/sequence.h>
#include <miniapp/setting.h>

/* FIELD_salt, ...; NO_FIELD is 0. */
enum field_id {
    NO_FIELD,
#define FIELD(name, ...) FIELD_##name,
#define DESCRIPTIONS "ocean.fields"
#include "describe.h"
#undef DESCRIPTIONS
#define FIELD(name, ...) FIELD_##name,
#define DESCRIPTIONS "all.kernels"
#include "describe.h"
#undef DESCRIPTIONS
    FIELDS /* one more than the described fields; miniapp/state/tracers.c adds those of tracers */
};

/* MOST_TRACERS are those of a sequence; a process keeps the names of all that it ever stepped. */
enum {
    TRACER_FIELDS = 5,
    MOST_TRACERS = 64,
    MOST_TRACER_NAMES = 256,
    MOST_FIELDS = FIELDS + MOST_TRACER_NAMES * TRACER_FIELDS
};

/* KERNEL_eos, ...: the place in the table, and in that of each target's functions. */
enum kernel_id {
#define KERNEL(name, ...) KERNEL_##name,
#define DESCRIPTIONS "all.kernels"
#include "describe.h"
#undef DESCRIPTIONS
    KERNELS
};

struct miniapp_field {
    const char *name;
    enum miniapp_type type;
    enum miniapp_axis axes[MINIAPP_MAX_RANK + 1]; /* slowest first, ended by MINIAPP_NO_AXIS */
    const char *units;                            /* "": any */
    const char *long_name;
    double valid_min, valid_max;
    const char *standard_name; /* CF's, or NULL */
    enum field_id wet; /* the mask, or the deepest wet level of each column, that says where the
                          field has a meaning; 0: everywhere */
    bool
        is_extended; /* averages near land include land cells, which get the value of water above */
    bool is_nearest; /* resampled by the nearest cell, so that land has no part in water */
    bool is_optional;       /* where absent: stand_in times stand_in_factor, */
    enum field_id stand_in; /* or zero where there is no stand-in */
    double stand_in_factor;
    enum field_id partner;    /* may not be absent where this one is there; 0: none */
    const char *needed_by[2]; /* nor where one of these settings is not 0, but elsewhere */
    double scale; /* of outputs: a usual magnitude, for the tolerances of a reference of zeros */
    double limits[2]; /* of what steps in time make of it; {0, 0}: none */
    bool is_sampled;  /* where absent: sample_of() each element, on the stand-in's grid */
    bool is_flow;     /* a velocity or stress: 0 in closed ghosts, since walls have neither */
    bool is_on_w;     /* lies at heights zw, though its `wet` is not maskW, whose fields do */
    bool may_rest; /* may be absent, as 0, where an ocean whose flow is stepped starts from rest */
    bool has_wall; /* on corners: those on the southern wall are ghosts that mean something */
    struct {
        const char *units, *long_name;
        double most;          /* its magnitude */
    } at_surface;             /* instead, where enable_streamfunction is 0; or {NULL} */
    bool may_vary;            /* an input may have records of it in time */
    bool is_spacing;          /* a cell's width along its axis; the widths add up to the domain's */
    enum miniapp_axis counts; /* the axis whose length its values may not exceed; or 0 */
};

struct miniapp_setting {
    const char *name;
    double value; /* the default */
    double valid_min, valid_max;
    const char *units;
    const char *long_name;
    bool is_whole; /* takes whole numbers only */
};

struct miniapp_settings {
    double value[SETTINGS];
};

struct argument {
    const char *name;
    enum field_id field;
    enum miniapp_access access;
    enum miniapp_type type;
    signed char ghosts[MINIAPP_SIDES];
};

enum { MOST_ARGUMENTS = 64 };

/* How much of a field a kernel reads or writes. */
enum extent { NOTHING, ONE_LEVEL_OF_IT, ALL_OF_IT };

struct miniapp_kernel {
    enum kernel_id id;
    const char *name, *subject, *summary, *source;
    const struct argument *arguments;
    const enum setting_id *settings;
    size_t argument_count, setting_count;
    double (*flops)(const double *setting);                  /* a point */
    double (*flops_at)(const double *setting, double level); /* where a field has a value */
    int level_of_flops;                                      /* that field's place, or 0 */
    int flops_of_iteration;                                  /* a column; 0: no solver */
    bool is_whole;                                           /* it needs the whole ocean */
    enum extent (*touches)(const double *setting, const char *argument);
};

extern const struct miniapp_field *const fields; /* the first is no field */
extern const struct miniapp_setting settings[SETTINGS];
extern const struct miniapp_kernel kernels[KERNELS];

/* A field's place in the table. */
enum field_id field_id(const struct miniapp_field *field);

/* Appends fields to the table; false if there is no room. Their texts are not copied. Only one
 * thread at a time may append, but others may read the table meanwhile. */
bool append_fields(const struct miniapp_field *rows, size_t number);

bool has_axis(const struct miniapp_field *field, enum miniapp_axis axis);

/* Whether one field may stand for the other: they have the same axes and type. */
bool same_shape(const struct miniapp_field *a, const struct miniapp_field *b);

/* Test numbers for the kernels that measure the machine: the fractional parts of multiples of
 * the golden ratio. They fill [0, 1) evenly, are the same everywhere, and no two neighbours are
 * equal. */
double sample_of(size_t element);

/* A build of all kernels, for a precision and a target. */
struct kernel_functions {
    kernel_function *const *run; /* in the order of the table */
    exchange_function *exchange_x;
    box_function *copy_box;
    blend_function *blend;
    largest_function *largest;
    ptrdiff_t most_turns; /* of a loop nest */
};

#endif
