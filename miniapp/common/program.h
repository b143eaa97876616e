/*
 * Functions of the library for its own program, which measures and reports, and for its Python
 * package. This header is not for clients: it is not installed, and may change with each version.
 */
#ifndef MINIAPP_PROGRAM_H
#define MINIAPP_PROGRAM_H

#include <miniapp.h>
#include <stdbool.h>
#include <stddef.h>

MINIAPP_BEGIN

/* ---- failures ---- */

/* Reports a failure as the library does, and returns its status. */
enum miniapp_status miniapp_fail(enum miniapp_status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void miniapp_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Removes an output that is half written, using only calls that a signal handler may make. */
void miniapp_abandon(void);

/* Call this before all else. If an offload runtime crashes while a device is opened, or aborts or
 * ends the process at any time, the library then prints one line and exits with MINIAPP_DEVICE. An
 * exit with code 1 is taken to be the offload runtime's, unless the last failure was a
 * MINIAPP_MISMATCH. */
void miniapp_own_process(bool owned);

/* Where a device's memory is short, the offload runtime prints a line, beside that of the failure.
 * If `silence` is installed, it is called with true before memory is asked for, and with false
 * afterwards. */
void miniapp_install_silence(void (*silence)(bool is_silent));

/* ---- tables ---- */

/* Fails with `status`, and a message that begins with `where`, if the value is out of range,
 * has a fraction though it has to be whole, or does not fit the precision. */
enum miniapp_status miniapp_setting_check(const struct miniapp_setting *, double value,
                                          enum miniapp_precision, const char *where,
                                          enum miniapp_status status);

/* A value for each setting, at first its default, to ask what kernels cost; a state has its own. */
struct miniapp_settings;
struct miniapp_settings *miniapp_settings_create(void); /* NULL if memory is short */
void miniapp_settings_free(struct miniapp_settings *);
enum miniapp_status miniapp_settings_set(struct miniapp_settings *, const char *name, double value);
double miniapp_settings_get(const struct miniapp_settings *, const char *name); /* NAN: unknown */
const struct miniapp_settings *miniapp_state_settings(const struct miniapp_state *);

/* The cost of a call on all points: the flops, where a fused multiply-add counts as two; and the
 * bytes that it has to move, where scratch counts for nothing and an UPDATE argument twice. */
double miniapp_kernel_flops(const struct miniapp_kernel *, const struct miniapp_grid *,
                            const struct miniapp_settings *);
/* The field whose value on a level decides how many flops its points take, such as pressure; NULL
 * if there is none. And the flops of a call where the field has these values, one a level. */
const struct miniapp_field *miniapp_kernel_level_of_flops(const struct miniapp_kernel *);
double miniapp_kernel_flops_on(const struct miniapp_kernel *, const struct miniapp_grid *,
                               const struct miniapp_settings *, const double *values);
/* Those of an iteration of a solver of an elliptic problem, beside a call's; 0 of other kernels. */
double miniapp_kernel_flops_of_iteration(const struct miniapp_kernel *,
                                         const struct miniapp_grid *);

/* The bytes that a call moves, and those that move if a cache fetches a line before it is written,
 * so that a WRITE argument counts twice, too. Those of a sequence are the sums over its steps that
 * run with the settings. */
struct miniapp_moves {
    double bytes, traffic;
};
struct miniapp_moves miniapp_kernel_moves(const struct miniapp_kernel *,
                                          const struct miniapp_grid *, enum miniapp_precision,
                                          const struct miniapp_settings *);
struct miniapp_moves miniapp_sequence_moves(const struct miniapp_sequence *,
                                            const struct miniapp_grid *, enum miniapp_precision,
                                            const struct miniapp_settings *);

bool miniapp_sequence_runs(const struct miniapp_sequence *, size_t step,
                           const struct miniapp_settings *);

/* Whether a step writes the field with these settings, which may leave out the step, or leave the
 * field untouched. */
bool miniapp_sequence_makes(const struct miniapp_sequence *, const struct miniapp_field *,
                            const struct miniapp_settings *);

/* Whether a step reads the field with these settings, if the sequence reads it at all, or a step in
 * time hands it on to the next one. */
bool miniapp_sequence_takes(const struct miniapp_sequence *, const struct miniapp_field *,
                            const struct miniapp_settings *);

const char *miniapp_sequence_subject(const struct miniapp_sequence *); /* its folder */
bool miniapp_sequence_uses(const struct miniapp_sequence *, const struct miniapp_setting *);

/* Its time levels: pairs of fields that miniapp_plan_advance swaps, the one before a step and the
 * one after it. */
size_t miniapp_sequence_level_count(const struct miniapp_sequence *);
const struct miniapp_field *miniapp_sequence_level(const struct miniapp_sequence *, size_t index,
                                                   bool after);

/* Whether a step in time needs what the last one left in the field. */
bool miniapp_sequence_carries(const struct miniapp_sequence *, const struct miniapp_field *);

/* ---- states ---- */

/* Sets or gets `count` elements of a field, from number `first` on. In a new field, the first part
 * marks the whole field as set and its ghosts as current; later parts do not change that. */
enum miniapp_status miniapp_state_set_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, const double *values);
enum miniapp_status miniapp_state_get_part(struct miniapp_state *, const char *name, size_t first,
                                           size_t count, double *values);

