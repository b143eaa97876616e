/* Text from outside, such as the name of a file or a unit in it, made safe to print. A terminal
 * obeys some characters, breaks the line at others, and shows text in another order after some. */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <miniapp/status.h>
#include <stddef.h>

/* Copies a text, writing the bytes of these characters, and bytes that are not UTF-8, as \x1b. A
 * text that is too long is cut, but not inside a character or an escape. Returns `to`. */
char *make_printable(const char *text, char *to, size_t size);

/* Like printf, but the only line breaks that stay are those at the beginning and end of the
 * format. */
void print_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define print print_line

/* MINIAPP_OUTPUT where not all of standard output could be written. */
enum miniapp_status end_of_stdout(void);

#endif
