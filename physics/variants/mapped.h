/* offload: data directives map each array, and nests look its device's address up */
#define FIELDS_ARE_MAPPED
#define LAUNCH omp target teams distribute parallel for TWO_WAVES
#include "distribute.h"
#undef ONCE
#define ONCE PRAGMA(omp target)
