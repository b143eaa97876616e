#include "clock.h"
#include "owned.h"
#include "progress.h"
#include "ranks.h"
#include "run.h"
#include "status.h"
#include "stop.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t steps_done(const struct run *run, const struct row *row)
{
    return run->first_step + row->samples.count;
}

/* ---- names of snapshots ---- */

static const char *find_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The dot before the suffix of a file's name, or the end of the name. */
static const char *find_suffix(const char *path)
{
    const char *const name = find_name(path), *const dot = strrchr(name, '.');
    return dot && dot != name ? dot : path + strlen(path);
}

/* "end.average.000100.nc" for end.nc, "average." and step 100; snapshots have "". */
static void name_file(const struct run *run, const char *what, size_t step, char *path)
{
    const char *const output = run->options.output;
    const char *const suffix = find_suffix(output);
    snprintf(path, PATH_MAX, "%.*s.%s%06zu%s", (int)(suffix - output), output, what, step, suffix);
}

/* The whole state beside snapshots of chosen fields, which have an attribute of this name. */
#define CHOSEN_NAME "chosen_fields"
static void name_state(const struct run *run, char path[PATH_MAX])
{
    const char *const output = run->options.output;
    const char *const suffix = find_suffix(output);
    snprintf(path, PATH_MAX, "%.*s.state%s", (int)(suffix - output), output, suffix);
}

/* The step of the run's snapshot of that name; 0 if a file of that name is not one. */
static size_t step_of_name(const struct run *run, const char *name)
{
    const char *const output = find_name(run->options.output);
    const size_t stem = (size_t)(find_suffix(output) - output);
    char path[PATH_MAX];
    if (strncmp(name, output, stem) != 0 || name[stem] != '.')
        return 0;
    const size_t step = strtoull(name + stem + 1, NULL, 10);
    name_file(run, "", step, path);
    return strcmp(find_name(path), name) == 0 ? step : 0;
}

/* Opens the folder of the run's snapshots; the caller closes it. */
static enum miniapp_status open_folder(const struct run *run, DIR **entries)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", run->options.output);
    const char *const folder = dirname(path);
    *entries = opendir(folder);
    return *entries ? MINIAPP_DONE
                    : fail(MINIAPP_INPUT, "%s: cannot be searched for snapshots: %s", folder,
                           strerror(errno));
}

/* The step of the next file, in any order, that has the name of a snapshot; 0 at the end. */
static size_t next_snapshot(const struct run *run, DIR *entries)
{
    size_t step = 0;
    for (const struct dirent *entry; step == 0 && (entry = readdir(entries)) != NULL;)
        step = step_of_name(run, entry->d_name);
    return step;
}

/* Names the file that has all fields of a step: its snapshot, unless that has chosen ones or is not
 * there. */
static enum miniapp_status find_whole(const struct run *run, size_t step, bool *is_state,
                                      char path[PATH_MAX])
{
    static const char *const name = CHOSEN_NAME;
    char chosen[1][MINIAPP_TEXT] = {""};
    name_file(run, "", step, path);
    *is_state = access(path, F_OK) != 0;
    if (!*is_state)
        TRY(miniapp_snapshot_texts(path, 1, &name, chosen));
    *is_state |= chosen[0][0] != '\0';
    if (*is_state)
        name_state(run, path);
    return MINIAPP_DONE;
}

static enum miniapp_status find_by_name(const struct run *run, size_t before, size_t *newest)
{
    DIR *entries;
    *newest = 0;
    TRY(open_folder(run, &entries));
    for (size_t step; (step = next_snapshot(run, entries)) > 0;)
        *newest = step > *newest && step < before ? step : *newest;
    closedir(entries);
    return MINIAPP_DONE;
}

