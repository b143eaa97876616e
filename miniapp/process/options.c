#include "options.h"
#include "provenance.h"
#include "ranks.h"
#include "shape.h"
#include "status.h"
#include "suggest.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* clang-format off */
enum {
    KEY_VALIDATE = 256, KEY_DECOMPOSE, KEY_OVERLAP, KEY_STEPS, KEY_EVERY, KEY_RESTART, KEY_TRACER, KEY_SWEEP, KEY_SHAPE, KEY_SECONDS, KEY_BURNIN, KEY_SEED, KEY_PRECISION,
    KEY_TRANSFER, KEY_ROOFLINE, KEY_CHECKSUMS, KEY_RESUME, KEY_SET, KEY_FORMAT,
    KEY_ALLOW_NONFINITE, KEY_ALLOW_INVALID, KEY_ALLOW_DIVERGENT, KEY_CHECK,
    KEY_LIST_KERNELS, KEY_LIST_DEVICES, KEY_SHOW,
    KEY_HELP = '?', KEY_VERSION = 'V',
};

static const struct argp_option option_table[] = {
    {"kernel", 'k', "NAME", 0,
     "of --list-kernels, or all (the ocean's), or calibration; with other fields as "
     "NAME:ARGUMENT=FIELD,...; repeatable [all]", 0},
    {"device", 'd', "NAME", 0,
     "cpu, auto, gpu or gpu:N; nvidia, amd and emulated (and :N) are the gpus of that kind; repeatable "
     "[cpu]", 0},
    {"output", 'o', "FILE", 0,
     "write the outputs, as netCDF-4, whatever FILE ends in and --format says", 0},
    {"validate", KEY_VALIDATE, "FILE", 0, "compare the outputs with a reference", 0},
    {"size", 's', "N", 0,
     "run on about N points, such as 4096 or 1M, in pyhpc-benchmarks' shape; repeatable "
     "[the file's own grid]", 0},
    {"sweep", KEY_SWEEP, 0, 0, "as --size 4096, 16384, ... 4194304, pyhpc-benchmarks' own", 0},
    {"shape", KEY_SHAPE, "NXxNYxNZ", 0,
     "run on a grid of that shape, ghosts included; repeatable", 0},
    {"decompose", KEY_DECOMPOSE, "PXxPY", 0,
     "cut the ocean into PX by PY blocks, one for each process of MPI [with the least ghosts]", 0},
    {"overlap", KEY_OVERLAP, NULL, 0,
     "exchange ghosts of blocks while kernels that do not read them run", 0},
    {"steps", KEY_STEPS, "N", 0,
     "make N steps in time, each from what the one before has left; the kernel is ocean_step then, or "
     "another sequence with time levels", 0},
    {"tracer", KEY_TRACER, "NAME[=DATASET]", 0,
     "with --steps: step another tracer, too, which starts as the input's dataset of that name, or as "
     "DATASET; repeatable", 0},
    {"every", KEY_EVERY, "M", 0,
     "with --steps and --output END.nc: write a snapshot after every M-th step, END.STEP.nc, as Veros "
     "writes them", 0},
    {"restart", KEY_RESTART, 0, 0,
     "go on from the newest snapshot of --every, if there is one", 0},
    {"repetitions", 'r', "N", 0, "timed calls of each row [as many as --seconds take]", 0},
    {"seconds", KEY_SECONDS, "S", 0, "time for the timed calls of each row [1]", 0},
    {"burnin", KEY_BURNIN, "N", 0, "untimed calls first [1]", 0},
    {"seed", KEY_SEED, "N", 0, "of the random order in which rows take turns [by the clock]", 0},
    {"roofline", KEY_ROOFLINE, 0, 0,
     "measure the ceilings, triad and fma, beside each row, and say its share of them", 0},
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
     "keep the results in this JSON file, size by size, and skip the rows that it has", 0},
    {"verbose", 'v', 0, 0, "say what the clock costs and what is done", 0},
    {"allow-nonfinite", KEY_ALLOW_NONFINITE, 0, 0, "accept NaN and Inf in the input, in a reference and in outputs", 0},
    {"allow-invalid", KEY_ALLOW_INVALID, 0, 0,
     "accept values outside their valid ranges, such as pyhpc-benchmarks' negative spacings, in the "
     "input and in a reference", 0},
    {"allow-divergent", KEY_ALLOW_DIVERGENT, 0, 0, "make steps in a flow that is not free of divergence", 0},
    {"check", KEY_CHECK, 0, 0, "say all that is wrong with the input, and run nothing", 0},
    {"show", KEY_SHOW, "FILE", 0,
     "print the results in a file of --format json or --resume, as --format says; runs nothing", 0},
    {"list-kernels", KEY_LIST_KERNELS, 0, 0, "say what each kernel reads and writes", 0},
    {"list-devices", KEY_LIST_DEVICES, 0, 0, "say what this build can run on here", 0},
    {"help", KEY_HELP, 0, 0, "give this list", -1},
    {"version", KEY_VERSION, 0, 0, "say what was built, from what and how", -1},
    {0},
};

