#include "digest.h"

#include <nettle/sha2.h>
#include <stdio.h>

static void finish(struct sha256_ctx *context, char text[SHA256_TEXT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

void digest_file(const char *path, char text[SHA256_TEXT])
{
    struct sha256_ctx context;
    uint8_t block[1 << 16];
    size_t count;
    FILE *file = fopen(path, "rb");
    sha256_init(&context);
    while (file && (count = fread(block, 1, sizeof(block), file)) > 0)
        sha256_update(&context, count, block);
    finish(&context, text);
    if (!file || ferror(file))
        text[0] = '\0';
    if (file)
        fclose(file);
}

void digest_values(const double *values, size_t count, char text[SHA256_TEXT])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, count * sizeof(*values), (const uint8_t *)values);
    finish(&context, text);
}
