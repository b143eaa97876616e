/* The functions that fill ghosts, pack messages, blend fields and find largest values, and what
 * they are called with. */
#ifndef PHYSICS_BOXES_H
#define PHYSICS_BOXES_H

#include <stdbool.h>
#include <stddef.h>

/* In each of `rows` rows of nx cells, makes the ghosts at either end copies of the interior cells
 * at the other end. */
typedef void exchange_function(void *field, size_t element_bytes, size_t nx, size_t rows);

/* A box of a field: in each plane, the cells from (x0, y0) on. */
struct field_box {
    size_t element_bytes, nx, ny, planes;
    size_t x0, y0, width, height;
};

/* Copies a box into a message, or a message into a box. */
typedef void box_function(const struct field_box *box, void *field, void *message, bool to_message);

/* Two or three fields of `rows` rows of nx cells, and their weights; a third one may be NULL. */
struct blended {
    const void *fields[3];
    double weights[3];
    size_t nx, rows;
};

/* Makes a field the weighted sum of others, or of itself and others, which are real. */
typedef void blend_function(const struct blended *of, void *field);

/* The largest magnitude in the interior of a real field; NaN if there is one. */
typedef double largest_function(const void *field, size_t nx, size_t ny, size_t planes);

#endif