/* How many ghosts on a side are current. */
int miniapp_state_ghosts(const struct miniapp_state *, const char *name, enum miniapp_side);

/* Seconds of a step in the last run, with the copies and exchanges before it. */
double miniapp_plan_seconds(const struct miniapp_plan *, size_t step);

double miniapp_plan_bytes(const struct miniapp_plan *); /* of memory: fields, scratch, kept */

/* How an elliptic problem was solved. */
struct miniapp_solution {
    bool is_there;
    int iterations, nests; /* these are launches on a device */
    double residual;       /* of the right-hand side */
};

/* That of the last run, if a step solves one. */
struct miniapp_solution miniapp_plan_solution(const struct miniapp_plan *);

/* ---- devices and the host ---- */

/* Whether a device can have that name, whether or not there is one. */
bool miniapp_device_is_known(const char *name);

/* Describes a GPU, even one that cannot be used; or writes why there is none and returns false. */
bool miniapp_device_describe(int number, char *text, size_t size);

/* How many CPUs the process may use. */
int miniapp_host_cpus(void);
enum { MAX_THREADS = 4096 }; /* with many more, the OpenMP runtime lacks memory and aborts */
enum { LEAST_STACK = 256 };  /* KiB; half of that was found to be enough */

/* Whether the process can still get that many bytes of memory. If not, `lack` becomes the end of a
 * message: "needs 3 GB, but the machine has 2 GB". */
enum { MINIAPP_LACK = 120 };
bool miniapp_host_has(double bytes, char lack[MINIAPP_LACK]);

enum { MINIAPP_PROCESSOR = 128 };
const char *miniapp_host_processor(char text[MINIAPP_PROCESSOR]);

/* How the OpenMP runtime binds threads to CPUs, whatever it was asked for: "none, on 8 CPUs" or
 * "spread, with 4 places of 2 CPUs". */
enum { MINIAPP_BINDING = 128 };
const char *miniapp_host_binding(char text[MINIAPP_BINDING]);

/* Sets `threads` to the number of this process's threads on each core, where a thread that may run
 * on n cores counts 1/n on each; and `there` to 1 for each core that the process may use. A core
 * has the number of its first CPU. */
enum { MINIAPP_CORES = 1024 };
void miniapp_host_load(double threads[MINIAPP_CORES], double there[MINIAPP_CORES]);

/* Whether a device's fields take the host's memory, as those of an emulated device do. */
bool miniapp_device_takes_host_memory(const struct miniapp_device *);

/* The bytes of a GPU's L2 cache; 0 where they are not known, and on the host. */
double miniapp_device_cache(const struct miniapp_device *);

/* How many seconds a call of an empty kernel takes; 0 on the host. */
double miniapp_device_empty_call(const struct miniapp_device *);

