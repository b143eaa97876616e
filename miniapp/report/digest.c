#include "provenance.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void digest_end(struct sha256_ctx *context, char text[SHA256_TEXT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(context, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
}

static bool add_file(struct sha256_ctx *context, const char *path)
{
    uint8_t block[1 << 16];
    size_t count;
    FILE *const file = fopen(path, "rb");
    while (file && (count = fread(block, 1, sizeof(block), file)) > 0)
        sha256_update(context, count, block);
    const bool is_read = file && !ferror(file);
    if (file)
        fclose(file);
    return is_read;
}

void digest_file(const char *path, char text[SHA256_TEXT])
{
    struct sha256_ctx context;
    sha256_init(&context);
    const bool is_read = add_file(&context, path);
    digest_end(&context, text);
    if (!is_read)
        text[0] = '\0';
}

void digest_text(const char *words, char text[SHA256_TEXT])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, strlen(words), (const uint8_t *)words);
    digest_end(&context, text);
}
