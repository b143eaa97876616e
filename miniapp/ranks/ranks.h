/*
 * The processes of a run: MPI's ranks, or one where the build or the start is without MPI.
 *
 * All ranks do the same things in the same order. What one of them finds out alone, such as a
 * failure, the others hear at the next agreement; each agreement is one collective call of one
 * kind, so that ranks which wait at different ones still meet. After a failure no rank waits for
 * another any more: all agreements return it at once.
 */
#ifndef RANKS_H
#define RANKS_H

#include <miniapp/status.h>
#include <stdbool.h>
#include <stddef.h>

int ranks_count(void);
int ranks_own(void); /* from 0 to ranks_count() - 1 */

/* The number of this rank on its node, and how many there are. */
int ranks_local(void);
int ranks_on_node(void);

/* The MPI library in words; "" without one. */
const char *ranks_library(void);

/* Whether MPI sends from a GPU's memory and receives there: by what it says of itself, or by
 * $MINIAPP_GPU_AWARE, 1 or 0. */
bool ranks_gpu_aware(void);

/* Call this once, before anything else. The arguments are main's. */
enum miniapp_status ranks_start(int *argc, char ***argv);

/* All ranks pass on the status of the lowest that has failed, or MINIAPP_DONE. */
enum miniapp_status ranks_agree(enum miniapp_status own);

/* Which rank that was; this one, where there is no agreement yet. */
int ranks_failed(void);

/* An agreement that also gives each of the numbers the largest value of all ranks. */
enum { MOST_AGREED = 6 };
enum miniapp_status ranks_agree_on(enum miniapp_status own, double *numbers, size_t count);

/* Ends all ranks at once, after a failure in a place where the others wait for this one; `say` is
 * called before, and what is half written goes. */
void ranks_before_abort(void (*say)(void));
_Noreturn void ranks_abort(enum miniapp_status status);

/* ---- messages ---- */

/* What goes to one neighbour, and what comes from it. Both have the neighbour's number for the
 * message, since two blocks may touch on both sides. */
struct message {
    int rank, sent_as, received_as;
    void *out, *in;
    size_t bytes;
};

/* Begins to exchange several messages; one to the rank itself is copied. Their memory is not to be
 * touched before they have arrived. */
void ranks_exchange_begin(const struct message *messages, size_t count);

/* Whether they have arrived. With `waits` it returns when they have. */
bool ranks_exchange_ended(bool waits);

void ranks_send(int rank, const void *memory, size_t bytes);
void ranks_receive(int rank, void *memory, size_t bytes);

/* Of each number all ranks get the largest that one of them has, or the sum of all, which MPI makes
 * in an order of its own. */
enum ranks_operation { RANKS_LARGEST, RANKS_SUM };
void ranks_reduce(enum ranks_operation operation, double *numbers, size_t count);

/* What rank `from` has goes to all. */
void ranks_broadcast(int from, void *memory, size_t bytes);

#endif
