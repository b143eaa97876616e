/* HDF5 reports by a stack of messages on stderr. We print one line. */
#ifndef MINIAPP_HDF5_ERROR_H
#define MINIAPP_HDF5_ERROR_H

/* Stops HDF5 from printing. */
void hdf5_silence(void);

/* The innermost message of HDF5's last error, or "no reason given". Valid until the next call. */
const char *hdf5_reason(void);

#endif
