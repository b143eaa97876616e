#include "run.h"
#include "clock.h"
#include "owned.h"
#include "printable.h"
#include "ranks.h"
#include "status.h"
#include "stop.h"

#include <stdlib.h>
#include <string.h>

/* ---- before ---- */

static bool is_open(const struct run *run, const struct miniapp_device *device)
{
    for (size_t i = 0; i < run->device_count; i++)
        if (strcmp(miniapp_device_label(run->devices[i]), miniapp_device_label(device)) == 0)
            return true;
    return false;
}

/* The processes of a node take its GPUs in turn: for them "gpu" is gpu:0, gpu:1, ... */
static void device_for_this_rank(const char *name, char own[DEVICE_NAME])
{
    char text[PROVENANCE_TEXT];
    int count = 0;
    snprintf(own, DEVICE_NAME, "%s", name);
    if (ranks_on_node() == 1 || strcmp(name, "cpu") == 0 || strchr(name, ':'))
        return;
    while (miniapp_device_describe(count, text, sizeof(text)))
        count++;
    if (count == 0) /* opening it says why */
        return;
    if (ranks_on_node() > count)
        warn("%d processes of a node share %d device%s", ranks_on_node(), count,
             count == 1 ? "" : "s");
    snprintf(own, DEVICE_NAME, "%.10s:%d", strcmp(name, "auto") == 0 ? "gpu" : name,
             ranks_local() % count);
}

static bool suits(const struct miniapp_variant *variant, const struct miniapp_device *device)
{
    return variant->is_offload == (strcmp(miniapp_device_kind(device), "host") != 0);
}

/* Opens a device for each variant that suits it; with its default directives if there is none. */
static enum miniapp_status add_device_of(struct run *run, struct miniapp_device *device)
{
    const struct options *const options = &run->options;
    const size_t before = run->device_count;
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t v = 0; v < options->variant_count && !status; v++)
        if (suits(options->variants[v], device)) {
            struct miniapp_device **const place = &run->devices[run->device_count];
            status = miniapp_device_vary(device, options->variants[v], place);
            run->device_count += !status;
        }
    if (!status && run->device_count == before)
        run->devices[run->device_count++] = device;
    else
        miniapp_device_close(device);
    return status;
}

static enum miniapp_status check_variants(const struct run *run)
{
    const struct options *const options = &run->options;
    for (size_t v = 0; v < options->variant_count; v++) {
        bool is_used = false;
        for (size_t d = 0; d < run->device_count && !is_used; d++)
            is_used = suits(options->variants[v], run->devices[d]);
        if (!is_used)
            return fail(MINIAPP_USAGE, "variant '%s' is for %s, but no --device is one",
                        options->variants[v]->name,
                        options->variants[v]->is_offload ? "offload devices" : "the host");
    }
    return MINIAPP_DONE;
}

/* Opens each device once, whatever it is called, in each of its variants. */
static enum miniapp_status open_devices(struct run *run)
{
    const struct options *options = &run->options;
    for (size_t i = 0; i < options->device_count; i++) {
        struct miniapp_device *device;
        char name[DEVICE_NAME];
        device_for_this_rank(options->devices[i], name);
        TRY(miniapp_device_open(name, &device));
        if (is_open(run, device)) {
            warn("device '%s' is '%s', which is given already: it runs once", options->devices[i],
                 miniapp_device_label(device));
            miniapp_device_close(device);
        } else {
            TRY(add_device_of(run, device));
        }
    }
    return check_variants(run);
}

/* On a GPU, the host's threads have little to do. */
static bool has_host(const struct run *run)
{
    for (size_t i = 0; i < run->device_count; i++)
        if (strcmp(miniapp_device_kind(run->devices[i]), "host") == 0)
            return true;
    return false;
}

bool run_reads(const struct options *options, const struct miniapp_field *field)
{
    for (size_t i = 0; i < options->kernel_count; i++)
        if (miniapp_sequence_reads(options->kernels[i], field))
            return true;
    return options->roofline && (miniapp_sequence_reads(ceiling_of_bytes(), field) ||
                                 miniapp_sequence_reads(ceiling_of_flops(), field));
}

