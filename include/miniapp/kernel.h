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

/* A row of the library's table, which never moves. */
struct miniapp_kernel;
size_t miniapp_kernel_count(void);
const struct miniapp_kernel *miniapp_kernel_at(size_t place);
const struct miniapp_kernel *miniapp_kernel_find(const char *name);

const char *miniapp_kernel_name(const struct miniapp_kernel *);
const char *miniapp_kernel_summary(const struct miniapp_kernel *);
const char *miniapp_kernel_source(const struct miniapp_kernel *);  /* a paper or code */
const char *miniapp_kernel_subject(const struct miniapp_kernel *); /* its folder: "eos" */

/* What a kernel does with the field that an argument is bound to. */
enum miniapp_access {
    MINIAPP_READ,
    MINIAPP_WRITE,   /* all of it, whatever was there */
    MINIAPP_UPDATE,  /* it reads the field and writes it in place */
    MINIAPP_SCRATCH, /* memory of that shape, which holds nothing before and after */
};

/* Its arguments: each has a name, and a field that it is bound to unless a caller binds another. */
size_t miniapp_kernel_argument_count(const struct miniapp_kernel *);
const char *miniapp_argument_name(const struct miniapp_kernel *, size_t argument);
const struct miniapp_field *miniapp_argument_field(const struct miniapp_kernel *, size_t argument);
enum miniapp_access miniapp_argument_access(const struct miniapp_kernel *, size_t argument);

/* How many ghosts on a side have to be right in what is read, or are right in what is written. */
int miniapp_argument_ghosts(const struct miniapp_kernel *, size_t argument, enum miniapp_side);

/* The settings that it reads. */
size_t miniapp_kernel_setting_count(const struct miniapp_kernel *);
const struct miniapp_setting *miniapp_kernel_setting(const struct miniapp_kernel *, size_t place);

/* Flops of a call (a fused multiply-add counts two), and the bytes that it has to move: each
 * argument once, what is updated twice; scratch may stay in the caches. */
double miniapp_kernel_flops(const struct miniapp_kernel *, const struct miniapp_grid *,
                            const struct miniapp_settings *);
double miniapp_kernel_bytes(const struct miniapp_kernel *, const struct miniapp_grid *,
                            enum miniapp_precision, const struct miniapp_settings *);

MINIAPP_END

#endif
