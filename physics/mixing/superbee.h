/*
 * The flux of what is advected through a face, limited by superbee as in the MITgcm, or upwind.
 */
#ifndef SUPERBEE_H
#define SUPERBEE_H

#include "directives.h"
#include "maths.h"
#include "variant.h"

/*
 * Superbee: rj limiter(upwind / rj) with limiter(cr) = max(0, min(1, 2 cr), min(2, cr)). Here |rj|
 * multiplies each of these, which leaves no division. Nor is there a smallest rj, 1e-20 in Veros:
 * below it the flux differs by less than 1e-20 |vel|.
 */
INLINED real superbee(real rj, real upwind)
{
    const real size = magnitude(rj);
    const real along = with_sign((real)1, rj) * upwind;
    return with_sign(larger(0, larger(smaller(size, 2 * along), smaller(2 * size, along))), rj);
}

/* The advective flux through a face with velocity vel: `sum` of what is on both sides, differences
 * rj across the face, rjm across that before and rjp across that behind. The limiter counts with
 * `share` - uCFL, where uCFL = |vel| dt_dx: 1 - uCFL for superbee, 0 for the upwind scheme. */
INLINED real adv_flux(real vel, real sum, real rjm, real rj, real rjp, real dt_dx, real share)
{
    const real speed = magnitude(vel);
    const real limited = superbee(rj, vel > 0 ? rjm : rjp);
    return (vel * sum - speed * (rj - limited * (share - speed * dt_dx))) / 2;
}

#endif
