#include "absent.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 128 };

static bool is_absent(const struct run *run, const char *name)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    return run_reads(&run->options, field) && !miniapp_input_has(run->input, field);
}

static size_t describe_absent(const struct run *run, const struct miniapp_field *field, char *text,
                              size_t room)
{
    double factor;
    char close[NAME / 2], named[NAME] = "";
    const struct miniapp_field *const other = miniapp_field_stand_in(field, &factor);
    const char *const name = miniapp_field_name(field);
    if (miniapp_input_closest(run->input, field, close, sizeof(close)))
        snprintf(named, sizeof(named), "; the closest is '%s'", close);
    if (strcmp(name, "w") == 0 && run->options.steps && miniapp_input_has_only_u_and_v(run->input))
        return (size_t)snprintf(text, room, "w (by continuity from u and v%s)", named);
    if (!other && (strcmp(name, "u") == 0 || strcmp(name, "v") == 0))
        return (size_t)snprintf(text, room, "%s (from rest%s)", name, named);
    if (!other)
        return (size_t)snprintf(text, room, "%s (0%s)", name, named);
    if (factor == 1)
        return (size_t)snprintf(text, room, "%s (%s%s)", name, miniapp_field_name(other), named);
    return (size_t)snprintf(text, room, "%s (%s times %g%s)", name, miniapp_field_name(other),
                            factor, named);
}

const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < miniapp_field_count() && used < PROVENANCE_TEXT; i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        if (!miniapp_is_real(miniapp_field_type(field)) ||
            !is_absent(run, miniapp_field_name(field)))
            continue;
        if (used > 0)
            used += (size_t)snprintf(text + used, PROVENANCE_TEXT - used, ", ");
        if (used < PROVENANCE_TEXT)
            used += describe_absent(run, field, text + used, PROVENANCE_TEXT - used);
    }
    if (run->by_spacing[0] && used < PROVENANCE_TEXT)
        snprintf(text + used, PROVENANCE_TEXT - used, "%s%s", used ? ", " : "", run->by_spacing);
    return text;
}
