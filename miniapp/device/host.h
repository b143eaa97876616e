/* Host threads as a backend, and whether they can be started: if the OpenMP runtime cannot start
 * them, it ends the process, so this has to be known before. */
#ifndef HOST_H
#define HOST_H

#include "backend.h"

extern const struct backend host_backend;

/* The first of the features, a list that ends with NULL, that this processor lacks; or NULL. */
const char *missing_feature(const char *const *features);

/* Starts that many threads or, if it is 0, as many as the calling thread would start. MINIAPP_DONE
 * if they run, or have run before; else `reason` says why they cannot. */
enum miniapp_status threads_refused(int threads, char reason[DEVICE_TEXT]);

#endif
