/* Tests whether the host's threads can be started. If the OpenMP runtime cannot start them, it ends
 * the process, so this has to be known before. */
#ifndef THREADS_H
#define THREADS_H

#include "backend.h"

#include <miniapp/status.h>

/* Starts that many threads or, if it is 0, as many as the calling thread would start. MINIAPP_DONE
 * if they run, or have run before; else `reason` says why they cannot. */
enum miniapp_status threads_refused(int threads, char reason[DEVICE_TEXT]);

#endif