/* Steps are those of the whole ocean where the input has a flow that is driven. */
static enum miniapp_status choose_sequence(struct options *options)
{
    static const char *const names[] = {"psi", "surface_taux"};
    bool has_any = false;
    if (options->is_by_input)
        TRY(miniapp_file_has_any(options->input, names, 2, &has_any));
    return has_any ? options_advance(options, "ocean") : MINIAPP_DONE;
}

static enum miniapp_status open_input(struct run *run)
{
    const struct options *options = &run->options;
    TRY(choose_sequence(&run->options));
    OWNED const struct miniapp_field **const wanted =
        malloc(miniapp_field_count() * sizeof(*wanted));
    size_t count = 0;
    TRY(allocated(wanted, "a list of fields"));
    miniapp_input_options_share(options->reading, ranks_own(), ranks_count());
    for (size_t i = 0; i < miniapp_field_count(); i++)
        if (run_reads(options, miniapp_field_at(i)))
            wanted[count++] = miniapp_field_at(i);
    TRY(miniapp_input_open(options->input, wanted, count, options->reading, &run->input));
    return miniapp_input_check(run->input);
}

/* Finds the most of each that a process has in its part. The reader warns of land where there is
 * only one. */
static enum miniapp_status agree_on_water(struct run *run)
{
    struct miniapp_water *const water = &run->water;
    *water = *miniapp_input_water(run->input);
    double most[] = {water->cells,  water->beyond,  water->per_length,
                     water->widest, water->turning, water->per_cosine};
    TRY(agree_on(MINIAPP_DONE, most, 6));
    *water = (struct miniapp_water){most[0], most[1], most[2],        most[3],
                                    most[4], most[5], water->highest, water->per_height};
    if (water->cells == 0 && !(run->options.allow & MINIAPP_ALLOW_INVALID) && ranks_own() == 0 &&
        ranks_count() > 1)
        warn("%s: all of the ocean is land", run->options.input);
    return MINIAPP_DONE;
}

/* ---- which rows ---- */

/* The rows of a kernel on all devices and numbers of threads, which are compared with each
 * other. */
enum { MOST_COMPARED = 2 * MAX_REPEATS };

static size_t list_compared(const struct run *run, const struct row *like,
                            struct row rows[MOST_COMPARED])
{
    const struct options *options = &run->options;
    size_t count = 0;
    for (size_t d = 0; d < run->device_count; d++) {
        const bool is_host = strcmp(miniapp_device_kind(run->devices[d]), "host") == 0;
        const size_t times = is_host && options->thread_count ? options->thread_count : 1;
        for (size_t t = 0; t < times && count < MOST_COMPARED; t++) {
            rows[count] = *like;
            rows[count].device = run->devices[d];
            rows[count].threads = !is_host                ? 0
                                  : options->thread_count ? (int)options->threads[t]
                                                          : miniapp_host_threads();
            count++;
        }
    }
    return count;
}

static enum miniapp_status report_missing(const struct run *run, const struct result *row,
                                          const char *option, const char *what)
{
    return fail(MINIAPP_INPUT,
                "%s: cannot be resumed with %s: it has '%s' on %zu x %zu x %zu points without %s; "
                "give another file",
                run->options.resume, option, row->kernel, row->grid.nx, row->grid.ny, row->grid.nz,
                what);
}

/* Whether a resumed run has a row. The ceiling of another row is measured again, with ceilings of
 * its own, if it becomes a row itself. */
static bool has_row(const struct run *run, const struct row *row, const struct result *wanted)
{
    const bool measures_ceilings =
        row->sequence == ceiling_of_bytes() || row->sequence == ceiling_of_flops();
    return resume_has(&run->results, wanted, run->options.roofline && measures_ceilings);
}

