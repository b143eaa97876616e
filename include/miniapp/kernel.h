/*
 * The kernels: what each reads and writes.
 */
#ifndef MINIAPP_KERNEL_H
#define MINIAPP_KERNEL_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/grid.h>
#include <miniapp/setting.h>

MINIAPP_BEGIN

struct miniapp_kernel;
size_t miniapp_kernel_count(void);
const struct miniapp_kernel *miniapp_kernel_at(size_t index);
const struct miniapp_kernel *miniapp_kernel_find(const char *name);

const char *miniapp_kernel_name(const struct miniapp_kernel *);
const char *miniapp_kernel_summary(const struct miniapp_kernel *);
const char *miniapp_kernel_citation(const struct miniapp_kernel *); /* papers and code */
const char *miniapp_kernel_subject(const struct miniapp_kernel *);  /* its folder: "eos" */

/* How a kernel accesses the field that an argument is bound to. */
enum miniapp_access {
    MINIAPP_READ,
    MINIAPP_WRITE,   /* it overwrites the field */
    MINIAPP_UPDATE,  /* it reads it and writes it in place */
    MINIAPP_SCRATCH, /* working memory of the field's shape */
};

/* Its arguments: each has a name and a default field. */
size_t miniapp_kernel_argument_count(const struct miniapp_kernel *);
const char *miniapp_argument_name(const struct miniapp_kernel *, size_t argument);
const struct miniapp_field *miniapp_argument_field(const struct miniapp_kernel *, size_t argument);
enum miniapp_access miniapp_argument_access(const struct miniapp_kernel *, size_t argument);

/* How many ghosts on a side READ and UPDATE need, and WRITE and UPDATE leave up to date. */
int miniapp_argument_ghosts(const struct miniapp_kernel *, size_t argument, enum miniapp_side);

/* The settings that it reads. */
size_t miniapp_kernel_setting_count(const struct miniapp_kernel *);
const struct miniapp_setting *miniapp_kernel_setting(const struct miniapp_kernel *, size_t index);

MINIAPP_END

#endif
