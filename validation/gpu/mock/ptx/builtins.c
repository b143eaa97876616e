/* The functions that CUDA brings for code on the device. */
#include "ptx.h"

void f_malloc(struct ptx_thread *t, const uint8_t *const *A, uint8_t *R)
{
    uint64_t bytes;
    (void)t;
    memcpy(&bytes, A[0], sizeof(bytes));
    const uint64_t address = ptx.allocate(bytes);
    memcpy(R, &address, sizeof(address));
}

WEAK void f_free(struct ptx_thread *t, const uint8_t *const *A, uint8_t *R)
{
    uint64_t address;
    (void)t;
    (void)R;
    memcpy(&address, A[0], sizeof(address));
    ptx.release(address);
}

/* LLVM's offload linker adds this one behind all others. */
WEAK void f___kmpc_get_hardware_thread_id_in_block(struct ptx_thread *t, const uint8_t *const *A,
                                                   uint8_t *R)
{
    (void)A;
    memcpy(R, &t->tid[0], sizeof(t->tid[0]));
}

/* Only the format is printed, of the messages before an abort. */
void f_vprintf(struct ptx_thread *t, const uint8_t *const *A, uint8_t *R)
{
    uint64_t format;
    memcpy(&format, A[0], sizeof(format));
    ptx.print(t, format);
    memset(R, 0, 4);
}

static struct ptx_module module = {
    .kernels = (struct ptx_kernel[]){{0}},
    .variables = (struct ptx_variable[]){{0}},
    .shared = (struct ptx_shared[]){{0}},
    .addresses = (struct ptx_address[]){{0}},
    .runtime = &ptx,
};
PTX_MODULE(module)
