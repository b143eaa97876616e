#include "progress.h"
#include "clock.h"
#include "ranks.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 40 };

/* One process shows what all of them do. */
static bool is_shown(void)
{
    return ranks_own() == 0 && isatty(STDERR_FILENO);
}

void progress_show(double done, const char *what)
{
    static const char bar[] = "########################################";
    static double shown; /* drawing takes time too: ten a second are enough */
    const double now = seconds_now();
    if (!is_shown() || now - shown < 0.1)
        return;
    shown = now;
    fprintf(stderr, "\r[%-*.*s] %3.0f%% %-40.40s", WIDTH, (int)(done * WIDTH), bar, 100 * done,
            what);
}

void progress_clear(void)
{
    if (is_shown())
        fprintf(stderr, "\r%*s\r", WIDTH + 50, "");
}
