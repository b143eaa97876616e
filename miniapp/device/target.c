#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A kind's name, how its architectures begin, and the base of the number that follows. */
static const struct {
    const char *name, *architecture;
    int base;
} kinds[TARGET_KINDS] = {
    [TARGET_HOST] = {"host", NULL, 0},
    [TARGET_NVIDIA] = {"nvidia", "sm_", 10},
    [TARGET_AMD] = {"amd", "gfx", 16},
    [TARGET_EMULATED] = {"emulated", NULL, 0},
};

const char *target_kind_name(enum target_kind kind)
{
    return kinds[kind].name;
}

bool target_kind_find(const char *text, size_t length, enum target_kind *kind)
{
    for (*kind = TARGET_HOST + 1; *kind < TARGET_KINDS; ++*kind)
        if (strlen(kinds[*kind].name) == length && strncmp(text, kinds[*kind].name, length) == 0)
            return true;
    return false;
}

/* Reads "sm_90a" or "gfx90a". */
static bool parse_architecture(const char *text, struct target *target)
{
    const char *const prefix = kinds[target->kind].architecture;
    const char *const digits = text + strlen(prefix);
    char *end;
    if (strncmp(text, prefix, strlen(prefix)) != 0 || digits[0] < '1' || digits[0] > '9')
        return false;
    target->number = (int)strtol(digits, &end, kinds[target->kind].base);
    const bool has_suffix = target->kind == TARGET_NVIDIA && *end == 'a';
    target->fits_only = has_suffix || target->kind == TARGET_AMD;
    return end - digits >= 2 && end - digits <= 5 && !end[has_suffix];
}

bool target_parse(const char *text, size_t length, struct target *target)
{
    char copy[TARGET_TEXT];
    const char *const colon = memchr(text, ':', length);
    const size_t name_length = colon ? (size_t)(colon - text) : length;
    *target = (struct target){0};
    if (length >= sizeof(copy) || !target_kind_find(text, name_length, &target->kind) ||
        !colon != !kinds[target->kind].architecture)
        return false;
    snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
    return !colon || parse_architecture(copy + name_length + 1, target);
}

void target_print(const struct target *target, char text[TARGET_TEXT])
{
    const char *const name = target_kind_name(target->kind);
    if (target->kind == TARGET_NVIDIA)
        snprintf(text, TARGET_TEXT, "%s:sm_%d%s", name, target->number,
                 target->fits_only ? "a" : "");
    else if (target->kind == TARGET_AMD)
        snprintf(text, TARGET_TEXT, "%s:gfx%x", name, (unsigned)target->number);
    else
        snprintf(text, TARGET_TEXT, "%s", name);
}

/* NVIDIA's GPUs run machine code for GPUs of their own generation that are not newer than they are;
 * code that is assembled at start (PTX, bitcode) also runs on newer generations. AMD's GPUs run
 * only machine code for exactly their own architecture. */
static bool target_fits(const struct target *code, bool assembled_at_start,
                        const struct target *gpu)
{
    if (code->kind != gpu->kind || gpu->number < code->number)
        return false;
    if (code->fits_only)
        return code->number == gpu->number;
    return assembled_at_start || code->number / 10 == gpu->number / 10;
}

bool targets_fit(const char *list, bool assembled_at_start, const struct target *gpu)
{
    struct target code;
    for (size_t length = strcspn(list, ","); *list;
         list += length + (list[length] == ','), length = strcspn(list, ","))
        if (target_parse(list, length, &code) && target_fits(&code, assembled_at_start, gpu))
            return true;
    return false;
}
