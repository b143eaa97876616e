/* Coordinate variables: dimension scales that outputs copy from inputs. */
#ifndef COORDINATES_H
#define COORDINATES_H

#include <hdf5.h>
#include <stdbool.h>

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
