#include "clock.h"
#include "ranks.h"
#include "report.h"
#include "run.h"
#include "status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- files that are written ---- */

enum miniapp_status start_output(const struct run *run, const char *path,
                                 struct miniapp_output **output)
{
    const char *const read_files[] = {run->options.input, run->options.reference};
    return miniapp_output_open(path, read_files, 2, output);
}

enum miniapp_status start_end(struct run *run)
{
    const struct options *options = &run->options;
    TRY(start_output(run, options->output, &run->output));
    return options->method.own_grid ? miniapp_output_take_coordinates(run->output, run->input)
                                    : MINIAPP_DONE;
}

enum miniapp_status finish_output(const struct run *run, struct miniapp_output *output)
{
    const struct provenance *provenance = &run->results.provenance;
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < provenance->count && !status; i++)
        status = miniapp_output_attribute(output, provenance->names[i], provenance->texts[i]);
    if (!status && warnings_so_far()[0])
        status = miniapp_output_attribute(output, "warnings", warnings_so_far());
    if (!status)
        return miniapp_output_finish(output);
    miniapp_output_discard(output);
    return status;
}

static enum miniapp_status open_resume(struct run *run)
{
    const char *const read_files[] = {run->options.input, run->options.reference};
    TRY(check_not_read("resume", run->options.resume, read_files, 2));
    return resume_open(run->options.resume, &run->resume);
}

enum miniapp_status open_outputs(struct run *run)
{
    const struct options *options = &run->options;
    if (ranks_own() > 0)
        return MINIAPP_DONE;
    if (options->output)
        TRY(start_end(run));
    /* a process has only one output at a time: the final one is started again after the last
     * snapshot */
    if (options->every || options->average) {
        miniapp_output_discard(run->output);
        run->output = NULL;
    }
    return options->resume ? open_resume(run) : MINIAPP_DONE;
}

/* ---- verdicts ---- */

/* Rows that a resumed run already has may have had outputs that were not finite. */
static enum miniapp_status check_outputs(const struct run *run)
{
    const struct result *const earlier = results_marked(&run->results, "nonfinite");
    if (run->nonfinite[0] && run->is_finite)
        return fail(MINIAPP_MISMATCH,
                    "steps lead beyond the limits of an ocean: %s (shorter steps may help: --set "
                    "%s=SECONDS; --allow-invalid accepts it)",
                    run->nonfinite, run->is_step_long ? "dt_mom" : "dt_tracer");
    if (run->nonfinite[0])
        return fail(
            MINIAPP_MISMATCH,
            "outputs are not finite, though the inputs are: %s (--allow-nonfinite accepts them)",
            run->nonfinite);
    if (earlier && !(run->options.allow & MINIAPP_ALLOW_NONFINITE))
        return fail(MINIAPP_MISMATCH,
                    "%s: outputs of %s on %s in %s were not finite, though the inputs were "
                    "(--allow-nonfinite accepts them)",
                    run->options.resume, earlier->kernel, earlier->device,
                    miniapp_precision_name(earlier->precision));
    return MINIAPP_DONE;
}

/* The first budget that is judged and broken, and its result; or NULL. */
static const struct miniapp_budget *first_broken_budget(const struct results *results,
                                                        const struct result **where)
{
    for_each_result (r, results) {
        const struct march *const march = r->march;
        for (size_t b = 0; march && march->is_judged && b < march->budget_count; b++)
            if (!is_balanced(&march->budgets[b])) {
                *where = r;
                return &march->budgets[b];
            }
    }
    return NULL;
}

static enum miniapp_status check_budgets(const struct run *run)
{
    const struct result *where;
    const struct miniapp_budget *const budget = first_broken_budget(&run->results, &where);
    if (!budget || (isnan(budget->residual) && (run->options.allow & MINIAPP_ALLOW_NONFINITE)))
        return MINIAPP_DONE;
    return fail(MINIAPP_MISMATCH,
                "the budget of %s is not kept: its residual is %.3g %s, where rounding makes %.3g "
                "at most, by %s on %s in %s",
                budget->name, budget->residual, budget->units, budget->bound, where->kernel,
                where->device, miniapp_precision_name(where->precision));
}

/* Whether the file of references says so. Only the first process has it. */
static bool is_of_another_input(const struct run *run)
{
    const char *const theirs = run->references ? miniapp_references_input(run->references) : "";
    const char *const own = provenance_text(&run->results.provenance, "input_sha256");
    return theirs[0] && strcmp(theirs, own) != 0;
}

static enum miniapp_status check_verdicts(const struct run *run)
{
    const char *const reference = run->options.reference;
    const struct check *const uncompared = results_uncompared(&run->results);
    if (uncompared)
        return fail(MINIAPP_MISMATCH, "%s: nothing was compared for '%s': %s", reference,
                    uncompared->row.kernel,
                    run->water.cells == 0
                        ? "all of the input is land"
                        : "its outputs and their reference are 0 or not finite everywhere");
    return results_passed(&run->results)
               ? MINIAPP_DONE
               : fail(MINIAPP_MISMATCH, "%s: the outputs differ from this reference%s", reference,
                      is_of_another_input(run) ? ", which was made from another input" : "");
}

/* ---- the end ---- */

/* Puts the output in its place, unless it is of steps in time that did not reach the last one. */
static enum miniapp_status publish_final_output(struct run *run)
{
    struct miniapp_output *const output = run->output;
    const bool is_whole = run->options.steps == 0 || !run->nonfinite[0];
    const double start = seconds_now();
    run->output = NULL;
    const bool has_ghosts = miniapp_input_facts(run->input).has_ghosts;
    enum miniapp_status status =
        is_whole && run->options.steps
            ? miniapp_output_steps(output, run->options.settings, run->options.steps, has_ghosts)
            : MINIAPP_DONE;
    if (is_whole && !status)
        status = finish_output(run, output);
    else
        miniapp_output_discard(output);
    run->results.write_seconds += seconds_now() - start;
    return status;
}

/* For steps with snapshots. */
static enum miniapp_status warn_of_restart(const struct run *run)
{
    char from[64] = "starts from the input";
    size_t step;
    TRY(steps_find_newest(run, run->options.steps, &step));
    if (step > 0)
        snprintf(from, sizeof(from), "continues from the snapshot of step %zu", step);
    warn("ended by %s%s%s: --restart %s", run->results.interrupted,
         run->nonfinite[0] ? ", when " : "", run->nonfinite, from);
    return MINIAPP_DONE;
}

enum miniapp_status conclude(struct run *run)
{
    const struct options *options = &run->options;
    const bool ended = run->results.interrupted != NULL;
    if (ranks_own() > 0)
        return MINIAPP_DONE;
    run->results.warnings = warnings_so_far();
    if (options->output && !ended)
        TRY(publish_final_output(run));
    TRY(report(&run->results, options->format));
    if (!ended) {
        TRY(check_outputs(run));
        TRY(check_budgets(run));
        return check_verdicts(run);
    }
    if (options->every)
        return warn_of_restart(run);
    warn("ended by %s: %s", run->results.interrupted,
         options->output || options->reference ? "nothing is written or compared"
                                               : "rows may lack calls, or be missing");
    return MINIAPP_DONE;
}
