#include "shape.h"

#include <math.h>

const struct miniapp_grid grid_beyond_caches = {1, 1, 1};

bool same_grid(const struct miniapp_grid *a, const struct miniapp_grid *b)
{
    return a->nx == b->nx && a->ny == b->ny && a->nz == b->nz;
}

struct miniapp_grid grid_of_size(size_t points)
{
    const double root = cbrt((double)points);
    /* cbrt may miss a whole root by the last digit, which ceil would turn into a whole cell */
    const double whole = round(root);
    const double edge = whole * whole * whole == (double)points ? whole : root;
    const size_t n = (size_t)ceil(2 * edge);
    return (struct miniapp_grid){n, n, (size_t)ceil(edge / 4)};
}
