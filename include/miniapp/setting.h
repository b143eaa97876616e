/*
 * The numeric settings of the kernels.
 */
#ifndef MINIAPP_SETTING_H
#define MINIAPP_SETTING_H

#include <miniapp/api.h>
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

MINIAPP_END

#endif