/* How many blocks, and threads in each, a loop of `points` points gets; zeros on the host. */
void miniapp_device_geometry(const struct miniapp_device *, int points, int *blocks, int *threads);

/* Measures how long it takes to copy these fields to the device, or from it, through pinned or
 * ordinary memory: the shortest of several tries, or 0 if nothing is copied. */
enum miniapp_status miniapp_state_time_copies(struct miniapp_state *, const char *const *names,
                                              size_t count, bool to_device, bool pinned,
                                              double *seconds);

/* ---- directive variants ---- */

/* A header of physics/variants, under whose directives all kernels are built once more. */
struct miniapp_variant {
    const char *name, *purpose;
    bool is_offload;               /* it is for offload devices, else for the host */
    bool is_built;                 /* the build has it */
    const char *const *directives; /* pairs of a word and its text, which may be ""; then NULL */
};
const struct miniapp_variant *miniapp_variants(size_t *count);

/* Opens the device once more, to run the kernels of a built variant that is for its kind. */
enum miniapp_status miniapp_device_vary(const struct miniapp_device *,
                                        const struct miniapp_variant *, struct miniapp_device **);

/* The name of a device's variant: "static" or "distribute" by default. */
const char *miniapp_device_variant(const struct miniapp_device *);

/* ---- inputs ---- */

/* Whether a file has a dataset of one of these names. */
enum miniapp_status miniapp_file_has_any(const char *path, const char *const *names, size_t count,
                                         bool *has_any);

/* Shares a file among `of` processes, which are numbered from 0: this one checks its part of the
 * rows, and counts the water in it. It holds no more of a field than that part, or than what the
 * states that it loads need. */
void miniapp_input_options_share(struct miniapp_input_options *, int number, int of);

/* Reads a tracer from another dataset than that of its name. The name is not copied: it has to last
 * as long as the inputs that are opened with the options. */
void miniapp_input_options_start_as(struct miniapp_input_options *,
                                    const struct miniapp_field *tracer, const char *dataset);

/* The water in this process's part of a file. Cells are water by maskT, maskW or kbot: all of them
 * where the wanted fields are none of these. The rest is 0 unless dxt, dyt, cost and dzt are
 * wanted, and turning unless coriolis_t is. */
struct miniapp_water {
    double cells, beyond; /* how many are wet, and how many ghosts of the file's closed sides */
    double per_length;    /* the largest inverse spacing, m-1 */
    double widest;        /* the largest spacing along x, on the equator, or along y, m */
    double turning;       /* the largest Coriolis parameter, s-1 */
    double per_cosine;    /* the largest inverse cosine of latitude */
    double highest;       /* the height of the highest level, m */
    double per_height;    /* the largest inverse height of a level, m-1 */
};
#define MINIAPP_WAVE_SPEED 3.0 /* of internal waves, m s-1 */

/* The value of `dt_mom`, `A_h` or `r_bot` by the spacing of the water, for an ocean where nobody
 * chose it, with a step of momentum of `dt` s; 0 if all is land. */
double miniapp_water_setting(const struct miniapp_water *, const char *name, double dt);

struct miniapp_facts {
    struct miniapp_grid grid; /* as the file stores it, perhaps without ghosts */
    bool has_ghosts;
    bool has_velocities;  /* u and v, from which w and psi are made where they are absent */
    const char *text;     /* the grid, in words, as long as the input is open */
    double passing_bytes; /* of host memory that loading a field needs temporarily */
};
struct miniapp_facts miniapp_input_facts(const struct miniapp_input *);
bool miniapp_input_is_cyclic(const struct miniapp_input *);

/* Whether the file has a dataset for a field; and the name in the file that is closest to the
 * field's, of datasets that hold no field: NULL if none is close. */
bool miniapp_input_has(const struct miniapp_input *, const struct miniapp_field *);
const char *miniapp_input_closest(const struct miniapp_input *, const struct miniapp_field *,
                                  char *text, size_t size);

/* Whether the file has a setting, and its value, or 0. */
bool miniapp_input_setting(const struct miniapp_input *, const struct miniapp_setting *,
                           double *value);