/* clang-format on */

static const char *const format_names[] = {"table", "json", "csv"};
static const char *const transfer_names[] = {"once", "each-call"};
enum {
    FORMATS = 3,
    TRANSFERS = 2,
    MAX_NAMES = 64,
    FEW = 8,
    REPORTED = ECANCELED /* a line is printed already */
};

/* Names the closest one, or all if they are few; only kernels are many. */
static error_t unknown(const char *what, const char *word, const char *const *names, size_t count)
{
    char text[SUGGESTION] = "; --list-kernels names all";
    if (closest_match(word, names, count))
        suggestion(word, names, count, text);
    else if (count <= FEW)
        for (size_t i = 0, used = 0; i < count; i++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                     i == 0          ? "; expected "
                                     : i + 1 < count ? ", "
                                                     : " or ",
                                     names[i]);
    fail(MINIAPP_USAGE, "unknown %s '%s'%s", what, word, text);
    return REPORTED;
}

static error_t repeated(const char *option)
{
    fail(MINIAPP_USAGE, "--%s is given more than %d times", option, MAX_REPEATS);
    return REPORTED;
}

/* The word's place among the names, or -1. */
static int place_of(const char *word, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return (int)i;
    return -1;
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
    const bool plain = digits > 0;
    const double number = plain ? strtod(text, &end) : NAN;
    const double value = plain && end == text + digits ? number * factor_of(end) : NAN;
    if (!(value == floor(value) && value >= least && value <= most)) {
        fail(MINIAPP_USAGE,
             "--%s takes a whole number from %g to %g (k, M, G, Ki, Mi or Gi may follow), not '%s'",
             option, least, most, text);
        return REPORTED;
    }
    *count = (size_t)value;
    return 0;
}

static bool is_calibration(const struct miniapp_sequence *kernel)
{
    return strcmp(miniapp_sequence_subject(kernel), "calibration") == 0;
}

static bool is_chosen(const struct options *options, const struct miniapp_sequence *kernel)
{
    for (size_t i = 0; i < options->kernel_count; i++)
        if (options->kernels[i] == kernel)
            return true;
    return false;
}

static error_t choose(struct options *options, const struct miniapp_sequence *kernel)
{
    if (is_chosen(options, kernel))
        return 0;
    if (options->kernel_count == MAX_REPEATS)
        return repeated("kernel");
    options->kernels[options->kernel_count++] = kernel;
    return 0;
}

/* Chooses all kernels that measure the machine, or all of the ocean's. */
static error_t choose_all(struct options *options, bool calibration)
{
    error_t error = 0;
    for (size_t i = 0; i < miniapp_kernel_count() && !error; i++) {
        const struct miniapp_sequence *const kernel = miniapp_sequence_at(i);
        if (is_calibration(kernel) == calibration)
            error = choose(options, kernel);
    }
    return error;
}

