/* What C that was PTX needs, and what it shares with the mock driver. */
#ifndef PTX_H
#define PTX_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One CUDA thread. */
struct ptx_thread {
    uint32_t tid[3], ntid[3], ctaid[3], nctaid[3];
    uint32_t number; /* within its block */
    uint8_t *shared;
    uint64_t shared_bytes;
    uint64_t stack, stack_bytes; /* where its local memory may lie */
};

enum ptx_shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_INDEX, SHUFFLE_BUTTERFLY };
enum { ALL_THREADS = 0 }; /* of a block, at a barrier */

/* What the driver does for code, and where the device's memory lies. */
struct ptx_runtime {
    void (*barrier)(struct ptx_thread *t, uint32_t id, uint32_t threads, int arrives, int line);
    uint32_t (*shuffle)(struct ptx_thread *t, enum ptx_shuffle mode, uint32_t value, uint32_t lane,
                        uint32_t clamp, uint32_t mask, int *valid);
    void (*step)(struct ptx_thread *t);
    void (*exit)(struct ptx_thread *t);
    void (*fault)(struct ptx_thread *t, const char *what, uint64_t address, int line);
    uint64_t (*allocate)(uint64_t bytes);
    void (*release)(uint64_t address);
    void (*print)(struct ptx_thread *t, uint64_t text);
    uint64_t memory, memory_bytes;
};

struct ptx_kernel {
    const char *name;
    void (*run)(struct ptx_thread *t, const uint8_t *parameters);
    uint32_t most_threads;
    int waits; /* whether its threads wait for each other */
    size_t parameter_bytes;
};

/* A variable of the device's memory; the driver sets its place. */
struct ptx_variable {
    const char *name;
    size_t bytes, align;
    const uint8_t *image;
    void **place;
};

/* A variable of a block's memory; the driver sets its offset there. */
struct ptx_shared {
    size_t bytes, align;
    uint32_t *offset;
};

/* A word of a variable that is the address of another one, or of a function. */
struct ptx_address {
    void **place;
    size_t offset;
    void **variable;
    void *function;
};

/* All of a file of PTX. Each table ends with zeros. */
struct ptx_module {
    int target; /* 90 of sm_90 */
    const struct ptx_kernel *kernels;
    const struct ptx_variable *variables;
    const struct ptx_shared *shared;
    const struct ptx_address *addresses;
    struct ptx_runtime *runtime;
};

typedef void ptx_function(struct ptx_thread *t, const uint8_t *const *arguments, uint8_t *result);

#ifndef MOCK_DRIVER /* the rest is for the code */

static struct ptx_runtime ptx;

#define WEAK __attribute__((weak))

/* The linker gathers the modules of an image's files; the driver asks for the first and the end. */
extern struct ptx_module *__start_ptx_modules[], *__stop_ptx_modules[];
WEAK struct ptx_module **ptx_modules_of_image(int end)
{
    return end ? __stop_ptx_modules : __start_ptx_modules;
}

#define PTX_MODULE(module)                                                                         \
    __attribute__((section("ptx_modules"), used)) static struct ptx_module *const entry = &module;

#define LANE(t) ((t)->number & 31)

/* GCC counts on a warp's lanes to go in step. With PTX_IN_STEP a lane stores when all are about to.
 */
#ifdef PTX_IN_STEP
#define STEP(t) ptx.step(t)
#else
#define STEP(t) ((void)0)
#endif

static inline double real64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline float real32(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof(value));
    return value;
}

static inline uint64_t bits64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline uint32_t bits32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static inline int is_global(uint64_t address)
{
    return address - ptx.memory < ptx.memory_bytes;
}

static inline int in_shared(const struct ptx_thread *t, uint64_t address)
{
    return address - (uint64_t)(uintptr_t)t->shared < t->shared_bytes;
}

static inline uint64_t aligned(struct ptx_thread *t, uint64_t address, unsigned bytes, int line)
{
    if (__builtin_expect(address & (bytes - 1), 0))
        ptx.fault(t, "misaligned access", address, line);
    return address;
}

