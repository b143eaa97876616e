#include "options.h"
#include "owned.h"
#include "printable.h"
#include "provenance.h"
#include "report.h"
#include "shape.h"
#include "status.h"
#include "text.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const format_names[] = {"table", "json", "csv"};
static const char *const transfer_names[] = {"once", "each-call"};
enum { FORMATS = 3, TRANSFERS = 2, FEW = 8, MAX_NAMES = 64 /* and characters of one */ };

/* Ends the reading of words, after a line that says what was expected. */
enum { REPORTED = ECANCELED };
#define refuse(...) (fail(MINIAPP_USAGE, __VA_ARGS__), (error_t)REPORTED)

/* Names the closest one, or all if they are few; kernels and variants are many. */
static void report_unknown(const char *what, const char *word, const char *const *names,
                           size_t count)
{
    char expected[128] = "";
    for (size_t i = 0; i < count && count <= FEW; i++)
        append(expected, sizeof(expected), i + 1 < count ? ", " : " or ", "%s%s",
               i ? "" : "; expected ", names[i]);
    if (count > FEW)
        snprintf(expected, sizeof(expected), "; --list-%ss names all", what);
    unknown(what, word, names, count, expected);
}

/* The word's place among the names; -1, after a line that says what was expected. */
static int find_word(const char *what, const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    report_unknown(what, word, names, count);
    return -1;
}

/* Adds an item to an option's list of at most MAX_REPEATS, unless it is there. */
static error_t add_once(const char *option, void *list, size_t *count, const void *item,
                        size_t bytes)
{
    char *const items = list;
    for (size_t i = 0; i < *count; i++)
        if (memcmp(items + i * bytes, item, bytes) == 0)
            return 0;
    if (*count == MAX_REPEATS)
        return refuse("--%s is given more than %d times", option, MAX_REPEATS);
    memcpy(items + (*count)++ * bytes, item, bytes);
    return 0;
}

/* The factor that a suffix of a number stands for: k, M, G for powers of 1000, Ki, Mi, Gi for
 * powers of 1024. NAN if it is none of these. */
static double factor_of(const char *suffix)
{
    static const char letters[] = "kMG";
    const char *const letter =
        suffix[0] ? strchr(letters, suffix[0] == 'K' ? 'k' : suffix[0]) : NULL;
    if (!suffix[0])
        return 1;
    const bool binary = letter && strcmp(suffix + 1, "i") == 0;
    if (!letter || (suffix[1] && !binary))
        return NAN;
    return pow(binary ? 1024 : 1000, (double)(letter - letters + 1));
}

/* Reads a decimal whole number in [least, most]; 1e6 and 1M are whole numbers, too. */
static error_t parse_count(const char *option, const char *text, double least, double most,
                           size_t *count)
{
    char *end = NULL;
    const size_t digits = strspn(text, "0123456789.eE+");
    const double number = digits > 0 ? strtod(text, &end) : NAN;
    const double value = end == text + digits ? number * factor_of(end) : NAN;
    if (!(value == floor(value) && value >= least && value <= most))
        return refuse("--%s takes a whole number from %g to %g%s%s, not '%s'", option, least, most,
                      most > MAX_THREADS ? ", such as 64Ki or 1.5M" : "",
                      strcmp(option, "size") == 0 ? ", or memory" : "", text);
    *count = (size_t)value;
    return 0;
}

/* M or M:FIELD,... */
static error_t parse_interval(const char *option, const char *text, size_t *interval,
                              const char **names)
{
    char number[32];
    const char *const colon = strchr(text, ':');
    snprintf(number, sizeof(number), "%.*s", (int)strcspn(text, ":"), text);
    *names = colon ? colon + 1 : NULL;
    return parse_count(option, number, 1, 1e9, interval);
}

/* Whether a kernel is one of 'all' or of 'calibration'. */
static bool is_one_of(const char *group, const struct miniapp_sequence *kernel)
{
    const char *const subject = miniapp_sequence_subject(kernel);
    const bool is_calibration = strcmp(subject, "calibration") == 0;
    if (strcmp(group, "calibration") == 0)
        return is_calibration;
    return !is_calibration && !is_chosen_by_name(subject);
}

static error_t choose(struct options *options, const struct miniapp_sequence *kernel)
{
    return add_once("kernel", options->kernels, &options->kernel_count, &kernel, sizeof(void *));
}

