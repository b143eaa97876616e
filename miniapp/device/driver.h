/* What NVIDIA's driver says of its GPUs. It is looked up when first asked, so that nothing of CUDA
 * is needed to build or to start. */
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

#endif
