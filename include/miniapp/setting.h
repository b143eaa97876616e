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

/* A row of the library's table, which never moves. */
struct miniapp_setting;
size_t miniapp_setting_count(void);
const struct miniapp_setting *miniapp_setting_at(size_t place);
const struct miniapp_setting *miniapp_setting_find(const char *name);

const char *miniapp_setting_name(const struct miniapp_setting *);
const char *miniapp_setting_units(const struct miniapp_setting *);
const char *miniapp_setting_long_name(const struct miniapp_setting *);
double miniapp_setting_default(const struct miniapp_setting *);
bool miniapp_setting_is_whole(const struct miniapp_setting *);
void miniapp_setting_range(const struct miniapp_setting *, double *least, double *most);

/* Checks that a value is in the range, in the precision too. If not, it fails with that status and
 * a message that begins with `where` the value comes from. */
enum miniapp_status miniapp_setting_check(const struct miniapp_setting *, double value,
                                          enum miniapp_precision, const char *where,
                                          enum miniapp_status);

/* A value for each setting, the default at first: for asking what kernels cost. Those that a state
 * runs with are set by miniapp_state_set_setting. */
struct miniapp_settings;
struct miniapp_settings *miniapp_settings_create(void); /* NULL if memory is short */
void miniapp_settings_free(struct miniapp_settings *);
enum miniapp_status miniapp_settings_set(struct miniapp_settings *, const char *name, double value);
double miniapp_settings_get(const struct miniapp_settings *, const char *name); /* NAN: unknown */

MINIAPP_END

#endif
