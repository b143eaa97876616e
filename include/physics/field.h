/*
 * The fields that kernels read and write: one table for names, axes, units, valid ranges
 * and what stands in for a field that a file lacks. Names are Veros's, standard names CF's.
 */
#ifndef PHYSICS_FIELD_H
#define PHYSICS_FIELD_H

#include <physics/grid.h>
#include <stdbool.h>

enum physics_field_id {
    PHYSICS_NO_FIELD, /* ends a list of fields */
    /* read */
    PHYSICS_SALT,
    PHYSICS_TEMP,
    PHYSICS_P,
    PHYSICS_ZT,
    PHYSICS_DXT,
    PHYSICS_DXU,
    PHYSICS_DYT,
    PHYSICS_DYU,
    PHYSICS_DZT,
    PHYSICS_DZW,
    PHYSICS_COST,
    PHYSICS_COSU,
    PHYSICS_MASK_T,
    PHYSICS_MASK_U,
    PHYSICS_MASK_V,
    PHYSICS_MASK_W,
    PHYSICS_K_ISO,
    PHYSICS_KBOT,
    PHYSICS_U_WGRID,
    PHYSICS_V_WGRID,
    PHYSICS_W_WGRID,
    PHYSICS_KAPPA_M,
    PHYSICS_MXL,
    PHYSICS_FORC,
    PHYSICS_FORC_TKE_SURFACE,
    PHYSICS_TKE,
    PHYSICS_TKE_TAUP1, /* also written */
    PHYSICS_DTKE_TAUM1,
    PHYSICS_SAMPLE,
    PHYSICS_FACTOR_A,
    PHYSICS_FACTOR_B,
    /* written */
    PHYSICS_DHDT,
    PHYSICS_K_11,
    PHYSICS_K_22,
    PHYSICS_K_33,
    PHYSICS_AI_EZ,
    PHYSICS_AI_NZ,
    PHYSICS_AI_BX,
    PHYSICS_AI_BY,
    PHYSICS_DTKE,
    PHYSICS_TKE_SURF_CORR,
    PHYSICS_TRIAD,
    PHYSICS_FMA,
    PHYSICS_EXPSUM,
    PHYSICS_MATMUL,
    PHYSICS_FIELDS
};

/* How an element lies in memory. */
enum physics_type {
    PHYSICS_REAL,  /* double or float, as the precision says */
    PHYSICS_MASK,  /* uint8_t, 1 water and 0 land */
    PHYSICS_INDEX, /* int32_t, 1 + a level; 0 is none */
};

enum physics_precision { PHYSICS_FLOAT64, PHYSICS_FLOAT32, PHYSICS_PRECISIONS };

#define PHYSICS_MAX_RANK 5

struct physics_field {
    const char *name;
    enum physics_axis axes[PHYSICS_MAX_RANK + 1]; /* slowest first, ended by PHYSICS_NO_AXIS */
    enum physics_type type;
    const char *units;
    const char *long_name;
    const char *standard_name; /* CF's, or NULL */
    double valid_min, valid_max;
    enum physics_field_id wet;      /* what says where the valid range counts: a mask, or the
                                       deepest wet level of columns; 0: everywhere */
    bool optional;                  /* where absent: stand_in times stand_in_factor, */
    enum physics_field_id stand_in; /* or zero where there is no stand-in */
    double stand_in_factor;
    bool sampled; /* where absent: physics_sample() of its elements, on the stand-in's grid */
    bool spacing; /* a cell's extent along its axis: their sum is the domain's */
    enum physics_axis counts; /* the axis whose cells it counts: no more than there are; or 0 */
};

/* Indexed by enum physics_field_id. */
extern const struct physics_field physics_fields[PHYSICS_FIELDS];

int physics_field_rank(const struct physics_field *field);

/* The number of elements, or SIZE_MAX where that does not fit. */
size_t physics_field_elements(const struct physics_field *field, const struct physics_grid *grid);

/* Numbers for machines rather than oceans: the fractions of multiples of the golden ratio, which
 * fill [0, 1) evenly, are the same everywhere, and have no two neighbours equal. */
double physics_sample(size_t element);

/* Bytes of one element. */
size_t physics_element_bytes(enum physics_type type, enum physics_precision precision);

const char *physics_precision_name(enum physics_precision precision);

#endif
