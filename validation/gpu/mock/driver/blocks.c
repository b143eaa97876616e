/*
 * Blocks of threads. A kernel whose threads never wait is a call for each thread; the threads of
 * others are fibers, which take turns where they wait for each other. MOCK_ORDER sets the order of
 * blocks and of threads within a block: forward, reverse or random.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { MOST_THREADS = 1024, WARP = 32, BARRIERS = 16, STACK = 512 << 10, OWN_STACK = 1 << 20 };

struct fiber {
    struct ptx_thread thread;
    enum { READY, AT_BARRIER, AT_SHUFFLE, AT_STEP, ENDED } state;
    ucontext_t start;
    jmp_buf place, end;   /* where it waits; the end of its thread */
    bool started, at_end; /* at its thread's end it waits for another thread */
    uint8_t *stack;
    uint32_t barrier, wanted; /* threads at the barrier */
    int line;                 /* of a barrier that a whole warp has to reach; or 0 */
    enum ptx_shuffle mode;
    uint32_t value, lane, clamp, mask;
    int valid;
};

/* The block that runs. */
static struct {
    const struct grid *grid;
    uint32_t threads;
    struct fiber *running;
    uint32_t arrived[BARRIERS]; /* threads that do not wait at a barrier */
} block;

static struct fiber fibers[MOST_THREADS];
static jmp_buf scheduler;
static sigjmp_buf escape;
static enum result fault;

/* ---- faults ---- */

static void report_fault(struct ptx_thread *t, const char *what, uint64_t address, int line)
{
    complain("%s: %s, address %#llx, block %u of %u, thread %u, line %d of its C",
             block.grid->kernel->name, what, (unsigned long long)address, t->ctaid[0], t->nctaid[0],
             t->number, line);
    fault = strcmp(what, "trap") == 0 ? LAUNCH_FAILED : ILLEGAL_ADDRESS;
    siglongjmp(escape, 1);
}

/* The first access to a piece opens it: a launch uses few of them, and each costs system calls. */
static void memory_fault(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    if (!memory_open(address))
        report_fault(&block.running->thread, "access to memory that is not allocated", address, 0);
}

/* ---- fibers ---- */

static void resume(struct fiber *fiber)
{
    if (_setjmp(scheduler))
        return;
    block.running = fiber;
    if (fiber->started)
        _longjmp(fiber->place, 1);
    fiber->started = true;
    setcontext(&fiber->start);
}

static void wait_in(int state)
{
    block.running->state = state;
    if (!_setjmp(block.running->place))
        _longjmp(scheduler, 1);
}

/* One thread after the other: a context costs system calls. */
static void run_fiber(void)
{
    struct fiber *const own = block.running;
    for (;;) {
        own->at_end = false;
        if (!_setjmp(own->end))
            block.grid->kernel->run(&own->thread, block.grid->parameters);
        own->at_end = true;
        wait_in(ENDED);
    }
}

static void start_fiber(struct fiber *fiber)
{
    if (!fiber->stack)
        fiber->stack =
            mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fiber->thread.stack = (uint64_t)(uintptr_t)fiber->stack;
    fiber->thread.stack_bytes = STACK;
    if (fiber->at_end)
        return;
    getcontext(&fiber->start);
    fiber->start.uc_stack.ss_sp = fiber->stack;
    fiber->start.uc_stack.ss_size = STACK;
    fiber->started = false; /* or a fault has left it where it was */
    makecontext(&fiber->start, run_fiber, 0);
}

static void step(struct ptx_thread *t)
{
    (void)t;
    wait_in(AT_STEP);
}

static void exit_thread(struct ptx_thread *t)
{
    (void)t;
    _longjmp(block.running->end, 1);
}

/* ---- what CUDA brings for code ---- */

static uint64_t allocate(uint64_t bytes)
{
    return (uint64_t)(uintptr_t)memory_allocate(bytes);
}

static void release(uint64_t address)
{
    if (address && !memory_free((uint8_t *)(uintptr_t)address))
        report_fault(&block.running->thread, "free of what is not allocated", address, 0);
}

static void print(struct ptx_thread *t, uint64_t text)
{
    complain("%s: thread %u: %s", block.grid->kernel->name, t->number,
             (const char *)(uintptr_t)text);
}

/* ---- barriers ---- */

static void barrier(struct ptx_thread *t, uint32_t id, uint32_t threads, int arrives, int line)
{
    struct fiber *const fiber = (struct fiber *)t;
    fiber->barrier = id % BARRIERS;
    fiber->wanted = threads;
    fiber->line = line;
    if (arrives)
        block.arrived[fiber->barrier]++;
    else
        wait_in(AT_BARRIER);
}

