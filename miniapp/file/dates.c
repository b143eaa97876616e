#include "dates.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- calendars ---- */

/* The mixed one, which is CF's standard, is the Julian until 1582-10-04 and the Gregorian from the
 * next day on, which is 1582-10-15. */
enum calendar { MIXED, GREGORIAN, JULIAN, ALL_365, ALL_366, ALL_360 };

static const struct {
    const char *name;
    enum calendar calendar;
} calendars[] = {
    {"", MIXED},          {"standard", MIXED},
    {"gregorian", MIXED}, {"proleptic_gregorian", GREGORIAN},
    {"julian", JULIAN},   {"noleap", ALL_365},
    {"365_day", ALL_365}, {"all_leap", ALL_366},
    {"366_day", ALL_366}, {"360_day", ALL_360},
};

static bool find_calendar(const char *name, enum calendar *calendar)
{
    for (size_t i = 0; i < sizeof(calendars) / sizeof(*calendars); i++)
        if (strcasecmp(name, calendars[i].name) == 0) {
            *calendar = calendars[i].calendar;
            return true;
        }
    return false;
}

struct day {
    int year, month, day;
};

/* How many days of a calendar lie before a year, from the year 0 on. */
static long days_before_year(enum calendar calendar, int year)
{
    switch (calendar) {
    case ALL_360: return 360L * year;
    case ALL_365: return 365L * year;
    case ALL_366: return 366L * year;
    case JULIAN: return 365L * year + (year + 3) / 4;
    default: return 365L * year + (year + 3) / 4 - (year + 99) / 100 + (year + 399) / 400;
    }
}

static long days_before_month(enum calendar calendar, int year, int month)
{
    static const int common[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    const long before = days_before_year(calendar, year);
    const bool is_leap = days_before_year(calendar, year + 1) - before == 366;
    return before +
           (calendar == ALL_360 ? 30L * (month - 1) : common[month - 1] + (is_leap && month > 2));
}

/* The Gregorian calendar's year 0 began two days after that of the Julian, whose days the mixed
 * calendar counts. */
enum { APART = 2 };
static const struct day reform = {1582, 10, 15};

static bool is_before(const struct day *day, const struct day *other)
{
    const int years = day->year - other->year, months = day->month - other->month;
    return years ? years < 0 : months ? months < 0 : day->day < other->day;
}

static long number_of_day(enum calendar calendar, const struct day *day)
{
    if (calendar == MIXED)
        return is_before(day, &reform) ? number_of_day(JULIAN, day)
                                       : number_of_day(GREGORIAN, day) + APART;
    return days_before_month(calendar, day->year, day->month) + day->day - 1;
}

static struct day day_of_number(enum calendar calendar, long number)
{
    if (calendar == MIXED) {
        const bool is_after = number - APART >= number_of_day(GREGORIAN, &reform);
        return is_after ? day_of_number(GREGORIAN, number - APART) : day_of_number(JULIAN, number);
    }
    int year = (int)(number / 366), month = 12;
    while (days_before_year(calendar, year + 1) <= number)
        year++;
    while (days_before_month(calendar, year, month) > number)
        month--;
    return (struct day){year, month, (int)(number - days_before_month(calendar, year, month)) + 1};
}

/* The Julian calendar has no year 0, nor has CF's standard. */
static bool is_in_calendar(enum calendar calendar, const struct day *day)
{
    const bool has_year_0 = calendar != MIXED && calendar != JULIAN;
    if (day->year < !has_year_0 || day->month < 1 || day->month > 12 || day->day < 1)
        return false;
    const struct day same = day_of_number(calendar, number_of_day(calendar, day));
    return memcmp(&same, day, sizeof(same)) == 0;
}

/* ---- units ---- */

static double seconds_of(const char *unit)
{
    static const struct {
        const char *names;
        double seconds;
    } known[] = {{" s sec secs second seconds ", 1},
                 {" min mins minute minutes ", 60},
                 {" h hr hrs hour hours ", 3600},
                 {" d day days ", 86400}};
    char word[16];
    snprintf(word, sizeof(word), " %.12s ", unit);
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcasestr(known[i].names, word))
            return known[i].seconds;
    return NAN;
}

/* Reads "12", "12:30" or "12:30:00.0" if there is such a time, and what UTC is called. Returns what
 * follows, or NULL if it is no time of a day. */
static const char *read_time(const char *text, double *seconds)
{
    int hour = 0, minute = 0, used = 0;
    double second = 0;
    if (!strchr(" TZ", *text))
        return NULL;
    if (*text == 'T')
        text++;
    if (sscanf(text, " %2d%n", &hour, &used) == 1) {
        text += used;
        if (sscanf(text, ":%2d%n", &minute, &used) == 1)
            text += used;
        if (sscanf(text, ":%9lf%n", &second, &used) == 1)
            text += used;
    }
    *seconds = 3600.0 * hour + 60.0 * minute + second;
    const bool is_time =
        hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
    return is_time ? text : NULL;
}

static bool is_utc(const char *text)
{
    static const char *const names[] = {"", "Z", "UTC", "GMT"};
    char word[8] = "";
    int used = 0;
    if (sscanf(text, " %7s %n", word, &used) == 1 && text[used])
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(word, names[i]) == 0)
            return true;
    return false;
}

bool find_timeline(const char *units, const char *calendar, struct timeline *timeline)
{
    char unit[16] = "";
    enum calendar known;
    struct day day;
    double seconds;
    int used = 0;
    if (!find_calendar(calendar, &known) || sscanf(units, " %15s since %5d-%2d-%2d%n", unit,
                                                   &day.year, &day.month, &day.day, &used) != 4)
        return false;
    const char *const rest = read_time(units + used, &seconds);
    const double step = seconds_of(unit);
    if (!rest || !is_utc(rest) || isnan(step) || !is_in_calendar(known, &day))
        return false;
    *timeline =
        (struct timeline){known, DATE_DAY * (double)number_of_day(known, &day) + seconds, step};
    return true;
}

/* ---- dates ---- */

double date_at(const struct timeline *timeline, double seconds)
{
    const enum calendar calendar = (enum calendar)timeline->calendar;
    const struct day last = {9999, 12, 30};
    const double number = floor(seconds / DATE_DAY);
    if (!(number >= 0 && number <= (double)number_of_day(calendar, &last)))
        return NAN;
    const struct day day = day_of_number(calendar, (long)number);
    return day.year * DATE_YEAR + (day.month - 1) * DATE_MONTH + (day.day - 1) * DATE_DAY +
           (seconds - number * DATE_DAY);
}

const char *date_text(double date, char text[DATE_TEXT])
{
    const long seconds = lround(date), day = seconds / 86400;
    const int second = (int)(seconds % 86400);
    snprintf(text, DATE_TEXT, "%04ld-%02ld-%02ld %02d:%02d:%02d", day / 372, day % 372 / 31 + 1,
             day % 31 + 1, second / 3600, second / 60 % 60, second % 60);
    return text;
}
