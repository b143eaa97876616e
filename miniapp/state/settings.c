#include "status.h"
#include "table.h"
#include "text.h"

#include <math.h>
#include <stdlib.h>

enum miniapp_status miniapp_setting_check(const struct miniapp_setting *setting, double value,
                                          enum miniapp_precision precision, const char *place,
                                          enum miniapp_status status)
{
    const bool whole = !setting->is_whole || value == floor(value);
    const double least = setting->valid_min, most = setting->valid_max;
    char range[RANGE_TEXT];
    if (!whole || !is_in_range(value, least, most, MINIAPP_FLOAT64))
        return fail(status, "%s: setting '%s' is %g, but must be %s%s", place, setting->name, value,
                    setting->is_whole ? "whole and " : "", range_text(least, most, range));
    if (!is_held(value, precision))
        return fail(status, "%s: setting '%s' is %g, which %s cannot hold", place, setting->name,
                    value, miniapp_precision_name(precision));
    return MINIAPP_DONE;
}

struct miniapp_settings *miniapp_settings_create(void)
{
    struct miniapp_settings *values = malloc(sizeof(*values));
    for (size_t id = 0; values && id < SETTINGS; id++)
        values->value[id] = settings[id].value;
    return values;
}

void miniapp_settings_free(struct miniapp_settings *values)
{
    free(values);
}

static enum miniapp_status unknown_setting(const char *name)
{
    const char *names[SETTINGS];
    for (size_t id = 0; id < SETTINGS; id++)
        names[id] = settings[id].name;
    return unknown("setting", name, names, SETTINGS,
                   "; --list-kernels names those of each kernel, docs/input.md names all");
}

enum miniapp_status miniapp_settings_set(struct miniapp_settings *values, const char *name,
                                         double value)
{
    if (!values || !name)
        return null_given();
    const struct miniapp_setting *setting = miniapp_setting_find(name);
    if (!setting)
        return unknown_setting(name);
    TRY(miniapp_setting_check(setting, value, MINIAPP_FLOAT64, "the call", MINIAPP_USAGE));
    values->value[setting - settings] = value;
    return MINIAPP_DONE;
}

double miniapp_settings_get(const struct miniapp_settings *values, const char *name)
{
    const struct miniapp_setting *setting = miniapp_setting_find(name);
    return setting ? values->value[setting - settings] : NAN;
}
