/*
 * The numeric settings of the kernels. Those of Veros keep their names.
 */
#ifndef MINIAPP_SETTING_H
#define MINIAPP_SETTING_H

#include <miniapp/api.h>
#include <miniapp/field.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

struct miniapp_setting;
size_t miniapp_setting_count(void);
const struct miniapp_setting *miniapp_setting_at(size_t index);
const struct miniapp_setting *miniapp_setting_find(const char *name);

const char *miniapp_setting_name(const struct miniapp_setting *);
const char *miniapp_setting_units(const struct miniapp_setting *);
const char *miniapp_setting_long_name(const struct miniapp_setting *);
double miniapp_setting_default(const struct miniapp_setting *);
bool miniapp_setting_is_whole(const struct miniapp_setting *);

/* A `least` of DBL_MIN means above 0. */
void miniapp_setting_range(const struct miniapp_setting *, double *least, double *most);

/* Fails with `status`, and a message that begins with `where`, if the value is out of range,
 * has a fraction though it has to be whole, or does not fit the precision. */
enum miniapp_status miniapp_setting_check(const struct miniapp_setting *, double value,
                                          enum miniapp_precision, const char *where,
                                          enum miniapp_status status);

/* A value for each setting, at first its default, to ask what kernels cost; a state has its own. */
struct miniapp_settings;
struct miniapp_settings *miniapp_settings_create(void); /* NULL if memory is short */
void miniapp_settings_free(struct miniapp_settings *);
enum miniapp_status miniapp_settings_set(struct miniapp_settings *, const char *name, double value);
double miniapp_settings_get(const struct miniapp_settings *, const char *name); /* NAN: unknown */

MINIAPP_END

#endif
