#include "hdf5_file.h"
#include "owned.h"
#include "program.h"
#include "status.h"
#include "text.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The scale of a reference: the least power of 2 above 99 % of the magnitudes that are not 0.
 * Outputs are 0 on land and wherever a kernel computes nothing; some are 0 nearly everywhere. A
 * single wrong value would change the largest magnitude. A median would be too small: most of an
 * output may be far smaller than the terms whose difference it is, and these determine its
 * rounding. Where all is 0, the table has a scale.
 */
static double scale_of(const struct miniapp_field *field, const double *values, size_t elements)
{
    enum { LEAST = DBL_MIN_EXP - DBL_MANT_DIG, EXPONENTS = DBL_MAX_EXP - LEAST + 1 };
    size_t below[EXPONENTS] = {0}, count = 0, seen = 0;
    int exponent;
    for (size_t i = 0; i < elements; i++)
        if (isfinite(values[i]) && values[i] != 0) {
            frexp(values[i], &exponent); /* |value| < 2^exponent */
            below[exponent - LEAST]++;
            count++;
        }
    if (count == 0)
        return field->scale;
    const size_t left_out = count < 200 ? count > 1 : count / 100;
    for (exponent = LEAST; seen < count - left_out; exponent++)
        seen += below[exponent - LEAST];
    return fmin(ldexp(1, exponent - 1), DBL_MAX);
}

/* A tolerance of the dataset, or the default where it has none. */
static enum miniapp_status read_tolerance(hid_t dataset, const char *path, const char *field,
                                          const char *name, enum miniapp_precision precision,
                                          double most, double otherwise, double *tolerance)
{
    char attribute[32], where[PATH_MAX];
    bool found;
    snprintf(where, sizeof(where), "%s: dataset '%s'", path, field);
    snprintf(attribute, sizeof(attribute), "%s%s", name,
             precision == MINIAPP_FLOAT32 ? "_float32" : "");
    *tolerance = otherwise;
    const enum miniapp_status status = read_attribute(dataset, where, attribute, &found, tolerance);
    if (!status && !(*tolerance >= 0 && *tolerance <= most))
        return fail(MINIAPP_INPUT,
                    "%s: attribute '%s' of dataset '%s' is %g, but must be from 0 to %g: a larger "
                    "tolerance would pass anything",
                    path, attribute, field, *tolerance, most);
    return status;
}

static enum miniapp_status read_tolerances(hid_t dataset, const char *path, const char *field,
                                           enum miniapp_precision precision, double scale,
                                           struct miniapp_reference *reference)
{
    const bool is_wide = precision == MINIAPP_FLOAT64;
    TRY(read_tolerance(dataset, path, field, "rtol", precision, 0.1, is_wide ? 1e-10 : 1e-4,
                       &reference->rtol));
    return read_tolerance(dataset, path, field, "atol", precision, scale,
                          (is_wide ? 1e-12 : 1e-5) * scale, &reference->atol);
}

/* Values that no run can give are refused as a reference. */
static enum miniapp_status check_plausible(const char *path, const struct miniapp_field *field,
                                           const struct miniapp_grid *grid, const double *values,
                                           int allow)
{
    const size_t elements = miniapp_field_elements(field, grid);
    const double least = field->valid_min, most = field->valid_max;
    char range[RANGE_TEXT], place[ELEMENT_NAME];
    for (size_t i = 0; i < elements; i++) {
        const double value = values[i];
        if (!isfinite(value) && !(allow & MINIAPP_ALLOW_NONFINITE))
            return fail(MINIAPP_INPUT, "%s: %s is %g (--allow-nonfinite accepts it)", path,
                        element_name(field->name, field, grid, i, place), value);
        if (isfinite(value) && !(allow & MINIAPP_ALLOW_INVALID) &&
            !(value >= least && value <= most))
            return fail(MINIAPP_INPUT, "%s: %s is %g, but must be %s (--allow-invalid accepts it)",
                        path, element_name(field->name, field, grid, i, place), value,
                        range_text(least, most, range));
    }
    return MINIAPP_DONE;
}

/* ---- the files ---- */

struct miniapp_references {
    char given[PATH_MAX]; /* a file, or a folder of files SEQUENCE.h5 */
    bool is_folder;
    char path[PATH_MAX]; /* of the file that is open, or was tried last */
    hid_t file;
    struct stat found;          /* when it was opened */
    char input[TEXT_ATTRIBUTE]; /* the SHA-256 of the input it was made from, if it says so */
};

