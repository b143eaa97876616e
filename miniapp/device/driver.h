/* Queries NVIDIA's driver about its GPUs. The driver is loaded on the first question, so that
 * neither the build nor the start of the program needs CUDA. */
#ifndef DRIVER_H
#define DRIVER_H

#include "target.h"

struct gpu {
    char name[128];
    struct target target; /* its compute capability */
    size_t bytes;         /* of memory */
    size_t free_bytes;    /* 0 where it is not known */
    int cache_bytes;      /* of L2; likewise */
};

/* False where there is no driver or no such GPU. */
bool driver_gpu(int number, struct gpu *gpu);

/* Makes LLVM's runtime, which is not loaded yet, poll GPUs while it waits for them: it uses a
 * context that exists as it is, whereas one that it creates waits for an interrupt after every loop
 * nest. */
void driver_spin(void);

#endif