/* Checks all wanted fields, alone and against each other: a line for each error, with the first bad
 * index, and a warning for anything suspicious. */
enum miniapp_status miniapp_input_check(struct miniapp_input *);

/* The water that the check has seen. */
const struct miniapp_water *miniapp_input_water(const struct miniapp_input *);

/* MINIAPP_INPUT where the file lacks a wanted field without which another one that it has, or a
 * setting, makes no sense: t_rest without t_star, enable_eke without coriolis_t. */
enum miniapp_status miniapp_input_check_pairs(const struct miniapp_input *,
                                              const struct miniapp_settings *);

/* Whether the external mode of a sequence's steps is the pressure at a free surface; and
 * MINIAPP_INPUT if steps take the file's external mode as the other kind. */
bool miniapp_sequence_is_at_surface(const struct miniapp_sequence *,
                                    const struct miniapp_settings *);
enum miniapp_status miniapp_input_check_mode(struct miniapp_input *,
                                             const struct miniapp_sequence *,
                                             const struct miniapp_settings *);

/* A field of a state to be filled. The state's grid, or that of the ocean it is a part of, has to
 * be that of miniapp_input_grid, unless `resample` asks for interpolation. */
struct miniapp_destination {
    struct miniapp_state *state;
    const char *name;
    bool resample;
};

/* Reads a wanted field, checks it, and stores it in each destination. It makes that state cyclic if
 * the file is, but sets no settings. It reads only the part of the file that the states cover.
 * Western and eastern ghosts of a part of a cyclic ocean are not current afterwards, unless they
 * were read from the file or the part has whole rows. */
enum miniapp_status miniapp_input_load(struct miniapp_input *, const struct miniapp_field *,
                                       const struct miniapp_destination *, size_t count);

/* Before the first step: computes w by continuity and psi from u, if the sequence takes them and
 * the file has only u and v; or, where an ocean whose flow is stepped starts from rest, the flow
 * that Veros's initialisation makes under a rigid lid. Its w is 0, so that it diverges. */
enum miniapp_status miniapp_state_make_flow(struct miniapp_state *, const struct miniapp_input *,
                                            const struct miniapp_sequence *);

/* ---- references ---- */

/* A file of references, or a folder with a file SEQUENCE.h5 for each sequence. */
struct miniapp_references;

/* NULL after a failure. */
enum miniapp_status miniapp_references_open(const char *path, struct miniapp_references **);
void miniapp_references_close(struct miniapp_references *);

/* The SHA-256 of the input that the reference read last was made from; "" if its file does not say
 * so. */
const char *miniapp_references_input(const struct miniapp_references *);

/* A value x agrees where |x - ref| <= atol + rtol |ref|. */
struct miniapp_reference {
    double *values;
    double rtol, atol;
};

/* Reads the reference of a field that a sequence writes: the dataset SEQUENCE.FIELD, or else FIELD.
 * In a file, the sequence may be NULL. `allow` may hold NONFINITE and INVALID. MINIAPP_INPUT if a
 * value is out of range or a tolerance too loose (docs/measuring.md), or if the file was changed
 * since it was opened. */
enum miniapp_status miniapp_reference_read(struct miniapp_references *, const char *sequence,
                                           const struct miniapp_field *,
                                           const struct miniapp_grid *, enum miniapp_precision,
                                           int allow, struct miniapp_reference *);
void miniapp_reference_release(struct miniapp_reference *);

/* ---- outputs ---- */

/* Names the axes as the input does, and copies its coordinates and CF's attributes of the whole
 * file: title, history and so on. Call it before a field is written. */
enum miniapp_status miniapp_output_take_coordinates(struct miniapp_output *,
                                                    struct miniapp_input *);

/* Write a field as miniapp_output_write does, but plane by plane: `values` are the elements of one
 * plane along y and x. The external mode is a pressure where it is that of a free surface. */
