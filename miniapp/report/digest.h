/* SHA-256 of what was read and computed. */
#ifndef DIGEST_H
#define DIGEST_H

#include <nettle/sha2.h>
#include <stddef.h>

enum { SHA256_TEXT = 65 }; /* in hexadecimal digits */

/* The digest of a file; "" if it cannot be read. */
void digest_file(const char *path, char text[SHA256_TEXT]);

/* SHA-256 of values, as they lie in memory, added part by part. */
void digest_begin(struct sha256_ctx *context);
void digest_add(struct sha256_ctx *context, const double *values, size_t count);
void digest_end(struct sha256_ctx *context, char text[SHA256_TEXT]);

/* SHA-256 of a text. */
void digest_text(const char *words, char text[SHA256_TEXT]);

#endif
