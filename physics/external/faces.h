/* Faces between columns of water. */
#ifndef PHYSICS_FACES_H
#define PHYSICS_FACES_H

#include "directives.h"

#include <stdbool.h>

/* Whether level k, from 1, of two columns is water. Their lowest levels are given; 0 is land. */
INLINED bool is_open_between(count k, int32_t here, int32_t beyond)
{
    return here > 0 && beyond > 0 && k >= here && k >= beyond;
}

#endif