static error_t add_kernel(struct options *options, const char *name)
{
    const char *names[MAX_NAMES] = {"all", "calibration"};
    size_t count = 2;
    const struct miniapp_sequence *kernel;
    if (strcmp(name, "all") == 0 || strcmp(name, "calibration") == 0)
        return choose_all(options, strcmp(name, "calibration") == 0);
    for (size_t i = 0; i < miniapp_sequence_count() && count < MAX_NAMES; i++)
        names[count++] = miniapp_sequence_name(miniapp_sequence_at(i));
    if (!strpbrk(name, ":+") && place_of(name, names, count) < 0)
        return unknown("kernel", name, names, count);
    return miniapp_sequence_find(name, &kernel) ? REPORTED : choose(options, kernel);
}

/* A device is one of the words; all but cpu and auto may be followed by :N, in decimal digits. */
static bool is_device_name(const char *name, const char *const *words, size_t count)
{
    const size_t length = strcspn(name, ":");
    const char *const digits = name[length] ? name + length + 1 : "0";
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, words[i]) == 0 ||
            (i >= 2 && strlen(words[i]) == length && strncmp(name, words[i], length) == 0))
            return digits[0] && strlen(digits) <= 6 && !digits[strspn(digits, "0123456789")];
    return false;
}

static error_t add_device(struct options *options, const char *name)
{
    static const char *const words[] = {"cpu", "auto", "gpu", "nvidia", "amd", "emulated", "gpu:0"};
    const size_t count = sizeof(words) / sizeof(*words);
    if (!is_device_name(name, words, count))
        return unknown("device", name, words, count);
    for (size_t i = 0; i < options->device_count; i++)
        if (strcmp(name, options->devices[i]) == 0)
            return 0;
    if (options->device_count == MAX_REPEATS)
        return repeated("device");
    snprintf(options->devices[options->device_count++], DEVICE_NAME, "%s", name);
    return 0;
}

static error_t add_precision(struct options *options, const char *name)
{
    const char *names[MINIAPP_PRECISIONS];
    for (int i = 0; i < MINIAPP_PRECISIONS; i++)
        names[i] = miniapp_precision_name((enum miniapp_precision)i);
    const int precision = place_of(name, names, MINIAPP_PRECISIONS);
    if (precision < 0)
        return unknown("precision", name, names, MINIAPP_PRECISIONS);
    for (size_t i = 0; i < options->precision_count; i++)
        if (options->precisions[i] == (enum miniapp_precision)precision)
            return 0;
    options->precisions[options->precision_count++] = (enum miniapp_precision)precision;
    return 0;
}

static error_t add_shape(struct options *options, const char *option, const char *text,
                         const struct miniapp_grid *grid)
{
    if (options->shape_count == MAX_REPEATS)
        return repeated(option);
    if (grid->nx < MINIAPP_MIN_CELLS || grid->ny < MINIAPP_MIN_CELLS) {
        fail(MINIAPP_USAGE,
             "--%s %s makes %zu x %zu x %zu points, too few for %d ghost cells on "
             "each side",
             option, text, grid->nx, grid->ny, grid->nz, MINIAPP_HALO);
        return REPORTED;
    }
    if (grid->nx > MINIAPP_MAX_CELLS || grid->ny > MINIAPP_MAX_CELLS ||
        grid->nz > MINIAPP_MAX_CELLS) {
        fail(MINIAPP_USAGE, "--%s %s: an axis has at most %d cells", option, text,
             MINIAPP_MAX_CELLS);
        return REPORTED;
    }
    for (size_t i = 0; i < options->shape_count; i++)
        if (same_grid(grid, &options->shapes[i]))
            return 0;
    options->shapes[options->shape_count++] = *grid;
    return 0;
}

