/* Which datasets a file has, and which names are close to those that it lacks. */
#include "hdf5_file.h"
#include "input.h"
#include "status.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

bool miniapp_input_has(const struct miniapp_input *input, const struct miniapp_field *field)
{
    return input->is_there[field_id(field)];
}

enum miniapp_status miniapp_file_has_any(const char *path, const char *const *names, size_t count,
                                         bool *has_any)
{
    CLOSED hid_t file = H5I_INVALID_HID;
    *has_any = false;
    TRY(open_file(path, &file));
    for (size_t i = 0; i < count; i++)
        *has_any |= H5Lexists(file, names[i], H5P_DEFAULT) > 0;
    return MINIAPP_DONE;
}

enum { MOST_NAMES = 256, LONGEST = 64 };

struct names {
    size_t count;
    char text[MOST_NAMES][LONGEST];
};

static herr_t add_name(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    struct names *const names = context;
    (void)group;
    (void)info;
    if (names->count < MOST_NAMES && strlen(name) < LONGEST && !miniapp_field_find(name))
        strcpy(names->text[names->count++], name);
    return 0;
}

const char *miniapp_input_closest(const struct miniapp_input *input,
                                  const struct miniapp_field *field, char *text, size_t size)
{
    struct names names = {0};
    const char *list[MOST_NAMES];
    H5Literate(input->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, add_name, &names);
    for (size_t i = 0; i < names.count; i++)
        list[i] = names.text[i];
    const char *const closest = closest_match(field->name, list, names.count);
    if (closest)
        snprintf(text, size, "%s", closest);
    return closest ? text : NULL;
}

/* The setting that needs a field; or NULL. */
static const char *needing(const struct miniapp_input *input, const struct miniapp_field *field,
                           const struct miniapp_settings *settings)
{
    const char *name = NULL;
    if (!field->may_rest || !input->is_at_rest)
        for (size_t i = 0; (name = miniapp_field_needed_by(field, i)); i++)
            if (miniapp_settings_get(settings, name) != 0)
                break;
    return name;
}

static enum miniapp_status check_pair(const struct miniapp_input *input,
                                      const struct miniapp_field *field,
                                      const struct miniapp_settings *settings)
{
    const struct miniapp_field *const partner = miniapp_field_partner(field);
    const char *const setting = needing(input, field, settings);
    char near[LONGEST], text[2 * LONGEST] = "";
    if (!setting && !(partner && miniapp_input_has(input, partner)))
        return MINIAPP_DONE;
    if (miniapp_input_closest(input, field, near, sizeof(near)))
        snprintf(text, sizeof(text), "; the closest in the file is '%s'", near);
    if (setting)
        return fail(MINIAPP_INPUT, "%s: dataset '%s' is missing, which %s needs%s", input->path,
                    field->name, setting, text);
    return fail(MINIAPP_INPUT, "%s: has %s but no %s%s", input->path, partner->name, field->name,
                text);
}

enum miniapp_status miniapp_input_check_pairs(const struct miniapp_input *input,
                                              const struct miniapp_settings *settings)
{
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (input->wanted[id] && !input->is_there[id])
            TRY(check_pair(input, &fields[id], settings));
    return MINIAPP_DONE;
}
