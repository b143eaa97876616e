/*
 * Data that all processes write together, each its own part, where HDF5 is parallel. The first
 * process does all else alone, with the ordinary driver: it creates the file and each dataset with
 * its attributes, lends the file to all for the data, and takes it back. So little is collective
 * that a failure is nearly always found where processes agree: in what the first one does, in
 * opening the file, or in reserving space on the disk, which comes first. A failure in between,
 * inside HDF5's own communication, ends all processes.
 */
#include "blocks.h"
#include "hdf5_error.h"
#include "mpi_io.h"
#include "output.h"
#include "ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool miniapp_output_is_shared(void)
{
    static int is_shared = -1;
    const char *const told = getenv("MINIAPP_PARALLEL_HDF5");
    if (is_shared < 0 && ranks_count() > 1) {
        is_shared = mpi_io_is_there() && told && *told && strcmp(told, "0") != 0;
        ranks_broadcast(0, &is_shared, sizeof(is_shared));
    }
    return is_shared > 0;
}

/* What the first process tells the others of a file that it lends. */
struct lent {
    char path[PATH_MAX]; /* by which all can open it now */
    char name[PATH_MAX]; /* what the user calls it */
    char dataset[PATH_MAX];
};

static enum miniapp_status unwritable_by_all(const struct lent *lent, const char *reason)
{
    return fail(MINIAPP_OUTPUT, "%s: cannot be written: %s", lent->name, reason);
}

/* ---- lending ---- */

/* The bytes of what HDF5 stores about chunks. */
static size_t bytes_about_chunks(hid_t dataset, hid_t space)
{
    enum { EACH = 64 };
    hsize_t lengths[H5S_MAX_RANK], chunk[H5S_MAX_RANK];
    const hid_t creation = H5Dget_create_plist(dataset);
    const int rank = H5Sget_simple_extent_dims(space, lengths, NULL);
    size_t bytes = EACH;
    H5Pget_chunk(creation, rank, chunk);
    for (int i = 0; i < rank; i++)
        bytes *= (lengths[i] + chunk[i] - 1) / chunk[i];
    H5Pclose(creation);
    return bytes;
}

/* The bytes of the data, and of what HDF5 stores about them. */
static size_t bytes_of(hid_t dataset)
{
    enum { METADATA = 1 << 20 };
    const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
    const size_t bytes = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type) +
                         bytes_about_chunks(dataset, space);
    H5Tclose(type);
    H5Sclose(space);
    return bytes + METADATA;
}

static enum miniapp_status lend(struct miniapp_output *output, struct lent *lent)
{
    const size_t bytes = bytes_of(output->dataset);
    memcpy(lent->name, output->place.path, sizeof(lent->name));
    if (H5Iget_name(output->dataset, lent->dataset, sizeof(lent->dataset)) < 0 ||
        H5Dclose(output->dataset) < 0)
        return output_failed(output);
    output->dataset = -1;
    const herr_t error = H5Fclose(output->file);
    output->file = -1;
    return error < 0 ? output_failed(output) : replace_lend(&output->new, bytes, lent->path);
}

static enum miniapp_status take_back(struct miniapp_output *output, const struct lent *lent)
{
    const enum miniapp_status status = output_open_file(output, false);
    if (!status)
        output->dataset = H5Dopen2(output->file, lent->dataset, H5P_DEFAULT);
    return status || output->dataset >= 0 ? status : output_failed(output);
}

/* On some network file systems MPI locks what it writes, and the first process's lock on the file
 * is of the same kind there: all would wait forever. */
