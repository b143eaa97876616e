/*
 * Fields in host memory: reals as double, masks as uint8_t, indices as int32_t. They come from
 * a file, are resampled to the size that is asked for, and get their ghost cells.
 */
#ifndef MINIAPP_FIELDS_H
#define MINIAPP_FIELDS_H

#include <physics/kernel.h>
#include <stdbool.h>

struct fields {
    struct physics_grid grid;
    void *data[PHYSICS_FIELDS]; /* NULL: not there */
};

/* Memory for a field of fields->grid. */
enum physics_status fields_allocate(struct fields *fields, enum physics_field_id id);

void fields_release(struct fields *fields);

bool same_grid(const struct physics_grid *a, const struct physics_grid *b);

/* pyhpc-benchmarks' shape for about `points` points. */
struct physics_grid grid_of_size(size_t points);

/* The fields without their ghosts. */
enum physics_status fields_interior(const struct fields *from, struct fields *to);

/* Fields without ghosts on another grid, also without: reals are interpolated in the index,
 * masks, indices and what means nothing on land are taken from the nearest cell. Spacings are cut and joined, so that they keep
 * their sum. */
enum physics_status fields_resample(const struct fields *from, const struct physics_grid *grid,
                                    struct fields *to);

/* Adds ghost cells: along x cyclic or closed, along y closed. A closed side is land, on which
 * the values of the nearest cell are repeated. */
enum physics_status fields_add_ghosts(const struct fields *from, bool cyclic_x,
                                      struct fields *to);

/* A field without its ghosts, as a new array that the caller frees; NULL without memory.
 * `bytes` is the size of an element. */
void *strip_ghosts(const void *data, const struct physics_field *field,
                   const struct physics_grid *grid, size_t bytes);

/* A grid without its ghosts, or with them. */
struct physics_grid interior_of(const struct physics_grid *grid);
struct physics_grid with_ghosts(const struct physics_grid *interior);

#endif
