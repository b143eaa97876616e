/* What a number of CF's time means: "seconds", "minutes", "hours" or "days since" some date, in one
 * of CF's calendars. */
#ifndef DATES_H
#define DATES_H

#include <stdbool.h>

/* Numbers that grow with the date, so that dates of different calendars can be compared: seconds,
 * if every month had 31 days. */
#define DATE_DAY 86400.0
#define DATE_MONTH (31 * DATE_DAY)
#define DATE_YEAR (12 * DATE_MONTH)

enum { DATE_TEXT = 32 };

struct timeline {
    int calendar;
    double start; /* in seconds since the calendar's own year 0 */
    double step;  /* the seconds of a unit */
};

/* False for other units, such as months, other calendars, and dates that the calendar lacks. */
bool find_timeline(const char *units, const char *calendar, struct timeline *timeline);

/* The date at so many seconds since the calendar's year 0, as a number of the above; NAN before
 * that year and after the year 9999. */
double date_at(const struct timeline *timeline, double seconds);

/* "2000-02-29 12:00:00", rounded to seconds. */
const char *date_text(double date, char text[DATE_TEXT]);

#endif