static error_t choose_all(struct options *options, const char *group)
{
    error_t error = 0;
    for (size_t i = 0; i < miniapp_kernel_count() && !error; i++) {
        const struct miniapp_sequence *const kernel = miniapp_sequence_at(i);
        if (is_one_of(group, kernel))
            error = choose(options, kernel);
    }
    return error;
}

error_t add_kernel(struct options *options, const char *name)
{
    const char *names[MAX_NAMES] = {"all", "calibration"};
    size_t count = 2;
    const struct miniapp_sequence *kernel;
    if (strcmp(name, "all") == 0 || strcmp(name, "calibration") == 0)
        return choose_all(options, name);
    for (size_t i = 0; i < miniapp_sequence_count() && count < MAX_NAMES; i++)
        names[count++] = miniapp_sequence_name(miniapp_sequence_at(i));
    if (!strpbrk(name, ":+") && find_word("kernel", name, names, count) < 0)
        return REPORTED;
    return miniapp_sequence_find(name, &kernel) ? REPORTED : choose(options, kernel);
}

error_t add_device(struct options *options, const char *name)
{
    static const char *const words[] = {"cpu", "auto", "gpu", "nvidia", "amd", "emulated", "gpu:0"};
    char own[DEVICE_NAME] = "";
    if (!miniapp_device_is_known(name)) {
        report_unknown("device", name, words, sizeof(words) / sizeof(*words));
        return REPORTED;
    }
    snprintf(own, sizeof(own), "%s", name);
    return add_once("device", options->devices, &options->device_count, own, sizeof(own));
}

static error_t add_variant(struct options *options, const char *name)
{
    size_t count;
    const struct miniapp_variant *const variants = miniapp_variants(&count);
    const char *names[MAX_NAMES];
    for (size_t i = 0; i < count && i < MAX_NAMES; i++)
        names[i] = variants[i].name;
    const int place = find_word("variant", name, names, count < MAX_NAMES ? count : MAX_NAMES);
    if (place < 0)
        return REPORTED;
    if (!variants[place].is_built)
        return refuse("this build lacks variant '%s': configure it with -DMINIAPP_VARIANTS=%s%s",
                      name, name, variants[place].is_offload ? " and with offload" : "");
    const struct miniapp_variant *const variant = &variants[place];
    return add_once("variant", options->variants, &options->variant_count, &variant,
                    sizeof(void *));
}

static error_t add_precision(struct options *options, const char *name)
{
    const char *names[MINIAPP_PRECISIONS];
    for (int i = 0; i < MINIAPP_PRECISIONS; i++)
        names[i] = miniapp_precision_name((enum miniapp_precision)i);
    const int place = find_word("precision", name, names, MINIAPP_PRECISIONS);
    const enum miniapp_precision precision = (enum miniapp_precision)place;
    return place < 0 ? REPORTED
                     : add_once("precision", options->precisions, &options->precision_count,
                                &precision, sizeof(precision));
}

static error_t add_grid(struct options *options, const char *option, struct miniapp_grid grid)
{
    return add_once(option, options->shapes, &options->shape_count, &grid, sizeof(grid));
}

static error_t add_shape(struct options *options, const char *option, const char *text,
                         struct miniapp_grid grid)
{
    if (grid.nx < MINIAPP_MIN_CELLS || grid.ny < MINIAPP_MIN_CELLS)
        return refuse("--%s %s makes %zu x %zu x %zu points, too few for %d ghost cells on "
                      "each side",
                      option, text, grid.nx, grid.ny, grid.nz, MINIAPP_HALO);
    if (grid.nx > MINIAPP_MAX_CELLS || grid.ny > MINIAPP_MAX_CELLS || grid.nz > MINIAPP_MAX_CELLS)
        return refuse("--%s %s: an axis has at most %d cells", option, text, MINIAPP_MAX_CELLS);
    return add_grid(options, option, grid);
}

static error_t add_size(struct options *options, const char *text)
{
    size_t points;
    if (strcmp(text, "memory") == 0)
        return add_grid(options, "size", grid_beyond_caches);
    const error_t error = parse_count("size", text, 1, 1e15, &points);
    return error ? error : add_shape(options, "size", text, grid_of_size(points));
}

static error_t add_sweep(struct options *options)
{
    error_t error = 0;
    for (size_t points = 1 << 12; points <= 1 << 22 && !error; points *= 4)
        error = add_shape(options, "size", "by --sweep", grid_of_size(points));
    return error;
}

