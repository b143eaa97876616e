/* Which dataset of the file holds which field. */
#include "guard.h"
#include "hdf5_file.h"
#include "input.h"
#include "status.h"
#include "tracers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- by name ---- */

static enum miniapp_status set_name(struct miniapp_input *input, enum field_id id, const char *name)
{
    free(input->name[id]);
    input->name[id] = strdup(name);
    input->is_renamed[id] = strcmp(name, fields[id].name) != 0;
    return input->name[id] ? MINIAPP_DONE : fail(MINIAPP_DEVICE, "out of memory for a name");
}

/* Whether each part of a path is there. What cannot be looked up counts as there. */
static bool has_path(const struct miniapp_input *input, const char *path)
{
    char *const part = strdup(path);
    bool has = true;
    for (char *slash = part ? strchr(part + 1, '/') : NULL; slash && has;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        has = has_dataset(input->file, part, &input->outside);
        *slash = '/';
    }
    free(part);
    return has && has_dataset(input->file, path, &input->outside);
}

static enum miniapp_status find_by_name(struct miniapp_input *input,
                                        const struct miniapp_input_options *options)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count() && !status; id++) {
        const char *const theirs = options ? options->variable[id] : NULL;
        if (theirs && (!theirs[0] || !has_path(input, theirs)))
            return fail(MINIAPP_INPUT,
                        "%s: dataset '%s' is missing, which --variable names for '%s'", input->path,
                        theirs, fields[id].name);
        if (theirs || has_dataset(input->file, fields[id].name, &input->outside))
            status = set_name(input, id, theirs ? theirs : fields[id].name);
        input->is_renamed[id] |= theirs != NULL;
    }
    return status;
}

/* ---- by CF's standard names ---- */

struct search {
    struct miniapp_input *input;
    enum miniapp_status status;
    bool is_settled[MOST_FIELDS]; /* by the field's own name, or by --variable */
};

/* Whether a dataset may be the field, judging by its number of axes. */
static bool may_hold(hid_t dataset, const struct miniapp_field *field)
{
    const hid_t space = H5Dget_space(dataset);
    const int surplus = H5Sget_simple_extent_ndims(space) - miniapp_field_rank(field);
    H5Sclose(space);
    return surplus == 0 || surplus == 1; /* time */
}

/* A field that has no dataset takes the one that has its standard name, if there is only one. */
static enum miniapp_status take_standard_name(const struct search *search, hid_t dataset,
                                              const char *name, const char *standard_name)
{
    struct miniapp_input *const input = search->input;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++) {
        if (search->is_settled[id] || !fields[id].standard_name ||
            strcmp(fields[id].standard_name, standard_name) != 0 || !may_hold(dataset, &fields[id]))
            continue;
        if (!is_there(input, id))
            return set_name(input, id, name);
        if (input->needed[id])
            return fail(MINIAPP_INPUT,
                        "%s: datasets '%s' and '%s' both are %s: choose one by "
                        "--variable %s=NAME",
                        input->path, input->name[id], name, standard_name, fields[id].name);
    }
    return MINIAPP_DONE;
}

