/* Whether the host's threads can be started, which has to be known before the OpenMP runtime starts
 * them: it ends the process if it cannot. */
#ifndef THREADS_H
#define THREADS_H

#include "backend.h"

#include <miniapp/status.h>

/* The status of so many threads, or of as many as the calling thread would start if that is 0:
 * MINIAPP_DONE if they were started now or before; else the reason why they cannot be. */
enum miniapp_status threads_refused(int threads, char reason[DEVICE_TEXT]);

#endif
