/* Host threads as a backend, and whether they can be started: if the OpenMP runtime cannot start
 * them, it ends the process, so this has to be known before. */
#ifndef HOST_H
#define HOST_H

#include "backend.h"
#include "program.h"

extern const struct backend host_backend;

/* The first of the features, a list that ends with NULL, that this processor lacks; or NULL. */
const char *missing_feature(const char *const *features);

/* The processor by a file like /proc/cpuinfo: a name or, as ARM's has none, numbers; in `text`, or
 * a constant where the file tells neither. */
const char *processor_in(const char *cpuinfo, char text[MINIAPP_PROCESSOR]);

/* Starts that many threads or, if it is 0, as many as the calling thread would start. MINIAPP_DONE
 * if they run, or have run before; else `reason` says why they cannot. */
enum miniapp_status threads_refused(int threads, char reason[DEVICE_TEXT]);

#endif