/* Opens a dataset that lies in the file itself; -1 for anything else. */
static hid_t open_linked(hid_t group, const char *name, const H5L_info_t *link)
{
    guard_link();
    const hid_t object =
        link->type == H5L_TYPE_HARD ? H5Oopen(group, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (object < 0 || H5Iget_type(object) == H5I_DATASET)
        return object;
    H5Oclose(object);
    return H5I_INVALID_HID;
}

static herr_t look_at_link(hid_t group, const char *name, const H5L_info_t *link, void *data)
{
    struct search *const search = data;
    char text[TEXT_ATTRIBUTE];
    const hid_t dataset = open_linked(group, name, link);
    if (dataset < 0)
        return 0;
    if (read_text_attribute(dataset, "standard_name", text)[0])
        search->status = take_standard_name(search, dataset, name, text);
    H5Dclose(dataset);
    return search->status ? 1 : 0;
}

enum miniapp_status find_names(struct miniapp_input *input,
                               const struct miniapp_input_options *options)
{
    struct search search = {input, MINIAPP_DONE, {false}};
    const enum miniapp_status status = find_by_name(input, options);
    if (status)
        return status;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        search.is_settled[id] = is_there(input, id);
    H5Literate(input->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, look_at_link, &search);
    return search.status;
}

/* ---- what it means ---- */

static bool has_standard_name(hid_t dataset, const char *name)
{
    char text[TEXT_ATTRIBUTE];
    return strcmp(read_text_attribute(dataset, "standard_name", text), name) == 0;
}

/* Quantities that are easily mistaken for a field. */
static const struct {
    enum field_id field;
    const char *standard_name, *quantity;
} others[] = {
    {FIELD_temp, "sea_water_potential_temperature", "potential temperature"},
    {FIELD_temp, "sea_water_temperature", "in-situ temperature"},
    {FIELD_salt, "sea_water_practical_salinity", "practical salinity"},
    {FIELD_salt, "sea_water_salinity", "practical salinity"},
};

/* Whether units are a name for practical salinity's, or a plain number, as practical salinity
 * is. */
static bool may_be_practical(const char *units)
{
    static const char *const names[] = {"psu", "pss", "pss-78", "pss78"};
    char *end;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcasecmp(units, names[i]) == 0)
            return true;
    strtod(units, &end);
    return end != units && !end[strspn(end, " ")];
}

/* The units of salinity are not doubted if the user names the dataset, or if it has the standard
 * name of the field. */
static enum miniapp_status check_units(struct miniapp_input *input, enum field_id id, hid_t dataset)
{
    char units[TEXT_ATTRIBUTE];
    const enum miniapp_status status =
        read_text_of(dataset, input->path, input->name[id], "units", units);
    if (status)
        return status;
    const bool is_doubtful = id == FIELD_salt && !input->is_renamed[id] &&
                             may_be_practical(units) &&
                             !has_standard_name(dataset, fields[id].standard_name);
    if (!is_doubtful && find_conversion(units, fields[id].units, &input->conversion[id]))
        return MINIAPP_DONE;
    return fail(MINIAPP_INPUT, "%s: dataset '%s' is in '%s', but must be in %s%s", input->path,
                input->name[id], units, fields[id].units,
                id == FIELD_salt || id == FIELD_temp ? ": run/make-input converts it" : "");
}

/* A dataset of another quantity is refused, unless --variable names it: whoever knows better is
 * warned once. */
static enum miniapp_status check_quantity(struct miniapp_input *input, enum field_id id,
                                          const char *quantity)
{
    if (!input->is_renamed[id])
        return fail(MINIAPP_INPUT,
                    "%s: dataset '%s' is %s, but must be %s: run/make-input "
                    "converts it",
                    input->path, input->name[id], quantity, fields[id].long_name);
    if (!input->is_told[id])
        warn("%s: dataset '%s' is %s, but --variable takes it as it is for %s: run/make-input "
             "converts it",
             input->path, input->name[id], quantity, fields[id].long_name);
    input->is_told[id] = true;
    return MINIAPP_DONE;
}

enum miniapp_status check_meaning(struct miniapp_input *input, enum field_id id, hid_t dataset)
{
    char theirs[TEXT_ATTRIBUTE];
    enum miniapp_status status = MINIAPP_DONE;
    if (fields[id].type != MINIAPP_REAL)
        return MINIAPP_DONE;
    if (input->is_renamed[id]) /* whoever names it need not say what it is */
        read_text_attribute(dataset, "standard_name", theirs);
    else
        status = read_text_of(dataset, input->path, input->name[id], "standard_name", theirs);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !status; i++)
        if (others[i].field == id && strcmp(theirs, others[i].standard_name) == 0)
            status = check_quantity(input, id, others[i].quantity);
    return status ? status : check_units(input, id, dataset);
}