static error_t add_size(struct options *options, const char *text)
{
    size_t points;
    const error_t error = parse_count("size", text, 1, 1e15, &points);
    if (error)
        return error;
    const struct miniapp_grid grid = grid_of_size(points);
    return add_shape(options, "size", text, &grid);
}

static error_t add_sweep(struct options *options)
{
    error_t error = 0;
    for (size_t points = 1 << 12; points <= 1 << 22 && !error; points *= 4) {
        const struct miniapp_grid grid = grid_of_size(points);
        error = add_shape(options, "size", "by --sweep", &grid);
    }
    return error;
}

/* Three whole numbers with an x between */
static error_t parse_shape(struct options *options, const char *text)
{
    size_t lengths[3] = {0};
    const char *rest = text;
    for (int i = 0; i < 3 && rest; i++) {
        char number[32] = "";
        const size_t digits = strspn(rest, "0123456789");
        memcpy(number, rest, digits < sizeof(number) ? digits : sizeof(number) - 1);
        const bool ends = rest[digits] == (i < 2 ? 'x' : '\0');
        if (digits == 0 || digits > 12 || !ends)
            rest = NULL;
        else
            rest += digits + (i < 2);
        lengths[i] = rest ? (size_t)strtoull(number, NULL, 10) : 0;
    }
    if (!rest || lengths[2] == 0) {
        fail(MINIAPP_USAGE, "--shape takes three whole numbers such as 94x44x20, not '%s'", text);
        return REPORTED;
    }
    const struct miniapp_grid grid = {lengths[0], lengths[1], lengths[2]};
    return add_shape(options, "shape", text, &grid);
}

/* Two whole numbers with an x between */
static error_t set_blocks(struct options *options, const char *text)
{
    char *end = NULL;
    const long along_x = isdigit((unsigned char)text[0]) ? strtol(text, &end, 10) : 0;
    const bool has_two = end && *end == 'x' && isdigit((unsigned char)end[1]);
    const long along_y = has_two ? strtol(end + 1, &end, 10) : 0;
    if (along_x < 1 || along_y < 1 || *end || along_x > INT16_MAX || along_y > INT16_MAX) {
        fail(MINIAPP_USAGE, "--decompose takes two whole numbers such as 4x2, not '%s'", text);
        return REPORTED;
    }
    options->along_x = (int)along_x;
    options->along_y = (int)along_y;
    return 0;
}

static error_t add_threads(struct options *options, const char *text)
{
    size_t threads;
    const error_t error = parse_count("threads", text, 1, MAX_THREADS, &threads);
    if (error)
        return error;
    for (size_t i = 0; i < options->thread_count; i++)
        if (options->threads[i] == threads)
            return 0;
    if (options->thread_count == MAX_REPEATS)
        return repeated("threads");
    options->threads[options->thread_count++] = threads;
    return 0;
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

/* Calls `add`, which must not keep a pointer to it, for each item. */
static error_t add_each(struct options *options, const char *list,
                        error_t (*add)(struct options *options, const char *item))
{
    error_t error = 0;
    for (const char *item = list, *end; !error; item = end + 1) {
        end = end_of_item(item);
        char *const copy = strndup(item, (size_t)(end - item));
        error = copy ? add(options, copy) : ENOMEM;
        free(copy);
        if (!*end)
            break;
    }
    return error;
}

static error_t set_seconds(struct options *options, const char *text)
{
    char *end;
    options->seconds = strtod(text, &end);
    options->is_timed = true;
    if (end == text || *end != '\0' || !(options->seconds > 0 && options->seconds <= 1e6)) {
        fail(MINIAPP_USAGE, "--seconds takes a number above 0, at most 1e6, not '%s'", text);
        return REPORTED;
    }
    return 0;
}

static error_t set_seed(struct options *options, const char *text)
{
    size_t seed = 0;
    const error_t error = parse_count("seed", text, 0, 1e15, &seed);
    options->seed = seed;
    return error;
}

static error_t set_transfer(struct options *options, const char *name)
{
    const int transfer = place_of(name, transfer_names, TRANSFERS);
    if (transfer < 0)
        return unknown("transfer", name, transfer_names, TRANSFERS);
    options->transfer = (enum transfer)transfer;
    return 0;
}

static error_t add_setting(struct options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    char *end = NULL;
    const double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || end == equals + 1 || *end != '\0') {
        fail(MINIAPP_USAGE, "--set takes NAME=VALUE with a number, not '%s'", text);
        return REPORTED;
    }
    char name[MAX_NAMES] = "";
    memcpy(name, text,
           (size_t)(equals - text) < sizeof(name) ? (size_t)(equals - text) : sizeof(name) - 1);
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
static error_t append(char **text, const char *between, const char *more)
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
    if (length >= sizeof(name) || (text[length] && !text[length + 1])) {
        fail(MINIAPP_USAGE, "--tracer takes NAME or NAME=DATASET, not '%s'", text);
        return REPORTED;
    }
    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    const error_t error = append(&options->tracers, "+", name);
    if (error || !text[length])
        return error;
    return append(&options->sources, options->sources ? "," : "", text);
}

