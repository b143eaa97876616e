/* Reading HDF5: what inputs and references have in common. */
#ifndef HDF5_FILE_H
#define HDF5_FILE_H

#include "outside.h"
#include "table.h"

#include <hdf5.h>
#include <miniapp/status.h>
#include <sys/stat.h>

/* Opens a regular file; MINIAPP_INPUT if it is not HDF5, or is damaged. */
enum miniapp_status open_file(const char *path, hid_t *file);

/* Looks at a file before it is opened, and fails later, if it is another one by then, or was
 * written: HDF5 reads other numbers from a file that was changed while it was open, and zeros where
 * it was cut. A process compares only what it has seen itself, because another node may see other
 * times. MINIAPP_INPUT if there is no file. */
enum miniapp_status look_at(const char *path, struct stat *found);
enum miniapp_status check_unchanged(const char *path, const struct stat *found);

/* Closes those that could be opened; the others are below 0. */
void close_attribute(hid_t attribute, hid_t type, hid_t space);

/* A numeric scalar attribute. `found` says whether it is there. */
enum miniapp_status read_attribute(hid_t object, const char *path, const char *name, bool *found,
                                   double *value);

enum { TEXT_ATTRIBUTE = 256 };

/* A text attribute, of either of HDF5's kinds; "" if there is none. What is no single text of less
 * than so many bytes gives 0, what cannot be read a negative number; then the text is "", too. */
htri_t find_text(hid_t object, const char *name, size_t size, char *text);

/* The same, for what tells something only if it is a text. */
const char *read_text_attribute(hid_t object, const char *name, char text[TEXT_ATTRIBUTE]);

/* The same, for what must not be ignored; MINIAPP_INPUT if it is there but cannot be used. */
enum miniapp_status read_text_of(hid_t dataset, const char *path, const char *dataset_name,
                                 const char *name, char text[TEXT_ATTRIBUTE]);

/* Whether there is a dataset of that name. What cannot be looked up, in a damaged file or in one
 * that may not be read, counts as there: opening it then fails. */
bool has_dataset(hid_t file, const char *name, const struct outside *outside);

/* "SEQUENCE.FIELD": the dataset of a field in a file that has the field from several sequences. The
 * caller frees it; NULL if memory is short. */
char *name_of_two(const char *sequence, const char *field);

/* Opens a dataset of integers or floating-point numbers, and checks that its data in other files
 * are there. Enumerations are accepted, because h5py stores booleans that way. */
enum miniapp_status open_dataset(hid_t file, const char *path, const char *name,
                                 struct outside *outside, hid_t *dataset);

/* "salt[3, 0, 17]", an element by its index along each axis; valid until the next call. */
const char *element_name(const char *field_name, const struct miniapp_field *field,
                         const struct miniapp_grid *grid, size_t element);

#endif
