/* A part of a grid along x and y: of a file's cells, or of a state's. */
#ifndef WINDOW_H
#define WINDOW_H

#include <miniapp/grid.h>
#include <stdbool.h>

struct window {
    struct miniapp_grid grid, whole;
    size_t x0, y0;             /* its first cell in the whole */
    bool has_ghosts, cyclic_x; /* of the whole, if it is a file's */
};

static inline size_t first_along(enum miniapp_axis axis, const struct window *window)
{
    return axis == MINIAPP_X ? window->x0 : axis == MINIAPP_Y ? window->y0 : 0;
}

static inline bool is_same_window(const struct window *a, const struct window *b)
{
    return a->grid.nx == b->grid.nx && a->grid.ny == b->grid.ny && a->grid.nz == b->grid.nz &&
           a->x0 == b->x0 && a->y0 == b->y0;
}

/* Whether a cell is one of the outer two, and the column that a ghost repeats where the ocean is
 * cyclic. */
static inline bool is_outer(size_t cell, size_t cells)
{
    return cell < MINIAPP_HALO || cell + MINIAPP_HALO >= cells;
}

static inline size_t opposite_column(size_t x, size_t nx)
{
    const size_t inner = nx - 2 * MINIAPP_HALO; /* perhaps 1, which all ghosts repeat */
    return MINIAPP_HALO + (x + MINIAPP_HALO * inner - MINIAPP_HALO) % inner;
}

/* The cells of an axis from `first` to before `end`. */
struct cells {
    size_t first, end;
};

/* The smallest range that contains both. */
static inline struct cells cells_of_both(struct cells a, struct cells b)
{
    return (struct cells){a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end};
}

#endif
