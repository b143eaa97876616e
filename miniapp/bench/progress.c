#include "progress.h"
#include "clock.h"
#include "ranks.h"

#include <stdio.h>
#include <unistd.h>

enum { WIDTH = 10, TEXT = 60 }; /* 79 columns */

bool progress_is_shown(void)
{
    return ranks_own() == 0 && isatty(STDERR_FILENO);
}

void progress_show(double done, const char *what)
{
    static const char bar[] = "##########";
    static double shown; /* drawing takes time too: ten a second, and the end */
    const double now = seconds_now();
    if (!progress_is_shown() || (now - shown < 0.1 && done < 1))
        return;
    shown = now;
    fprintf(stderr, "\r[%-*.*s] %3.0f%% %-*.*s", WIDTH, (int)(done * WIDTH), bar, 100 * done, TEXT,
            TEXT, what);
}

void progress_clear(void)
{
    if (progress_is_shown())
        fprintf(stderr, "\r%*s\r", WIDTH + TEXT + 9, "");
}