/* Reads whole numbers with an x between, such as 4x2. */
static bool parse_lengths(const char *text, size_t count, size_t *lengths)
{
    for (size_t i = 0; i < count; i++) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 12 || text[digits] != (i + 1 < count ? 'x' : '\0'))
            return false;
        lengths[i] = (size_t)strtoull(text, NULL, 10);
        text += digits + 1;
    }
    return true;
}

static error_t parse_shape(struct options *options, const char *text)
{
    size_t lengths[3];
    if (!parse_lengths(text, 3, lengths) || lengths[2] == 0)
        return refuse("--shape takes three whole numbers such as 94x44x20, not '%s'", text);
    return add_shape(options, "shape", text,
                     (struct miniapp_grid){lengths[0], lengths[1], lengths[2]});
}

static error_t set_blocks(struct options *options, const char *text)
{
    size_t along[2];
    if (!parse_lengths(text, 2, along) || along[0] < 1 || along[1] < 1 || along[0] > INT16_MAX ||
        along[1] > INT16_MAX)
        return refuse("--decompose takes two whole numbers such as 4x2, not '%s'", text);
    options->method.along_x = (int)along[0];
    options->method.along_y = (int)along[1];
    return 0;
}

static error_t add_threads(struct options *options, const char *text)
{
    size_t threads;
    const error_t error = parse_count("threads", text, 1, MAX_THREADS, &threads);
    return error ? error
                 : add_once("threads", options->threads, &options->thread_count, &threads,
                            sizeof(threads));
}

/* ---- lists ---- */

/* The end of the next item of a comma-separated list. After an item with a ':', one with a '='
 * alone is another binding of the same kernel, as in triad:salt=temp,temp=salt. */
static const char *end_of_item(const char *item)
{
    const char *end = item + strcspn(item, ",");
    while (*end && memchr(item, ':', (size_t)(end - item))) {
        const size_t next = strcspn(end + 1, ",");
        if (!memchr(end + 1, '=', next) || memchr(end + 1, ':', next))
            break;
        end += 1 + next;
    }
    return end;
}

/* Calls `add`, which must not keep a pointer to it, for each item of a comma-separated list. */
static error_t add_each(struct options *options, const char *list,
                        error_t (*add)(struct options *options, const char *item))
{
    error_t error = 0;
    for (const char *item = list, *end; !error; item = end + 1) {
        end = end_of_item(item);
        OWNED char *const copy = strndup(item, (size_t)(end - item));
        error = copy ? add(options, copy) : ENOMEM;
        if (!*end)
            break;
    }
    return error;
}

static error_t set_seconds(struct options *options, const char *text)
{
    char *end;
    const double seconds = strtod(text, &end);
    options->method.seconds = seconds;
    options->is_timed = true;
    if (end == text || *end != '\0' || !(seconds > 0 && seconds <= 1e6))
        return refuse("--seconds takes a number above 0, at most 1e6, not '%s'", text);
    return 0;
}

static error_t set_transfer(struct options *options, const char *name)
{
    const int transfer = find_word("transfer", name, transfer_names, TRANSFERS);
    options->each_call = transfer == 1;
    return transfer < 0 ? REPORTED : 0;
}

static error_t add_setting(struct options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    const double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || *end != '\0')
        return refuse("--set takes NAME=VALUE with a number, not '%s'", text);
    char name[MAX_NAMES] = "";
    snprintf(name, sizeof(name), "%.*s", (int)(equals - text), text);
    const struct miniapp_setting *const setting = miniapp_setting_find(name);
    if (setting && miniapp_setting_check(setting, value, MINIAPP_FLOAT64, "--set", MINIAPP_USAGE))
        return REPORTED;
    if (miniapp_settings_set(options->settings, name, value))
        return REPORTED;
    for (size_t i = 0; i < miniapp_setting_count(); i++)
        options->is_set[i] |= miniapp_setting_at(i) == setting;
    return 0;
}

/* Adds to a text which may be NULL. */
static error_t lengthen(char **text, const char *between, const char *more)
{
    char *const before = *text;
    if (asprintf(text, "%s%s%s", before ? before : "", between, more) < 0) {
        *text = before;
        fail(MINIAPP_DEVICE, "out of memory for options");
        return REPORTED;
    }
    free(before);
    return 0;
}

/* NAME or NAME=DATASET; what the dataset is for is known when all tracers are. */
static error_t add_tracer(struct options *options, const char *text)
{
    char name[MAX_NAMES];
    const size_t length = strcspn(text, "=");
    if (length >= sizeof(name) || (text[length] && !text[length + 1]))
        return refuse("--tracer takes NAME or NAME=DATASET, not '%s'", text);
    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    const error_t error = lengthen(&options->tracers, "+", name);
    if (error || !text[length])
        return error;
    return lengthen(&options->sources, options->sources ? "," : "", text);
}

