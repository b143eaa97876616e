#include "status.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

enum { LONGEST = 8192 }; /* two paths may be in it */

/* One line, whatever a file is called: control characters become question marks. */
static void print_line(const char *prefix, const char *format, va_list arguments)
{
    char line[LONGEST];
    vsnprintf(line, sizeof(line), format, arguments);
    for (char *c = line; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    fprintf(stderr, "%s%s\n", prefix, line);
}

static enum physics_status last;

enum physics_status last_failure(void)
{
    return last;
}

enum physics_status fail(enum physics_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("miniapp: ", format, arguments);
    va_end(arguments);
    last = status;
    return status;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("miniapp: warning: ", format, arguments);
    va_end(arguments);
}
