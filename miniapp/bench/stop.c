#include "stop.h"
#include "ranks.h"

#include "program.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* In this order, they come from a user's Ctrl-C; from a terminal that was closed; from Slurm and
 * PBS; as a warning from Slurm and Grid Engine; and from LSF. */
static const int signals[] = {SIGINT, SIGHUP, SIGTERM, SIGUSR1, SIGUSR2};
static const char *const names[] = {"SIGINT", "SIGHUP", "SIGTERM", "SIGUSR1", "SIGUSR2"};
enum { SIGNALS = sizeof(signals) / sizeof(*signals) };

static volatile sig_atomic_t noted;
static struct sigaction before[SIGNALS];
static int agreed; /* by several processes */

int stop_signal(void)
{
    return ranks_count() > 1 ? agreed : noted;
}

enum miniapp_status agree_on(enum miniapp_status status, double *numbers, size_t count)
{
    enum {
        OF_SIGNAL = MOST_AGREED - 1
    }; /* at every agreement, since ranks may meet at different ones */
    double all[MOST_AGREED] = {0};
    if (ranks_count() == 1)
        return status;
    memcpy(all, numbers, count * sizeof(*all));
    all[OF_SIGNAL] = noted;
    status = ranks_agree_on(status, all, MOST_AGREED);
    memcpy(numbers, all, count * sizeof(*all));
    if (!status)
        agreed = (int)all[OF_SIGNAL];
    return status;
}

enum miniapp_status agree(enum miniapp_status status)
{
    double none;
    return agree_on(status, &none, 0);
}

const char *stop_signal_name(void)
{
    size_t i = 0;
    while (signals[i] != stop_signal())
        i++;
    return names[i];
}

static int exit_code_of(int signal_number)
{
    const bool stays = signal_number == SIGINT || signal_number == SIGHUP;
    return 128 + (stays ? signal_number : SIGTERM);
}

int stop_exit_code(void)
{
    return exit_code_of(stop_signal());
}

static void note_signal(int signal_number)
{
    if (noted) {
        miniapp_abandon();
        _exit(exit_code_of(noted));
    }
    noted = signal_number;
}

static void end(int signal_number)
{
    (void)signal_number;
    raise(SIGTERM);
}

/* Gives up what is half done, and then lets the signal do what it does by default. */
static void end_at_once(int signal_number)
{
    miniapp_abandon();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Signals that whoever started the program told it to ignore stay ignored. */
static void handle(int signal_number, void (*handler)(int))
{
    struct sigaction action;
    sigaction(signal_number, NULL, &action);
    if (action.sa_handler == SIG_IGN)
        return;
    action = (struct sigaction){.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(signal_number, &action, NULL);
}

void stop_prepare(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
    for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
        handle(ending[i], end_at_once);
    signal(SIGXFSZ, SIG_IGN); /* writing then fails with a reason */
    handle(SIGUSR1, end);
    handle(SIGUSR2, end);
}

void stop_in_order(void)
{
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        handle(signals[i], note_signal);
    }
}

void stop_at_once(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

static volatile sig_atomic_t last_code;

static void end_with_last_code(int signal_number)
{
    (void)signal_number;
    _exit(last_code);
}

void stop_with(int exit_code)
{
    last_code = exit_code;
    handle(SIGTERM, end_with_last_code);
}