static error_t set_format(struct options *options, const char *name)
{
    const int format = place_of(name, format_names, FORMATS);
    if (format < 0)
        return unknown("format", name, format_names, FORMATS);
    options->format = (enum output_format)format;
    return 0;
}

static error_t set_path(const char **path, const char *option, const char *text)
{
    if (*path) {
        fail(MINIAPP_USAGE, "--%s is given twice: '%s' and '%s'", option, *path, text);
        return REPORTED;
    }
    *path = text;
    return 0;
}

static error_t set_input(struct options *options, const char *path)
{
    if (options->input) {
        fail(MINIAPP_USAGE, "one input is read, but '%s' follows '%s'", path, options->input);
        return REPORTED;
    }
    options->input = path;
    return 0;
}

static void allow(struct options *options, int what)
{
    options->allow |= what;
    miniapp_input_options_allow(options->reading, what);
}

/* Ends the program after it printed what was asked for. */
static void leave(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        exit(fail(MINIAPP_OUTPUT, "standard output cannot be written: %s", strerror(errno)));
    exit(MINIAPP_DONE);
}

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
    case 'o': return set_path(&options->output, "output", argument);
    case KEY_VALIDATE: return set_path(&options->reference, "validate", argument);
    case 's': return add_each(options, argument, add_size);
    case 'r': return parse_count("repetitions", argument, 1, 1e9, &options->repetitions);
    case KEY_STEPS: return parse_count("steps", argument, 1, 1e9, &options->steps);
    case KEY_EVERY: return parse_count("every", argument, 1, 1e9, &options->every);
    case KEY_RESTART: options->restart = true; return 0;
    case KEY_TRACER: return add_each(options, argument, add_tracer);
    case KEY_SWEEP: return add_sweep(options);
    case KEY_SHAPE: return add_each(options, argument, parse_shape);
    case KEY_DECOMPOSE: return set_blocks(options, argument);
    case KEY_OVERLAP: options->overlap = true; return 0;
    case KEY_SECONDS: return set_seconds(options, argument);
    case KEY_SEED: return set_seed(options, argument);
    case KEY_ROOFLINE: options->roofline = true; return 0;
    case KEY_TRANSFER: return set_transfer(options, argument);
    case KEY_CHECKSUMS: options->checksums = true; return 0;
    case KEY_RESUME: return set_path(&options->resume, "resume", argument);
    case 'v': options->verbose = true; return 0;
    case KEY_BURNIN: return parse_count("burnin", argument, 0, 1e9, &options->burnin);
    case 't': return add_each(options, argument, add_threads);
    case KEY_PRECISION: return add_each(options, argument, add_precision);
    case KEY_SET: return add_setting(options, argument);
    case KEY_FORMAT: return set_format(options, argument);
    case KEY_ALLOW_NONFINITE: allow(options, MINIAPP_ALLOW_NONFINITE); return 0;
    case KEY_ALLOW_INVALID: allow(options, MINIAPP_ALLOW_INVALID); return 0;
    case KEY_ALLOW_DIVERGENT: options->allow_divergent = true; return 0;
    case KEY_CHECK: options->action = ACTION_CHECK; return 0;
    case KEY_SHOW: options->action = ACTION_SHOW; return set_path(&options->show, "show", argument);
    case KEY_LIST_KERNELS: options->action = ACTION_LIST_KERNELS; return 0;
    case KEY_LIST_DEVICES: options->action = ACTION_LIST_DEVICES; return 0;
    case KEY_HELP:
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, own_name);
        leave();
        break;
    case KEY_VERSION:
        print_build(stdout);
        leave();
        break;
    case ARGP_KEY_ARG: return set_input(options, argument);
    case ARGP_KEY_ERROR: parsing->stopped_at = wrong_word(state); return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

