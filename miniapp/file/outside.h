/* Other files that a file of HDF5 names: by external links, for external raw data, as sources of
 * virtual datasets. They are read where that is allowed, and each has to be a regular file, since
 * HDF5 would wait for a pipe. */
#ifndef OUTSIDE_H
#define OUTSIDE_H

#include <hdf5.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct outside {
    const char *path; /* of the file itself */
    bool is_allowed;
    hid_t access; /* property list that checks each file of a link before it is opened */
    char **files; /* those that were found, by their true paths */
    size_t count;
    char refusal[PATH_MAX + 128]; /* why a link was not followed, or "" */
};

/* `path` must outlive it. False if HDF5 has no memory for it. */
bool outside_open(const char *path, bool is_allowed, struct outside *outside);
void outside_close(struct outside *outside);

/* How a file is named: HDF5 looks in different folders for each kind. */
enum outside_kind { OUTSIDE_LINK, OUTSIDE_SOURCE, OUTSIDE_RAW };

/*
 * Finds the file that HDF5 would open for a name in the file `from`, and keeps it in the list.
 * Returns NULL, or what is wrong with it, such as "is missing". The input itself does not count as
 * outside.
 */
const char *find_outside(struct outside *outside, enum outside_kind kind, const char *from,
                         const char *name, char found[PATH_MAX]);

#endif