static error_t set_format(struct options *options, const char *name)
{
    const int format = find_word("format", name, format_names, FORMATS);
    options->format = (enum output_format)format;
    return format < 0 ? REPORTED : 0;
}

static error_t set_path(const char **path, const char *option, const char *text)
{
    if (*path)
        return refuse("--%s is given twice: '%s' and '%s'", option, *path, text);
    *path = text;
    return 0;
}

static error_t set_input(struct options *options, const char *path)
{
    if (options->input)
        return refuse("one input is read, but '%s' follows '%s'", path, options->input);
    options->input = path;
    return 0;
}

static void allow(struct options *options, int what)
{
    options->allow |= what;
    miniapp_input_options_allow(options->reading, what);
}

/* Prints the output of --version. */
static void print_build(void)
{
    static struct provenance provenance;
    provenance_of_build(&provenance);
    print("miniapp %s\n", miniapp_version());
    for (size_t i = 1; i < provenance.count; i++)
        print("%-15s %s\n", provenance.names[i], provenance.texts[i]);
}

/* ---- all words ---- */

/* clang-format off */
enum {
    KEY_VALIDATE = 256, KEY_DECOMPOSE, KEY_OVERLAP, KEY_STEPS, KEY_EVERY, KEY_AVERAGE, KEY_RESTART, KEY_TRACER, KEY_SWEEP, KEY_SHAPE, KEY_SECONDS, KEY_BURNIN, KEY_SEED, KEY_PRECISION,
    KEY_TRANSFER, KEY_ROOFLINE, KEY_CHECKSUMS, KEY_RESUME, KEY_SET, KEY_FORMAT,
    KEY_ALLOW_NONFINITE, KEY_ALLOW_INVALID, KEY_ALLOW_DIVERGENT, KEY_CHECK,
    KEY_LIST_KERNELS, KEY_LIST_DEVICES, KEY_VARIANT, KEY_LIST_VARIANTS,
    KEY_HELP = '?', KEY_VERSION = 'V',
};

