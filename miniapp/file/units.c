#include "units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#ifdef MINIAPP_UDUNITS
#include <udunits2.h>
#endif

enum { LONGEST = 256 };

/* Without blanks at either end. */
static void trim(const char *units, char trimmed[LONGEST])
{
    while (isspace((unsigned char)*units))
        units++;
    snprintf(trimmed, LONGEST, "%s", units);
    for (size_t i = strlen(trimmed); i > 0 && isspace((unsigned char)trimmed[i - 1]); i--)
        trimmed[i - 1] = '\0';
}

/* What people write for a plain number. */
static bool is_none(const char *units)
{
    static const char *const words[] = {"1", "-", "none", "unitless", "dimensionless"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(units, words[i]) == 0)
            return true;
    return false;
}

/* What oceanographers mean by units that UDUNITS takes for others: parts per trillion. */
static const char *as_meant(const char *units)
{
    return strcmp(units, "ppt") == 0 ? "g kg-1" : units;
}

#ifdef MINIAPP_UDUNITS

/* UDUNITS' own table is read once, the first time that units differ. */
static ut_system *find_system(void)
{
    static ut_system *known;
    static bool is_looked_for;
    if (!is_looked_for) {
        ut_set_error_message_handler(ut_ignore);
        known = ut_read_xml(NULL);
    }
    is_looked_for = true;
    return known;
}

/* Whether units convert by a factor and an offset, and not by the reciprocal or a logarithm. */
static bool is_linear(const cv_converter *converter, struct conversion *conversion)
{
    conversion->offset = cv_convert_double(converter, 0);
    conversion->factor = cv_convert_double(converter, 1) - conversion->offset;
    const double apart = cv_convert_double(converter, 1000) - conversion->offset;
    return isfinite(conversion->offset) && conversion->factor > 0 &&
           fabs(apart - 1000 * conversion->factor) < 1e-6 * apart;
}

static bool convert(const char *units, const char *wanted, struct conversion *conversion)
{
    ut_system *const known = find_system();
    ut_unit *const from = known ? ut_parse(known, units, UT_UTF8) : NULL;
    ut_unit *const to = known ? ut_parse(known, wanted, UT_UTF8) : NULL;
    cv_converter *const converter = from && to ? ut_get_converter(from, to) : NULL;
    const bool is_known = converter && is_linear(converter, conversion);
    cv_free(converter);
    ut_free(from);
    ut_free(to);
    return is_known;
}

#else

static bool convert(const char *units, const char *wanted, struct conversion *conversion)
{
    (void)units, (void)wanted, (void)conversion;
    return false;
}

#endif

bool find_conversion(const char *units, const char *wanted, struct conversion *conversion)
{
    char text[LONGEST], joined[LONGEST];
    *conversion = (struct conversion){.factor = 1};
    trim(units, text);
    if (!text[0] || !wanted[0] || strcmp(text, wanted) == 0)
        return true;
    if (strcmp(wanted, "1") == 0)
        return is_none(text); /* UDUNITS would convert angles to numbers */
    snprintf(joined, sizeof(joined), "%s", as_meant(text));
    for (char *c = joined; *c; c++) /* "degrees Celsius" is not an angle times a temperature */
        *c = *c == ' ' ? '_' : *c;
    if (!convert(joined, wanted, conversion) && !convert(as_meant(text), wanted, conversion))
        return false;
    if (conversion->factor != 1 || conversion->offset != 0)
        snprintf(conversion->from, UNITS, "%s", text);
    return true;
}
