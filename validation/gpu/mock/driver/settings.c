#include "mock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *setting(const char *name, const char *otherwise)
{
    const char *const value = getenv(name);
    return value && *value ? value : otherwise;
}

static void print(FILE *file, const char *format, va_list words)
{
    vfprintf(file, format, words);
    fputc('\n', file);
    fflush(file);
}

void say(const char *format, ...)
{
    static FILE *log;
    const char *const path = setting("MOCK_LOG", NULL);
    if (path && !log)
        log = fopen(path, "ae");
    if (!log)
        return;
    va_list words;
    va_start(words, format);
    print(log, format, words);
    va_end(words);
}

void complain(const char *format, ...)
{
    char text[1024];
    va_list words;
    va_start(words, format);
    vsnprintf(text, sizeof(text), format, words);
    va_end(words);
    fprintf(stderr, "mock GPU: %s\n", text);
    say("# %s", text);
}

bool has_to_fail(const char *function)
{
    say("%s", function);
    return strcmp(setting("MOCK_FAIL", ""), function) == 0;
}
