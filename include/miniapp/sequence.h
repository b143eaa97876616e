/*
 * Sequences: kernels one after the other, each with its arguments bound to fields.
 *
 * Every kernel is a sequence of one step, of the same name. Others, such as "mixing", have more. A
 * binding is ARGUMENT=FIELD, where ARGUMENT is the name of a kernel's argument or of the field that
 * it is bound to: "triad:b=temp" is the kernel triad with its argument b bound to the field temp,
 * and so is "triad:salt=temp", since b is bound to salt otherwise.
 */
#ifndef MINIAPP_SEQUENCE_H
#define MINIAPP_SEQUENCE_H

#include <miniapp/api.h>
#include <miniapp/kernel.h>
#include <miniapp/status.h>

MINIAPP_BEGIN

struct miniapp_sequence; /* it never moves, and is never freed */

/* The kernels, then the sequences of several steps. */
MINIAPP_API size_t miniapp_sequence_count(void);
MINIAPP_API const struct miniapp_sequence *miniapp_sequence_at(size_t place);

/* Finds NAME, or NAME:ARGUMENT=FIELD,... MINIAPP_USAGE if there is none of that name (the message
 * suggests the closest), or if a binding does not fit. */
MINIAPP_API enum miniapp_status miniapp_sequence_find(const char *text,
                                                      const struct miniapp_sequence **sequence);

MINIAPP_API const char *miniapp_sequence_name(const struct miniapp_sequence *sequence);
MINIAPP_API const char *miniapp_sequence_summary(const struct miniapp_sequence *sequence);
MINIAPP_API const char *miniapp_sequence_subject(const struct miniapp_sequence *sequence);

/* Its steps: the kernel, and the field of each of the kernel's arguments. */
MINIAPP_API size_t miniapp_sequence_step_count(const struct miniapp_sequence *sequence);
MINIAPP_API const struct miniapp_kernel *
miniapp_sequence_kernel(const struct miniapp_sequence *sequence, size_t step);
MINIAPP_API const struct miniapp_field *
miniapp_sequence_field(const struct miniapp_sequence *sequence, size_t step, size_t argument);

/* Whether it reads what a field holds before it runs, and whether it writes the field. */
MINIAPP_API bool miniapp_sequence_reads(const struct miniapp_sequence *sequence,
                                        const struct miniapp_field *field);
MINIAPP_API bool miniapp_sequence_writes(const struct miniapp_sequence *sequence,
                                         const struct miniapp_field *field);
MINIAPP_API bool miniapp_sequence_uses(const struct miniapp_sequence *sequence,
                                       const struct miniapp_setting *setting);

/* The sums over its steps. */
MINIAPP_API double miniapp_sequence_flops(const struct miniapp_sequence *sequence,
                                          const struct miniapp_grid *grid,
                                          const struct miniapp_settings *settings);
MINIAPP_API double miniapp_sequence_bytes(const struct miniapp_sequence *sequence,
                                          const struct miniapp_grid *grid,
                                          enum miniapp_precision precision,
                                          const struct miniapp_settings *settings);

MINIAPP_END

#endif
