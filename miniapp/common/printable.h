/* Text from outside, such as the name of a file or a unit in it, made safe to print. A terminal
 * obeys some characters, breaks the line at others, and shows text in another order after some. */
#ifndef PRINTABLE_H
#define PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/* Copies a text with these characters as \u001b, and bytes that are no UTF-8 as \xff. What is too
 * long is cut after a whole one. Returns `to`. */
char *make_printable(const char *text, char *to, size_t size);

/* As fprintf. Line breaks that begin or end the format stay, and no others. */
void print_line(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define print(...) print_line(stdout, __VA_ARGS__)

/* Prints a JSON text, whose own line breaks stay. It means the same as before. */
void print_json(FILE *stream, const char *text);

#endif
