/* Reading HDF5: what inputs, references and snapshots have in common. */
#ifndef HDF5_FILE_H
#define HDF5_FILE_H

#include "table.h"

#include <hdf5.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <sys/stat.h>

/* ---- HDF5's messages: it prints a stack of them on stderr, and we print one line ---- */

/* To be called before anything else of HDF5. It keeps HDF5 from printing, and from cleaning up at
 * exit: after a failed write it would try again, and crash. */
void hdf5_start(void);

/* The innermost message of the last call that failed, or "no reason given". A reason is given
 * once. Returns `text`. */
enum { HDF5_REASON = 8192 }; /* a path may be in it */
const char *hdf5_reason(char text[HDF5_REASON]);

/* Whether a reason was given since hdf5_start: if HDF5 cannot read a file, nothing more is reported
 * about it. */
bool hdf5_has_refused(void);

/* Closes an object of any kind but a file that was written, if it could be opened. CLOSED before an
 * object does so where its block ends. */
void hdf5_close(hid_t object);

static inline void close_owned(const hid_t *object)
{
    hdf5_close(*object);
}
#define CLOSED __attribute__((cleanup(close_owned)))

/* ---- files ---- */

/* Opens a regular file, without a lock, since not all file systems have locks; MINIAPP_INPUT if it
 * is not HDF5, or is damaged. */
enum miniapp_status open_file(const char *path, hid_t *file);

/* Looks at a file before it is opened, and fails later, if it is another one by then, or was
 * written: HDF5 reads other numbers from a file that was changed while it was open, and zeros where
 * it was cut. A process compares only what it has seen itself, because another node may see other
 * times. MINIAPP_INPUT if there is no file. */
enum miniapp_status look_at(const char *path, struct stat *found);
enum miniapp_status check_unchanged(const char *path, const struct stat *found);

/* ---- attributes ---- */

/* An attribute that is open: what could not be opened is below 0. */
struct attribute {
    hid_t self, type, space;
    hssize_t count;
};
struct attribute open_attribute(hid_t object, const char *name);
void close_attribute(const struct attribute *attribute);
#define CLOSED_ATTRIBUTE __attribute__((cleanup(close_attribute)))

/* A numeric or boolean scalar attribute. `found` says whether it is there. */
enum miniapp_status read_attribute(hid_t object, const char *path, const char *name, bool *found,
                                   double *value);

/* An attribute of so many numbers; false if there is none such. */
bool read_numbers(hid_t object, const char *name, size_t count, double *values);

enum { TEXT_ATTRIBUTE = 256 };

/* A text attribute, of either of HDF5's kinds. Returns 0 if there is no single text of less than
 * `size` bytes, and a negative number if it cannot be read; `text` is "" then. */
htri_t find_text(hid_t object, const char *name, size_t size, char *text);

/* As find_text, but a non-text attribute counts as absent. */
const char *read_text_attribute(hid_t object, const char *name, char text[TEXT_ATTRIBUTE]);

/* ---- datasets ---- */

/* Whether the root group has a dataset of that name. A name that cannot be looked up, in a damaged
 * file or in one that may not be read, counts as there: opening it then fails. */
bool has_dataset(hid_t file, const char *name);

/* "SEQUENCE.FIELD": the dataset of a field in a file that has the field from several sequences. The
 * caller frees it; NULL if memory is short. */
char *name_of_two(const char *sequence, const char *field);

/* Opens a dataset of plain numbers that lie in the file itself. The caller closes it, whatever
 * happens. */
enum miniapp_status open_dataset(hid_t file, const char *path, const char *name, hid_t *dataset);

/* How the storage of a dataset differs from plain numbers in the file itself, and what turns it
 * into such; NULL if it does not. */
const char *odd_storage(hid_t dataset);

/* Checks that all of a dataset was written: HDF5 reads zeros, or a fill value, in the place of what
 * was not. */
enum miniapp_status check_written(hid_t dataset, const char *path, const char *name);

/* The lengths of a dataset's axes, which are as many as the field has; and, if the field may vary
 * in time, of a leading axis of records, or 0 if it has none. Where
 * `records` is NULL it may have none. */
enum miniapp_status read_lengths(hid_t dataset, const char *path, const char *name,
                                 const struct miniapp_field *field, hsize_t *length,
                                 size_t *records);

/* How many bytes of memory HDF5 takes to read a dataset: those of a chunk. */
double bytes_of_chunk(hid_t dataset);

/* A part of a dataset, along its own dimensions. */
struct box {
    int rank;
    hsize_t first[H5S_MAX_RANK], count[H5S_MAX_RANK];
};

enum miniapp_status read_box(hid_t dataset, const char *path, const char *name,
                             const struct box *box, double *values);

/* ---- coordinates.c: dimension scales, which outputs copy from inputs ---- */

enum { AXIS_NAME = 128 };

/* netCDF's name for the dimension of a scale. */
void name_of_dimension(const char *scale, char name[AXIS_NAME]);

/* The name of the scale in the root group that belongs to an axis of a dataset; leaves `name` as it
 * is if there is none. The scales themselves say so: the list that the dataset has of them lies in
 * HDF5's heap, which has no checksum, and on whose damage HDF5 crashes or reads without end. */
void find_scale(hid_t file, const char *dataset, int axis, char name[AXIS_NAME]);

/* Whether a scale holds a number for each of so many cells, in the file itself. */
bool is_coordinate(hid_t file, const char *path, hsize_t cells);

/* Copies those of CF's attributes of a whole file that are short texts: its title, institution,
 * source, history, references and comment. */
bool copy_description(hid_t from, hid_t to);

/* Copies a scale with its attributes, except those that refer to the file that it is from. */
bool copy_coordinate(hid_t from, const char *path, hid_t to, const char *name);

/* Whether a scale can be copied if nothing is wrong with the file that it is copied into. */
bool can_be_copied(hid_t from, const char *path);

#endif
