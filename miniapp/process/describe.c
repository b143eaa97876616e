#include "clock.h"
#include "ranks.h"
#include "run.h"
#include "status.h"
#include "text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what the input lacks ---- */

static void add_absent(const struct run *run, const struct miniapp_field *field,
                       char text[PROVENANCE_TEXT])
{
    double factor;
    char close[64], named[128] = "", instead[128] = "0";
    const struct miniapp_field *const other = miniapp_field_stand_in(field, &factor);
    const char *const name = miniapp_field_name(field);
    if (miniapp_input_closest(run->input, field, close, sizeof(close)))
        snprintf(named, sizeof(named), "; the closest is '%s'", close);
    const bool is_made = run->options.steps && miniapp_input_facts(run->input).has_velocities;
    if (strcmp(name, "w") == 0 && is_made)
        strcpy(instead, "by continuity from u and v");
    else if (strcmp(name, "psi") == 0 && is_made &&
             miniapp_settings_get(run->options.settings, "enable_streamfunction") != 0)
        strcpy(instead, "from u");
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
        if (miniapp_is_real(miniapp_field_type(field)) && run_reads(&run->options, field) &&
            !miniapp_input_has(run->input, field))
            add_absent(run, field, text);
    }
    if (run->by_spacing[0])
        append(text, PROVENANCE_TEXT, ", ", "%s", run->by_spacing);
    return text;
}

/* ---- settings, threads, devices ---- */

static void describe_settings(struct provenance *provenance,
                              const struct miniapp_settings *settings)
{
    for (size_t i = 0; i < miniapp_setting_count(); i++) {
        const char *const name = miniapp_setting_name(miniapp_setting_at(i));
        char value[EXACT_TEXT];
        provenance_append(provenance, "settings", " ", "%s=%s", name,
                          exact_text(miniapp_settings_get(settings, name), value));
    }
}

static void add_environment(struct provenance *provenance, const char *item,
                            const char *const *asked)
{
    for (; *asked; asked++)
        if (getenv(*asked))
            provenance_append(provenance, item, "; ", "%s=%s", *asked, getenv(*asked));
}

/* How many threads there are; how the OpenMP runtime binds them to CPUs, and what it was asked for;
 * and the environment's part in directives that leave something open. */
static void describe_threads(struct provenance *provenance, const struct options *options)
{
    static const char *const of_binding[] = {"OMP_PROC_BIND", "OMP_PLACES", NULL};
    static const char *const others[] = {"OMP_SCHEDULE", "OMP_NUM_TEAMS", "OMP_TEAMS_THREAD_LIMIT",
                                         NULL};
    if (options->thread_count == 0)
        provenance_append(provenance, "threads", "", "%d", miniapp_host_threads());
    for (size_t i = 0; i < options->thread_count; i++)
        provenance_append(provenance, "threads", ", ", "%zu", options->threads[i]);
    miniapp_host_binding(provenance_item(provenance, "binding"));
    add_environment(provenance, "binding", of_binding);
    add_environment(provenance, "openmp", others);
}

/* Where and when the run is, and of what. */
static void describe_origin(struct provenance *provenance, const struct run *run)
{
    char processor[MINIAPP_PROCESSOR];
    const char *const input = run->options.input;
    const time_t now = time(NULL);
    gethostname(provenance_item(provenance, "host"), PROVENANCE_TEXT - 1);
    provenance_add(provenance, "cpu", miniapp_host_processor(processor));
    provenance_add(provenance, "input", input);
    if (!run->input_sha256[0])
        warn("%s: cannot be read any more: the results carry no SHA-256 of it", input);
    provenance_add(provenance, "input_sha256", run->input_sha256);
    provenance_add(provenance, "command_line", run->command_line);
    strftime(provenance_item(provenance, "time"), PROVENANCE_TEXT, "%Y-%m-%dT%H:%M:%SZ",
             gmtime(&now));
}

static void describe_processes(struct provenance *provenance, const struct options *options)
{
    char library[RANKS_TEXT];
    if (ranks_count() == 1)
        return;
    provenance_append(provenance, "processes", "", "%d", ranks_count());
    if (options->method.overlaps)
        provenance_add(provenance, "overlap", "ghosts are under way while kernels run");
    provenance_append(provenance, "mpi", "", "%s; %d of the processes on this node; %s",
                      ranks_library(library), ranks_on_node(),
                      ranks_gpu_aware() ? "it sends from a GPU's memory"
                                        : "a GPU's messages go by the host");
}

/* A device is there once for each variant: "cpu: static; cpu: dynamic". */
static void describe_variants(struct provenance *provenance, const struct run *run)
{
    for (size_t i = 0; i < run->device_count && run->options.variant_count; i++)
        provenance_append(provenance, "variant", "; ", "%s: %s",
                          miniapp_device_label(run->devices[i]),
                          miniapp_device_variant(run->devices[i]));
}

/* Names each device, and its cache where that is known: "gpu:0: L2 51200 KiB". */
static void describe_devices(struct provenance *provenance, const struct run *run)
{
    for (size_t i = 0; i < run->device_count; i++) {
        const struct miniapp_device *const device = run->devices[i];
        const char *const label = miniapp_device_label(device);
        const double cache = miniapp_device_cache(device);
        if (i > 0 && strcmp(label, miniapp_device_label(run->devices[i - 1])) == 0)
            continue;
        provenance_append(provenance, "device", "; ", "%s: %s", label, miniapp_device_name(device));
        if (cache > 0)
            provenance_append(provenance, "device_caches", "; ", "%s: L2 %.0f KiB", label,
                              cache / 1024);
    }
}

static struct clock_quality clock_measure(void)
{
    enum { READINGS = 10000 };
    struct clock_quality quality = {0, INFINITY};
    const double start = seconds_now();
    double before = start;
    for (int i = 0; i < READINGS; i++) {
        const double now = seconds_now();
        if (now > before)
            quality.resolution = fmin(quality.resolution, now - before);
        before = now;
    }
    quality.cost = (before - start) / READINGS;
    return quality;
}

void describe_run(struct run *run)
{
    struct provenance *provenance = &run->results.provenance;
    char absent[PROVENANCE_TEXT];
    run->results.reference = run->options.reference;
    run->results.seed = run->options.method.seed;
    run->results.settings = run->options.settings;
    run->results.threads = run->options.threads;
    run->results.thread_count = run->options.thread_count;
    run->results.clock = clock_measure();
    if (run->options.method.verbose)
        fprintf(stderr, "miniapp: a reading of the clock costs %.3g ns, it resolves %.3g ns\n",
                1e9 * run->results.clock.cost, 1e9 * run->results.clock.resolution);
    provenance_of_build(provenance);
    describe_origin(provenance, run);
    topology_add(provenance, &run->results.caches);
    describe_processes(provenance, &run->options);
    describe_threads(provenance, &run->options);
    describe_variants(provenance, run);
    if (run->options.sources)
        provenance_add(provenance, "tracers_start_as", run->options.sources);
    provenance_add(provenance, "grid", miniapp_input_facts(run->input).text);
    if (absent_text(run, absent)[0])
        provenance_add(provenance, "absent", absent);
    describe_devices(provenance, run);
    if (run->options.every) { /* for --restart */
        provenance_add(provenance, "sequence", miniapp_sequence_name(run->options.kernels[0]));
        provenance_add(provenance, "precision", miniapp_precision_name(run->options.precisions[0]));
    }
    describe_settings(provenance, run->options.settings);
}