static const struct argp_option option_table[] = {
    {"kernel", 'k', "NAME", 0,
     "of --list-kernels, or all (the ocean's but for waves, forcing, momentum and the external mode), or calibration; "
     "with other fields as "
     "NAME:ARGUMENT=FIELD,...; repeatable [all]", 0},
    {"device", 'd', "NAME", 0,
     "cpu, auto, gpu or gpu:N; nvidia, amd and emulated (and :N) are the gpus of that kind; repeatable "
     "[cpu]", 0},
    {"variant", KEY_VARIANT, "NAME", 0,
     "of --list-variants: other OpenMP directives; repeatable, and speedups are over the first "
     "[static on the host, distribute on others]", 0},
    {"output", 'o', "FILE", 0,
     "write the outputs to FILE, as netCDF-4", 0},
    {"validate", KEY_VALIDATE, "FILE", 0,
     "compare the outputs with a reference: a file, or a folder with a file KERNEL.h5 for each kernel", 0},
    {"size", 's', "N", 0,
     "run on about N points, such as 4096 or 1M, in pyhpc-benchmarks' shape, or in memory: on the least such grid "
     "on which a kernel moves four times the bytes of the last cache; repeatable [the file's own grid]", 0},
    {"sweep", KEY_SWEEP, 0, 0, "as --size 4096, 16384, ... 4194304, pyhpc-benchmarks' own", 0},
    {"shape", KEY_SHAPE, "NXxNYxNZ", 0,
     "run on a grid of that shape, ghosts included; repeatable", 0},
    {"decompose", KEY_DECOMPOSE, "PXxPY", 0,
     "cut the ocean into PX by PY blocks, one for each process of MPI [with the least ghosts]", 0},
    {"overlap", KEY_OVERLAP, NULL, 0,
     "exchange ghosts of blocks while kernels that do not read them run", 0},
    {"steps", KEY_STEPS, "N", 0,
     "advance N time steps; the kernel is then ocean if the input has psi or surface_taux, else ocean_step, or "
     "another sequence with time levels", 0},
    {"tracer", KEY_TRACER, "NAME[=DATASET]", 0,
     "with --steps: step another tracer, too, which starts as the input's dataset of that name, or as "
     "DATASET; repeatable", 0},
    {"every", KEY_EVERY, "M[:FIELD,...]", 0,
     "with --steps and --output END.nc: write a snapshot after every M-th step, END.STEP.nc, as Veros "
     "writes them; with fields, of these alone, and END.state.nc, replaced each time but the last, has "
     "what --restart needs", 0},
    {"average", KEY_AVERAGE, "M[:FIELD,...]", 0,
     "with --steps and --output END.nc: write means over M steps each, END.average.STEP.nc, of these fields "
     "[temp, salt, u, v, w, psi, tke and eke, as far as there]", 0},
    {"restart", KEY_RESTART, 0, 0,
     "continue from the newest snapshot of --every that has all fields, if there is one", 0},
    {"repetitions", 'r', "N", 0, "timed calls of each row [as many as --seconds take]", 0},
    {"seconds", KEY_SECONDS, "S", 0, "time for the timed calls of each row [1]", 0},
    {"burnin", KEY_BURNIN, "N", 0, "untimed calls first [1]", 0},
    {"seed", KEY_SEED, "N", 0, "of the random order in which rows take turns [by the clock]", 0},
    {"roofline", KEY_ROOFLINE, 0, 0,
     "measure the ceilings, triad and fma, with each row, and print its share of them", 0},
    {"transfer", KEY_TRANSFER, "NAME", 0,
     "once: time the kernel alone; each-call: also inputs to the device and outputs back [once]",
     0},
    {"threads", 't', "N", 0,
     "host threads; repeatable, for rows on 1,2,4 of them [all that the process may use]", 0},
    {"precision", KEY_PRECISION, "NAME", 0, "float64 or float32; repeatable [float64]", 0},
    {"set", KEY_SET, "NAME=VALUE", 0, "override a setting; repeatable", 0},
    {"format", KEY_FORMAT, "NAME", 0, "table, json, csv [table]", 0},
    {"checksums", KEY_CHECKSUMS, 0, 0, "report a SHA-256 of each output", 0},
    {"resume", KEY_RESUME, "FILE", 0,
     "save results to this JSON file after each size, and skip rows that it has", 0},
    {"verbose", 'v', 0, 0, "print timer overhead and progress", 0},
    {"allow-nonfinite", KEY_ALLOW_NONFINITE, 0, 0, "accept NaN and Inf in the input, in a reference and in outputs", 0},
    {"allow-invalid", KEY_ALLOW_INVALID, 0, 0,
     "accept values outside their valid ranges, such as pyhpc-benchmarks' negative spacings, in the "
     "input and in a reference", 0},
    {"allow-divergent", KEY_ALLOW_DIVERGENT, 0, 0, "advance steps in a divergent flow", 0},
    {"check", KEY_CHECK, 0, 0, "check the input, report all errors, and exit", 0},
    {"list-kernels", KEY_LIST_KERNELS, 0, 0, "print the inputs, outputs and cost of each kernel", 0},
    {"list-devices", KEY_LIST_DEVICES, 0, 0, "print the devices that this build can use here", 0},
    {"list-variants", KEY_LIST_VARIANTS, 0, 0, "print the directives of each variant", 0},
    {"help", KEY_HELP, 0, 0, "print this list", -1},
    {"version", KEY_VERSION, 0, 0, "print version and build options", -1},
    {0},
};

/* clang-format on */

struct parsing {
    struct options *options;
    const char *stopped_at; /* the word that argp could not use */
};