enum miniapp_status miniapp_output_begin(struct miniapp_output *, const char *sequence,
                                         const struct miniapp_field *, const struct miniapp_grid *,
                                         enum miniapp_precision, bool at_surface);
enum miniapp_status miniapp_output_plane(struct miniapp_output *, size_t plane,
                                         const double *values);
/* Adds, in a file without ghosts, what the field is on corners of the southern wall, if it lies on
 * corners. All processes take part, those that do not write with NULL. */
enum miniapp_status miniapp_output_wall(struct miniapp_output *, struct miniapp_state *,
                                        const struct miniapp_field *, const char *name);
enum miniapp_status miniapp_output_end(struct miniapp_output *);

/* ---- several processes ---- */

/* Takes part in the MPI that the library was built with, which its client has started in so many
 * processes; where there is one process, it does nothing. MINIAPP_DEVICE if the library is built
 * without MPI, MINIAPP_USAGE if its MPI was not started, or in another number of processes. */
enum miniapp_status miniapp_join(int processes);

/* Makes a state this process's own block of an ocean of along_x times along_y blocks of one size.
 * Blocks that are neighbours along x have neighbouring ranks. It then exchanges ghosts as
 * miniapp_state_spread says. Call miniapp_join before. */
enum miniapp_status miniapp_state_share(struct miniapp_state *, int along_x, int along_y);

struct blocks;

/* Makes a state this process's own block of an ocean, which all processes share; it then exchanges
 * ghosts with the other blocks. */
enum miniapp_status miniapp_state_spread(struct miniapp_state *, const struct blocks *);

/* Sets whether ghosts may be in flight while kernels that do not read them run. */
void miniapp_state_overlap(struct miniapp_state *, bool overlaps);

double miniapp_state_exchange_seconds(const struct miniapp_state *);

/* How many seconds it spent on gathering the whole ocean for kernels that need it. */
double miniapp_state_gather_seconds(const struct miniapp_state *);

/* Gathers a plane of a field from all blocks in the first process, with or without the ghosts of
 * the whole ocean. `values` has room for it there, and is not used in the other processes. */
enum miniapp_status miniapp_state_gather(struct miniapp_state *, const char *name, size_t plane,
                                         bool with_ghosts, double *values);

/* ---- steps in time ---- */

/* The budgets that a step keeps: of heat, salt, turbulent and eddy kinetic energy, the sum of both
 * energies, and the amount of each tracer. */
enum { MINIAPP_BUDGETS = 73 };

/* The limits of a field's values in steps in time; those of double if it has none. */
void miniapp_field_limits(const struct miniapp_field *, double *least, double *most);

/* A term of a budget's gain. */
struct miniapp_gain {
    const char *name; /* of the field that it is the integral of; or wind or buoyancy */
    double value;
};
enum { MINIAPP_GAINS = 20 }; /* of a budget */

struct miniapp_budget {
    const char *name, *units;
    bool is_kept;         /* the sequence has this budget */
    bool is_of_all_steps; /* since the start; else only of the last one, because its gain varies */
    double before;        /* the amount at the start */
    size_t steps;         /* over which the following are means */
    double change, gain;  /* in units */
    double residual;      /* change - gain: rounding, if it is at most `bound` */
    double bound;
    double size;  /* the sum of the magnitudes of the residual's terms */
    double gross; /* that of the gain's terms */
    size_t gain_count;
    struct miniapp_gain gains[MINIAPP_GAINS]; /* their sum is the gain, but for rounding */
};

/* Opens the MINIAPP_BUDGETS budgets before the first step of a sequence, and closes them after the
 * last. */
enum miniapp_status miniapp_budgets_open(struct miniapp_state *, const struct miniapp_sequence *,
                                         struct miniapp_budget *);
enum miniapp_status miniapp_budgets_close(struct miniapp_state *, const struct miniapp_sequence *,
                                          size_t steps, struct miniapp_budget *);

