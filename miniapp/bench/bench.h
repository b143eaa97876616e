/*
 * The rows of a run, and their timed calls.
 *
 * All rows are open at once and take turns in random order, so that a machine that becomes slower
 * or faster affects them all alike. Rows on the same device, in the same precision and size, share
 * a state, which holds only one copy of what several of them read. A row writes to a copy of its
 * own if a row of another kernel has the same field, so that the order of turns changes no result.
 */
#ifndef BENCH_H
#define BENCH_H

#include "blocks.h"
#include "measure.h"
#include "program.h"

enum { NO_ROW = -1 };

/* A field of a row. */
struct bound_field {
    const struct miniapp_field *field;
    char name[64]; /* in the state */
    bool reads, writes;
    bool is_result; /* it is compared, hashed and written */
    double *before; /* of one that is updated: what it held before the first call */
};

/* A kernel or sequence on a device in a precision and size. */
struct row {
    const struct miniapp_sequence *sequence;
    const struct miniapp_device *device;
    const struct miniapp_settings *settings;
    int threads; /* of the host; 0 on another device */
    enum miniapp_precision precision;
    struct miniapp_grid grid;
    struct blocks blocks;        /* of the grid, one for each process */
    struct miniapp_grid part;    /* this process's own */
    int triad, fma;              /* the rows that measure its ceilings, or NO_ROW */
    bool is_ceiling;             /* is here only to measure the ceiling of others */
    struct miniapp_state *state; /* the bench's */
    struct miniapp_plan *plan;
    struct bound_field *fields;
    size_t field_count;
    bool shares_outputs;            /* with rows on other numbers of threads */
    bool each_call;                 /* its calls transfer their data */
    bool advances;                  /* each call continues from the result of the previous one */
    bool is_bad;                    /* an output is not finite or beyond its limits, at the end */
    struct miniapp_flow flow;       /* of one that advances, where its steps take a flow */
    size_t good_step;               /* of one that advances: the last that is known to be finite */
    struct miniapp_budget *budgets; /* likewise: MINIAPP_BUDGETS of them */
    double last;                    /* the time of the last untimed call */
    double *step_seconds;           /* of all timed calls */
    struct samples samples;         /* of the slowest process */
    double fastest;                 /* the sum of the times of the fastest one */
    double exchanged, gathered; /* the seconds that the process spent on ghosts, and on gathering
                                   the whole ocean for kernels, in timed calls */
    struct timing timing;       /* of the samples, where there are any */
    struct samples empty;       /* calls of an empty kernel, of a row on a GPU */
    double empty_call;          /* their median, or 0 */
    size_t wanted;              /* calls; 0: as many as take the method's `seconds` */
    bool is_complete;           /* has made all its calls */
    size_t turn;                /* the most calls of a turn, which ends */
    double turn_seconds;        /* after the call that passes this time */
};

struct bench {
    struct row *rows;
    int count;
    struct miniapp_state **states;
    size_t state_count;
};

/* How rows are measured. */
struct method {
    int along_x, along_y; /* blocks of the ocean, one for each process; 0: the bench chooses */
    bool overlaps;        /* ghosts are in flight while kernels run */
    size_t burnin;
    size_t repetitions; /* 0: as many calls as take `seconds` */
    bool advances;      /* calls are steps in time */
    enum miniapp_status (*after_step)(void *context, struct row *row); /* called after each step */
    void *context;
    double seconds; /* for each row */
    size_t seed;    /* of the order in which rows take turns */
    bool own_grid;  /* of the file, whose fields are taken as they are */
    bool verbose;   /* announces each row's first call and first turn */
};

/* The kernels that measure the ceilings of others. */
const struct miniapp_sequence *ceiling_of_bytes(void);
const struct miniapp_sequence *ceiling_of_flops(void);

/* Whether a field is a result of a sequence: with these settings the sequence writes it or, if it
 * advances in time, leaves it to the next step, which needs it. */
bool is_result(const struct miniapp_sequence *sequence, const struct miniapp_field *field,
               const struct miniapp_settings *settings, bool advances);

/* Adds a row unless there is one like it, and the rows of its ceilings if `roofline` is true. Fails
 * if memory is short, or if the processes cannot share a grid. Earlier rows move. */
enum miniapp_status bench_add(struct bench *bench, const struct row *row, bool roofline,
                              const struct method *method);

/* Whether there is enough memory for all rows; MINIAPP_DEVICE, and how much is needed, if not. */
enum miniapp_status bench_check_memory(const struct bench *bench,
                                       const struct miniapp_input *input);

/* Brings the fields of all rows to their devices; stops early if a signal asks for it. */
enum miniapp_status bench_open(struct bench *bench, struct miniapp_input *input,
                               const struct method *method);

/* Reads the fields of all rows again. */
enum miniapp_status bench_load(struct bench *bench, struct miniapp_input *input, bool own_grid);

/* Makes the calls, as many as `method` says, or fewer where a signal asks for an end, and
 * summarises them. */
enum miniapp_status bench_measure(struct bench *bench, const struct method *method);

/* Makes the outputs of a row those of a single call, whatever calls were made before; if the row
 * advances, those of all its steps. */
enum miniapp_status row_settle(struct row *row);

/* The cost of a call on all points, by the descriptions of the kernels, the settings and, where
 * flops depend on it, the pressure of each level or the iterations of the last run. */
double row_flops(const struct row *row);
double row_kernel_flops(const struct row *row, const struct miniapp_kernel *kernel);
struct miniapp_moves row_moves(const struct row *row);

void bench_close(struct bench *bench);
#define CLOSED_BENCH __attribute__((cleanup(bench_close)))

#endif
