/*
 * Sequences: kernels one after the other, each with its arguments bound to fields.
 *
 * Every kernel is a sequence of one step, of the same name. Others, such as
 * "ocean_step", have more.
 */
#ifndef MINIAPP_SEQUENCE_H
#define MINIAPP_SEQUENCE_H

#include <miniapp/api.h>
#include <miniapp/kernel.h>
#include <miniapp/status.h>

MINIAPP_BEGIN

struct miniapp_sequence; /* you never free it */

size_t miniapp_sequence_count(void);
const struct miniapp_sequence *miniapp_sequence_at(size_t index);

/* Finds a sequence by NAME. NAME:ARGUMENT=FIELD,... also binds arguments to other fields of the
 * table: "triad:b=temp" makes triad read temp as its argument b. An ARGUMENT may be named by its
 * default field, too. "ocean_step+dye+age" also steps the tracers dye and age, for which the table
 * of fields gets dye, ddye_taum1, forc_dye_surface and others: docs/steps.md. */
enum miniapp_status miniapp_sequence_find(const char *text, const struct miniapp_sequence **);

const char *miniapp_sequence_name(const struct miniapp_sequence *);
const char *miniapp_sequence_summary(const struct miniapp_sequence *);

/* Its steps: the kernel, and the field of each of its arguments. Kernels that only a plan's first
 * run needs are not listed. */
size_t miniapp_sequence_step_count(const struct miniapp_sequence *);
const struct miniapp_kernel *miniapp_sequence_kernel(const struct miniapp_sequence *, size_t step);
const struct miniapp_field *miniapp_sequence_field(const struct miniapp_sequence *, size_t step,
                                                   size_t argument);

/* Whether it reads the field before writing it; and whether it writes it. */
bool miniapp_sequence_reads(const struct miniapp_sequence *, const struct miniapp_field *);
bool miniapp_sequence_writes(const struct miniapp_sequence *, const struct miniapp_field *);

MINIAPP_END

#endif
