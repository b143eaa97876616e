#include "date.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* When February has 29 days: by Gregory's rule, which the standard calendar has since 1583, or by
 * Julius's one. All months of one calendar have 30 days. */
enum leap { GREGORIAN, PROLEPTIC, JULIAN, NO_LEAP, ALL_LEAP, THIRTY };

static const struct calendar {
    const char *name;
    enum leap leap;
} calendars[] = {
    {"", GREGORIAN},      {"standard", GREGORIAN}, {"gregorian", GREGORIAN},
    {"julian", JULIAN},   {"noleap", NO_LEAP},     {"proleptic_gregorian", PROLEPTIC},
    {"365_day", NO_LEAP}, {"all_leap", ALL_LEAP},  {"366_day", ALL_LEAP},
    {"360_day", THIRTY},
};

static const struct calendar *calendar_named(const char *name)
{
    for (size_t i = 0; i < sizeof(calendars) / sizeof(*calendars); i++)
        if (strcmp(calendars[i].name, name) == 0)
            return &calendars[i];
    return NULL;
}

bool is_calendar(const char *name)
{
    return calendar_named(name);
}

static bool is_leap(enum leap leap, int year)
{
    const bool is_julian = leap == JULIAN || (leap == GREGORIAN && year < 1583);
    if (leap == NO_LEAP || leap == ALL_LEAP)
        return leap == ALL_LEAP;
    return year % 4 == 0 && (is_julian || year % 100 != 0 || year % 400 == 0);
}

static int days_of(enum leap leap, int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (leap == THIRTY)
        return 30;
    return days[month - 1] + (month == 2 && is_leap(leap, year));
}

bool is_date(const char *text, const char *calendar)
{
    int year, month, day, hour = 0, minute = 0, end = 0;
    double second = 0;
    if (text[strspn(text, "0123456789-:. T")] ||
        sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) < 3)
        return false;
    if (text[end] == ' ' || text[end] == 'T') {
        text += end + 1;
        end = 0;
        sscanf(text, "%2d%n:%2d%n:%lf%n", &hour, &end, &minute, &end, &second, &end);
    }
    return end > 0 && !text[end] && year >= 0 && month >= 1 && month <= 12 && day >= 1 &&
           day <= days_of(calendar_named(calendar)->leap, year, month) && hour >= 0 && hour < 24 &&
           minute >= 0 && minute < 60 && second >= 0 && second < 60;
}
