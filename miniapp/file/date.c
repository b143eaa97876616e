#include "date.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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

static const char digits[] = "0123456789";

/* Takes a number of at most so many digits from the front of a text, and says whether it lies in
 * its range. */
static bool take_number(const char **text, size_t longest, int least, int most, int *number)
{
    const size_t length = strspn(*text, digits);
    if (length == 0 || length > longest)
        return false;
    *number = (int)strtol(*text, NULL, 10);
    *text += length;
    return *number >= least && *number <= most;
}

static bool take_letter(const char **text, char letter)
{
    if (**text != letter)
        return false;
    ++*text;
    return true;
}

/* Minutes, seconds and their fraction may be left out. */
static bool take_time(const char **text)
{
    int number;
    if (!take_number(text, 2, 0, 23, &number))
        return false;
    for (int i = 0; i < 2; i++) {
        if (!take_letter(text, ':'))
            return true;
        if (!take_number(text, 2, 0, 59, &number))
            return false;
    }
    if (!take_letter(text, '.'))
        return true;
    const size_t length = strspn(*text, digits);
    *text += length;
    return length > 0;
}

static bool is_zone(const char *text)
{
    text += *text == ' ';
    return strcmp(text, "Z") == 0 || strcmp(text, "UTC") == 0 || strcmp(text, "+00:00") == 0;
}

bool is_date(const char *text, const char *calendar)
{
    const enum leap leap = calendar_named(calendar)->leap;
    int year, month, day;
    if (!take_number(&text, 4, 0, 9999, &year) || !take_letter(&text, '-') ||
        !take_number(&text, 2, 1, 12, &month) || !take_letter(&text, '-') ||
        !take_number(&text, 2, 1, days_of(leap, year, month), &day))
        return false;
    if (text[0] == 'T' || (text[0] == ' ' && text[1] && strchr(digits, text[1]))) {
        text++;
        if (!take_time(&text))
            return false;
    }
    return !*text || is_zone(text);
}
