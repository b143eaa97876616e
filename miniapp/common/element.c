#include "element.h"
#include "text.h"

#include <stdio.h>

int index_of(size_t element, const struct miniapp_field *field, const struct miniapp_grid *grid,
             size_t index[MINIAPP_MAX_RANK])
{
    const int rank = miniapp_field_rank(field);
    for (int i = rank - 1; i >= 0; i--) {
        const size_t length = miniapp_axis_length(miniapp_field_axis(field, i), grid);
        index[i] = element % length;
        element /= length;
    }
    return rank;
}

struct planes planes_of(const struct miniapp_field *field, const struct miniapp_grid *grid)
{
    struct planes planes = {.nx = 1, .ny = 1};
    for (int i = 0; i < miniapp_field_rank(field); i++) {
        planes.has_x |= miniapp_field_axis(field, i) == MINIAPP_X;
        planes.has_y |= miniapp_field_axis(field, i) == MINIAPP_Y;
    }
    if (planes.has_x)
        planes.nx = grid->nx;
    if (planes.has_y)
        planes.ny = grid->ny;
    planes.elements = planes.nx * planes.ny;
    planes.count = miniapp_field_elements(field, grid) / planes.elements;
    return planes;
}

const char *index_text(const size_t *index, int rank, char text[INDEX_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < rank; i++)
        append(text, INDEX_TEXT, ", ", i ? "%zu" : "[%zu", index[i]);
    if (rank)
        append(text, INDEX_TEXT, "", "]");
    return text;
}

const char *axes_text(const struct miniapp_field *field, char text[AXES_TEXT])
{
    snprintf(text, AXES_TEXT, "(");
    for (int i = 0; i < miniapp_field_rank(field); i++)
        append(text, AXES_TEXT, i ? ", " : "", "%s",
               miniapp_axis_name(miniapp_field_axis(field, i)));
    append(text, AXES_TEXT, "", ")");
    return text;
}

const char *element_name(const char *field_name, const struct miniapp_field *field,
                         const struct miniapp_grid *grid, size_t element, char text[ELEMENT_NAME])
{
    size_t index[MINIAPP_MAX_RANK];
    char place[INDEX_TEXT];
    snprintf(text, ELEMENT_NAME, "%.160s%s", field_name,
             index_text(index, index_of(element, field, grid, index), place));
    return text;
}
