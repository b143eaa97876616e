/* Host threads as a backend. */
#ifndef MINIAPP_HOST_H
#define MINIAPP_HOST_H

#include "backend.h"

extern const struct backend host_backend;

/* The CPUs that the process may use. */
int host_cpus(void);

/* The threads that a kernel will run on. */
int host_threads(void);

/* Makes it that many; 0 keeps what the environment says. */
void host_set_threads(int threads);

/* The processor's model name. */
const char *host_processor(void);

#endif
