#include "status.h"
#include "build.h"
#include "printable.h"

#include <stdarg.h>
#include <stdio.h>

enum { LONGEST = 8192 }; /* two paths may be in it */

static _Thread_local char message[LONGEST];
static _Thread_local enum miniapp_status last;
static miniapp_listener listener;

/* Writes one line, even if the name of a file has line breaks. */
static void write_line(char line[LONGEST], const char *format, va_list arguments)
{
    char text[LONGEST];
    vsnprintf(text, LONGEST, format, arguments);
    make_printable(text, line, LONGEST);
}

const char *miniapp_message(void)
{
    return message;
}

enum miniapp_status miniapp_last_failure(void)
{
    return last;
}

miniapp_listener miniapp_listen(miniapp_listener wanted)
{
    const miniapp_listener before = listener;
    listener = wanted;
    return before;
}

enum miniapp_status miniapp_fail(enum miniapp_status status, const char *format, ...)
{
    char line[LONGEST]; /* the last message may be among the arguments */
    va_list arguments;
    va_start(arguments, format);
    write_line(line, format, arguments);
    va_end(arguments);
    snprintf(message, sizeof(message), "%s", line);
    last = status;
    if (listener)
        listener(status, message);
    return status;
}

void miniapp_warn(const char *format, ...)
{
    char line[LONGEST];
    va_list arguments;
    va_start(arguments, format);
    write_line(line, format, arguments);
    va_end(arguments);
    if (listener)
        listener(MINIAPP_DONE, line);
}

const char *miniapp_version(void)
{
    return BUILD_VERSION;
}

/* ---- the process ---- */

static bool is_own_process;

void miniapp_own_process(bool owned)
{
    is_own_process = owned;
}

bool owns_process(void)
{
    return is_own_process;
}