/* bar.sync is for whole warps: all threads of one that are still there reach the same. */
static void check_warp(struct fiber *fiber)
{
    const struct fiber *const first = &fibers[fiber->thread.number / WARP * WARP];
    if (fiber->line && first->state != ENDED && first->line != fiber->line)
        report_fault(&fiber->thread, "bar.sync is reached by a part of a warp", 0, fiber->line);
}

static bool is_at(const struct fiber *fiber, uint32_t id)
{
    return fiber->state == AT_BARRIER && fiber->barrier == id;
}

/* What the threads of the block wait for. */
struct crowd {
    uint32_t alive, waiting[BARRIERS], wanted[BARRIERS];
};

static struct crowd count_crowd(void)
{
    struct crowd crowd = {0};
    for (uint32_t i = 0; i < block.threads; i++) {
        const struct fiber *const fiber = &fibers[i];
        crowd.alive += fiber->state != ENDED;
        if (fiber->state == AT_BARRIER) {
            crowd.waiting[fiber->barrier]++;
            crowd.wanted[fiber->barrier] = fiber->wanted;
        }
    }
    return crowd;
}

/* Whether as many have come as is wanted there: a number, or all that have not ended. */
static bool is_complete(const struct crowd *crowd, uint32_t id)
{
    const uint32_t here = crowd->waiting[id] + block.arrived[id], wanted = crowd->wanted[id];
    const bool all = wanted == ALL_THREADS || wanted == block.threads;
    return crowd->waiting[id] && here >= (all ? crowd->alive : wanted);
}

static void release_barrier(uint32_t id)
{
    for (uint32_t i = 0; i < block.threads; i++)
        if (is_at(&fibers[i], id))
            check_warp(&fibers[i]);
    for (uint32_t i = 0; i < block.threads; i++)
        if (is_at(&fibers[i], id))
            fibers[i].state = READY;
    block.arrived[id] = 0;
}

/* ---- shuffles ---- */

static uint32_t shuffle(struct ptx_thread *t, enum ptx_shuffle mode, uint32_t value, uint32_t lane,
                        uint32_t clamp, uint32_t mask, int *valid)
{
    struct fiber *const fiber = (struct fiber *)t;
    fiber->mode = mode;
    fiber->value = value;
    fiber->lane = lane & 31;
    fiber->clamp = clamp;
    fiber->mask = mask;
    wait_in(AT_SHUFFLE);
    if (valid)
        *valid = fiber->valid;
    return fiber->value;
}

/* The lane that a lane gets its value from; itself, and not valid, beyond the segment. */
static uint32_t source_of(struct fiber *fiber, uint32_t lane)
{
    const uint32_t segment = fiber->clamp >> 8 & 31, bound = fiber->clamp & 31;
    const int last = (int)((lane & segment) | (bound & ~segment));
    int source = (int)lane;
    switch (fiber->mode) {
    case SHUFFLE_UP: source -= (int)fiber->lane; break;
    case SHUFFLE_DOWN: source += (int)fiber->lane; break;
    case SHUFFLE_INDEX: source = (int)((lane & segment) | (fiber->lane & ~segment)); break;
    case SHUFFLE_BUTTERFLY: source ^= (int)fiber->lane;
    }
    fiber->valid = fiber->mode == SHUFFLE_UP ? source >= last : source <= last;
    return fiber->valid ? (uint32_t)source : lane;
}

/* Whether all lanes that a mask names have come. */
static bool all_shuffle(const struct fiber *warp, uint32_t lanes, const struct fiber *one)
{
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (one->mask >> lane & 1 && (warp[lane].state != AT_SHUFFLE ||
                                      warp[lane].mask != one->mask || warp[lane].mode != one->mode))
            return false;
    return true;
}

static void exchange(struct fiber *warp, uint32_t lanes, uint32_t mask)
{
    uint32_t values[WARP] = {0};
    for (uint32_t lane = 0; lane < lanes; lane++)
        values[lane] = warp[lane].value;
    for (uint32_t lane = 0; lane < lanes; lane++)
        if (mask >> lane & 1) {
            warp[lane].value = values[source_of(&warp[lane], lane)];
            warp[lane].state = READY;
        }
}

static bool release_shuffles(void)
{
    bool any = false;
    for (uint32_t i = 0; i < block.threads; i++) {
        const uint32_t first = i / WARP * WARP, left = block.threads - first;
        const uint32_t lanes = left < WARP ? left : WARP;
        if (fibers[i].state == AT_SHUFFLE && all_shuffle(&fibers[first], lanes, &fibers[i])) {
            exchange(&fibers[first], lanes, fibers[i].mask);
            any = true;
        }
    }
    return any;
}

/* ---- blocks ---- */

static bool release_all(void)
{
    bool any = release_shuffles();
    const struct crowd crowd = count_crowd();
    for (uint32_t id = 0; id < BARRIERS; id++)
        if (is_complete(&crowd, id)) {
            release_barrier(id);
            any = true;
        }
    return any;
}

