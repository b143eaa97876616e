/* Host threads as a backend. */
#ifndef HOST_H
#define HOST_H

#include "backend.h"

extern const struct backend host_backend;

#endif
