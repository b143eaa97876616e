#include "guard.h"
#include "printable.h"
#include "status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How a damaged file ends HDF5: by a wild pointer, a division by zero or a failed check of the
 * heap; or, stopped by a timer, by an endless loop. */
static const int guarded[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGPROF};

enum {
    GUARDED = sizeof(guarded) / sizeof(*guarded),
    STACK = 1 << 16,
    LONGEST = 8192,            /* a path may be in it */
    BYTES_A_SECOND = 10000000, /* slower than any filter */
    CHUNKS_A_SECOND = 1000,    /* slower than any look-up of one */
    LEAST_LINK = 8,            /* bytes: fewer than any link to an object takes */
};

long guard_patience = 2000;

static struct sigaction before[GUARDED];
static stack_t stack_before;
static timer_t timer;
static bool has_timer;
static off_t links_left;
static char crashed[LONGEST], endless[LONGEST];

/* With the heap and HDF5 in ruins, hardly anything may be called. */
static void give_up(int number)
{
    const char *const line = number == SIGPROF ? endless : crashed;
    miniapp_abandon();
    if (write(STDERR_FILENO, line, strlen(line)) < 0)
        _exit(MINIAPP_OUTPUT);
    _exit(MINIAPP_INPUT);
}

static void write_line(char line[LONGEST], const char *path, const char *what)
{
    char name[LONGEST - 256]; /* so that the path is cut, not the end of the line */
    snprintf(line, LONGEST, "miniapp: %s: a damaged file: %s\n",
             make_printable(path, name, sizeof(name)), what);
}

/* The timer counts the CPU time of this thread, which reads, and of no other: the OpenMP runtime's
 * threads spin after a parallel region, for ever with OMP_WAIT_POLICY=active. */
static void make_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    has_timer = timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
}

/* Sets the timer to so many seconds plus guard_patience. */
static void set_timer(time_t seconds)
{
    const struct itimerspec time = {.it_value = {.tv_sec = seconds + guard_patience / 1000,
                                                 .tv_nsec = guard_patience % 1000 * 1000000}};
    if (has_timer)
        timer_settime(timer, 0, &time, NULL);
}

static void delete_timer(void)
{
    if (has_timer)
        timer_delete(timer);
    has_timer = false;
}

void guard_start(const char *path)
{
    if (!owns_process())
        return;
    static char room[STACK]; /* recursion may have used up the stack */
    struct stat there;
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
    struct sigaction action = {.sa_handler = give_up, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    write_line(crashed, path, "the HDF5 library crashed while it read it");
    write_line(endless, path, "the HDF5 library came to no end while it read it");
    sigaltstack(&stack, &stack_before);
    for (int i = 0; i < GUARDED; i++)
        sigaction(guarded[i], &action, &before[i]);
    links_left = stat(path, &there) == 0 ? there.st_size / LEAST_LINK : 0;
    make_timer();
    set_timer(0);
}

void guard_data(size_t bytes, size_t chunks)
{
    set_timer((time_t)(bytes / BYTES_A_SECOND + chunks / CHUNKS_A_SECOND));
}

void guard_link(void)
{
    if (links_left-- > 0)
        set_timer(0);
}

void guard_end(void)
{
    if (!owns_process())
        return;
    delete_timer();
    for (int i = 0; i < GUARDED; i++)
        sigaction(guarded[i], &before[i], NULL);
    sigaltstack(&stack_before, NULL);
}