/* The flow in which a step is made. */
struct miniapp_flow {
    bool is_there;          /* the sequence takes one */
    bool is_from_rest;      /* it begins at rest, so its w is still 0, and is not judged */
    double courant[3];      /* the largest Courant numbers, along x, y and z */
    double below, top;      /* the largest share of its volume that a cell gains or loses in a step:
                               below the top level, and in it, without what goes through the surface */
    double gained, through; /* by all cells, and through their faces, in cubic metres a step */
    double time_step;
    /* of `below`, as much as rounding explains, at most 1e-4; of `top`, 0.05 */
    double tolerated[2];
    double excess; /* of the first cell that gains or loses more: [z, y, x], without ghosts */
    size_t cell[3];
    bool leaks; /* water lies in the ghosts of a closed side; beside the first such cell */
    size_t beside[3];
    /* how far the flow through a column's face is from psi's, in m3 s-1, more than rounding
       explains, or 0; both flows; and where the face is, as `cell` */
    double unfit, transport[2];
    bool is_of_v;
    size_t face[3];
};

/* Measures the flow before a step. If the state is a part of an ocean, all processes call it. */
enum miniapp_status miniapp_flow_measure(struct miniapp_state *, const struct miniapp_sequence *,
                                         struct miniapp_flow *);

/* MINIAPP_INPUT if a cell gains or loses more than is tolerated, or leaks, or if psi does not fit.
 * The message begins with the path, which may be "", adds `ghosts` to the indices of the cell, and
 * says what accepts the flow. */
enum miniapp_status miniapp_flow_judge(const struct miniapp_flow *, size_t ghosts, const char *path,
                                       const char *remedy);

/* The largest velocity along x or y anywhere in the ocean; infinite if one is not finite. All
 * processes call it. */
enum miniapp_status miniapp_flow_speed(struct miniapp_state *, double *speed);

/* Takes a field into its mean over time, as number `number` of those that the mean is of. The mean
 * stays on the device. */
enum miniapp_status miniapp_state_average(struct miniapp_state *, const char *name, size_t number);

/* Adds one field, or two of them one after the other, to a sum of their shape, on the device; the
 * second may be NULL. */
enum miniapp_status miniapp_state_add_up(struct miniapp_state *, const char *sum, const char *first,
                                         const char *second);

/* Writes the attributes of the output of steps: `setup_settings`, `itt`, how many steps there were,
 * and `halo`, as in an input. */
enum miniapp_status miniapp_output_steps(struct miniapp_output *, const struct miniapp_settings *,
                                         size_t steps, bool has_ghosts);

/* Writes a snapshot into an output, in the layout of Veros's snapshots: what the next step needs
 * after step number `step`, or instead, where they are not NULL, so many chosen fields or their
 * means. If `input` is NULL, the horizontal coordinates are distances. All processes call it; only
 * the first has an output. */
enum miniapp_status miniapp_output_snapshot(struct miniapp_output *, const struct miniapp_input *,
                                            struct miniapp_state *, const struct miniapp_sequence *,
                                            const struct miniapp_field *const *chosen, size_t count,
                                            bool are_means, size_t step);

/* Sets land, and ghosts that are land, to 0 in what the next step needs, as a snapshot does: so
 * steps from a state and steps from its snapshot end in the same bits. If the state is a part of an
 * ocean, its ghosts are not current afterwards, nor are they after miniapp_snapshot_load. */
enum miniapp_status miniapp_snapshot_settle(struct miniapp_state *,
                                            const struct miniapp_sequence *);

/* The number of the step that a snapshot was written after. */
enum miniapp_status miniapp_snapshot_step(const char *path, size_t *step);

/* Loads the snapshot of that step, or the state's part of it, into a state whose other fields are
 * set. */
enum miniapp_status miniapp_snapshot_load(const char *path, struct miniapp_state *,
                                          const struct miniapp_sequence *, size_t step);

/* Reads what miniapp_output_attribute has added to a snapshot: texts of less than MINIAPP_TEXT
 * bytes, "" for those that are not there. */
enum { MINIAPP_TEXT = 4096 };
enum miniapp_status miniapp_snapshot_texts(const char *path, size_t count, const char *const *names,
                                           char texts[][MINIAPP_TEXT]);

MINIAPP_END

#endif
