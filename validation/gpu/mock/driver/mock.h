/*
 * A mock of NVIDIA's driver, libcuda.so.1: GPUs whose memory is a guarded part of the host's, and
 * which run images that `ptxas` beside this folder made of PTX. It has what the offload runtimes of
 * LLVM 19 and GCC 12 call, by one thread at a time. README.md lists its settings.
 */
#ifndef MOCK_H
#define MOCK_H

#define MOCK_DRIVER
#include "../ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the driver's functions answer. */
enum result {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    OUT_OF_RESOURCES = 701,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
};

#define API __attribute__((visibility("default")))

/* ---- settings.c ---- */

/* An environment variable's value. */
const char *setting(const char *name, const char *otherwise);

/* A line of the file MOCK_LOG. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line on stderr. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether MOCK_FAIL names a function, which then fails. Logs the call. */
bool has_to_fail(const char *function);

/* ---- devices.c ---- */

struct gpu {
    int capability; /* 90 of sm_90 */
    uint64_t held;  /* bytes */
    unsigned flags; /* of its primary context */
    int retained;
};

struct gpu *current_gpu(void);
bool is_initialized(void);

/* ---- memory.c ---- */

/* The address space of all devices: reserved once, used piece by piece. */
extern uint8_t *memory_start;
extern const uint64_t memory_span;

bool memory_initialize(void);
uint64_t memory_of_a_gpu(void); /* in bytes */

/* A piece for the current device, full of NaN, that ends at a guard page; NULL where it has not
 * enough. */
uint8_t *memory_allocate(size_t bytes);
bool memory_free(uint8_t *start);
bool memory_holds(uint64_t address, size_t bytes);
bool memory_piece(uint64_t address, uint64_t *start, size_t *bytes);

/* The host may touch a piece from its opening, which is true if it was closed, until all are
 * closed. */
bool memory_open(uint64_t address);
void memory_close(void);

/* ---- modules.c ---- */

struct CUfunc_st {
    const struct ptx_kernel *kernel;
    struct CUmod_st *module;
    struct CUfunc_st *next;
};

struct CUmod_st {
    struct ptx_module **first, **end;
    struct CUfunc_st *functions;
    size_t shared_bytes;
};

/* ---- blocks.c ---- */

struct grid {
    const struct ptx_kernel *kernel;
    uint32_t blocks[3], threads[3];
    size_t shared_bytes;
    const uint8_t *parameters;
};

/* Runs all blocks of a grid, one after the other. */
enum result run_grid(const struct grid *grid);

extern const struct ptx_runtime runtime_of_blocks; /* but for where the memory lies */

/* ---- streams.c ---- */

struct operation {
    enum { LAUNCH, COPY, CALL } what;
    struct grid grid;
    void *to;
    const void *from;
    size_t bytes;
    uint8_t *staged; /* a copy that is freed behind the operation */
    void (*call)(void *);
    void *data;
    struct operation *next;
};

struct CUstream_st;

/* An operation that waits in a stream until something asks for its end. A fault of one makes all
 * that follow fail, as on a GPU. */
enum result stream_add(struct CUstream_st *stream, struct operation operation);
enum result stream_wait(struct CUstream_st *stream);
enum result stream_wait_all(void);
enum result perform_now(struct operation operation);

#endif
