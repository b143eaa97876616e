/* Masks, which are bytes, in loops over reals. */
#ifndef PHYSICS_BYTES_H
#define PHYSICS_BYTES_H

#include "directives.h"
#include "variant.h"

/* Whether a loop that computes much should read no bytes. GCC computes as many points at a time as
 * a vector holds of the narrowest type in the loop: 64 points where it reads masks into vectors of
 * 64 bytes, and it then spills nearly all of their values. A loop of its own widens or packs the
 * masks first. */
#if defined(__clang__) || defined(PHYSICS_OFFLOAD)
#define BYTES_COST_LANES false
#else
#define BYTES_COST_LANES true
#endif

/* The bytes of a mask as numbers, for `number_at`, where bytes cost lanes. */
INLINED void as_numbers(real *numbers, const uint8_t *mask, count points)
{
    ALONG_X
    for (count x = 0; x < (BYTES_COST_LANES ? points : 0); x++)
        numbers[x] = mask[x];
}

INLINED real number_at(const real *numbers, const uint8_t *mask, count x)
{
    return BYTES_COST_LANES ? numbers[x] : mask[x];
}

#endif
