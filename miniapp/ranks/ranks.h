/*
 * The processes of a run: MPI's ranks, or a single process if it was built or started without MPI.
 *
 * All ranks do the same things in the same order. If one of them alone finds something out, such as
 * a failure, the others learn it at the next agreement. Every agreement is the same collective
 * call, so that ranks that wait at different agreements still meet. After a failure no rank waits
 * for another: all agreements return the failure at once. In a client of the library, whose calls
 * all ranks make, a call returns what was agreed on in all of them, and the next one begins anew.
 */
#ifndef RANKS_H
#define RANKS_H

#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

/* Set where MPI is started or joined: one process until then, and without MPI. */
extern struct ranks {
    int count, own, local, on_node;
} ranks_found;

/* clang-format off */
static inline int ranks_count(void) { return ranks_found.count; }
static inline int ranks_own(void) { return ranks_found.own; } /* from 0 to ranks_count() - 1 */

/* The number of this rank on its node, and how many there are. */
static inline int ranks_local(void) { return ranks_found.local; }
static inline int ranks_on_node(void) { return ranks_found.on_node; }
/* clang-format on */

/* The MPI library in words; "" without one. */
enum { RANKS_TEXT = 128 };
const char *ranks_library(char text[RANKS_TEXT]);

/* Whether MPI can send from a GPU's memory and receive into it: as $MINIAPP_GPU_AWARE says (1 or 0)
 * or, if that is not set, as MPI says. */
bool ranks_gpu_aware(void);

/* Call this once, before anything else. The arguments are main's. */
enum miniapp_status ranks_start(int *argc, char ***argv);

/* All ranks get the status of the lowest rank that has failed, or MINIAPP_DONE. The first of these
 * agreements also sets each of the numbers to its largest value in any rank. */
enum { MOST_AGREED = 7 };
enum miniapp_status ranks_agree_on(enum miniapp_status own, double *numbers, size_t count);

static inline enum miniapp_status ranks_agree(enum miniapp_status own)
{
    return ranks_agree_on(own, NULL, 0);
}

/* Which rank has failed; this one, if no failure has been agreed on. */
int ranks_failed(void);

/* Returns when all ranks have called it. */
void ranks_meet(void);

/* For a failure at a point where the other ranks wait for this one: calls `end_all`, which the
 * program has installed and which does not return. Without other ranks, or without `end_all`, it
 * returns the status. */
void ranks_install_end(void (*end_all)(enum miniapp_status status));
enum miniapp_status ranks_end_all(enum miniapp_status status);

/* ---- messages ---- */

/* A message to one neighbour, and one from it. Their tags tell messages apart if two blocks touch
 * on both sides: `received_as` is what the neighbour has as `sent_as`. */
struct message {
    int rank, sent_as, received_as;
    void *out, *in;
    size_t bytes;
};

/* Begins to exchange several messages with other ranks. Their memory must not be touched before
 * they have arrived. */
void ranks_exchange_begin(const struct message *messages, size_t count);

/* Whether they have arrived. With `waits` it returns only when they have. */
bool ranks_exchange_ended(bool waits);

void ranks_send(int rank, const void *memory, size_t bytes);
void ranks_receive(int rank, void *memory, size_t bytes);

/* Gives all ranks the largest value of each number in any rank, or its sum over all ranks, which
 * MPI adds up in an order of its own. */
enum ranks_operation { RANKS_LARGEST, RANKS_SUM, RANKS_SUM_ON_NODE /* of this rank's node only */ };
void ranks_reduce(enum ranks_operation operation, double *numbers, size_t count);

/* Copies what the first rank has to all ranks, or the first of each node to those of the node. */
enum ranks_group { RANKS_ALL, RANKS_OF_NODE };
void ranks_broadcast(enum ranks_group group, void *memory, size_t bytes);

#endif
