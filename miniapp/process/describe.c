#include "clock.h"
#include "ranks.h"
#include "run.h"
#include "status.h"
#include "text.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what the input lacks ---- */

static bool is_absent(const struct run *run, const char *name)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    return run_reads(&run->options, field) && !miniapp_input_has(run->input, field);
}

static void add_absent(const struct run *run, const struct miniapp_field *field,
                       char text[PROVENANCE_TEXT])
{
    double factor;
    char close[64], named[128] = "", instead[128] = "0";
    const struct miniapp_field *const other = miniapp_field_stand_in(field, &factor);
    const char *const name = miniapp_field_name(field);
    if (miniapp_input_closest(run->input, field, close, sizeof(close)))
        snprintf(named, sizeof(named), "; the closest is '%s'", close);
    if (strcmp(name, "w") == 0 && run->options.steps && miniapp_input_facts(run->input).makes_w)
        strcpy(instead, "by continuity from u and v");
    else if (!other && (strcmp(name, "u") == 0 || strcmp(name, "v") == 0))
        strcpy(instead, "from rest");
    else if (other && factor == 1)
        snprintf(instead, sizeof(instead), "%s", miniapp_field_name(other));
    else if (other)
        snprintf(instead, sizeof(instead), "%s times %g", miniapp_field_name(other), factor);
    append(text, PROVENANCE_TEXT, ", ", "%s (%s%s)", name, instead, named);
}

const char *absent_text(const struct run *run, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < miniapp_field_count(); i++) {
        const struct miniapp_field *const field = miniapp_field_at(i);
        if (miniapp_is_real(miniapp_field_type(field)) && is_absent(run, miniapp_field_name(field)))
            add_absent(run, field, text);
    }
    if (run->by_spacing[0])
        append(text, PROVENANCE_TEXT, ", ", "%s", run->by_spacing);
    return text;
}

/* ---- settings, threads, devices ---- */

/* With the fewest digits that give the same number again. */
static const char *exact_text(double value, char text[32])
{
    for (int digits = 15; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

/* NAME=VALUE of all settings, as --set takes them. */
static const char *settings_text(const struct miniapp_settings *settings,
                                 char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < miniapp_setting_count(); i++) {
        const char *const name = miniapp_setting_name(miniapp_setting_at(i));
        char value[32];
        append(text, PROVENANCE_TEXT, " ", "%s=%s", name,
               exact_text(miniapp_settings_get(settings, name), value));
    }
    return text;
}

/* "1, 2, 4" */
static const char *threads_text(const struct options *options, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    if (options->thread_count == 0)
        append(text, PROVENANCE_TEXT, "", "%d", miniapp_host_threads());
    for (size_t i = 0; i < options->thread_count; i++)
        append(text, PROVENANCE_TEXT, ", ", "%zu", options->threads[i]);
    return text;
}

static const char *add_environment(const char *const *asked, char text[PROVENANCE_TEXT])
{
    for (; *asked; asked++)
        if (getenv(*asked))
            append(text, PROVENANCE_TEXT, "; ", "%s=%s", *asked, getenv(*asked));
    return text;
}

/* How the OpenMP runtime binds threads to CPUs, and what it was asked for. */
static const char *binding_text(char text[PROVENANCE_TEXT])
{
    static const char *const asked[] = {"OMP_PROC_BIND", "OMP_PLACES", NULL};
    char bound[MINIAPP_BINDING];
    snprintf(text, PROVENANCE_TEXT, "%s", miniapp_host_binding(bound));
    return add_environment(asked, text);
}

/* The environment's part in directives that leave something open. */
static const char *environment_text(char text[PROVENANCE_TEXT])
{
    static const char *const asked[] = {"OMP_SCHEDULE", "OMP_NUM_TEAMS", "OMP_TEAMS_THREAD_LIMIT",
                                        NULL};
    text[0] = '\0';
    return add_environment(asked, text);
}

/* "cpu: static; cpu: dynamic" */
static const char *variants_text(const struct run *run, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < run->device_count; i++)
        append(text, PROVENANCE_TEXT, "; ", "%s: %s", miniapp_device_label(run->devices[i]),
               miniapp_device_variant(run->devices[i]));
    return text;
}