/* Every thread runs until it waits for others; those that go in step go on when all have made it.
 * False where all threads have ended. */
static bool run_ready(const uint32_t *order)
{
    static struct fiber *ready[MOST_THREADS];
    uint32_t count = 0, ended = 0;
    for (uint32_t i = 0; i < block.threads; i++)
        if (fibers[order[i]].state == READY)
            ready[count++] = &fibers[order[i]];
    while (count) {
        uint32_t at_step = 0;
        for (uint32_t i = 0; i < count; i++) {
            resume(ready[i]);
            if (ready[i]->state == AT_STEP)
                ready[at_step++] = ready[i];
        }
        count = at_step;
    }
    for (uint32_t i = 0; i < block.threads; i++)
        ended += fibers[i].state == ENDED;
    return ended < block.threads;
}

static void run_fibers(const uint32_t *order)
{
    memset(block.arrived, 0, sizeof(block.arrived));
    for (uint32_t i = 0; i < block.threads; i++)
        start_fiber(&fibers[i]);
    while (run_ready(order))
        if (!release_all())
            report_fault(&fibers[0].thread, "its threads wait for each other without end", 0, 0);
}

static void run_calls(const uint32_t *order)
{
    const uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    for (uint32_t i = 0; i < block.threads; i++) {
        block.running = &fibers[order[i]];
        block.running->thread.stack = here - OWN_STACK;
        block.running->thread.stack_bytes = OWN_STACK;
        block.grid->kernel->run(&block.running->thread, block.grid->parameters);
    }
}

static void run_block(const struct ptx_thread *first, const uint32_t *order)
{
    for (uint32_t i = 0; i < block.threads; i++) {
        struct ptx_thread *const t = &fibers[i].thread;
        *t = *first;
        t->number = i;
        t->tid[0] = i % t->ntid[0];
        t->tid[1] = i / t->ntid[0] % t->ntid[1];
        t->tid[2] = i / t->ntid[0] / t->ntid[1];
        fibers[i].state = READY;
        fibers[i].line = 0;
    }
    if (block.grid->kernel->waits)
        run_fibers(order);
    else
        run_calls(order);
}

/* ---- grids ---- */

/* The numbers below `count` in MOCK_ORDER. */
static uint32_t *in_order(uint32_t count)
{
    static uint64_t state = 88172645463325252ull;
    const char *const how = setting("MOCK_ORDER", "forward");
    uint32_t *const order = malloc(count * sizeof(*order));
    for (uint32_t i = 0; i < count; i++)
        order[i] = strcmp(how, "reverse") == 0 ? count - 1 - i : i;
    for (uint32_t i = count; strcmp(how, "random") == 0 && i > 1; i--) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        const uint32_t other = (uint32_t)((state >> 33) % i), last = order[i - 1];
        order[i - 1] = order[other];
        order[other] = last;
    }
    return order;
}

static void run_blocks(const uint32_t *blocks, const uint32_t *threads, uint32_t count,
                       uint8_t *shared)
{
    const struct grid *const grid = block.grid;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_thread first = {.shared = shared, .shared_bytes = grid->shared_bytes};
        const uint32_t x = grid->blocks[0], y = grid->blocks[1];
        memset(shared, 0xee, grid->shared_bytes);
        memcpy(first.ntid, grid->threads, sizeof(first.ntid));
        memcpy(first.nctaid, grid->blocks, sizeof(first.nctaid));
        first.ctaid[0] = blocks[i] % x;
        first.ctaid[1] = blocks[i] / x % y;
        first.ctaid[2] = blocks[i] / x / y;
        run_block(&first, threads);
    }
}

enum result run_grid(const struct grid *grid)
{
    const uint32_t count = grid->blocks[0] * grid->blocks[1] * grid->blocks[2];
    const struct sigaction catch = {.sa_sigaction = memory_fault,
                                    .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sigaction before, bus_before;
    block.grid = grid;
    block.threads = grid->threads[0] * grid->threads[1] * grid->threads[2];
    uint32_t *const blocks = in_order(count), *const threads = in_order(block.threads);
    uint8_t *const shared = aligned_alloc(256, (grid->shared_bytes + 256) / 256 * 256);
    sigaction(SIGSEGV, &catch, &before);
    sigaction(SIGBUS, &catch, &bus_before);
    fault = OK;
    if (!sigsetjmp(escape, 1))
        run_blocks(blocks, threads, count, shared);
    sigaction(SIGSEGV, &before, NULL);
    sigaction(SIGBUS, &bus_before, NULL);
    free(blocks);
    free(threads);
    free(shared);
    return fault;
}

const struct ptx_runtime runtime_of_blocks = {.barrier = barrier,
                                              .shuffle = shuffle,
                                              .step = step,
                                              .exit = exit_thread,
                                              .fault = report_fault,
                                              .allocate = allocate,
                                              .release = release,
                                              .print = print};