enum miniapp_status steps_find_newest(const struct run *run, size_t before, size_t *newest)
{
    size_t of_state = 0;
    bool is_chosen = true;
    char path[PATH_MAX];
    name_state(run, path);
    if (access(path, F_OK) == 0)
        TRY(miniapp_snapshot_step(path, &of_state));
    of_state = of_state < before ? of_state : 0;
    *newest = before;
    while (*newest > of_state && is_chosen) {
        TRY(find_by_name(run, *newest, newest));
        if (*newest > of_state)
            TRY(find_whole(run, *newest, &is_chosen, path));
    }
    *newest = *newest > of_state ? *newest : of_state;
    return MINIAPP_DONE;
}

/* A file that the run will replace has to be one that it may replace. */
static enum miniapp_status check_target(const struct run *run, const char *path)
{
    struct miniapp_output *output = NULL;
    const enum miniapp_status status = start_output(run, path, &output);
    miniapp_output_discard(output);
    return status;
}

/* Snapshots of another run would be read with this run's as one series: those that the run neither
 * continues from nor replaces. */
static enum miniapp_status check_earlier(const struct run *run)
{
    const struct options *const options = &run->options;
    DIR *entries;
    size_t stays = SIZE_MAX, count = 0;
    char path[PATH_MAX], others[48] = "";
    name_state(run, path);
    const bool has_state = !options->chosen && access(path, F_OK) == 0;
    if (options->chosen)
        TRY(check_target(run, path));
    TRY(open_folder(run, &entries));
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t step; !status && (step = next_snapshot(run, entries)) > 0;) {
        const bool is_replaced = step <= options->steps && step % options->every == 0;
        if (step > run->first_step && is_replaced) {
            name_file(run, "", step, path);
            status = check_target(run, path);
        } else if (step > run->first_step) {
            stays = step < stays ? step : stays;
            count++;
        }
    }
    closedir(entries);
    count += has_state;
    if (count == 0 || status || options->restart) /* which is of the series, or said so */
        return status;
    if (stays < SIZE_MAX)
        name_file(run, "", stays, path);
    else
        name_state(run, path);
    if (count > 1)
        snprintf(others, sizeof(others), " and %zu more of its name", count - 1);
    warn("%s%s: snapshots of an earlier run, which this run does not replace: remove them before "
         "you read a series",
         path, others);
    return MINIAPP_DONE;
}

/* Where the run starts from the input, it says so if snapshots lie there nevertheless: of chosen
 * fields, or of steps after its last one, which are another run's. */
static enum miniapp_status find_start(struct run *run)
{
    const size_t steps = run->options.steps;
    size_t chosen = 0, newest = 0;
    char path[PATH_MAX];
    TRY(steps_find_newest(run, steps, &run->first_step));
    if (run->first_step > 0)
        return MINIAPP_DONE;
    TRY(find_by_name(run, steps, &chosen));
    TRY(steps_find_newest(run, SIZE_MAX, &newest));
    name_state(run, path);
    if (chosen > 0)
        warn("--restart starts from the input: the snapshot of step %zu has chosen fields only, "
             "and there is no %s of a step before %zu",
             chosen, path, steps);
    else if (newest > steps)
        warn("--restart starts from the input: there is a snapshot of step %zu, but none of a step "
             "before %zu",
             newest, steps);
    return MINIAPP_DONE;
}

enum miniapp_status steps_find_start(struct run *run)
{
    enum miniapp_status status = MINIAPP_DONE;
    if (run->options.restart && ranks_own() == 0)
        status = find_start(run);
    if (!status && run->options.every && ranks_own() == 0)
        status = check_earlier(run);
    double step = (double)run->first_step;
    status = agree_on(status, &step, 1);
    run->first_step = (size_t)step;
    if (run->options.steps)
        run->options.method.repetitions = run->options.steps - run->first_step;
    return status;
}

/* ---- before and after a step ---- */

/* Checks that a run with the same steps made the snapshot, and that other processes have the same
 * one. Only the first process has the input's SHA-256. */
