/* Ghosts that come from the blocks of other ranks. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "blocks.h"
#include "state.h"

/* Makes all ghosts of some fields current, by one message to each neighbour. All ranks call it with
 * the same fields. */
enum miniapp_status exchange_ghosts(struct miniapp_state *state, struct slot *const *slots,
                                    size_t count);

/* ---- while kernels run ---- */

/* Whether ghosts may be in flight while kernels run. */
bool exchange_overlaps(const struct miniapp_state *state);

/* Asks for the ghosts of fields that are not written again before they are read. */
void exchange_ask(struct miniapp_state *state, struct slot *const *slots, size_t count);

/* Whether its ghosts were asked for since the last exchange_finish; the same on all ranks. */
bool exchange_was_asked(const struct miniapp_state *state, const struct slot *slot);

/* Between two kernels: unpacks what has arrived, and sends what waited for it. */
enum miniapp_status exchange_progress(struct miniapp_state *state);

/* Waits until all ghosts that were asked for are current. */
enum miniapp_status exchange_finish(struct miniapp_state *state);

/* ---- */

/* How the ocean of a state that exchanges is cut. */
const struct blocks *exchange_blocks(const struct miniapp_state *state);

/* Adds the time since `start` to that of exchanges, if there are other ranks; or to that of
 * gathering the whole ocean for a kernel, and of taking the own block back. */
void exchange_note(struct miniapp_state *state, double start, bool is_gather);

void exchange_free(struct miniapp_state *state);

#endif