/* Makes the file that has a sequence's reference the open one. */
static enum miniapp_status open_file_of(struct miniapp_references *references, const char *sequence)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", references->given);
    if (references->is_folder)
        append(path, sizeof(path), "/", "%s.h5", sequence);
    if (references->file >= 0 && strcmp(references->path, path) == 0)
        return check_unchanged(path, &references->found);
    hdf5_close(references->file);
    references->file = H5I_INVALID_HID;
    strcpy(references->path, path);
    TRY(look_at(path, &references->found));
    TRY(open_file(path, &references->file));
    read_text_attribute(references->file, "input_sha256", references->input);
    return MINIAPP_DONE;
}

const char *miniapp_references_input(const struct miniapp_references *references)
{
    return references->input;
}

enum miniapp_status miniapp_references_open(const char *path, struct miniapp_references **opened)
{
    struct miniapp_references *const references = calloc(1, sizeof(*references));
    struct stat there;
    *opened = NULL;
    TRY(allocated(references, "a reference"));
    snprintf(references->given, sizeof(references->given), "%s", path);
    references->is_folder = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
    references->file = H5I_INVALID_HID;
    const enum miniapp_status status =
        references->is_folder ? MINIAPP_DONE : open_file_of(references, "");
    if (status)
        miniapp_references_close(references);
    else
        *opened = references;
    return status;
}

void miniapp_references_close(struct miniapp_references *references)
{
    if (references)
        hdf5_close(references->file);
    free(references);
}

/* ---- a dataset ---- */

/* The whole of a dataset, which has to have the input's shape. */
static enum miniapp_status read_whole(hid_t dataset, const char *path,
                                      const struct miniapp_field *field,
                                      const struct miniapp_grid *grid, double *values)
{
    struct box box = {.rank = miniapp_field_rank(field)};
    TRY(read_lengths(dataset, path, field->name, field, box.count, NULL));
    for (int i = 0; i < box.rank; i++)
        if (box.count[i] != miniapp_axis_length(field->axes[i], grid))
            return fail(
                MINIAPP_INPUT, "%s: dataset '%s' has %llu cells along %s, but the input has %zu",
                path, field->name, (unsigned long long)box.count[i],
                miniapp_axis_name(field->axes[i]), miniapp_axis_length(field->axes[i], grid));
    TRY(check_written(dataset, path, field->name));
    return read_box(dataset, path, field->name, &box, values);
}

/* Opens a field's dataset: SEQUENCE.FIELD where the file has one, or else FIELD. */
static enum miniapp_status open_reference(struct miniapp_references *references,
                                          const char *sequence, const struct miniapp_field *field,
                                          hid_t *dataset)
{
    const char *const path = references->path;
    OWNED char *const both = name_of_two(sequence ? sequence : "", field->name);
    const bool has_both = both && sequence && has_dataset(references->file, both);
    const char *const name = has_both ? both : field->name;
    TRY(allocated(both, "a name"));
    if (!has_dataset(references->file, name))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing, so it cannot be validated", path,
                    name);
    return open_dataset(references->file, path, name, dataset);
}

enum miniapp_status miniapp_reference_read(struct miniapp_references *references,
                                           const char *sequence, const struct miniapp_field *field,
                                           const struct miniapp_grid *grid,
                                           enum miniapp_precision precision, int allow,
                                           struct miniapp_reference *reference)
{
    const char *const path = references->path;
    const size_t elements = miniapp_field_elements(field, grid);
    CLOSED hid_t dataset = H5I_INVALID_HID;
    OWNED double *values = malloc(elements * sizeof(*values));
    *reference = (struct miniapp_reference){0};
    TRY(open_file_of(references, sequence));
    TRY(open_reference(references, sequence, field, &dataset));
    TRY(allocated(values, "the reference of '%s'", field->name));
    TRY(read_whole(dataset, path, field, grid, values));
    TRY(check_plausible(path, field, grid, values, allow));
    TRY(read_tolerances(dataset, path, field->name, precision, scale_of(field, values, elements),
                        reference));
    reference->values = values;
    values = NULL; /* the caller owns them now */
    return MINIAPP_DONE;
}

void miniapp_reference_release(struct miniapp_reference *reference)
{
    if (!reference)
        return;
    free(reference->values);
    reference->values = NULL;
}