static enum miniapp_status check_origin(const struct run *run, const char *path)
{
    enum { SAME = 5, MORE = 3 }; /* the file of the SHA-256 is only named */
    static const char *const names[] = {"sequence", "precision", "input_sha256", "tracers_start_as",
                                        "settings", "input",     "host",         "time"};
    char digest[SHA256_TEXT];
    OWNED struct provenance *const then = calloc(1, sizeof(*then));
    TRY(agree(allocated(then, "a snapshot's attributes")));
    TRY(agree(miniapp_snapshot_texts(path, SAME + MORE, names, then->texts)));
    TRY(agree(same_file(path, digest)));
    then->count = SAME + MORE;
    memcpy(then->names, names, sizeof(names));
    return ranks_own() > 0 ? MINIAPP_DONE
                           : check_alike(path, "cannot continue from it", then,
                                         &run->results.provenance, names, SAME);
}

static enum miniapp_status load_snapshot(const struct run *run, const struct row *row, size_t step,
                                         char path[PATH_MAX])
{
    bool is_state;
    TRY(find_whole(run, step, &is_state, path));
    TRY(check_origin(run, path));
    return miniapp_snapshot_load(path, row->state, row->sequence, step);
}

enum miniapp_status steps_write(struct run *run, struct row *row, const struct field_list *list,
                                bool are_means)
{
    const char *const chosen = run->options.chosen;
    const size_t step = steps_done(run, row);
    const double start = seconds_now();
    char path[PATH_MAX];
    struct miniapp_output *output = NULL;
    if (!list && chosen)
        name_state(run, path);
    else
        name_file(run, are_means ? "average." : "", step, path);
    TRY(agree(ranks_own() > 0 ? MINIAPP_DONE : start_output(run, path, &output)));
    enum miniapp_status status = miniapp_output_snapshot(
        output, run->options.method.own_grid ? run->input : NULL, row->state, row->sequence,
        list ? list->fields : NULL, list ? list->count : 0, are_means, step);
    if (!status && output && list && !are_means)
        status = miniapp_output_attribute(output, CHOSEN_NAME, chosen);
    if (!status && output)
        status = finish_output(run, output);
    else
        miniapp_output_discard(output);
    status = agree(status);
    run->results.write_seconds += seconds_now() - start;
    if (!status && !list)
        row->good_step = step;
    return status;
}

/* Beside chosen fields, the last step's state would take the place of the one that a repeated run
 * continues from. */
static enum miniapp_status write_state(struct run *run, struct row *row)
{
    const bool is_last = steps_done(run, row) == run->options.steps;
    return is_last && run->options.chosen ? MINIAPP_DONE : steps_write(run, row, NULL, false);
}

static enum miniapp_status write_milestone(struct run *run, struct row *row)
{
    if (run->options.chosen)
        TRY(steps_write(run, row, &run->chosen, false));
    return write_state(run, row);
}

static enum miniapp_status open_budgets(struct row *row)
{
    row->budgets = calloc(MINIAPP_BUDGETS, sizeof(*row->budgets));
    TRY(agree(allocated(row->budgets, "budgets")));
    return miniapp_budgets_open(row->state, row->sequence, row->budgets);
}

/* Says where so much water may have gone through the surface in all steps that a cell of the top
 * level holds none of its own: what its temperature and salinity are then is no ocean's. */
static void judge_drift(const struct run *run, const struct row *row)
{
    const size_t steps = run->options.steps - run->first_step;
    const double drift = row->flow.top * (double)steps;
    if (drift > 1 && !miniapp_sequence_carries(row->sequence, miniapp_field_find("u")))
        warn("%s: in %zu steps of the same flow, a tracer of 1 drifts by up to %.2g in the top "
             "level: too much water goes through the surface",
             run->options.input, steps, drift);
}

/* MINIAPP_INPUT where the flow of a row diverges, unless that is allowed, or the grid is not the
 * file's own. */
static enum miniapp_status check_flow(const struct run *run, struct row *row)
{
    const struct options *const options = &run->options;
    const size_t ghosts = miniapp_input_facts(run->input).has_ghosts ? MINIAPP_HALO : 0;
    const enum miniapp_status status = miniapp_flow_measure(row->state, row->sequence, &row->flow);
    if (status || options->allow_divergent || !options->method.own_grid)
        return status;
    judge_drift(run, row);
    return miniapp_flow_judge(&row->flow, ghosts, options->input, "--allow-divergent");
}

