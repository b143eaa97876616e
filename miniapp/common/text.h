/* Texts that are put together from parts, in a place of a fixed size. */
#ifndef TEXT_H
#define TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Adds a part to a text; where one is there already, `between` first. False where it is cut. */
bool append(char *text, size_t size, const char *between, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
