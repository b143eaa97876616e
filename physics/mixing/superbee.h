/*
 * The advective flux through a face, limited by superbee as in the MITgcm, or by the upwind scheme.
 */
#ifndef SUPERBEE_H
#define SUPERBEE_H

#include "directives.h"
#include "maths.h"
#include "variant.h"

/*
 * Superbee: rj limiter(upwind / rj) with limiter(cr) = max(0, min(1, 2 cr), min(2, cr)). Here |rj|
 * is multiplied into each of these terms, which leaves no division. Veros keeps |rj| above 1e-20;
 * without that bound, the flux differs by less than 1e-20 |vel|.
 */
INLINED real superbee(real rj, real upwind)
{
    const real size = magnitude(rj);
    const real along = with_sign((real)1, rj) * upwind;
    return with_sign(larger(0, larger(smaller(size, 2 * along), smaller(2 * size, along))), rj);
}

/* The advective flux through a face with velocity vel. `sum` is the sum of the values on both
 * sides; rj is the difference across the face, rjm that across the face before it, and rjp that
 * across the face after it. The limiter is multiplied by `share` - uCFL, where uCFL = |vel| dt_dx.
 * For superbee share is 1; for the upwind scheme share and dt_dx are 0. In this order of
 * operations, the flux out of an empty cell is exactly 0, however a compiler contracts them. */
INLINED real adv_flux(real vel, real sum, real rjm, real rj, real rjp, real dt_dx, real share)
{
    const real speed = magnitude(vel);
    const real limited = superbee(rj, vel > 0 ? rjm : rjp);
    const real kept = rj - limited * (share - speed * dt_dx);
    return vel / 2 * (vel > 0 ? sum - kept : sum + kept);
}

#endif
