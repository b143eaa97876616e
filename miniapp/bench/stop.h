/* Ending in order when a user or a scheduler asks for it. */
#ifndef STOP_H
#define STOP_H

#include <miniapp/status.h>
#include <stddef.h>

/* From the start, a signal that ends the program also gives up what is half done, such as an output
 * under its temporary name; SIGUSR1 and SIGUSR2 end it, too, as SIGTERM does. */
void stop_prepare(void);

/*
 * From here on SIGINT, SIGHUP, SIGTERM, SIGUSR1 and SIGUSR2 are noted: the call that is being timed
 * completes, and what was measured is reported. A second signal ends the program at once. Signals
 * that whoever started the program told it to ignore stay ignored.
 */
void stop_in_order(void);

/* From here on signals do what they did before. */
void stop_at_once(void);

/* From here on SIGTERM ends the program with this exit code. A launcher sends it to all ranks as
 * soon as one of them has ended with a failure; the others are about to end with the same code. */
void stop_with(int exit_code);

/* The signal that asked for an end, or 0. All processes learn of it at the same time: at
 * the next agreement after one of them has noted it. */
int stop_signal(void);

/* Agreements like those of ranks_agree() and ranks_agree_on(), but on signals, too. */
enum miniapp_status agree(enum miniapp_status status);
enum miniapp_status agree_on(enum miniapp_status status, double *numbers, size_t count);

/* Its name; there has to be one. */
const char *stop_signal_name(void);

/* 128 + the signal after SIGINT or SIGHUP, else 128 + SIGTERM: what schedulers take for an ordered
 * end. */
int stop_exit_code(void);

#endif
