#include "options.h"
#include "owned.h"
#include "ranks.h"
#include "shape.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void set_defaults(struct options *options)
{
    options->is_by_input = options->steps && options->kernel_count == 0;
    if (options->kernel_count == 0)
        add_kernel(options, options->steps ? "ocean_step" : "all");
    if (options->device_count == 0)
        add_device(options, "cpu");
    if (options->shape_count == 0)
        options->shape_count = 1; /* nx = 0, the file's own grid */
    options->method.own_grid = options->shapes[0].nx == 0;
    options->method.advances = options->steps > 0;
    if (options->precision_count == 0)
        options->precision_count = 1; /* float64 */
}

static enum miniapp_status set_tracers(struct options *options)
{
    OWNED char *text = NULL;
    if (!options->tracers)
        return MINIAPP_DONE;
    if (!options->steps || options->kernel_count > 1)
        return fail(MINIAPP_USAGE, "--tracer needs --steps, and at most one kernel");
    if (asprintf(&text, "%s%s", miniapp_sequence_name(options->kernels[0]), options->tracers) < 0)
        return fail(MINIAPP_DEVICE, "out of memory for options");
    return miniapp_sequence_find(text, &options->kernels[0]);
}

int options_most_threads(const struct options *options)
{
    size_t most = 0;
    for (size_t i = 0; i < options->thread_count; i++)
        most = options->threads[i] > most ? options->threads[i] : most;
    return (int)most;
}

enum miniapp_status options_advance(struct options *options, const char *sequence)
{
    TRY(miniapp_sequence_find(sequence, &options->kernels[0]));
    return set_tracers(options);
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
    for (size_t p = 0; p < options->precision_count; p++)
        TRY(miniapp_setting_check(setting, value, options->precisions[p], where, status));
    return MINIAPP_DONE;
}

/* Checks the settings at the end, because --precision may follow --set. */
static enum miniapp_status check_settings(const struct options *options)
{
    for (size_t i = 0; i < miniapp_setting_count(); i++) {
        const struct miniapp_setting *const setting = miniapp_setting_at(i);
        const double value = miniapp_settings_get(options->settings, miniapp_setting_name(setting));
        if (options->is_set[i])
            TRY(options_check_setting(options, setting, value, "--set", MINIAPP_USAGE));
    }
    return MINIAPP_DONE;
}

/* A row that steps in time changes its fields, so it cannot share them with other rows. */
static enum miniapp_status check_steps(const struct options *options)
{
    if (options->every && !(options->steps && options->output))
        return fail(MINIAPP_USAGE, "--every needs --steps and --output");
    if (options->chosen && strlen(options->chosen) >= MINIAPP_TEXT) /* --restart reads the list */
        return fail(MINIAPP_USAGE, "--every: a list of fields takes at most %d characters",
                    MINIAPP_TEXT - 1);
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
    if (options->resume || options->each_call || options->method.repetitions || options->is_timed)
        return fail(MINIAPP_USAGE, "--steps advances the state in every call: leave out "
                                   "--resume, --repetitions, --seconds and --transfer each-call");
    return MINIAPP_DONE;
}

static enum miniapp_status check_together(const struct options *options)
{
    const bool resized = options->shape_count > 1 || !options->method.own_grid;
    const int along_x = options->method.along_x, along_y = options->method.along_y;
    const int blocks = along_x * along_y;
    if (!options->input)
        return fail(MINIAPP_USAGE, "an input file is needed: miniapp [OPTIONS] INPUT.h5");
    if (blocks && blocks != ranks_count())
        return fail(MINIAPP_USAGE, "--decompose %dx%d makes %d blocks, but there %s %d process%s",
                    along_x, along_y, blocks, ranks_count() == 1 ? "is" : "are", ranks_count(),
                    ranks_count() == 1 ? "" : "es");
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
    if (options->roofline && options->each_call)
        return fail(MINIAPP_USAGE,
                    "--roofline measures kernels alone: leave out --transfer each-call");
    if (options->resume && (options->output || options->reference))
        return fail(MINIAPP_USAGE, "--resume keeps times: leave out --output and --validate");
    TRY(check_steps(options));
    return check_settings(options);
}

enum miniapp_status parse_options(int argc, char **argv, struct options *options)
{
    *options = (struct options){.method = {.burnin = 1, .seconds = 1, .seed = (size_t)time(NULL)},
                                .settings = miniapp_settings_create(),
                                .reading = miniapp_input_options_create()};
    TRY(allocated(options->settings && options->reading, "the options"));
    TRY(read_words(argc, argv, options));
    set_defaults(options);
    TRY(set_tracers(options));
    TRY(set_sources(options));
    return options->action == ACTION_RUN || options->action == ACTION_CHECK
               ? check_together(options)
               : MINIAPP_DONE;
}