/* The address of an access to the device's memory. What is not allocated there faults by itself. */
static inline uint64_t in_memory(struct ptx_thread *t, uint64_t address, unsigned bytes, int line)
{
    if (__builtin_expect(!is_global(address), 0))
        ptx.fault(t, "access outside the device's memory", address, line);
    return aligned(t, address, bytes, line);
}

/* The same of an access that may be to shared or local memory as well. */
static inline uint64_t in_reach(struct ptx_thread *t, uint64_t address, unsigned bytes, int line)
{
    if (__builtin_expect(!is_global(address) && !in_shared(t, address) &&
                             address - t->stack >= t->stack_bytes,
                         0))
        ptx.fault(t, "access to memory of the host", address, line);
    return aligned(t, address, bytes, line);
}

/* A variable in local memory. Nothing may write to the bytes beside it, its fences, which are
 * looked at when the function ends. */
#define LOCAL(name, size, align)                                                                   \
    _Alignas(align) uint8_t with_fences_##name[(size) + 2 * FENCE];                                \
    uint8_t *const name = with_fences_##name + FENCE;                                              \
    __attribute__((cleanup(look_at_fences))) const struct fenced fenced_##name =                   \
        put_fences(t, with_fences_##name, size, __LINE__)

enum { FENCE = 256, FENCE_BYTE = 0xa5 };

struct fenced {
    struct ptx_thread *thread;
    uint8_t *low, *high; /* fences */
    int line;
};

static inline struct fenced put_fences(struct ptx_thread *t, uint8_t *low, size_t size, int line)
{
    uint8_t *const high = low + FENCE + size;
    memset(low, FENCE_BYTE, FENCE);
    memset(high, FENCE_BYTE, FENCE);
    return (struct fenced){t, low, high, line};
}

static inline void look_at_fence(const struct fenced *fenced, const uint8_t *fence)
{
    for (int i = 0; i < FENCE; i++)
        if (fence[i] != FENCE_BYTE)
            ptx.fault(fenced->thread, "write beside a variable in local memory",
                      (uint64_t)(uintptr_t)(fence + i), fenced->line);
}

static inline void look_at_fences(const struct fenced *fenced)
{
    look_at_fence(fenced, fenced->low);
    look_at_fence(fenced, fenced->high);
}

/* PTX's integer instructions where C's are undefined. */
#define BITS(type) (8 * sizeof(type))
#define SHL(type, value, count) ((count) >= BITS(type) ? (type)0 : (type)((type)(value) << (count)))
#define SHR(type, value, count) ((count) >= BITS(type) ? (type)0 : (type)((type)(value) >> (count)))
#define SHR_SIGNED(type, value, count)                                                             \
    ((type)((type)(value) >> ((count) >= BITS(type) ? BITS(type) - 1 : (count))))
#define DIV(type, a, b) ((b) ? (type)((a) / (b)) : (type) - 1)
#define REM(type, a, b) ((b) ? (type)((a) % (b)) : (type)(a))
#define LOW_BITS(type, count)                                                                      \
    ((count) >= BITS(type) ? (type) - 1 : (type)(((type)1 << (count)) - 1))
#define BFE(type, value, place, count)                                                             \
    (SHR(type, value, (place) & 255) & LOW_BITS(type, (count) & 255))

/* Conversions of reals, which saturate; NaN becomes 0. */
static inline int32_t saturated_s32(double value)
{
    if (value != value)
        return 0;
    return value <= INT32_MIN ? INT32_MIN : value >= INT32_MAX ? INT32_MAX : (int32_t)value;
}

static inline uint32_t saturated_u32(double value)
{
    return value > 0 ? value >= UINT32_MAX ? UINT32_MAX : (uint32_t)value : 0;
}

static inline int64_t saturated_s64(double value)
{
    if (value != value)
        return 0;
    return value <= -0x1p63 ? INT64_MIN : value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}

static inline uint64_t saturated_u64(double value)
{
    return value > 0 ? value >= 0x1p64 ? UINT64_MAX : (uint64_t)value : 0;
}

#endif
#endif