/* getopt has gone past the wrong word, except when a word holds several short options. */
static const char *wrong_word(const struct argp_state *state)
{
    const char *word = state->argv[state->next - 1];
    return word[0] != '-' && state->next < state->argc ? state->argv[state->next] : word;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    static char own_name[] = "miniapp"; /* whatever it was started as */
    struct parsing *parsing = state->input;
    struct options *options = parsing->options;
    switch (key) {
    case 'k': return add_each(options, argument, add_kernel);
    case 'd': return add_each(options, argument, add_device);
    case KEY_VARIANT: return add_each(options, argument, add_variant);
    case 'o': return set_path(&options->output, "output", argument);
    case KEY_VALIDATE: return set_path(&options->reference, "validate", argument);
    case 's': return add_each(options, argument, add_size);
    case 'r': return parse_count("repetitions", argument, 1, 1e9, &options->method.repetitions);
    case KEY_STEPS: return parse_count("steps", argument, 1, 1e9, &options->steps);
    case KEY_EVERY: return parse_interval("every", argument, &options->every, &options->chosen);
    case KEY_AVERAGE:
        return parse_interval("average", argument, &options->average, &options->averaged);
    case KEY_RESTART: options->restart = true; return 0;
    case KEY_TRACER: return add_each(options, argument, add_tracer);
    case KEY_SWEEP: return add_sweep(options);
    case KEY_SHAPE: return add_each(options, argument, parse_shape);
    case KEY_DECOMPOSE: return set_blocks(options, argument);
    case KEY_OVERLAP: options->method.overlaps = true; return 0;
    case KEY_SECONDS: return set_seconds(options, argument);
    case KEY_SEED: return parse_count("seed", argument, 0, 1e15, &options->method.seed);
    case KEY_ROOFLINE: options->roofline = true; return 0;
    case KEY_TRANSFER: return set_transfer(options, argument);
    case KEY_CHECKSUMS: options->checksums = true; return 0;
    case KEY_RESUME: return set_path(&options->resume, "resume", argument);
    case 'v': options->method.verbose = true; return 0;
    case KEY_BURNIN: return parse_count("burnin", argument, 0, 1e9, &options->method.burnin);
    case 't': return add_each(options, argument, add_threads);
    case KEY_PRECISION: return add_each(options, argument, add_precision);
    case KEY_SET: return add_setting(options, argument);
    case KEY_FORMAT: return set_format(options, argument);
    case KEY_ALLOW_NONFINITE: allow(options, MINIAPP_ALLOW_NONFINITE); return 0;
    case KEY_ALLOW_INVALID: allow(options, MINIAPP_ALLOW_INVALID); return 0;
    case KEY_ALLOW_DIVERGENT: options->allow_divergent = true; return 0;
    case KEY_CHECK: options->action = ACTION_CHECK; return 0;
    case KEY_LIST_KERNELS: options->action = ACTION_LIST_KERNELS; return 0;
    case KEY_LIST_DEVICES: options->action = ACTION_LIST_DEVICES; return 0;
    case KEY_LIST_VARIANTS: options->action = ACTION_LIST_VARIANTS; return 0;
    case KEY_HELP:
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, own_name);
        exit(end_of_stdout());
    case KEY_VERSION: print_build(); exit(end_of_stdout());
    case ARGP_KEY_ARG: return set_input(options, argument);
    case ARGP_KEY_ERROR: parsing->stopped_at = wrong_word(state); return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* Reports the word at which argp stopped. */
static enum miniapp_status explain(const char *word)
{
    const char *names[MAX_NAMES];
    size_t count = 0;
    for (const struct argp_option *option = option_table; option->name; option++)
        names[count++] = option->name;
    char name[MAX_NAMES] = "";
    strncpy(name, word + strspn(word, "-"), sizeof(name) - 1);
    name[strcspn(name, "=")] = '\0';
    for (const struct argp_option *option = option_table; option->name; option++) {
        const bool is_short = word[1] != '-' && name[0] == option->key;
        if (!is_short && strcmp(name, option->name) != 0)
            continue;
        if (option->arg)
            return fail(MINIAPP_USAGE, "--%s takes a value: %s", option->name, option->arg);
        return fail(MINIAPP_USAGE, "--%s takes no value", option->name);
    }
    const char *const closest = closest_match(name, names, count);
    if (!closest)
        return fail(MINIAPP_USAGE, "unknown option '%s'; --help lists all", word);
    return fail(MINIAPP_USAGE, "unknown option '%s'; the closest is '--%s'", word, closest);
}

enum miniapp_status read_words(int argc, char **argv, struct options *options)
{
    static const struct argp argp = {
        option_table,
        parse_option,
        "INPUT.h5",
        "Ocean-model kernels on host threads and GPUs: reads a grid from an HDF5 file, runs "
        "kernels on it, validates and times them.\v"
        "Exit status: 0 done; 1 a validation failed, an output is not finite, or steps do not keep "
        "a budget; 2 wrong usage; 3 an input cannot be used; 4 the device cannot be used; "
        "5 an output cannot be written; 129, 130 and 143 a signal ended the run.",
        NULL,
        NULL,
        NULL};
    struct parsing parsing = {options, argv[0]};
    /* argp would print two lines on an error, where we print one; told not to, it does not print
     * its own help either */
    const error_t error =
        argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &parsing);
    return error == REPORTED ? MINIAPP_USAGE : error ? explain(parsing.stopped_at) : MINIAPP_DONE;
}
