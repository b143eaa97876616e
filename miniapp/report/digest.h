/* SHA-256 of what was read and computed. */
#ifndef DIGEST_H
#define DIGEST_H

#include <stddef.h>

enum { SHA256_TEXT = 65 }; /* in hexadecimal digits */

/* Of a file; "" where it cannot be read. */
void digest_file(const char *path, char text[SHA256_TEXT]);

/* Of values, as they lie in memory. */
void digest_values(const double *values, size_t count, char text[SHA256_TEXT]);

#endif
