/* SHA-256 of what was read and computed. */
#ifndef DIGEST_H
#define DIGEST_H

#include <nettle/sha2.h>
#include <stddef.h>

enum { SHA256_TEXT = 65 }; /* in hexadecimal digits */

/* The digest of a file; "" if it cannot be read. */
void digest_file(const char *path, char text[SHA256_TEXT]);

/* The digest of what was added to a context. */
void digest_end(struct sha256_ctx *context, char text[SHA256_TEXT]);

/* SHA-256 of a text. */
void digest_text(const char *words, char text[SHA256_TEXT]);

#endif
