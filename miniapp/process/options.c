#include "options.h"
#include "arguments.h"
#include "printable.h"
#include "provenance.h"
#include "ranks.h"
#include "shape.h"
#include "status.h"
#include "suggest.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    {"every", KEY_EVERY, "M", 0,
     "with --steps and --output END.nc: write a snapshot after every M-th step, END.STEP.nc, as Veros "
     "writes them", 0},
    {"average", KEY_AVERAGE, "M[:FIELD,...]", 0,
     "with --steps and --output END.nc: write means over M steps each, END.average.STEP.nc, of these fields "
     "[temp, salt, u, v, w, psi, tke and eke, as far as there]", 0},
    {"restart", KEY_RESTART, 0, 0,
     "continue from the newest snapshot of --every, if there is one", 0},
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
    case 'r': return parse_count("repetitions", argument, 1, 1e9, &options->repetitions);
    case KEY_STEPS: return parse_count("steps", argument, 1, 1e9, &options->steps);
    case KEY_EVERY: return parse_count("every", argument, 1, 1e9, &options->every);
    case KEY_AVERAGE: return set_average(options, argument);
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
    case KEY_LIST_KERNELS: options->action = ACTION_LIST_KERNELS; return 0;
    case KEY_LIST_DEVICES: options->action = ACTION_LIST_DEVICES; return 0;
    case KEY_LIST_VARIANTS: options->action = ACTION_LIST_VARIANTS; return 0;
    case KEY_HELP:
        argp_help(state->root_argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK, own_name);
        exit(end_of_stdout());
    case KEY_VERSION: print_build(stdout); exit(end_of_stdout());
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

static void set_defaults(struct options *options)
{
    options->is_by_input = options->steps && options->kernel_count == 0;
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

enum miniapp_status options_advance(struct options *options, const char *sequence)
{
    const enum miniapp_status status = miniapp_sequence_find(sequence, &options->kernels[0]);
    return status ? status : set_tracers(options);
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
    if (options->average && !(options->steps && options->output))
        return fail(MINIAPP_USAGE, "--average needs --steps and --output");
    if (options->restart && !options->every)
        return fail(MINIAPP_USAGE, "--restart continues from snapshots: give --every, too");
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
        return fail(MINIAPP_USAGE, "--steps advances the state in every call: leave out "
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
    const bool is_of_each_kernel =
        options->kernel_count > 1 && same_grid(&options->shapes[0], &grid_beyond_caches);
    if (options->output &&
        (options->device_count > 1 || options->precision_count > 1 || options->shape_count > 1 ||
         options->thread_count > 1 || options->variant_count > 1 || is_of_each_kernel))
        return fail(MINIAPP_USAGE,
                    "--output holds one run: give one device, variant, precision, size and number "
                    "of threads");
    if (options->variant_count * (options->device_count + options->thread_count) > MAX_REPEATS)
        return fail(MINIAPP_USAGE,
                    "--variant makes more than %d rows of each kernel: give fewer variants, "
                    "devices or numbers of threads",
                    MAX_REPEATS);
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
    return status || (options->action != ACTION_RUN && options->action != ACTION_CHECK)
               ? status
               : check_together(options);
}
