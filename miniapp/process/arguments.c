#include "arguments.h"
#include "listing.h"
#include "ranks.h"
#include "shape.h"
#include "status.h"
#include "suggest.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const format_names[] = {"table", "json", "csv"};
static const char *const transfer_names[] = {"once", "each-call"};
enum { FORMATS = 3, TRANSFERS = 2, FEW = 8 };

/* Names the closest one, or all if they are few; kernels and variants are many. */
static error_t unknown(const char *what, const char *word, const char *const *names, size_t count)
{
    char text[SUGGESTION] = "";
    if (closest_match(word, names, count))
        suggestion(word, names, count, text);
    else if (count <= FEW)
        for (size_t i = 0; i < count; i++)
            append(text, sizeof(text), i + 1 < count ? ", " : " or ", "%s%s",
                   i ? "" : "; expected ", names[i]);
    else
        snprintf(text, sizeof(text), "; --list-%ss names all", what);
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

error_t parse_count(const char *option, const char *text, double least, double most, size_t *count)
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

/* M or M:FIELD,... */
error_t set_average(struct options *options, const char *text)
{
    char number[32];
    const char *const colon = strchr(text, ':');
    snprintf(number, sizeof(number), "%.*s", (int)strcspn(text, ":"), text);
    options->averaged = colon ? colon + 1 : NULL;
    return parse_count("average", number, 1, 1e9, &options->average);
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

/* Chooses all kernels of a group. */
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

error_t add_device(struct options *options, const char *name)
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

error_t add_variant(struct options *options, const char *name)
{
    size_t count;
    const struct miniapp_variant *const variants = miniapp_variants(&count);
    const char *names[MAX_NAMES];
    for (size_t i = 0; i < count && i < MAX_NAMES; i++)
        names[i] = variants[i].name;
    const int place = place_of(name, names, count < MAX_NAMES ? count : MAX_NAMES);
    if (place < 0)
        return unknown("variant", name, names, count < MAX_NAMES ? count : MAX_NAMES);
    if (!variants[place].is_built) {
        fail(MINIAPP_USAGE,
             "this build lacks variant '%s': configure it with -DMINIAPP_VARIANTS=%s%s", name, name,
             variants[place].is_offload ? " and with offload" : "");
        return REPORTED;
    }
    for (size_t i = 0; i < options->variant_count; i++)
        if (options->variants[i] == &variants[place])
            return 0;
    options->variants[options->variant_count++] = &variants[place];
    return 0;
}

error_t add_precision(struct options *options, const char *name)
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

static error_t add_grid(struct options *options, const char *option,
                        const struct miniapp_grid *grid)
{
    if (options->shape_count == MAX_REPEATS)
        return repeated(option);
    for (size_t i = 0; i < options->shape_count; i++)
        if (same_grid(grid, &options->shapes[i]))
            return 0;
    options->shapes[options->shape_count++] = *grid;
    return 0;
}

static error_t add_shape(struct options *options, const char *option, const char *text,
                         const struct miniapp_grid *grid)
{
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
    return add_grid(options, option, grid);
}

error_t add_size(struct options *options, const char *text)
{
    size_t points;
    if (strcmp(text, "memory") == 0)
        return add_grid(options, "size", &grid_beyond_caches);
    const error_t error = parse_count("size", text, 1, 1e15, &points);
    if (error)
        return error;
    const struct miniapp_grid grid = grid_of_size(points);
    return add_shape(options, "size", text, &grid);
}

error_t add_sweep(struct options *options)
{
    error_t error = 0;
    for (size_t points = 1 << 12; points <= 1 << 22 && !error; points *= 4) {
        const struct miniapp_grid grid = grid_of_size(points);
        error = add_shape(options, "size", "by --sweep", &grid);
    }
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

error_t parse_shape(struct options *options, const char *text)
{
    size_t lengths[3];
    if (!parse_lengths(text, 3, lengths) || lengths[2] == 0) {
        fail(MINIAPP_USAGE, "--shape takes three whole numbers such as 94x44x20, not '%s'", text);
        return REPORTED;
    }
    const struct miniapp_grid grid = {lengths[0], lengths[1], lengths[2]};
    return add_shape(options, "shape", text, &grid);
}

error_t set_blocks(struct options *options, const char *text)
{
    size_t along[2];
    if (!parse_lengths(text, 2, along) || along[0] < 1 || along[1] < 1 || along[0] > INT16_MAX ||
        along[1] > INT16_MAX) {
        fail(MINIAPP_USAGE, "--decompose takes two whole numbers such as 4x2, not '%s'", text);
        return REPORTED;
    }
    options->along_x = (int)along[0];
    options->along_y = (int)along[1];
    return 0;
}

error_t add_threads(struct options *options, const char *text)
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

error_t add_each(struct options *options, const char *list,
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

error_t set_seconds(struct options *options, const char *text)
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

error_t set_seed(struct options *options, const char *text)
{
    size_t seed = 0;
    const error_t error = parse_count("seed", text, 0, 1e15, &seed);
    options->seed = seed;
    return error;
}

error_t set_transfer(struct options *options, const char *name)
{
    const int transfer = place_of(name, transfer_names, TRANSFERS);
    if (transfer < 0)
        return unknown("transfer", name, transfer_names, TRANSFERS);
    options->transfer = (enum transfer)transfer;
    return 0;
}

error_t add_setting(struct options *options, const char *text)
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
error_t add_tracer(struct options *options, const char *text)
{
    char name[MAX_NAMES];
    const size_t length = strcspn(text, "=");
    if (length >= sizeof(name) || (text[length] && !text[length + 1])) {
        fail(MINIAPP_USAGE, "--tracer takes NAME or NAME=DATASET, not '%s'", text);
        return REPORTED;
    }
    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    const error_t error = lengthen(&options->tracers, "+", name);
    if (error || !text[length])
        return error;
    return lengthen(&options->sources, options->sources ? "," : "", text);
}

error_t set_format(struct options *options, const char *name)
{
    const int format = place_of(name, format_names, FORMATS);
    if (format < 0)
        return unknown("format", name, format_names, FORMATS);
    options->format = (enum output_format)format;
    return 0;
}

error_t set_path(const char **path, const char *option, const char *text)
{
    if (*path) {
        fail(MINIAPP_USAGE, "--%s is given twice: '%s' and '%s'", option, *path, text);
        return REPORTED;
    }
    *path = text;
    return 0;
}

error_t set_input(struct options *options, const char *path)
{
    if (options->input) {
        fail(MINIAPP_USAGE, "one input is read, but '%s' follows '%s'", path, options->input);
        return REPORTED;
    }
    options->input = path;
    return 0;
}

void allow(struct options *options, int what)
{
    options->allow |= what;
    miniapp_input_options_allow(options->reading, what);
}
