/* Dates of CF's calendars. */
#ifndef DATE_H
#define DATE_H

#include <stdbool.h>

/* Whether CF has such a calendar, in letters of either case; "" is its standard one. */
bool is_calendar(const char *name);

/* Whether a text is a date of a calendar, perhaps with a time, both in UTC: 2000-01-31,
 * 2000-01-31T12:00:00Z. */
bool is_date(const char *text, const char *calendar);

#endif
