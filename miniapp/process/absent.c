#include "absent.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

enum { NAME = 128 };

static bool is_absent(const struct run *run, const char *name)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    return run_reads(&run->options, field) && !miniapp_input_has(run->input, field);
}

static void add_absent(const struct run *run, const struct miniapp_field *field,
                       char text[PROVENANCE_TEXT])
{
    double factor;
    char close[NAME / 2], named[NAME] = "", instead[NAME] = "0";
    const struct miniapp_field *const other = miniapp_field_stand_in(field, &factor);
    const char *const name = miniapp_field_name(field);
    if (miniapp_input_closest(run->input, field, close, sizeof(close)))
        snprintf(named, sizeof(named), "; the closest is '%s'", close);
    if (strcmp(name, "w") == 0 && run->options.steps && miniapp_input_has_only_u_and_v(run->input))
        strcpy(instead, "by continuity from u and v");
    else if (!other && (strcmp(name, "u") == 0 || strcmp(name, "v") == 0))
        strcpy(instead, "from rest");
    else if (other && factor == 1)
        snprintf(instead, sizeof(instead), "%s", miniapp_field_name(other));
    else if (other)
        snprintf(instead, sizeof(instead), "%s times %g", miniapp_field_name(other), factor);
    append(text, PROVENANCE_TEXT, ", ", "%s (%s%s)", name, instead, named);
}

const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < miniapp_field_count(); i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        if (miniapp_is_real(miniapp_field_type(field)) && is_absent(run, miniapp_field_name(field)))
            add_absent(run, field, text);
    }
    if (run->by_spacing[0])
        append(text, PROVENANCE_TEXT, ", ", "%s", run->by_spacing);
    return text;
}
