#include "judge.h"
#include "status.h"

#include <math.h>
#include <string.h>

/* Rows that a resumed run already has may have had outputs that were not finite. */
static enum miniapp_status check_outputs(const struct run *run)
{
    const struct result *const earlier = results_nonfinite(&run->results);
    if (run->nonfinite[0] && run->is_finite)
        return fail(MINIAPP_MISMATCH,
                    "steps lead beyond the limits of an ocean: %s (--allow-invalid accepts it)",
                    run->nonfinite);
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

static enum miniapp_status check_budgets(const struct run *run)
{
    const struct result *where;
    const struct miniapp_budget *const budget = results_unbalanced(&run->results, &where);
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

enum miniapp_status judge(const struct run *run)
{
    enum miniapp_status status = check_outputs(run);
    if (!status)
        status = check_budgets(run);
    return status ? status : check_verdicts(run);
}
