/* offload: data directives map each array, and nests look its device's address up */
#define FIELDS_ARE_MAPPED
#define LAUNCH omp target teams distribute parallel for TWO_WAVES
#include "distribute.h"
#undef ONCE
#undef ONE_TEAM
#define ONCE PRAGMA(omp target)
#define ONE_TEAM PRAGMA(omp target parallel)
