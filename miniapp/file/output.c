#include "output.h"
#include "hdf5_file.h"
#include "input.h"
#include "owned.h"
#include "program.h"
#include "state.h"
#include "status.h"

#include <errno.h>
#include <hdf5_hl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum miniapp_status output_failed(struct miniapp_output *output)
{
    char reason[HDF5_REASON];
    output->is_spoilt = true;
    return unwritable(&output->place, hdf5_reason(reason));
}

/* Starts the file, in a format whose metadata has checksums. HDF5 takes no lock: no other process
 * knows the file. H5Ocopy would crash where a limit on the file's size is less than a page. */
static enum miniapp_status start(struct miniapp_output *output, const char *path)
{
    enum { PAGE = 4096 };
    TRY(place_find(path, &output->place));
    TRY(replace_start(&output->place, &output->new));
    if (ftruncate(output->new.file, PAGE) != 0)
        return unwritable(&output->place, strerror(errno));
    hdf5_start();
    CLOSED const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_file_locking(access, false, true);
    output->file = H5Fcreate(output->new.path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    return output->file < 0 ? output_failed(output) : MINIAPP_DONE;
}

enum miniapp_status miniapp_output_open(const char *path, const char *const *read_files,
                                        size_t count, struct miniapp_output **opened)
{
    if (opened)
        *opened = NULL;
    if (!opened || !path || (count && !read_files))
        return null_given();
    struct miniapp_output *const output = calloc(1, sizeof(*output));
    if (!output)
        return fail(MINIAPP_OUTPUT, "%s: cannot be written: out of memory", path);
    output->file = output->dataset = output->new.file = -1;
    enum miniapp_status status = check_not_read("output", path, read_files, count);
    if (!status)
        status = start(output, path);
    if (status)
        miniapp_output_discard(output);
    else
        *opened = output;
    return status;
}

/* ---- axes ---- */

/* Whether another axis or a field may have a name in the output. That of a line of numbers along
 * the axis, such as zt, is its own. */
static bool is_used(const struct miniapp_output *output, enum miniapp_axis axis, const char *name)
{
    for (enum miniapp_axis other = MINIAPP_X; other < MINIAPP_AXES; other++)
        if (strcmp(output->axes[other].name, name) == 0 ||
            (other != axis && strcmp(miniapp_axis_name(other), name) == 0))
            return true;
    const struct miniapp_field *const field = miniapp_field_find(name);
    return field && (miniapp_field_rank(field) != 1 || miniapp_field_axis(field, 0) != axis);
}

static enum miniapp_status take_axis(struct miniapp_output *output,
                                     const struct miniapp_input *input, enum miniapp_axis axis)
{
    const char *const scale = input->scale[axis];
    char name[AXIS_NAME] = "", reason[HDF5_REASON];
    name_of_dimension(scale, name);
    if (!name[0] || is_used(output, axis, name))
        return MINIAPP_DONE;
    const size_t length = miniapp_axis_length(axis, &input->window.whole);
    if (is_coordinate(input->file, scale, length) &&
        !copy_coordinate(input->file, scale, output->file, name))
        return can_be_copied(input->file, scale)
                   ? output_failed(output)
                   : fail(MINIAPP_INPUT, "%s: the coordinate '%s' cannot be copied (%s)",
                          input->path, scale, hdf5_reason(reason));
    output->axes[axis].length = length;
    snprintf(output->axes[axis].name, AXIS_NAME, "%s", name);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_output_take_coordinates(struct miniapp_output *output,
                                                    struct miniapp_input *input)
{
    for (enum miniapp_axis axis = MINIAPP_X; axis <= MINIAPP_Z; axis++)
        TRY(take_axis(output, input, axis));
    return copy_description(input->file, output->file) ? MINIAPP_DONE : output_failed(output);
}

static bool attach_named(hid_t file, const char *name, hid_t dataset, unsigned axis)
{
    CLOSED const hid_t scale = H5Dopen2(file, name, H5P_DEFAULT);
    return scale >= 0 && H5DSattach_scale(dataset, scale, axis) >= 0;
}

/* Makes a scale without coordinates, as netCDF-4 writes it. */
static bool make_dimension(hid_t file, const char *name, hsize_t length)
{
    char label[80];
    CLOSED const hid_t space = H5Screate_simple(1, &length, NULL);
    snprintf(label, sizeof(label), "This is a netCDF dimension but not a netCDF variable.%10d",
             (int)length);
    CLOSED const hid_t scale =
        H5Dcreate2(file, name, H5T_IEEE_F32BE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    return scale >= 0 && H5DSset_scale(scale, label) >= 0;
}

/* Attaches a dimension scale: one that exists, or a new one. */
static bool attach_scale(const struct miniapp_output *output, hid_t dataset, unsigned place,
                         enum miniapp_axis axis, hsize_t length)
{
    const struct named_axis *const named = &output->axes[axis];
    const char *const name =
        named->name[0] && named->length == length ? named->name : miniapp_axis_name(axis);
    return (H5Lexists(output->file, name, H5P_DEFAULT) > 0 ||
            make_dimension(output->file, name, length)) &&
           attach_named(output->file, name, dataset, place);
}

/* ---- fields ---- */

/* Chunks of one x-y plane, which Fletcher-32 checksums guard. HDF5 wants them under 4 GiB. A single
 * number has no chunks. */
static hid_t checked_chunks(const hsize_t *lengths, int rank)
{
    hsize_t chunk[H5S_MAX_RANK];
    for (int i = 0; i < rank; i++) {
        const hsize_t most = 1 << 14;
        chunk[i] = i + 2 < rank ? 1 : lengths[i] < most ? lengths[i] : most;
    }
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_obj_track_times(creation, 0);
    if (rank == 0)
        return creation;
    H5Pset_chunk(creation, rank, chunk);
    H5Pset_fletcher32(creation);
    return creation;
}

/* Creates a field's dataset, named FIELD, or SEQUENCE.FIELD if that name is taken. */
static hid_t create_dataset(const struct miniapp_output *output, const char *sequence,
                            const struct miniapp_field *field, hid_t type, hid_t space,
                            hid_t creation)
{
    const bool is_taken = sequence && H5Lexists(output->file, field->name, H5P_DEFAULT) > 0;
    OWNED char *const name = is_taken ? name_of_two(sequence, field->name) : strdup(field->name);
    return name ? H5Dcreate2(output->file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT)
                : -1;
}

bool write_text(hid_t file, const char *object, const char *name, const char *text)
{
    return !text || !text[0] || H5LTset_attribute_string(file, object, name, text) >= 0;
}

static bool write_names(hid_t dataset, const struct miniapp_field *field, bool at_surface)
{
    const bool is_pressure = at_surface && field->at_surface.units;
    return write_text(dataset, ".", "units",
                      is_pressure ? field->at_surface.units : field->units) &&
           write_text(dataset, ".", "long_name",
                      is_pressure ? field->at_surface.long_name : field->long_name) &&
           write_text(dataset, ".", "standard_name", field->standard_name);
}

enum miniapp_status miniapp_output_begin(struct miniapp_output *output, const char *sequence,
                                         const struct miniapp_field *field,
                                         const struct miniapp_grid *grid,
                                         enum miniapp_precision precision, bool at_surface)
{
    const int leading = output->is_in_time, rank = leading + miniapp_field_rank(field);
    const hid_t type = is_double(field->type, precision) ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
    hsize_t lengths[1 + MINIAPP_MAX_RANK] = {1}, most[1 + MINIAPP_MAX_RANK] = {H5S_UNLIMITED};
    for (int i = leading; i < rank; i++)
        lengths[i] = most[i] = miniapp_axis_length(field->axes[i - leading], grid);
    CLOSED const hid_t space =
        rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, lengths, most);
    CLOSED const hid_t creation = checked_chunks(lengths, rank);
    const hid_t dataset = create_dataset(output, sequence, field, type, space, creation);
    bool written = dataset >= 0 && (!leading || attach_named(output->file, "Time", dataset, 0));
    for (int i = leading; i < rank && written; i++)
        written = attach_scale(output, dataset, (unsigned)i, field->axes[i - leading], lengths[i]);
    written = written && write_names(dataset, field, at_surface);
    output->dataset = dataset;
    output->plane_rank = has_axis(field, MINIAPP_X) + has_axis(field, MINIAPP_Y);
    return written ? MINIAPP_DONE : output_failed(output);
}

/* Below 0 if HDF5 cannot. The box has the same shape in memory, so that HDF5 moves whole rows: for
 * any other shape, even if it differs only in axes of length 1, HDF5 looks at each element. */
static herr_t write_box(hid_t dataset, const struct box *box, const double *values)
{
    if (box->rank == 0)
        return H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    CLOSED const hid_t to = H5Dget_space(dataset);
    CLOSED const hid_t from = H5Screate_simple(box->rank, box->count, NULL);
    const herr_t error =
        H5Sselect_hyperslab(to, H5S_SELECT_SET, box->first, NULL, box->count, NULL);
    return error < 0 ? error : H5Dwrite(dataset, H5T_NATIVE_DOUBLE, from, to, H5P_DEFAULT, values);
}

/* A plane of a dataset along its last axes. */
static struct box box_of_plane(hid_t dataset, int plane_rank, size_t plane)
{
    struct box box = {0};
    CLOSED const hid_t space = H5Dget_space(dataset);
    box.rank = H5Sget_simple_extent_dims(space, box.count, NULL);
    for (int i = box.rank - 1 - plane_rank; i >= 0; i--) {
        box.first[i] = plane % box.count[i];
        plane /= box.count[i];
        box.count[i] = 1;
    }
    return box;
}

enum miniapp_status miniapp_output_plane(struct miniapp_output *output, size_t plane,
                                         const double *values)
{
    const struct box box = box_of_plane(output->dataset, output->plane_rank, plane);
    return write_box(output->dataset, &box, values) < 0 ? output_failed(output) : MINIAPP_DONE;
}

enum miniapp_status miniapp_output_end(struct miniapp_output *output)
{
    const herr_t closed = H5Dclose(output->dataset);
    output->dataset = -1;
    return closed < 0 ? output_failed(output) : MINIAPP_DONE;
}

enum miniapp_status miniapp_output_write(struct miniapp_output *output, const char *sequence,
                                         const struct miniapp_field *field,
                                         const struct miniapp_grid *grid,
                                         enum miniapp_precision precision, const double *values)
{
    if (!output || !field || !grid || !values)
        return null_given();
    if ((unsigned)precision >= MINIAPP_PRECISIONS)
        return fail(MINIAPP_USAGE, "there is no precision %d", (int)precision);
    TRY(check_grid(grid, 1)); /* with or without ghosts */
    TRY(miniapp_output_begin(output, sequence, field, grid, precision, output->at_surface));
    const herr_t error =
        H5Dwrite(output->dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    return error < 0 ? output_failed(output) : miniapp_output_end(output);
}

void miniapp_output_set_surface(struct miniapp_output *output, bool at_surface)
{
    if (output)
        output->at_surface = at_surface;
}

enum miniapp_status miniapp_output_attribute(struct miniapp_output *output, const char *name,
                                             const char *text)
{
    if (!output || !name || !text)
        return null_given();
    return H5LTset_attribute_string(output->file, "/", name, text) < 0 ? output_failed(output)
                                                                       : MINIAPP_DONE;
}

static enum miniapp_status move_into_place(struct miniapp_output *output)
{
    if (output->is_spoilt)
        return unwritable(&output->place, "a part of it could not be written");
    const herr_t error = H5Fclose(output->file);
    output->file = -1;
    return error < 0 ? output_failed(output) : replace_finish(&output->new);
}

enum miniapp_status miniapp_output_finish(struct miniapp_output *output)
{
    const enum miniapp_status status = output ? move_into_place(output) : null_given();
    miniapp_output_discard(output);
    return status;
}

void miniapp_output_discard(struct miniapp_output *output)
{
    if (!output)
        return;
    hdf5_close(output->dataset);
    if (output->file >= 0)
        H5Fclose(output->file);
    replace_close(&output->new);
    free(output);
}
