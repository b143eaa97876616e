/*
 * The kernels: what each reads, writes and costs.
 */
#ifndef MINIAPP_KERNEL_H
#define MINIAPP_KERNEL_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/grid.h>
#include <miniapp/setting.h>

MINIAPP_BEGIN

struct miniapp_kernel; /* a row of the library's table, which never moves */

/* All kernels, and the one of that name; NULL where there is none. */
MINIAPP_API size_t miniapp_kernel_count(void);
MINIAPP_API const struct miniapp_kernel *miniapp_kernel_at(size_t place);
MINIAPP_API const struct miniapp_kernel *miniapp_kernel_find(const char *name);

MINIAPP_API const char *miniapp_kernel_name(const struct miniapp_kernel *kernel);
MINIAPP_API const char *miniapp_kernel_summary(const struct miniapp_kernel *kernel);

/* The paper or code that defines it. */
MINIAPP_API const char *miniapp_kernel_source(const struct miniapp_kernel *kernel);

/* The subject, which is its folder's name: "eos", "mixing"; "calibration" measures the machine. */
MINIAPP_API const char *miniapp_kernel_subject(const struct miniapp_kernel *kernel);

/* What a kernel does with the field that an argument is bound to. */
enum miniapp_access {
    MINIAPP_READ,    /* reads it */
    MINIAPP_WRITE,   /* writes all of it, whatever was there */
    MINIAPP_UPDATE,  /* reads it and writes it in place */
    MINIAPP_SCRATCH, /* uses memory of that shape, which holds nothing before and after */
};

/* Its arguments, each with a name, the field that it is bound to unless a caller says otherwise,
 * and an access. */
MINIAPP_API size_t miniapp_kernel_argument_count(const struct miniapp_kernel *kernel);
MINIAPP_API const char *miniapp_argument_name(const struct miniapp_kernel *kernel, size_t place);
MINIAPP_API const struct miniapp_field *miniapp_argument_field(const struct miniapp_kernel *kernel,
                                                               size_t place);
MINIAPP_API enum miniapp_access miniapp_argument_access(const struct miniapp_kernel *kernel,
                                                        size_t place);

/* For an argument that is read: how many ghost cells on a side must hold right values, so that what
 * the kernel writes is right. For one that is written or updated: how many hold right values
 * afterwards. An updated argument needs none before. */
MINIAPP_API int miniapp_argument_ghosts(const struct miniapp_kernel *kernel, size_t place,
                                        enum miniapp_side side);

/* The settings that it reads. */
MINIAPP_API size_t miniapp_kernel_setting_count(const struct miniapp_kernel *kernel);
MINIAPP_API const struct miniapp_setting *
miniapp_kernel_setting(const struct miniapp_kernel *kernel, size_t place);

/* Flops of one call with these settings, which may not be NULL; a fused multiply-add counts two. */
MINIAPP_API double miniapp_kernel_flops(const struct miniapp_kernel *kernel,
                                        const struct miniapp_grid *grid,
                                        const struct miniapp_settings *settings);

/* Bytes that one call must move: each argument is read once or written once, an updated one both.
 * Scratch need not leave the caches. */
MINIAPP_API double miniapp_kernel_bytes(const struct miniapp_kernel *kernel,
                                        const struct miniapp_grid *grid,
                                        enum miniapp_precision precision,
                                        const struct miniapp_settings *settings);

MINIAPP_END

#endif
