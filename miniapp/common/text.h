/* Texts of messages, in places of a fixed size: lists, places in fields, ranges. */
#ifndef TEXT_H
#define TEXT_H

#include <miniapp/field.h>
#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Adds a part to a text; where one is there already, `between` first. False where it is cut. */
bool append(char *text, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- a field's elements ---- */

/* The place of an element by its indices, slowest first. Returns how many there are. */
int index_of(size_t element, const struct miniapp_field *field, const struct miniapp_grid *grid,
             size_t index[MINIAPP_MAX_RANK]);

/* An index such as [0, 28, 51]; "" where there are no axes. */
enum { INDEX_TEXT = 128 };
const char *index_text(const size_t *index, int rank, char text[INDEX_TEXT]);

/* "(z, y, x)" */
enum { AXES_TEXT = 32 };
const char *axes_text(const struct miniapp_field *field, char text[AXES_TEXT]);

/* "salt[3, 0, 17]" */
enum { ELEMENT_NAME = 300 };
const char *element_name(const char *field_name, const struct miniapp_field *field,
                         const struct miniapp_grid *grid, size_t element, char text[ELEMENT_NAME]);

/* ---- numbers ---- */

/* A number with the fewest digits that give the same one again. */
enum { EXACT_TEXT = 32 };
const char *exact_text(double value, char text[EXACT_TEXT]);

/* ---- valid ranges ---- */

enum { RANGE_TEXT = 64 };

/* "positive", "at least 0", "any number" or "from 0 to 50". Limits near those of a double count as
 * no limits. */
const char *range_text(double least, double most, char text[RANGE_TEXT]);

/* Whether a value keeps its digits in a precision: it is 0, or neither overflows nor underflows. */
bool is_held(double value, enum miniapp_precision precision);

/* Whether a value lies in a range and, if that holds only numbers above 0, fits the precision. */
static inline bool is_in_range(double value, double least, double most,
                               enum miniapp_precision precision)
{
    return value >= least && value <= most && (least <= 0 || is_held(value, precision));
}

/* ---- suggest.c: the name that a mistyped word probably stands for ---- */

/* The nearest of the names in which at most a third of the word's letters differ, that begin as it
 * does or that have it in them; NULL if there are none. */
const char *closest_match(const char *word, const char *const *names, size_t count);

/* Fails: "unknown WHAT 'WORD'; the closest is 'NAME'", or `otherwise` where none is close. */
enum miniapp_status unknown(const char *what, const char *word, const char *const *names,
                            size_t count, const char *otherwise);

#endif
