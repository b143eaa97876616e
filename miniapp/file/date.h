/* Dates of CF's calendars. */
#ifndef DATE_H
#define DATE_H

#include <stdbool.h>

/* Whether CF has such a calendar; "" is its standard one. */
bool is_calendar(const char *name);

/* Whether a text is a date of a calendar, perhaps with a time: 2000-01-31, 2000-01-31 12:00:00. */
bool is_date(const char *text, const char *calendar);

#endif
