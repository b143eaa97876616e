#include "printable.h"
#include "status.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 8 }; /* a character, or "\u001b" */

/* The number of bytes of the character that begins here, or 0 if they are not UTF-8; and its code
 * point. */
static size_t decode(const unsigned char *text, unsigned *character)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = text[0] < 0x80         ? 1
                          : text[0] >> 5 == 0x06 ? 2
                          : text[0] >> 4 == 0x0e ? 3
                          : text[0] >> 3 == 0x1e ? 4
                                                 : 0;
    *character = length < 2 ? text[0] : text[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (text[i] >> 6 != 2) /* or the text ends here */
            return 0;
        *character = *character << 6 | (text[i] & 0x3fu);
    }
    const bool is_surrogate = *character >= 0xd800 && *character <= 0xdfff;
    return *character >= least[length] && *character <= 0x10ffff && !is_surrogate ? length : 0;
}

/* Whether a terminal would obey a character: control characters; separators of lines and
 * paragraphs; embeddings, overrides and isolates of right-to-left text. */
static bool is_obeyed(unsigned character)
{
    return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x2028 ||
           character == 0x2029 || (character >= 0x202a && character <= 0x202e) ||
           (character >= 0x2066 && character <= 0x2069);
}

/* How the next character is printed; moves `text` past it. */
static size_t next_piece(const char **text, char piece[PIECE])
{
    unsigned character;
    const size_t length = decode((const unsigned char *)*text, &character);
    if (length == 0)
        snprintf(piece, PIECE, "\\x%02x", (unsigned char)**text);
    else if (is_obeyed(character))
        snprintf(piece, PIECE, "\\u%04x", character & 0xffff);
    else
        snprintf(piece, PIECE, "%.*s", (int)length, *text);
    *text += length ? length : 1;
    return strlen(piece);
}

char *make_printable(const char *text, char *to, size_t size)
{
    char piece[PIECE];
    size_t used = 0;
    while (*text) {
        const size_t length = next_piece(&text, piece);
        if (used + length >= size)
            break;
        memcpy(to + used, piece, length);
        used += length;
    }
    to[used] = '\0';
    return to;
}

static void print_until(FILE *stream, const char *text, const char *end)
{
    char piece[PIECE];
    while (text < end) {
        next_piece(&text, piece);
        fputs(piece, stream);
    }
}

static size_t breaks_at_end(const char *format)
{
    size_t count = 0;
    for (const char *end = format + strlen(format); end > format && end[-1] == '\n'; end--)
        count++;
    return count;
}

void print_line(FILE *stream, const char *format, ...)
{
    char *line = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&line, format, arguments);
    va_end(arguments);
    if (length < 0) {
        fail(MINIAPP_DEVICE, "out of memory for a line of the report");
        return;
    }
    const size_t before = strspn(format, "\n");
    const char *const end = line + length - breaks_at_end(format + before);
    fwrite(line, 1, before, stream);
    print_until(stream, line + before, end);
    fputs(end, stream);
    free(line);
}

void print_json(FILE *stream, const char *text)
{
    for (; *text; text++) {
        const char *const end = text + strcspn(text, "\n");
        print_until(stream, text, end);
        text = end;
        if (!*text)
            return;
        putc('\n', stream);
    }
}
