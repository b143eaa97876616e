/* The heights of faces between columns of water. */
#ifndef PHYSICS_FACE_HEIGHT_H
#define PHYSICS_FACE_HEIGHT_H

#include "directives.h"
#include "variant.h"

/* Between columns whose lowest levels are so many, from 1; 0 if either is land. */
INLINED double height_of_face(int32_t here, int32_t beyond, const real *dzt, count nz)
{
    const count lowest = here > beyond ? here : beyond;
    double height = 0;
    for (count k = nz; k >= lowest && here > 0 && beyond > 0; k--)
        height += (double)dzt[k - 1];
    return height;
}

#endif
