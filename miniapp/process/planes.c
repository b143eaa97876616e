#include "planes.h"

struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    struct planes planes = {.elements = 1, .levels = 1};
    for (int i = 0; i < miniapp_field_rank(field); i++) {
        const enum miniapp_axis axis = miniapp_field_axis(field, i);
        const size_t length = miniapp_axis_length(axis, grid);
        planes.has_x |= axis == MINIAPP_X;
        planes.has_y |= axis == MINIAPP_Y;
        planes.elements *= axis == MINIAPP_X || axis == MINIAPP_Y ? length : 1;
        planes.levels = axis == MINIAPP_Z ? length : planes.levels;
    }
    planes.count = miniapp_field_elements(field, grid) / planes.elements;
    return planes;
}

size_t plane_in_state(const struct miniapp_input *input, const struct planes *planes, size_t plane)
{
    const size_t level = plane % planes->levels;
    return miniapp_input_is_surface_first(input) ? plane - level + planes->levels - 1 - level
                                                 : plane;
}