/* ---- what is missing ---- */

struct list {
    char text[2048];
    size_t used, count;
    bool has_mask, has_kbot, has_made_by_script;
};

static void add(struct list *list, enum field_id id)
{
    const struct miniapp_field *const field = &fields[id];
    list->has_mask |= field->type == MINIAPP_MASK;
    list->has_kbot |= field->type == MINIAPP_INDEX;
    list->has_made_by_script |= !is_tracer(id);
    if (list->used < sizeof(list->text))
        list->used += (size_t)snprintf(list->text + list->used, sizeof(list->text) - list->used,
                                       "%s'%s' (%s%s%s)", list->count ? ", " : "", field->name,
                                       field->long_name, field->units[0] ? ", " : "", field->units);
    list->count++;
}

static herr_t look_for_other(hid_t group, const char *name, const H5L_info_t *link, void *data)
{
    char text[TEXT_ATTRIBUTE];
    char *const hint = data;
    const hid_t dataset = open_linked(group, name, link);
    if (dataset < 0)
        return 0;
    read_text_attribute(dataset, "standard_name", text);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (strcmp(others[i].standard_name, text) == 0) {
            const size_t used = strlen(hint);
            snprintf(hint + used, SENTENCE - used, "; '%.64s' is %s, which run/make-input converts",
                     name, others[i].quantity);
        }
    H5Dclose(dataset);
    return 0;
}

/* What could stand in for the missing ones. */
static void give_hints(struct miniapp_input *input, const struct list *list,
                       char hints[4 * SENTENCE])
{
    char quantities[SENTENCE] = "";
    const bool lacks_water = (input->needed[FIELD_temp] && !is_there(input, FIELD_temp)) ||
                             (input->needed[FIELD_salt] && !is_there(input, FIELD_salt));
    if (lacks_water)
        H5Literate(input->file, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, look_for_other, quantities);
    const bool lacks_height = input->needed[FIELD_zt] && !is_there(input, FIELD_zt);
    snprintf(hints, 4 * SENTENCE, "%s%s%s%s; --variable NAME=THEIRS takes another dataset%s",
             quantities,
             list->has_mask
                 ? "; missing values in 'salt' or 'temp', 'kbot' or another mask would do for "
                   "masks"
                 : "",
             list->has_kbot ? "; a mask would do for 'kbot'" : "",
             lacks_height && input->needed[FIELD_p] ? "; 'p' would do for 'zt'" : "",
             list->has_made_by_script ? ", run/make-input makes what is missing" : "");
}

bool lacks_made(const struct miniapp_input *input)
{
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (input->needed[id] && fields[id].is_made && !is_there(input, id))
            return true;
    return false;
}

enum miniapp_status check_missing(struct miniapp_input *input, bool are_readable)
{
    struct list list = {.count = 0};
    char hints[4 * SENTENCE];
    const uint8_t *water = NULL;
    const enum miniapp_status status =
        are_readable && lacks_made(input) ? find_water_cells(input, &water) : MINIAPP_DONE;
    if (status)
        return status;
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++) {
        const struct miniapp_field *const field = &fields[id];
        if (!input->needed[id] || field->is_optional || is_there(input, id) ||
            (field->is_made && (water || !are_readable)))
            continue;
        add(&list, id);
    }
    if (list.count == 0)
        return MINIAPP_DONE;
    give_hints(input, &list, hints);
    if (list.count > 1)
        return fail(MINIAPP_INPUT, "%s: %zu datasets are missing: %s%s", input->path, list.count,
                    list.text, hints);
    const char *const details = strchr(list.text, ' ');
    return fail(MINIAPP_INPUT, "%s: dataset %.*s is missing%s%s", input->path,
                (int)(details - list.text), list.text, details, hints);
}