/* Whether a resumed run has all of these rows; fails if it has only some of them. */
static enum miniapp_status has_rows(const struct run *run, const struct row *rows, size_t count,
                                    bool *has)
{
    const struct options *options = &run->options;
    const struct row *lacking = NULL;
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct result wanted = result_like(&rows[i]);
        if (!has_row(run, &rows[i], &wanted))
            lacking = &rows[i];
        else if (options->roofline && !resume_has(&run->results, &wanted, true))
            return report_missing(run, &wanted, "--roofline", "ceilings");
        else if (options->checksums && !resume_has_checksums(&run->results, &wanted))
            return report_missing(run, &wanted, "--checksums", "checksums");
        else
            found++;
    }
    *has = found == count;
    if (found == 0 || *has)
        return MINIAPP_DONE;
    const struct result wanted = result_like(lacking);
    return fail(
        MINIAPP_INPUT,
        "%s: cannot be resumed: it has some rows of '%s' on %zu x %zu x %zu points, but not "
        "that on '%s' with variant '%s'; give another file",
        options->resume, wanted.kernel, wanted.grid.nx, wanted.grid.ny, wanted.grid.nz,
        wanted.device, wanted.variant);
}

/* The first process has the results, so it decides. */
static enum miniapp_status agree_on_rows(const struct run *run, const struct row *rows,
                                         size_t count, bool *has)
{
    enum miniapp_status status = MINIAPP_DONE;
    *has = false;
    if (!run->options.resume)
        return status;
    if (ranks_own() == 0)
        status = has_rows(run, rows, count, has);
    double number = *has;
    status = agree_on(status, &number, 1);
    *has = number > 0;
    return status;
}

/* The rows of one size. A resumed run skips those that it has. */
static enum miniapp_status add_rows(const struct run *run, size_t shape, struct bench *bench)
{
    const struct options *options = &run->options;
    for (size_t k = 0; k < options->kernel_count; k++)
        for (size_t p = 0; p < options->precision_count; p++) {
            const struct row like = {
                .sequence = options->kernels[k],
                .settings = options->settings,
                .precision = options->precisions[p],
                .grid = grid_of_row(run, shape, options->kernels[k], options->precisions[p]),
                .each_call = options->each_call};
            struct row rows[MOST_COMPARED];
            bool has;
            const size_t count = list_compared(run, &like, rows);
            TRY(agree_on_rows(run, rows, count, &has));
            for (size_t i = 0; i < count && !has; i++)
                TRY(bench_add(bench, &rows[i], options->roofline, &options->method));
        }
    return MINIAPP_DONE;
}

/* ---- measuring ---- */

/* Adds the rows of some sizes, and checks that there is enough memory for them. */
static enum miniapp_status plan(struct run *run, size_t first, size_t end, struct bench *bench)
{
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t shape = first; shape < end && !status; shape++)
        status = add_rows(run, shape, bench);
    double rows[] = {bench->count, -bench->count};
    TRY(agree_on(status, rows, 2));
    if (rows[0] != -rows[1])
        return fail(MINIAPP_USAGE, "processes find different devices: name each by its number");
    return agree(bench_check_memory(bench, run->input));
}

static enum miniapp_status run_shapes(struct run *run, size_t first, size_t end)
{
    const struct method *const method = &run->options.method;
    CLOSED_BENCH struct bench bench = {0};
    TRY(plan(run, first, end, &bench));
    const double start = seconds_now();
    TRY(bench_open(&bench, run->input, method));
    run->results.read_seconds += seconds_now() - start;
    if (!stop_signal())
        TRY(agree(steps_begin(run, &bench)));
    TRY(agree(bench_measure(&bench, method)));
    TRY(agree(steps_end(run, &bench)));
    return agree(collect(run, &bench));
}

/* All sizes take turns with each other; but with --resume one follows the other, so that a run that
 * is cut off loses no more than one size. */
static size_t shapes_together(const struct options *options)
{
    return options->resume ? 1 : options->shape_count;
}

