/* The height of faces between columns of water, for kernels that have kbot and dzt. */
#ifndef PHYSICS_FACE_HEIGHT_H
#define PHYSICS_FACE_HEIGHT_H

#include "directives.h"

/* The height of the water in the face between two columns; 0 where one of them is land. */
INLINED double height_of_face(const struct arguments *a, count column, count other_column)
{
    const count here = (count)a->kbot[column], other = (count)a->kbot[other_column];
    const count lowest = here > 0 && other > 0 ? (here > other ? here : other) - 1 : a->nz;
    double height = 0;
    for (count k = a->nz - 1; k >= lowest; k--)
        height += (double)a->dzt[k];
    return height;
}

#endif