/* What argp found wrong with the word that it stopped at. */
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

static void set_defaults(struct options *options)
{
    if (options->kernel_count == 0)
        add_kernel(options, options->steps ? "ocean_step" : "all");
    if (options->device_count == 0)
        add_device(options, "cpu");
    if (options->shape_count == 0)
        options->shape_count = 1; /* nx = 0, the file's own grid */
    if (options->precision_count == 0)
        options->precision_count = 1; /* float64 */
}

/* Adds the tracers to the sequence that is stepped. */
static enum miniapp_status set_tracers(struct options *options)
{
    char *text = NULL;
    if (!options->tracers)
        return MINIAPP_DONE;
    if (!options->steps || options->kernel_count > 1)
        return fail(MINIAPP_USAGE, "--tracer needs --steps, and at most one kernel");
    if (asprintf(&text, "%s%s", miniapp_sequence_name(options->kernels[0]), options->tracers) < 0)
        return fail(MINIAPP_DEVICE, "out of memory for options");
    const enum miniapp_status status = miniapp_sequence_find(text, &options->kernels[0]);
    free(text);
    return status;
}

/* Lets tracers start as other datasets. The names of these stay in `sources`, cut into words. */
static enum miniapp_status set_sources(struct options *options)
{
    char *rest = options->sources ? strdup(options->sources) : NULL;
    options->source_words = rest;
    for (char *word; (word = strsep(&rest, ","));) {
        const char *const name = strsep(&word, "=");
        miniapp_input_options_start_as(options->reading, miniapp_field_find(name), word);
    }
    return MINIAPP_DONE;
}

enum miniapp_status options_check_setting(const struct options *options,
                                          const struct miniapp_setting *setting, double value,
                                          const char *where, enum miniapp_status status)
{
    enum miniapp_status found = MINIAPP_DONE;
    for (size_t p = 0; p < options->precision_count && !found; p++)
        found = miniapp_setting_check(setting, value, options->precisions[p], where, status);
    return found;
}

/* Checks the settings at the end, because --precision may follow --set. */
static enum miniapp_status check_settings(const struct options *options)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < miniapp_setting_count() && !status; i++) {
        const struct miniapp_setting *const setting = miniapp_setting_at(i);
        const double value = miniapp_settings_get(options->settings, miniapp_setting_name(setting));
        if (options->is_set[i])
            status = options_check_setting(options, setting, value, "--set", MINIAPP_USAGE);
    }
    return status;
}

