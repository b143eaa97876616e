/* Reading grids and references from HDF5. */
#ifndef MINIAPP_INPUT_H
#define MINIAPP_INPUT_H

#include "fields.h"

#include <physics/kernel.h>

/* What the reader lets pass. */
struct checks {
    bool allow_nonfinite; /* NaN and Inf */
    bool allow_invalid;   /* values outside their valid range */
};

struct input {
    struct fields fields; /* as in the file, with or without ghosts */
    bool has_ghosts;
    bool cyclic_x;
    bool is_set[PHYSICS_SETTINGS]; /* by the file */
    double setting[PHYSICS_SETTINGS];
};

/*
 * Reads the settings and every field for which `wanted` is true, and checks them: rank, axes
 * that agree, finite, and in their valid
 * ranges, unless `checks` lets them pass. On failure nothing
 * needs releasing. `path` is a file in the form of section 2 of the interface.
 */
enum physics_status read_input(const char *path, const bool wanted[PHYSICS_FIELDS],
                               struct checks checks, struct input *input);

/* One variable of a reference file. */
struct reference {
    double *values; /* on the grid of the input file */
    double rtol, atol;
};

/*
 * Reads the reference of a field on a grid. Tolerances are the dataset's attributes rtol and
 * atol (rtol_float32 and atol_float32 in float32), or else the defaults of the interface. The
 * caller frees reference->values.
 */
enum physics_status read_reference(const char *path, enum physics_field_id id,
                                   const struct physics_grid *grid,
                                   enum physics_precision precision,
                                   struct reference *reference);

#endif
