/* Host threads as a backend. */
#ifndef HOST_H
#define HOST_H

#include "backend.h"

extern const struct backend host_backend;

/* The first of the features, a list that ends with NULL, that this processor lacks; or NULL. */
const char *missing_feature(const char *const *features);

#endif
