/* The heights of faces between columns of water, for kernels that have kbot and dzt. */
#ifndef PHYSICS_FACE_HEIGHT_H
#define PHYSICS_FACE_HEIGHT_H

#include "directives.h"

/* Faces between so many columns, from the first on, and those that lie `beyond` elements further;
 * 0 where a face's column on either side is land. */
INLINED void heights_of_faces(const struct arguments *a, count first, count beyond, count columns,
                              double *heights)
{
    for (count n = 0; n < columns; n++)
        heights[n] = 0;
    for (count k = a->nz - 1; k >= 0; k--) {
        ALONG_X
        for (count n = 0; n < columns; n++) {
            const int32_t here = a->kbot[first + n], other = a->kbot[first + beyond + n];
            const count lowest = here > 0 && other > 0 ? (here > other ? here : other) - 1 : a->nz;
            heights[n] += k >= lowest ? (double)a->dzt[k] : 0;
        }
    }
}

#endif