/* Checks whatever can be known before anything is measured. */
static enum miniapp_status check_plans(struct run *run)
{
    const size_t step = shapes_together(&run->options);
    for (size_t i = 0; i < run->options.shape_count; i += step) {
        CLOSED_BENCH struct bench bench = {0};
        TRY(plan(run, i, i + step, &bench));
    }
    return MINIAPP_DONE;
}

static enum miniapp_status run_bench(struct run *run)
{
    const struct options *options = &run->options;
    const size_t step = shapes_together(options);
    run->options.method.after_step = steps_after;
    run->options.method.context = run;
    enum miniapp_status status = check_plans(run);
    if (!status && options->resume && ranks_own() == 0)
        resume_compare(&run->resume, &run->results);
    stop_in_order();
    for (size_t i = 0; i < options->shape_count && !status && !stop_signal(); i += step) {
        status = run_shapes(run, i, i + step);
        results_compare_devices(&run->results);
        status = agree(status);
        run->results.warnings = warnings_so_far();
        if (!status && options->resume && !stop_signal() && ranks_own() == 0)
            status = resume_save(&run->resume, &run->results);
        status = agree(status);
    }
    stop_at_once();
    if (stop_signal())
        run->results.interrupted = stop_signal_name();
    return status;
}

/* ---- all of it ---- */

enum miniapp_status run_open(struct run *run)
{
    TRY(agree(open_input(run)));
    return agree_on_water(run);
}

static enum miniapp_status check_by_settings(const struct run *run)
{
    const struct options *const options = &run->options;
    TRY(miniapp_input_check_pairs(run->input, options->settings));
    for (size_t i = 0; i < options->kernel_count; i++)
        TRY(miniapp_input_check_mode(run->input, options->kernels[i], options->settings));
    return MINIAPP_DONE;
}

enum miniapp_status run_all(struct run *run)
{
    const struct options *options = &run->options;
    TRY(agree(open_devices(run)));
    TRY(agree(
        same_build(run))); /* after the reader, whose hdf5_start has to be HDF5's first call */
    TRY(agree(same_options(run)));
    TRY(agree(choose_settings(run)));
    TRY(agree(same_file(options->input, run->input_sha256)));
    TRY(agree(check_by_settings(run)));
    if (options->reference)
        TRY(agree(check_reference(run)));
    TRY(agree(open_outputs(run)));
    TRY(agree(steps_find_start(run)));
    warn_of_crowd(has_host(run));
    describe_run(run);
    TRY(choose_bytes_beyond_caches(run));
    const bool resumes = options->resume && ranks_own() == 0;
    TRY(agree(resumes ? resume_load(&run->resume, &run->results) : MINIAPP_DONE));
    TRY(run_bench(run));
    say_warnings();
    return agree(conclude(run));
}

enum miniapp_status run_check(struct run *run)
{
    char absent[PROVENANCE_TEXT];
    TRY(agree(choose_settings(run)));
    TRY(agree(check_by_settings(run)));
    print("%s: can be used by ", run->options.input);
    for (size_t i = 0; i < run->options.kernel_count; i++)
        print("%s%s", i ? ", " : "", miniapp_sequence_name(run->options.kernels[i]));
    print(": %s\n", miniapp_input_facts(run->input).text);
    if (absent_text(run, absent)[0])
        print("absent: %s\n", absent);
    if (run->water.beyond > 0)
        print("ghosts of closed sides are water: kernels read them as they are, but steps in time "
              "refuse them\n");
    return end_of_stdout();
}

void run_release(struct run *run)
{
    miniapp_output_discard(run->output);
    resume_close(&run->resume);
    miniapp_references_close(run->references);
    miniapp_input_close(run->input);
    miniapp_settings_free(run->options.settings);
    miniapp_input_options_free(run->options.reading);
    free(run->options.sources);
    free(run->options.source_words);
    free(run->options.tracers);
    results_release(&run->results);
    for (size_t i = 0; i < run->device_count; i++)
        miniapp_device_close(run->devices[i]);
}
