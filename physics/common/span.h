/* The cells of a part of a row that a kernel computes, and zeros for all others. */
#ifndef PHYSICS_SPAN_H
#define PHYSICS_SPAN_H

#include "directives.h"
#include "variant.h"

/* A function that computes a row and has several callers. On the host it is not inlined, so that
 * all callers get the same bits. Its name is a VARIANT, by which run/dev/flops finds it. */
#if defined(PHYSICS_OFFLOAD)
#define OF_ROW INLINED
#elif defined(__clang__)
#define OF_ROW static __attribute__((noinline))
#else
#define OF_ROW static __attribute__((noinline, noclone))
#endif

/* The cells [begin, end) of a row. */
struct span {
    count begin, end;
};

/* The chunk of a row that begins at x0; on GPUs a chunk is one cell, which compilers can see. */
INLINED struct span chunk(count x0, count nx)
{
    const bool is_last = ROW_CHUNK > 1 && nx - x0 < ROW_CHUNK;
    return (struct span){x0, is_last ? nx : x0 + ROW_CHUNK};
}

INLINED count clamp(count x, count low, count high)
{
    return x < low ? low : x > high ? high : x;
}

/* The cells of a part that lie in [first, last); none if the row is not inside. */
INLINED struct span within(struct span part, bool is_inside, count first, count last)
{
    const count begin = is_inside ? clamp(first, part.begin, part.end) : part.end;
    return (struct span){begin, clamp(last, begin, part.end)};
}

/* The cells of a part of row y that are not ghosts. */
INLINED struct span interior(struct span part, count y, count nx, count ny)
{
    return within(part, y >= MINIAPP_HALO && y < ny - MINIAPP_HALO, MINIAPP_HALO,
                  nx - MINIAPP_HALO);
}

/* Those cells of a part, of which some are inside. Where a part is one cell, this is all of it,
 * which compilers can see. */
INLINED struct span seen(struct span part, struct span inside)
{
    return ROW_CHUNK == 1 ? part : inside;
}

/* Writes zeros to the cells of a part that are not inside. Compilers do not see that these loops
 * have at most one iteration where a part is one cell, and would unroll them. */
INLINED void zero_outside(real *row, struct span part, struct span inside)
{
    if (ROW_CHUNK == 1) {
        if (inside.begin == inside.end)
            row[part.begin] = 0;
        return;
    }
    for (count x = part.begin; x < inside.begin; x++)
        row[x] = 0;
    for (count x = inside.end; x < part.end; x++)
        row[x] = 0;
}

#endif
