/*
 * The numeric settings of the kernels, named as in Veros.
 */
#ifndef PHYSICS_SETTING_H
#define PHYSICS_SETTING_H

#include <physics/api.h>
#include <stdbool.h>

enum physics_setting_id {
    PHYSICS_NO_SETTING, /* ends a list of settings */
    PHYSICS_EQ_OF_STATE_TYPE,
    PHYSICS_ISO_SLOPEC,
    PHYSICS_ISO_DSLOPE,
    PHYSICS_K_ISO_STEEP,
    PHYSICS_DT_TRACER,
    PHYSICS_DT_MOM,
    PHYSICS_AB_EPS,
    PHYSICS_ALPHA_TKE,
    PHYSICS_C_EPS,
    PHYSICS_K_H_TKE,
    PHYSICS_SETTINGS
};

struct physics_setting {
    const char *name;
    double value; /* the default */
    double valid_min, valid_max;
    bool whole; /* takes whole numbers only */
    const char *units;
    const char *long_name;
};

/* Indexed by enum physics_setting_id. */
PHYSICS_API extern const struct physics_setting physics_settings[PHYSICS_SETTINGS];

#endif
