/* A field's elements: their planes and names. */
#ifndef ELEMENT_H
#define ELEMENT_H

#include "program.h"

/* The place of an element by its indices, slowest first. Returns how many there are. */
int index_of(size_t element, const struct miniapp_field *field, const struct miniapp_grid *grid,
             size_t index[MINIAPP_MAX_RANK]);

/* The planes of a field along y and x, in which it passes from a state to a file or to other
 * processes: how many, their elements, and those along x and y, 1 where it lacks the axis. */
struct planes {
    size_t count, elements, nx, ny;
    bool has_x, has_y;
};
struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid);

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

#endif
