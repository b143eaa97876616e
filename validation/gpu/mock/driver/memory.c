/*
 * The devices' memory: pieces of one reserved range, each of which ends at a page that nobody may
 * touch. What was never written is NaN.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, ALIGNMENT = 256 };

struct piece {
    uint8_t *start, *pages;
    size_t bytes, span;
    struct gpu *gpu;
    bool is_open;
    struct piece *next;
};

uint8_t *memory_start;
const uint64_t memory_span = 1ull << 42;
static uint64_t used;
static struct piece *pieces;

bool memory_initialize(void)
{
    if (!memory_start)
        memory_start =
            mmap(NULL, memory_span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory_start != MAP_FAILED;
}

uint64_t memory_of_a_gpu(void)
{
    return strtoull(setting("MOCK_MEMORY", "16000000000"), NULL, 10);
}

static size_t rounded(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static struct piece *piece_at(uint64_t address)
{
    for (struct piece *piece = pieces; piece; piece = piece->next)
        if (address - (uint64_t)(uintptr_t)piece->start < piece->bytes)
            return piece;
    return NULL;
}

static void protect(struct piece *piece, bool is_open)
{
    piece->is_open = is_open;
    mprotect(piece->pages, piece->span, is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

bool memory_open(uint64_t address)
{
    struct piece *piece = pieces;
    while (piece && address - (uint64_t)(uintptr_t)piece->pages >= piece->span)
        piece = piece->next;
    if (!piece || piece->is_open)
        return false;
    protect(piece, true);
    return true;
}

void memory_close(void)
{
    for (struct piece *piece = pieces; piece; piece = piece->next)
        if (piece->is_open)
            protect(piece, false);
}

uint8_t *memory_allocate(size_t bytes)
{
    const size_t held = rounded(bytes, ALIGNMENT);
    struct gpu *const gpu = current_gpu();
    struct piece *const piece = malloc(sizeof(*piece));
    if (!piece || gpu->held + held > memory_of_a_gpu()) {
        free(piece);
        return NULL;
    }
    *piece =
        (struct piece){.bytes = bytes, .span = rounded(held, PAGE), .gpu = gpu, .next = pieces};
    piece->pages = memory_start + PAGE + used;
    piece->start = piece->pages + piece->span - held;
    used += piece->span + PAGE;
    gpu->held += held;
    pieces = piece;
    protect(piece, true);
    memset(piece->pages, 0xff, piece->span);
    protect(piece, false);
    return piece->start;
}

bool memory_free(uint8_t *start)
{
    struct piece **link = &pieces;
    while (*link && (*link)->start != start)
        link = &(*link)->next;
    struct piece *const piece = *link;
    if (!piece)
        return false;
    *link = piece->next;
    piece->gpu->held -= rounded(piece->bytes, ALIGNMENT);
    mmap(piece->pages, piece->span, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    free(piece);
    return true;
}

bool memory_piece(uint64_t address, uint64_t *start, size_t *bytes)
{
    const struct piece *const piece = piece_at(address);
    *start = piece ? (uint64_t)(uintptr_t)piece->start : 0;
    *bytes = piece ? piece->bytes : 0;
    return piece;
}

bool memory_holds(uint64_t address, size_t bytes)
{
    uint64_t start;
    size_t size;
    return memory_piece(address, &start, &size) && address - start + bytes <= size;
}