/* A row that steps in time changes its fields, so it cannot share them with other rows. */
static enum miniapp_status check_steps(const struct options *options)
{
    if (options->every && !(options->steps && options->output))
        return fail(MINIAPP_USAGE, "--every needs --steps and --output");
    if (options->restart && !options->every)
        return fail(MINIAPP_USAGE, "--restart goes on from snapshots: give --every, too");
    if (!options->steps)
        return MINIAPP_DONE;
    if (options->kernel_count > 1 || options->thread_count > 1)
        return fail(MINIAPP_USAGE, "--steps takes one kernel and one number of threads");
    if (strchr(miniapp_sequence_name(options->kernels[0]), ':')) /* its levels are not bound */
        return fail(MINIAPP_USAGE, "--steps needs a sequence without bindings, not '%s'",
                    miniapp_sequence_name(options->kernels[0]));
    if (miniapp_sequence_level_count(options->kernels[0]) == 0)
        return fail(MINIAPP_USAGE,
                    "--steps needs a sequence with time levels, such as ocean_step; '%s' has none",
                    miniapp_sequence_name(options->kernels[0]));
    if (options->resume || options->transfer == TRANSFER_EACH_CALL || options->repetitions ||
        options->is_timed)
        return fail(MINIAPP_USAGE, "--steps goes on from what the step before has left: leave out "
                                   "--resume, --repetitions, --seconds and --transfer each-call");
    return MINIAPP_DONE;
}

/* Checks what concerns several options. */
static enum miniapp_status check_together(const struct options *options)
{
    const bool resized = options->shape_count > 1 || options->shapes[0].nx != 0;
    const int blocks = options->along_x * options->along_y;
    if (!options->input)
        return fail(MINIAPP_USAGE, "an input file is needed: miniapp [OPTIONS] INPUT.h5");
    if (blocks && blocks != ranks_count())
        return fail(MINIAPP_USAGE, "--decompose %dx%d makes %d blocks, but there %s %d process%s",
                    options->along_x, options->along_y, blocks, ranks_count() == 1 ? "is" : "are",
                    ranks_count(), ranks_count() == 1 ? "" : "es");
    if (options->action == ACTION_CHECK &&
        (options->output || options->reference || options->resume))
        return fail(
            MINIAPP_USAGE,
            "--check looks at the input alone: leave out --output, --validate and --resume");
    if (options->reference && resized)
        return fail(
            MINIAPP_USAGE,
            "--validate compares on the file's own grid: leave out --size, --shape and --sweep");
    if (options->output && (options->device_count > 1 || options->precision_count > 1 ||
                            options->shape_count > 1 || options->thread_count > 1))
        return fail(MINIAPP_USAGE,
                    "--output holds one run: give one device, precision, size and number of "
                    "threads");
    if (options->roofline && options->transfer == TRANSFER_EACH_CALL)
        return fail(MINIAPP_USAGE,
                    "--roofline measures kernels alone: leave out --transfer each-call");
    if (options->resume && (options->output || options->reference))
        return fail(MINIAPP_USAGE, "--resume keeps times: leave out --output and --validate");
    const enum miniapp_status status = check_steps(options);
    return status ? status : check_settings(options);
}

enum miniapp_status parse_options(int argc, char **argv, struct options *options)
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
    *options = (struct options){.burnin = 1,
                                .seconds = 1,
                                .seed = (uint64_t)time(NULL),
                                .settings = miniapp_settings_create(),
                                .reading = miniapp_input_options_create()};
    if (!options->settings || !options->reading)
        return fail(MINIAPP_DEVICE, "out of memory for the options");
    /* argp would print two lines on an error, where we print one; told not to, it does not print
     * its own help either */
    const error_t error =
        argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &parsing);
    if (error == REPORTED)
        return MINIAPP_USAGE;
    if (error)
        return explain(parsing.stopped_at);
    set_defaults(options);
    enum miniapp_status status = set_tracers(options);
    if (!status)
        status = set_sources(options);
    if (!status && options->action == ACTION_SHOW && options->input)
        status = fail(MINIAPP_USAGE, "--show takes one file: leave out '%s'", options->input);
    return status || (options->action != ACTION_RUN && options->action != ACTION_CHECK)
               ? status
               : check_together(options);
}
