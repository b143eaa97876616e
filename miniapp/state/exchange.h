/* Ghosts and sums that come from the blocks of other ranks. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "blocks.h"
#include "state.h"

/* Makes all ghosts of some fields current, by one message to each neighbour. All ranks call it with
 * the same fields. */
enum miniapp_status exchange_ghosts(struct miniapp_state *state, struct slot *const *slots,
                                    size_t count);

/* How the ocean of a state that exchanges is cut. */
const struct blocks *exchange_blocks(const struct miniapp_state *state);

/* How sums go on from block to block; NULL where the state is the whole ocean. */
const struct carry *exchange_carry(struct miniapp_state *state);

void exchange_free(struct miniapp_state *state);

#endif
