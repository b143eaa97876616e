/* Two sums that go on from block to block, where an ocean is cut into blocks. */
#ifndef PHYSICS_CARRY_H
#define PHYSICS_CARRY_H

#include "variant.h"

/* Takes the sums of the block beyond a side; false where this block is the first. */
static inline bool carry_in(const struct kernel_call *call, enum miniapp_side side,
                            real *const sums[2], size_t bytes)
{
    const struct carry *const carry = call->carry;
    return carry && carry->receive(carry->context, side, sums[0], bytes) &&
           carry->receive(carry->context, side, sums[1], bytes);
}

/* Gives them to the block beyond a side; false where this block is the last. */
static inline bool carry_on(const struct kernel_call *call, enum miniapp_side side,
                            real *const sums[2], size_t bytes)
{
    const struct carry *const carry = call->carry;
    return carry && carry->send(carry->context, side, sums[0], bytes) &&
           carry->send(carry->context, side, sums[1], bytes);
}

/* Gives all blocks what the last one has. */
static inline void share_result(const struct kernel_call *call, real *result, size_t bytes)
{
    if (call->carry)
        call->carry->share(call->carry->context, result, bytes);
}

#endif
