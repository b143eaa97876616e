#include "printable.h"
#include "status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ESCAPE = 4 /* "\x1b" */ };

/* The number of bytes of the character that begins here; 0 if they are not UTF-8: no beginning, cut
 * off, longer than need be, a surrogate or above U+10FFFF. */
static size_t length_of(const unsigned char *c)
{
    const size_t length = c[0] < 0x80 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < length; i++)
        if (c[i] >> 6 != 2)
            return 0;
    const bool is_bad = (c[0] >= 0x80 && c[0] < 0xc2) || c[0] > 0xf4 ||
                        (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
                        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90);
    return is_bad ? 0 : length;
}

/* Whether a terminal would obey a character: control characters; separators of lines and
 * paragraphs (from U+2028); marks of right-to-left text (from U+202A and from U+2066). */
static bool is_obeyed(const unsigned char *c)
{
    return c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0) ||
           (c[0] == 0xe2 && c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
           (c[0] == 0xe2 && c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

/* The bytes after an escaped one are escaped as well: no character begins with them. */
char *make_printable(const char *text, char *to, size_t size)
{
    size_t used = 0;
    while (*text) {
        const unsigned char *const c = (const unsigned char *)text;
        const size_t length = length_of(c);
        const bool is_harmless = length && !is_obeyed(c);
        const size_t printed = is_harmless ? length : ESCAPE;
        if (used + printed >= size)
            break;
        if (is_harmless)
            memcpy(to + used, text, length);
        else
            snprintf(to + used, ESCAPE + 1, "\\x%02x", *c);
        used += printed;
        text += is_harmless ? length : 1;
    }
    to[used] = '\0';
    return to;
}

void print_line(const char *format, ...)
{
    const size_t before = strspn(format, "\n");
    const char *after = format + strlen(format);
    while (after > format + before && after[-1] == '\n')
        after--;
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    const size_t size = length < 0 ? 0 : ESCAPE * (size_t)length + 1;
    char *const printable = size ? malloc(size) : NULL;
    if (printable) {
        line[(size_t)length - strlen(after)] = '\0';
        printf("%.*s%s%s", (int)before, format, make_printable(line + before, printable, size),
               after);
    } else {
        fail(MINIAPP_DEVICE, "out of memory for a line of the report");
    }
    free(printable);
    free(size ? line : NULL);
}

enum miniapp_status end_of_stdout(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(MINIAPP_OUTPUT, "standard output cannot be written: %s", strerror(errno));
    return MINIAPP_DONE;
}
