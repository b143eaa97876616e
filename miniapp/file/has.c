/* Which datasets a file has, and which names are close to those that it lacks. */
#include "hdf5_file.h"
#include "input.h"
#include "owned.h"
#include "status.h"
#include "text.h"

#include <math.h>
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

/* Its unit, if it has one, is that of the mode; at a free surface, its values are a pressure's.
 * Under a lid, every reader checks their range. */
static enum miniapp_status check_mode(struct miniapp_input *input, enum field_id id,
                                      bool at_surface)
{
    const struct miniapp_field *const field = &fields[id];
    const char *const expected = at_surface ? field->at_surface.units : field->units;
    const double most = field->at_surface.most;
    char units[TEXT_ATTRIBUTE], place[ELEMENT_NAME];
    OWNED double *values = NULL;
    CLOSED hid_t dataset = H5I_INVALID_HID;
    TRY(open_dataset(input->file, input->path, input->source[id], &dataset));
    if (read_text_attribute(dataset, "units", units)[0] && strcmp(units, expected) != 0)
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' is in '%s', but has to be in '%s', since "
                    "enable_streamfunction is %d",
                    input->path, field->name, units, expected, !at_surface);
    if (!at_surface || input->allow & MINIAPP_ALLOW_INVALID)
        return MINIAPP_DONE;
    TRY(read_field(input, id, &values));
    const size_t elements = miniapp_field_elements(field, &input->window.grid);
    for (size_t i = 0; i < elements; i++)
        if (fabs(values[i]) > most)
            return fail(MINIAPP_INPUT,
                        "%s: %s is %g, but must be from %g to %g %s, since "
                        "enable_streamfunction is 0",
                        input->path, place_in_file(input, id, i, place), values[i], -most, most,
                        expected);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_input_check_mode(struct miniapp_input *input,
                                             const struct miniapp_sequence *sequence,
                                             const struct miniapp_settings *settings)
{
    const bool at_surface = miniapp_sequence_is_at_surface(sequence, settings);
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (fields[id].at_surface.units && input->wanted[id] && input->is_there[id] &&
            miniapp_sequence_carries(sequence, &fields[id]))
            TRY(check_mode(input, id, at_surface));
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_input_check_pairs(const struct miniapp_input *input,
                                              const struct miniapp_settings *settings)
{
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (input->wanted[id] && !input->is_there[id])
            TRY(check_pair(input, &fields[id], settings));
    return MINIAPP_DONE;
}