static bool is_locked(int file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Each process finds out whether it can open the file and write it, before all do so together. */
static enum miniapp_status borrow(const struct lent *lent)
{
    const int file = open(lent->path, O_RDWR | O_CLOEXEC);
    if (file < 0 || !replace_join(lent->path)) {
        const enum miniapp_status status = unwritable_by_all(lent, strerror(errno));
        if (file >= 0)
            close(file);
        return status;
    }
    const bool is_free = !is_locked(file);
    close(file);
    return is_free ? MINIAPP_DONE
                   : unwritable_by_all(lent, "its file system lets only the first process write: "
                                             "set MINIAPP_PARALLEL_HDF5=0");
}

/* Each process syncs what it has written to the disk: its node may hold that in memory until
 * then. */
static enum miniapp_status give_back(const struct lent *lent)
{
    const int file = open(lent->path, O_RDWR | O_CLOEXEC);
    const bool is_done = file >= 0 && fsync(file) == 0;
    const enum miniapp_status status =
        is_done ? MINIAPP_DONE : unwritable_by_all(lent, strerror(errno));
    if (file >= 0)
        close(file);
    replace_part();
    return status;
}

/* ---- data ---- */

/* HDF5 writes data with checksums collectively only if they need no conversion, so `values` is
 * converted first. */
static herr_t write_part(hid_t dataset, hid_t transfer, const struct box *box, double *values)
{
    const hid_t type = H5Dget_type(dataset);
    size_t elements = 1;
    for (int i = 0; i < box->rank; i++)
        elements *= box->count[i];
    herr_t error = H5Tconvert(H5T_NATIVE_DOUBLE, type, elements, values, NULL, H5P_DEFAULT);
    if (error >= 0)
        error = write_box_as(dataset, type, transfer, box, values);
    H5Tclose(type);
    return error;
}

/* How many planes there are, and how many follow each other along the axis before them. */
static size_t count_planes(hid_t dataset, size_t *row)
{
    const struct box plane = box_of_plane(dataset, 2, 0);
    const hid_t space = H5Dget_space(dataset);
    hsize_t lengths[H5S_MAX_RANK];
    const int z = H5Sget_simple_extent_dims(space, lengths, NULL) - 3;
    const hssize_t elements = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    *row = z < 0 ? 1 : lengths[z];
    return (size_t)elements / (plane.count[z + 1] * plane.count[z + 2]);
}

/* This process's part of planes that follow each other, from `first` on. */
static struct box box_of_part(hid_t dataset, const struct part *part, size_t first, size_t planes)
{
    struct box box = box_of_plane(dataset, 2, first);
    const int y = box.rank - 2, x = box.rank - 1;
    box.first[y] = part->whole_y0;
    box.first[x] = part->whole_x0;
    box.count[y] = part->ny;
    box.count[x] = part->nx;
    if (planes > 1)
        box.count[y - 1] = planes;
    return box;
}

/* What is taken from a process, and where it goes. */
struct taking {
    const struct part *part;
    miniapp_taker take;
    void *context;
    double *values; /* room for a plane's part for each process */
};

/* Writes as many planes at once as there are processes: a plane is a chunk, which one of them
 * writes after it has got the others' parts. For that no process holds more than the size of a
 * plane. */
static herr_t write_parts(hid_t dataset, hid_t transfer, const struct taking *taking)
{
    const size_t most = (size_t)ranks_count(), elements = taking->part->nx * taking->part->ny;
    size_t row;
    const size_t planes = count_planes(dataset, &row);
    herr_t error = 0;
    for (size_t p = 0, taken; p < planes && error >= 0; p += taken) {
        const size_t left = row - p % row;
        taken = left < most ? left : most;
        for (size_t i = 0; i < taken; i++) {
            const enum miniapp_status status =
                taking->take(taking->context, p + i, taking->values + i * elements);
            if (status)
                ranks_abort(status);
        }
        const struct box box = box_of_part(dataset, taking->part, p, taken);
        error = write_part(dataset, transfer, &box, taking->values);
    }
    return error;
}

/* Others wait for this process, or have failed, too: the first to remove the file reports the
 * failure, and ends all. If nobody does so for a while, something else has removed the file. */
static _Noreturn void end_all(const struct lent *lent)
{
    const char *const reason = hdf5_reason();
    for (unsigned seconds = replace_remove() ? 0 : 10; seconds > 0;)
        seconds = sleep(seconds); /* which signals cut short */
    ranks_abort(unwritable_by_all(lent, reason));
}

/* All have the file open at once. */
static void write_data(const struct lent *lent, const struct taking *taking)
{
    const hid_t access = output_access(), transfer = H5Pcreate(H5P_DATASET_XFER);
    mpi_io_of_file(access);
    mpi_io_of_data(transfer);
    const hid_t file = H5Fopen(lent->path, H5F_ACC_RDWR, access);
    const hid_t dataset = file < 0 ? -1 : H5Dopen2(file, lent->dataset, H5P_DEFAULT);
    if (dataset < 0 || write_parts(dataset, transfer, taking) < 0 || H5Dclose(dataset) < 0 ||
        H5Fclose(file) < 0)
        end_all(lent);
    H5Pclose(transfer);
    H5Pclose(access);
}

enum miniapp_status miniapp_output_parts(struct miniapp_output *output, const struct part *part,
                                         miniapp_taker take, void *context)
{
    static struct lent lent;
    const size_t elements = part->nx * part->ny * (size_t)ranks_count();
    const struct taking taking = {part, take, context, malloc(elements * sizeof(double))};
    enum miniapp_status status =
        taking.values ? MINIAPP_DONE
                      : fail(MINIAPP_OUTPUT, "out of memory for the parts of planes");
    if (!status && output)
        status = lend(output, &lent);
    ranks_broadcast(0, &lent, sizeof(lent));
    status = ranks_agree(status);
    if (!status)
        status = ranks_agree(output ? MINIAPP_DONE : borrow(&lent));
    if (!status) {
        write_data(&lent, &taking);
        status = ranks_agree(output ? take_back(output, &lent) : give_back(&lent));
    }
    free(taking.values);
    return status;
}
