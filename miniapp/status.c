#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static void print_line(const char *prefix, const char *format, va_list arguments)
{
    fputs(prefix, stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

enum physics_status fail(enum physics_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("miniapp: ", format, arguments);
    va_end(arguments);
    return status;
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_line("miniapp: warning: ", format, arguments);
    va_end(arguments);
}
