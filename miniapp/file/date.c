#include "date.h"

#include <regex.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

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
        if (strcasecmp(calendars[i].name, name) == 0)
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

/* Minutes, seconds and their fraction may be left out. */
static const char form[] = "^[0-9]{1,4}-[0-9]{1,2}-[0-9]{1,2}"
                           "([T ]([01]?[0-9]|2[0-3])"
                           "(:[0-5]?[0-9](:[0-5]?[0-9](\\.[0-9]+)?)?)?)?"
                           "( ?(Z|UTC|\\+00:00))?$";

static bool has_form(const char *text)
{
    regex_t pattern;
    if (regcomp(&pattern, form, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    const bool is_like_it = regexec(&pattern, text, 0, NULL, 0) == 0;
    regfree(&pattern);
    return is_like_it;
}

bool is_date(const char *text, const char *calendar)
{
    const enum leap leap = calendar_named(calendar)->leap;
    int year, month, day;
    return has_form(text) && sscanf(text, "%4d-%2d-%2d", &year, &month, &day) == 3 && month >= 1 &&
           month <= 12 && day >= 1 && day <= days_of(leap, year, month);
}
