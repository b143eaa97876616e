/*
 * The fields that kernels read and write. Names are those of Veros, standard names those of the CF
 * conventions.
 */
#ifndef MINIAPP_FIELD_H
#define MINIAPP_FIELD_H

#include <miniapp/api.h>
#include <miniapp/grid.h>
#include <stdbool.h>

MINIAPP_BEGIN

/* How an element is stored in memory. */
enum miniapp_type {
    MINIAPP_REAL,   /* double or float, as the precision says */
    MINIAPP_MASK,   /* uint8_t, 1 water and 0 land */
    MINIAPP_INDEX,  /* int32_t, 1 + the index of a level, or 0 for no level */
    MINIAPP_DOUBLE, /* double in each precision */
};

static inline bool miniapp_is_real(enum miniapp_type type)
{
    return type == MINIAPP_REAL || type == MINIAPP_DOUBLE;
}

enum miniapp_precision { MINIAPP_FLOAT64, MINIAPP_FLOAT32, MINIAPP_PRECISIONS };
const char *miniapp_precision_name(enum miniapp_precision); /* "float64" */
size_t miniapp_element_bytes(enum miniapp_type, enum miniapp_precision);

struct miniapp_field;
size_t miniapp_field_count(void);
const struct miniapp_field *miniapp_field_at(size_t index);
const struct miniapp_field *miniapp_field_find(const char *name);

const char *miniapp_field_name(const struct miniapp_field *);
const char *miniapp_field_units(const struct miniapp_field *);
const char *miniapp_field_long_name(const struct miniapp_field *);
const char *miniapp_field_standard_name(const struct miniapp_field *); /* or NULL */

/* The unit, the long name and the largest valid magnitude at a free surface, where steps take a
 * field of the external mode as a pressure; NULL and 0 of other fields. */
const char *miniapp_field_surface_units(const struct miniapp_field *);
const char *miniapp_field_surface_name(const struct miniapp_field *);
double miniapp_field_surface_most(const struct miniapp_field *);
enum miniapp_type miniapp_field_type(const struct miniapp_field *);

/* Whether a file may lack it, since the reader can make it or has a default. */
bool miniapp_field_is_optional(const struct miniapp_field *);

/* The valid range on water. A `least` of DBL_MIN means above 0. */
void miniapp_field_range(const struct miniapp_field *, double *least, double *most);

/* The mask, or kbot, that says where the field has a meaning; NULL where it has one everywhere. */
const struct miniapp_field *miniapp_field_wet(const struct miniapp_field *);

/* The field that, times the factor, replaces this one where it is absent; NULL if zeros do. */
const struct miniapp_field *miniapp_field_stand_in(const struct miniapp_field *, double *factor);

/* The field that needs this one: if a file has it, this one may not be absent; or NULL. */
const struct miniapp_field *miniapp_field_partner(const struct miniapp_field *);

/* The settings that need this field, which may be absent where all of them are 0; NULL after the
 * last one. */
const char *miniapp_field_needed_by(const struct miniapp_field *, size_t index);

/* Whether land holds the value of the lowest water above, since averages near land include it. */
bool miniapp_field_is_extended(const struct miniapp_field *);

/* Whether it is a velocity or a stress, which is 0 in the ghosts of a closed side. */
bool miniapp_field_is_flow(const struct miniapp_field *);

/* Whether it lies on corners, so that those on the southern wall are ghosts that mean something. */
bool miniapp_field_has_wall(const struct miniapp_field *);

/* Its axes, slowest first. */
#define MINIAPP_MAX_RANK 5
int miniapp_field_rank(const struct miniapp_field *);
enum miniapp_axis miniapp_field_axis(const struct miniapp_field *, int index);

/* How many elements it has on a grid; SIZE_MAX if that number does not fit. */
size_t miniapp_field_elements(const struct miniapp_field *, const struct miniapp_grid *);

MINIAPP_END

#endif
