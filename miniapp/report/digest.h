/* SHA-256 of what was read and computed. */
#ifndef DIGEST_H
#define DIGEST_H

#include <stddef.h>

enum { SHA256_TEXT = 65 }; /* in hexadecimal digits */

/* Of files, one after the other; "" where one cannot be read. */
void digest_files(const char *const *paths, size_t count, char text[SHA256_TEXT]);

/* Of values, as they lie in memory. */
void digest_values(const double *values, size_t count, char text[SHA256_TEXT]);

/* Of a text. */
void digest_text(const char *words, char text[SHA256_TEXT]);

#endif
