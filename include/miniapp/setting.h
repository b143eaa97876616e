/*
 * The numeric settings of the kernels, named as in Veros.
 */
#ifndef MINIAPP_SETTING_H
#define MINIAPP_SETTING_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_setting; /* a row of the library's table, which never moves */

/* All settings, and the one of that name; NULL where there is none. */
MINIAPP_API size_t miniapp_setting_count(void);
MINIAPP_API const struct miniapp_setting *miniapp_setting_at(size_t place);
MINIAPP_API const struct miniapp_setting *miniapp_setting_find(const char *name);

MINIAPP_API const char *miniapp_setting_name(const struct miniapp_setting *setting);
MINIAPP_API const char *miniapp_setting_units(const struct miniapp_setting *setting);
MINIAPP_API const char *miniapp_setting_long_name(const struct miniapp_setting *setting);
MINIAPP_API double miniapp_setting_default(const struct miniapp_setting *setting);
MINIAPP_API bool miniapp_setting_is_whole(const struct miniapp_setting *setting);
MINIAPP_API void miniapp_setting_range(const struct miniapp_setting *setting, double *least,
                                       double *most);

/* Checks that a value may be set, and keeps its digits in the precision of the kernels that read
 * it. If not, it fails with `status`, and the message begins with `where`, the place that the value
 * comes from. */
MINIAPP_API enum miniapp_status miniapp_setting_check(const struct miniapp_setting *setting,
                                                      double value,
                                                      enum miniapp_precision precision,
                                                      const char *where,
                                                      enum miniapp_status status);

/* A value for each setting: the defaults at first. They are for asking what kernels cost; a state
 * has settings of its own, which miniapp_state_set_setting sets. */
struct miniapp_settings;

/* NULL if memory is short. */
MINIAPP_API struct miniapp_settings *miniapp_settings_create(void);
MINIAPP_API void miniapp_settings_free(struct miniapp_settings *settings);

/* MINIAPP_USAGE where there is no setting of that name, or the value is out of its range. */
MINIAPP_API enum miniapp_status miniapp_settings_set(struct miniapp_settings *settings,
                                                     const char *name, double value);
/* NAN if there is no such setting. */
MINIAPP_API double miniapp_settings_get(const struct miniapp_settings *settings, const char *name);

MINIAPP_END

#endif
