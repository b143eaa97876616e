/* A part of a grid along x and y: of a file's cells, or of a state's. */
#ifndef WINDOW_H
#define WINDOW_H

#include <miniapp/grid.h>
#include <stdbool.h>

struct window {
    struct miniapp_grid grid, whole;
    size_t x0, y0; /* its first cell in the whole */
};

/* A window of a file, whose whole is with or without ghosts. */
struct file_grid {
    struct window window;
    bool has_ghosts, cyclic_x;
};

static inline bool is_same_window(const struct window *a, const struct window *b)
{
    return a->grid.nx == b->grid.nx && a->grid.ny == b->grid.ny && a->grid.nz == b->grid.nz &&
           a->x0 == b->x0 && a->y0 == b->y0;
}

/* The cells of an axis from `first` to before `end`. */
struct cells {
    size_t first, end;
};

/* The smallest range that contains both. */
static inline struct cells cells_of_both(const struct cells *a, const struct cells *b)
{
    return (struct cells){a->first < b->first ? a->first : b->first,
                          a->end > b->end ? a->end : b->end};
}

#endif
