#include "planes.h"

struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    struct planes planes = {.elements = 1};
    for (int i = 0; i < miniapp_field_rank(field); i++) {
        const enum miniapp_axis axis = miniapp_field_axis(field, i);
        const size_t length = miniapp_axis_length(axis, grid);
        planes.has_x |= axis == MINIAPP_X;
        planes.has_y |= axis == MINIAPP_Y;
        planes.elements *= axis == MINIAPP_X || axis == MINIAPP_Y ? length : 1;
    }
    planes.count = miniapp_field_elements(field, grid) / planes.elements;
    return planes;
}
