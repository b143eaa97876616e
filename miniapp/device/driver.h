/* What NVIDIA's driver knows of its GPUs. The driver is loaded on the first question, so that
 * neither the build nor the start of the program needs CUDA. */
#ifndef DRIVER_H
#define DRIVER_H

#include "target.h"

struct gpu {
    char name[128];
    struct target target; /* its compute capability */
    size_t bytes;         /* of memory */
    size_t free_bytes;    /* 0 where it is not known */
};

/* False where there is no driver or no such GPU. */
bool driver_gpu(int number, struct gpu *gpu);

/* Makes LLVM's runtime, which is not loaded yet, wait for GPUs by asking them again and again: it
 * takes a context that is there as it is. One that it makes waits for an interrupt, at every nest.
 */
void driver_spin(void);

#endif
