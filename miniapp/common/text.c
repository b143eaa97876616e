#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool append(char *text, size_t size, const char *between, const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    used += (size_t)snprintf(text + used, size - used, "%s", used ? between : "");
    if (used >= size)
        return false;
    va_start(arguments, format);
    used += (size_t)vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
    return used < size;
}
