/*
 * The fields that kernels read and write. Names are Veros's, standard names CF's.
 */
#ifndef MINIAPP_FIELD_H
#define MINIAPP_FIELD_H

#include <miniapp/api.h>
#include <miniapp/grid.h>
#include <stdbool.h>

MINIAPP_BEGIN

/* How an element is stored in memory. */
enum miniapp_type {
    MINIAPP_REAL,  /* double or float, as the precision says */
    MINIAPP_MASK,  /* uint8_t, 1 water and 0 land */
    MINIAPP_INDEX, /* int32_t, 1 + a level; 0 is none */
};

enum miniapp_precision { MINIAPP_FLOAT64, MINIAPP_FLOAT32, MINIAPP_PRECISIONS };

#define MINIAPP_MAX_RANK 5

struct miniapp_field; /* a row of the library's table, which never moves */

/* All fields, and the one of that name; NULL where there is none. */
MINIAPP_API size_t miniapp_field_count(void);
MINIAPP_API const struct miniapp_field *miniapp_field_at(size_t place);
MINIAPP_API const struct miniapp_field *miniapp_field_find(const char *name);

MINIAPP_API const char *miniapp_field_name(const struct miniapp_field *field);
MINIAPP_API const char *miniapp_field_units(const struct miniapp_field *field);
MINIAPP_API const char *miniapp_field_long_name(const struct miniapp_field *field);
MINIAPP_API const char *
miniapp_field_standard_name(const struct miniapp_field *field); /* or NULL */
MINIAPP_API enum miniapp_type miniapp_field_type(const struct miniapp_field *field);

/* Whether an input file may lack the field; something else stands in for it then. In a state
 * nothing does: whoever fills it sets every field that is read. */
MINIAPP_API bool miniapp_field_is_optional(const struct miniapp_field *field);

/* The values that it may have on water, in an input or a reference; a least one of DBL_MIN means
 * above 0. */
MINIAPP_API void miniapp_field_range(const struct miniapp_field *field, double *least,
                                     double *most);

/* The number of its axes, and each of them, slowest first. */
MINIAPP_API int miniapp_field_rank(const struct miniapp_field *field);
MINIAPP_API enum miniapp_axis miniapp_field_axis(const struct miniapp_field *field, int place);

/* The number of elements, or SIZE_MAX where that does not fit. */
MINIAPP_API size_t miniapp_field_elements(const struct miniapp_field *field,
                                          const struct miniapp_grid *grid);

/* Bytes of one element. */
MINIAPP_API size_t miniapp_element_bytes(enum miniapp_type type, enum miniapp_precision precision);

/* "float64" or "float32" */
MINIAPP_API const char *miniapp_precision_name(enum miniapp_precision precision);

MINIAPP_END

#endif
