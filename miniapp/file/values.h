/* The values of a dataset as they are meant: unpacked, in the order of the field's axes. */
#ifndef VALUES_H
#define VALUES_H

#include "axes.h"
#include "outside.h"
#include "table.h"

#include <hdf5.h>
#include <miniapp/status.h>

/* What was done to a dataset's values. */
struct treatment {
    bool is_unpacked, is_transposed, has_missing;
};

/*
 * The values of an open dataset as double, which the caller frees: the part that its layout says.
 * What is missing, by _FillValue or missing_value, is NaN in a field of reals and 0, land, in a
 * mask or an index; MINIAPP_INPUT where nothing was written. `treatment` may be NULL.
 */
enum miniapp_status read_values(hid_t dataset, const char *path, const char *name,
                                const struct miniapp_field *field, const struct layout *layout,
                                struct outside *outside, double **values,
                                struct treatment *treatment);

/* The bytes that reading takes: those of the values, twice if they are transposed, and of
 * chunks. */
double bytes_to_read(hid_t dataset, const struct miniapp_field *field, const struct layout *layout);

/* Reverses the levels of a field, or its indices of levels, on a grid of so many cells. */
void turn_levels(const struct miniapp_field *field, const struct miniapp_grid *grid,
                 double *values);

#endif