/* Looks for a field that is not finite or beyond its limits, though it has to be. */
static enum miniapp_status check_row(const struct run *run, const struct row *row,
                                     struct nonfinite *found)
{
    *found = (struct nonfinite){0};
    for (size_t i = 0; i < row->field_count && !found->is_there; i++)
        if (row->fields[i].is_result)
            TRY(find_nonfinite(run, row, &row->fields[i], found));
    return MINIAPP_DONE;
}

/* A snapshot is what a run may continue from, whoever has edited it. */
static enum miniapp_status check_snapshot(const struct run *run, const struct row *row, size_t step,
                                          const char *path)
{
    struct nonfinite found;
    char text[NONFINITE_TEXT] = "";
    const enum miniapp_status status = check_row(run, row, &found);
    if (status || !found.is_there)
        return status;
    note_nonfinite(row, &found, step, text);
    return fail(MINIAPP_INPUT, "%s: cannot continue from it: %s", path, text);
}

/* Puts a row to the snapshot of a step, or to the start if that is 0, and makes what the file lacks
 * of the flow; where steps change it, a snapshot has it. */
static enum miniapp_status put_to(const struct run *run, struct row *row, size_t step)
{
    const bool has_w = miniapp_sequence_carries(row->sequence, miniapp_field_find("w"));
    char path[PATH_MAX];
    TRY(agree(step > 0 ? load_snapshot(run, row, step, path)
                       : miniapp_snapshot_settle(row->state, row->sequence)));
    if (step > 0)
        TRY(check_snapshot(run, row, step, path));
    return step > 0 && has_w ? MINIAPP_DONE
                             : miniapp_state_make_flow(row->state, run->input, row->sequence);
}

enum miniapp_status steps_begin(struct run *run, struct bench *bench)
{
    double is_watched = progress_is_shown();
    TRY(agree_on(MINIAPP_DONE, &is_watched, 1));
    run->is_watched = is_watched > 0;
    run->watched_at = -INFINITY;
    run->steps_begun = seconds_now();
    for (int i = 0; i < bench->count; i++) {
        struct row *const row = &bench->rows[i];
        if (!row->advances)
            continue;
        row->good_step = run->first_step;
        TRY(put_to(run, row, run->first_step));
        TRY(check_flow(run, row));
        TRY(open_budgets(row));
        TRY(steps_choose(run, row));
    }
    return MINIAPP_DONE;
}

/* "step 12 of 1000, 3:20 left, 0.21 m/s, 150 years a day", estimated from the time that the steps
 * so far have taken; the velocity is the largest. All processes look at it after the same steps,
 * since they have the same samples. */
static enum miniapp_status show_progress(struct run *run, const struct row *row)
{
    const double interval = 0.1, done = (double)row->samples.count / (double)row->wanted;
    const double passed = seconds_now() - run->steps_begun;
    const unsigned long left = (unsigned long)(passed * (1 - done) / done);
    const double time_step = miniapp_settings_get(row->settings, "dt_tracer");
    const double rate = (double)row->samples.count * time_step / passed / 365;
    double speed;
    char text[128], flow[40] = "";
    if (!run->is_watched || (fabs(row->samples.total - run->watched_at) < interval && done < 1))
        return MINIAPP_DONE;
    run->watched_at = row->samples.total;
    if (miniapp_sequence_carries(row->sequence, miniapp_field_find("u"))) {
        TRY(miniapp_flow_speed(row->state, &speed));
        snprintf(flow, sizeof(flow), "%.3g m/s, ", speed);
    }
    snprintf(text, sizeof(text), "step %zu of %zu, %lu:%02lu left, %s%.3g years a day",
             steps_done(run, row), run->options.steps, left / 60, left % 60, flow, rate);
    progress_show(done, text);
    return MINIAPP_DONE;
}

