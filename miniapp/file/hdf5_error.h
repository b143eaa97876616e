/* HDF5 reports by a stack of messages on stderr. We print one line. */
#ifndef HDF5_ERROR_H
#define HDF5_ERROR_H

#include <hdf5.h>
#include <miniapp/status.h>
#include <stdbool.h>

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

/* Fails because a dataset could not be read: for lack of a filter, or for the reason that HDF5 just
 * gave. */
enum miniapp_status cannot_be_read(hid_t dataset, const char *path, const char *name);

/* Closes an object of any kind but a file that was written, if it could be opened. CLOSED before an
 * object does so where its block ends. */
void hdf5_close(hid_t object);

static inline void close_owned(const hid_t *object)
{
    hdf5_close(*object);
}
#define CLOSED __attribute__((cleanup(close_owned)))

#endif
