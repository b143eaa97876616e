/*
 * The kinds of devices, and the targets that a build may hold code for, as CMake and every message
 * spell them: "nvidia:sm_90", "amd:gfx90a", "emulated".
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdbool.h>
#include <stddef.h>

enum target_kind { TARGET_HOST, TARGET_NVIDIA, TARGET_AMD, TARGET_EMULATED, TARGET_KINDS };
enum { TARGET_TEXT = 32 };

struct target {
    enum target_kind kind;
    int number;     /* of its architecture: 90 of sm_90, 0x90a of gfx90a, 0 where there is none */
    bool fits_only; /* exactly this one: code for sm_90a runs on no newer GPU */
};

/* "host", "nvidia", "amd" or "emulated" */
const char *target_kind_name(enum target_kind kind);

/* Whether the first `length` characters of a text are the name of a kind of offload device. */
bool target_kind_find(const char *text, size_t length, enum target_kind *kind);

bool target_parse(const char *text, size_t length, struct target *target);

void target_print(const struct target *target, char text[TARGET_TEXT]);

/* Whether the code for any target of a comma-separated list runs on a GPU. */
bool targets_fit(const char *list, bool assembled_at_start, const struct target *gpu);

#endif