/* Whether fields are looked at after a step, and a snapshot is written; without snapshots they are
 * looked at a few times nevertheless. */
static bool is_milestone(const struct run *run, size_t step)
{
    enum { LOOKS = 10 };
    const struct options *const options = &run->options;
    return step % (options->every ? options->every : (options->steps + LOOKS - 1) / LOOKS) == 0;
}

enum miniapp_status steps_find_courant(struct row *row)
{
    struct miniapp_flow flow;
    if (miniapp_sequence_carries(row->sequence, miniapp_field_find("u"))) {
        TRY(miniapp_flow_measure(row->state, row->sequence, &flow));
        memcpy(row->flow.courant, flow.courant, sizeof(flow.courant));
    }
    return MINIAPP_DONE;
}

static enum miniapp_status note(struct run *run, struct row *row, const struct nonfinite *found,
                                size_t step)
{
    if (!run->nonfinite[0]) {
        TRY(steps_find_courant(row));
        run->is_finite = isfinite(found->value);
        run->is_step_long |= miniapp_field_is_flow(found->output->field);
    }
    note_nonfinite(row, found, step, run->nonfinite);
    return MINIAPP_DONE;
}

enum miniapp_status steps_after(void *context, struct row *row)
{
    struct run *const run = context;
    struct nonfinite found;
    TRY(show_progress(run, row));
    TRY(means_after(run, row));
    if (!is_milestone(run, steps_done(run, row)))
        return MINIAPP_DONE;
    enum miniapp_status status = check_row(run, row, &found);
    if (found.is_there)
        row->wanted = row->samples.count;
    else if (!status && run->options.every)
        status = write_milestone(run, row);
    return status;
}

enum miniapp_status steps_end(struct run *run, struct bench *bench)
{
    const struct options *const options = &run->options;
    struct row *const row = bench->rows;
    struct nonfinite found;
    if (!options->every && !options->average)
        return MINIAPP_DONE;
    if (!stop_signal())
        return ranks_own() > 0 ? MINIAPP_DONE : start_end(run);
    if (!options->every || row->samples.count == 0 || row->good_step == steps_done(run, row))
        return MINIAPP_DONE;
    const enum miniapp_status status = check_row(run, row, &found);
    if (status || !found.is_there)
        return status ? status : write_state(run, row);
    return note(run, row, &found, steps_done(run, row)); /* the last good snapshot stays */
}

/* ---- where it went wrong ---- */

/* Puts the row back to the last snapshot in which it was finite, or to the start. */
static enum miniapp_status go_back(struct run *run, struct bench *bench, struct row *row,
                                   size_t *step)
{
    *step = run->options.every ? row->good_step : 0;
    TRY(bench_load(bench, run->input, run->options.method.own_grid));
    TRY(put_to(run, row, *step));
    miniapp_plan_restart(row->plan);
    return MINIAPP_DONE;
}

enum miniapp_status steps_find_nonfinite(struct run *run, struct bench *bench, struct row *row)
{
    const size_t last = steps_done(run, row);
    size_t step;
    enum miniapp_status status = agree(go_back(run, bench, row, &step));
    bool is_there = false;
    while (step < last && !status && !is_there && !stop_signal()) {
        progress_show((double)step / (double)last, "looking for the first step that went wrong");
        status = miniapp_plan_advance(row->plan);
        step++;
        for (size_t i = 0; i < row->field_count && !status; i++) {
            struct nonfinite found = {0};
            if (row->fields[i].is_result)
                status = find_nonfinite(run, row, &row->fields[i], &found);
            if (!status && found.is_there)
                status = note(run, row, &found, step);
            is_there |= found.is_there;
        }
    }
    progress_clear();
    if (!status && !is_there)
        snprintf(run->nonfinite, sizeof(run->nonfinite),
                 "%s on %s had some after step %zu, but none when its steps were made again",
                 miniapp_sequence_name(row->sequence), miniapp_device_label(row->device), last);
    return status;
}