/* Where and when the run is, and of what. */
static void describe_origin(struct provenance *provenance, const struct run *run)
{
    char text[PROVENANCE_TEXT] = "", processor[MINIAPP_PROCESSOR];
    const char *const input = run->options.input;
    const time_t now = time(NULL);
    gethostname(text, sizeof(text) - 1);
    provenance_add(provenance, "host", text);
    provenance_add(provenance, "cpu", miniapp_host_processor(processor));
    provenance_add(provenance, "input", input);
    if (!run->input_sha256[0])
        warn("%s: cannot be read any more: the results carry no SHA-256 of it", input);
    provenance_add(provenance, "input_sha256", run->input_sha256);
    provenance_add(provenance, "command_line", run->command_line);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    provenance_add(provenance, "time", text);
}

static void describe_processes(struct provenance *provenance, const struct options *options)
{
    char text[PROVENANCE_TEXT], library[RANKS_TEXT];
    if (ranks_count() == 1)
        return;
    snprintf(text, sizeof(text), "%d", ranks_count());
    provenance_add(provenance, "processes", text);
    if (options->overlap)
        provenance_add(provenance, "overlap", "ghosts are under way while kernels run");
    snprintf(text, sizeof(text), "%s; %d of the processes on this node; %s", ranks_library(library),
             ranks_on_node(),
             ranks_gpu_aware() ? "it sends from a GPU's memory"
                               : "a GPU's messages go by the host");
    provenance_add(provenance, "mpi", text);
}

/* A device is there once for each variant. */
static bool is_same_device(const struct miniapp_device *one, const struct miniapp_device *other)
{
    return strcmp(miniapp_device_label(one), miniapp_device_label(other)) == 0;
}

/* "gpu:0: L2 51200 KiB"; "" where no device says. */
static const char *caches_of_devices(const struct run *run, char text[PROVENANCE_TEXT])
{
    text[0] = '\0';
    for (size_t i = 0; i < run->device_count; i++) {
        const double bytes = miniapp_device_cache(run->devices[i]);
        if (bytes > 0 && (i == 0 || !is_same_device(run->devices[i], run->devices[i - 1])))
            append(text, PROVENANCE_TEXT, "; ", "%s: L2 %.0f KiB",
                   miniapp_device_label(run->devices[i]), bytes / 1024);
    }
    return text;
}

void describe_run(struct run *run)
{
    struct provenance *provenance = &run->results.provenance;
    char devices[PROVENANCE_TEXT] = "", text[PROVENANCE_TEXT];
    for (size_t i = 0; i < run->device_count; i++)
        if (i == 0 || !is_same_device(run->devices[i], run->devices[i - 1]))
            append(devices, sizeof(devices), "; ", "%s: %s", miniapp_device_label(run->devices[i]),
                   miniapp_device_name(run->devices[i]));
    run->results.input = run->options.input;
    run->results.reference = run->options.reference;
    run->results.seed = run->options.seed;
    run->results.settings = run->options.settings;
    run->results.threads = run->options.threads;
    run->results.thread_count = run->options.thread_count;
    run->results.clock = clock_measure();
    if (run->options.verbose)
        fprintf(stderr, "miniapp: a reading of the clock costs %.3g ns, it resolves %.3g ns\n",
                1e9 * run->results.clock.cost, 1e9 * run->results.clock.resolution);
    provenance_of_build(provenance);
    describe_origin(provenance, run);
    topology_add(provenance, &run->results.caches);
    describe_processes(provenance, &run->options);
    provenance_add(provenance, "threads", threads_text(&run->options, text));
    provenance_add(provenance, "binding", binding_text(text));
    if (environment_text(text)[0])
        provenance_add(provenance, "openmp", text);
    if (run->options.variant_count)
        provenance_add(provenance, "variant", variants_text(run, text));
    if (run->options.sources)
        provenance_add(provenance, "tracers_start_as", run->options.sources);
    provenance_add(provenance, "grid", miniapp_input_facts(run->input).text);
    if (absent_text(run, text)[0])
        provenance_add(provenance, "absent", text);
    provenance_add(provenance, "device", devices);
    if (caches_of_devices(run, text)[0])
        provenance_add(provenance, "device_caches", text);
    if (run->options.every) { /* for --restart */
        provenance_add(provenance, "sequence", miniapp_sequence_name(run->options.kernels[0]));
        provenance_add(provenance, "precision", miniapp_precision_name(run->options.precisions[0]));
    }
    provenance_add(provenance, "settings", settings_text(run->options.settings, text));
}
