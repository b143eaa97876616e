#include "sequence.h"
#include "owned.h"
#include "status.h"
#include "text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- bindings ---- */

/* Copies a word that ends at one of the characters `ends`; returns its length, or 0 if it is empty
 * or too long. */
static size_t word(const char *text, const char *ends, char to[MOST_NAME])
{
    const size_t length = strcspn(text, ends);
    if (length == 0 || length >= MOST_NAME)
        return 0;
    memcpy(to, text, length);
    to[length] = '\0';
    return length;
}

bool next_binding(const char **text, struct binding *binding, enum miniapp_status *status)
{
    const char *rest = *text + strspn(*text, " ");
    *status = MINIAPP_DONE;
    if (!*rest)
        return false;
    const size_t name = word(rest, "=, ", binding->name);
    const size_t other =
        name && rest[name] == '=' ? word(rest + name + 1, ", ", binding->other) : 0;
    rest += other ? name + 1 + other : 0;
    rest += strspn(rest, " ");
    const bool goes_on = *rest == ',';
    rest += goes_on ? 1 + strspn(rest + 1, " ") : 0;
    if (!other || (goes_on != (*rest != '\0'))) {
        *status = fail(MINIAPP_USAGE, "bindings are ARGUMENT=FIELD, ..., not '%s'", *text);
        return false;
    }
    *text = rest;
    return true;
}

enum miniapp_status unknown_field(const char *name)
{
    const char *names[MOST_FIELDS];
    const size_t count = miniapp_field_count(); /* another thread may add some */
    for (size_t i = 0; i < count; i++)
        names[i] = miniapp_field_at(i)->name;
    return unknown("field", name, names, count, "");
}

static enum miniapp_status bind_argument(struct step *step, size_t i, const char *other)
{
    const struct argument *argument = &step->kernel->arguments[i];
    const struct miniapp_field *field = miniapp_field_find(other);
    if (!field)
        return unknown_field(other);
    if (!same_shape(field, &fields[argument->field]))
        return fail(MINIAPP_USAGE,
                    "'%s' of kernel '%s' cannot be '%s': it has other axes or "
                    "another type than '%s'",
                    argument->name, step->kernel->name, other, fields[argument->field].name);
    step->field[i] = field_id(field);
    return MINIAPP_DONE;
}

/* Whether an argument of the step goes by that name, or is bound to a field of that name; scratch
 * is bound to none, it only has the field's shape. */
static bool is_called(const struct step *step, size_t i, const char *name)
{
    if (step->kernel->arguments[i].access == MINIAPP_SCRATCH)
        return false;
    return strcmp(step->kernel->arguments[i].name, name) == 0 ||
           strcmp(fields[step->field[i]].name, name) == 0;
}

/* Every binding refers to the fields as they were before all bindings: salt=temp,temp=salt swaps
 * the two. */
static enum miniapp_status bind_by_text(struct step *step, const char *bindings)
{
    const struct step before = *step;
    bool is_bound[MOST_ARGUMENTS] = {false};
    enum miniapp_status status = MINIAPP_DONE;
    struct binding binding;
    while (next_binding(&bindings, &binding, &status))
        for (size_t i = 0; i < step->kernel->argument_count; i++) {
            if (!is_called(&before, i, binding.name))
                continue;
            if (is_bound[i])
                return fail(MINIAPP_USAGE, "'%s' is bound twice", binding.name);
            TRY(bind_argument(step, i, binding.other));
            is_bound[i] = true;
        }
    return status;
}

static bool has_argument(const struct step *steps, size_t count, const char *name)
{
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < steps[s].kernel->argument_count; i++)
            if (is_called(&steps[s], i, name))
                return true;
    return false;
}

/* Each binding has to name an argument of some step. */
static enum miniapp_status bind_steps(const char *name, struct step *steps, size_t count,
                                      const char *bindings)
{
    struct binding binding;
    enum miniapp_status status;
    for (const char *rest = bindings; next_binding(&rest, &binding, &status);)
        if (!has_argument(steps, count, binding.name))
            return fail(MINIAPP_USAGE, "'%s' has no argument '%s'", name, binding.name);
    for (size_t s = 0; s < count && !status; s++)
        status = bind_by_text(&steps[s], bindings);
    return status;
}

static void set_default_fields(struct step *step, const struct miniapp_kernel *kernel)
{
    step->kernel = kernel;
    for (size_t i = 0; i < kernel->argument_count; i++)
        step->field[i] = kernel->arguments[i].field;
}

/* ---- the table ---- */

/* A line of a .sequence: it begins a sequence, or adds a step or two levels to the last one. */
struct sequence_line {
    const char *name, *subject, *summary; /* of a sequence; else NULL */
    const char *bindings;                 /* of a step; else NULL */
    enum kernel_id kernel;
    bool is_start;
    struct condition condition;
    struct levels levels;
};

#define SEQUENCE(id, of, about) {.name = #id, .subject = (of), .summary = (about)},
#define START(id, with) {.bindings = (with), .kernel = KERNEL_##id, .is_start = true},
#define STEP(id, with) {.bindings = (with), .kernel = KERNEL_##id},
#define STEP_IF(name, id, with)                                                                    \
    {.bindings = (with), .kernel = KERNEL_##id, .condition = {IF_ON, SETTING_##name}},
#define STEP_UNLESS(name, id, with)                                                                \
    {.bindings = (with), .kernel = KERNEL_##id, .condition = {IF_OFF, SETTING_##name}},
#define LEVELS(one, other) {.levels = {FIELD_##one, FIELD_##other, {ALWAYS, 0}}},
#define LEVELS_IF(name, one, other)                                                                \
    {.levels = {FIELD_##one, FIELD_##other, {IF_ON, SETTING_##name}}},
#define END
static const struct sequence_line lines[] = {
#include "all.sequences"
};
enum { LINES = sizeof(lines) / sizeof(*lines), MOST_SEQUENCES = KERNELS + LINES };

static struct miniapp_sequence table[MOST_SEQUENCES]; /* the kernels, and those of the lines */
static size_t sequence_count;
static pthread_once_t made = PTHREAD_ONCE_INIT;

/* Sequences that were made from a text with bindings. Like any table they are never freed. */
struct known {
    struct miniapp_sequence sequence;
    struct known *next;
};
static struct known *bound;
static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER;

/* A sequence's lines of START come before those of STEP. */
static void make_table(void)
{
    static struct step steps[MOST_SEQUENCES];
    static struct levels levels[LINES];
    struct step *step = steps;
    struct levels *level = levels;
    struct miniapp_sequence *last = table;
    for (size_t k = 0; k < KERNELS; k++, last++) {
        set_default_fields(step, &kernels[k]);
        *last = (struct miniapp_sequence){
            kernels[k].name, kernels[k].subject, kernels[k].summary, 1, step++, 0, 0, NULL};
    }
    for (const struct sequence_line *line = lines; line < lines + LINES; line++) {
        if (line->name) {
            *last++ = (struct miniapp_sequence){
                line->name, line->subject, line->summary, 0, step, 0, 0, level};
        } else if (line->bindings) {
            set_default_fields(step, &kernels[line->kernel]);
            step->condition = line->condition;
            bind_steps(last[-1].name, step++, 1, line->bindings);
            last[-1].count++;
            last[-1].start_count += line->is_start;
        } else {
            *level++ = line->levels;
            last[-1].level_count++;
        }
    }
    sequence_count = (size_t)(last - table);
}

size_t miniapp_sequence_count(void)
{
    pthread_once(&made, make_table);
    return sequence_count;
}

const struct miniapp_sequence *miniapp_sequence_at(size_t place)
{
    return place < miniapp_sequence_count() ? &table[place] : NULL;
}

/* ---- finding ---- */

static enum miniapp_status find_plain(const char *name, const struct miniapp_sequence **sequence)
{
    const char *names[MOST_SEQUENCES];
    const size_t count = miniapp_sequence_count();
    for (size_t i = 0; i < count; i++) {
        names[i] = table[i].name;
        if (strcmp(names[i], name) == 0) {
            *sequence = &table[i];
            return MINIAPP_DONE;
        }
    }
    return unknown("kernel", name, names, count, "");
}

static struct known *find_bound(const char *text)
{
    struct known *one = bound;
    while (one && strcmp(one->sequence.name, text) != 0)
        one = one->next;
    return one;
}

/* NAME:ARGUMENT=FIELD,... */
static enum miniapp_status make_bound(const char *text, struct miniapp_sequence *to)
{
    char name[MOST_NAME];
    const struct miniapp_sequence *from = NULL;
    const char *const bindings = strchr(text, ':') + 1;
    if (!word(text, ":", name) || !bindings[strspn(bindings, ", ")])
        return fail(MINIAPP_USAGE, "kernels are NAME or NAME:ARGUMENT=FIELD,..., not '%s'", text);
    TRY(find_plain(name, &from));
    *to = *from;
    to->steps = malloc(from->count * sizeof(*to->steps));
    TRY(allocated(to->steps, "a sequence"));
    memcpy(to->steps, from->steps, from->count * sizeof(*to->steps));
    return bind_steps(name, to->steps, to->count, bindings);
}

static enum miniapp_status find_locked(const char *text, const struct miniapp_sequence **sequence);

/* NAME+TRACER+... */
static enum miniapp_status make_with_tracers(const char *text, struct miniapp_sequence *to)
{
    const size_t length = strcspn(text, "+");
    const struct miniapp_sequence *from = NULL, *step = NULL;
    OWNED char *const name = strndup(text, length);
    TRY(allocated(name, "a sequence"));
    TRY(find_locked(name, &from));
    TRY(find_plain("tracer_step", &step));
    const enum miniapp_status status = add_tracers(from, step, text + length + 1, to);
    if (status)
        free((struct levels *)to->levels);
    return status;
}

static enum miniapp_status make_known(const char *text, struct known **made_one)
{
    struct known *const one = calloc(1, sizeof(*one));
    char *const copy = strdup(text);
    const enum miniapp_status status = !one || !copy
                                           ? fail(MINIAPP_DEVICE, "out of memory for a sequence")
                                       : strchr(text, '+') ? make_with_tracers(text, &one->sequence)
                                                           : make_bound(text, &one->sequence);
    if (status) {
        if (one)
            free(one->sequence.steps);
        free(one);
        free(copy);
        return status;
    }
    one->sequence.name = copy;
    one->next = bound;
    bound = *made_one = one;
    return MINIAPP_DONE;
}

static enum miniapp_status find_locked(const char *text, const struct miniapp_sequence **sequence)
{
    if (!strpbrk(text, ":+"))
        return find_plain(text, sequence);
    struct known *one = find_bound(text);
    const enum miniapp_status status = one ? MINIAPP_DONE : make_known(text, &one);
    if (!status)
        *sequence = &one->sequence;
    return status;
}

enum miniapp_status miniapp_sequence_find(const char *text,
                                          const struct miniapp_sequence **sequence)
{
    if (sequence)
        *sequence = NULL;
    if (!sequence || !text)
        return null_given();
    pthread_mutex_lock(&finding);
    const enum miniapp_status status = find_locked(text, sequence);
    pthread_mutex_unlock(&finding);
    return status;
}

/* ---- asking ---- */

const char *miniapp_sequence_name(const struct miniapp_sequence *sequence)
{
    return sequence ? sequence->name : NULL;
}

const char *miniapp_sequence_summary(const struct miniapp_sequence *sequence)
{
    return sequence ? sequence->summary : NULL;
}

const char *miniapp_sequence_subject(const struct miniapp_sequence *sequence)
{
    return sequence->subject;
}

size_t miniapp_sequence_level_count(const struct miniapp_sequence *sequence)
{
    return sequence->level_count;
}

const struct miniapp_field *miniapp_sequence_level(const struct miniapp_sequence *sequence,
                                                   size_t place, bool after)
{
    const struct levels *const levels = &sequence->levels[place];
    return &fields[after ? levels->after : levels->before];
}

size_t miniapp_sequence_step_count(const struct miniapp_sequence *sequence)
{
    return sequence ? sequence->count - sequence->start_count : 0;
}

const struct miniapp_kernel *miniapp_sequence_kernel(const struct miniapp_sequence *sequence,
                                                     size_t step)
{
    return step < miniapp_sequence_step_count(sequence)
               ? sequence->steps[sequence->start_count + step].kernel
               : NULL;
}

bool miniapp_sequence_runs(const struct miniapp_sequence *sequence, size_t step,
                           const struct miniapp_settings *values)
{
    return holds(&sequence->steps[sequence->start_count + step].condition, values->value);
}

const struct miniapp_field *miniapp_sequence_field(const struct miniapp_sequence *sequence,
                                                   size_t step, size_t argument)
{
    const struct miniapp_kernel *const kernel = miniapp_sequence_kernel(sequence, step);
    return argument < miniapp_kernel_argument_count(kernel)
               ? &fields[sequence->steps[sequence->start_count + step].field[argument]]
               : NULL;
}

/* Whether a step has one of two kinds of access to a field. */
static bool does(const struct step *step, enum field_id id, enum miniapp_access one,
                 enum miniapp_access other)
{
    for (size_t i = 0; i < step->kernel->argument_count; i++) {
        const enum miniapp_access access = step->kernel->arguments[i].access;
        if (step->field[i] == id && (access == one || access == other))
            return true;
    }
    return false;
}

bool has_argument_of(const struct step *step, enum field_id id)
{
    return does(step, id, MINIAPP_READ, MINIAPP_WRITE) ||
           does(step, id, MINIAPP_UPDATE, MINIAPP_UPDATE);
}

static bool is_touched(const struct miniapp_kernel *kernel, size_t place, const double *setting,
                       enum miniapp_access access)
{
    const struct argument *const argument = &kernel->arguments[place];
    return (argument->access == access || argument->access == MINIAPP_UPDATE) &&
           kernel->touches(setting, argument->name) != NOTHING;
}

bool reads_argument(const struct miniapp_kernel *kernel, size_t place, const double *setting)
{
    return is_touched(kernel, place, setting, MINIAPP_READ);
}

bool writes_argument(const struct miniapp_kernel *kernel, size_t place, const double *setting)
{
    return is_touched(kernel, place, setting, MINIAPP_WRITE);
}

bool holds(const struct condition *condition, const double *setting)
{
    return condition->when == ALWAYS ||
           (condition->when == IF_ON) == (setting[condition->setting] != 0);
}

/* Whether a field is written by then, whatever the settings are: by this step, or by this one or
 * the one before it, which has the opposite condition. */
static bool is_written_by(const struct step *step, bool has_last, enum field_id id)
{
    const struct step *const last = step - has_last;
    const struct condition own = step->condition, other = last->condition;
    return does(step, id, MINIAPP_WRITE, MINIAPP_WRITE) &&
           (own.when == ALWAYS || (own.setting == other.setting && own.when != other.when &&
                                   does(last, id, MINIAPP_WRITE, MINIAPP_WRITE)));
}

/* Whether a step before this one, with the same condition, writes a field. */
static bool is_written_with(const struct step *steps, size_t place, enum field_id id)
{
    const struct condition own = steps[place].condition;
    for (size_t s = 0; s < place; s++)
        if (steps[s].condition.when == own.when && steps[s].condition.setting == own.setting &&
            does(&steps[s], id, MINIAPP_WRITE, MINIAPP_WRITE))
            return true;
    return false;
}

bool miniapp_sequence_reads(const struct miniapp_sequence *sequence,
                            const struct miniapp_field *field)
{
    const enum field_id id = field ? field_id(field) : NO_FIELD;
    for (size_t s = 0; id && sequence && s < sequence->count; s++) {
        if (does(&sequence->steps[s], id, MINIAPP_READ, MINIAPP_UPDATE) &&
            !is_written_with(sequence->steps, s, id))
            return true;
        if (is_written_by(&sequence->steps[s], s > 0, id))
            return false;
    }
    return false;
}

bool miniapp_sequence_writes(const struct miniapp_sequence *sequence,
                             const struct miniapp_field *field)
{
    for (size_t s = 0; field && sequence && s < sequence->count; s++)
        if (does(&sequence->steps[s], field_id(field), MINIAPP_WRITE, MINIAPP_UPDATE))
            return true;
    return false;
}

/* Whether a step that runs with the settings reads, or writes, a field. */
static bool runs_on(const struct miniapp_sequence *sequence, const struct miniapp_field *field,
                    const double *setting,
                    bool (*does)(const struct miniapp_kernel *, size_t, const double *))
{
    const enum field_id id = field_id(field);
    for (size_t s = 0; s < sequence->count; s++) {
        const struct step *const step = &sequence->steps[s];
        for (size_t i = 0; i < step->kernel->argument_count; i++)
            if (step->field[i] == id && holds(&step->condition, setting) &&
                does(step->kernel, i, setting))
                return true;
    }
    return false;
}

bool miniapp_sequence_makes(const struct miniapp_sequence *sequence,
                            const struct miniapp_field *field,
                            const struct miniapp_settings *values)
{
    return runs_on(sequence, field, values->value, writes_argument);
}

bool miniapp_sequence_takes(const struct miniapp_sequence *sequence,
                            const struct miniapp_field *field,
                            const struct miniapp_settings *values)
{
    return miniapp_sequence_reads(sequence, field) &&
           (miniapp_sequence_carries(sequence, field) ||
            runs_on(sequence, field, values->value, reads_argument));
}

/* A field that only a step with a condition writes is either made anew in each step, or, where that
 * step does not run, stays as it was given; time levels are carried in any case. */
bool miniapp_sequence_carries(const struct miniapp_sequence *sequence,
                              const struct miniapp_field *field)
{
    const enum field_id id = field_id(field);
    bool is_left = false;
    for (size_t s = 0; s < sequence->count; s++)
        is_left |= is_written_by(&sequence->steps[s], s > 0, id) ||
                   (sequence->steps[s].condition.when == ALWAYS &&
                    does(&sequence->steps[s], id, MINIAPP_UPDATE, MINIAPP_UPDATE));
    for (size_t i = 0; i < sequence->level_count; i++)
        is_left |= sequence->levels[i].before == id || sequence->levels[i].after == id;
    return is_left && miniapp_sequence_reads(sequence, field);
}

bool miniapp_sequence_is_at_surface(const struct miniapp_sequence *sequence,
                                    const struct miniapp_settings *values)
{
    if (miniapp_sequence_uses(sequence, &settings[SETTING_enable_streamfunction]))
        return values->value[SETTING_enable_streamfunction] == 0;
    return strcmp(sequence->steps[0].kernel->name, "surface_pressure") == 0;
}

/* A step in time may read forcing of its time, and settings choose what it runs. */
bool miniapp_sequence_uses(const struct miniapp_sequence *sequence,
                           const struct miniapp_setting *setting)
{
    if (setting == &settings[SETTING_start_time] && sequence->level_count > 0)
        return true;
    for (size_t s = 0; s < sequence->count; s++) {
        const struct miniapp_kernel *kernel = sequence->steps[s].kernel;
        const struct condition condition = sequence->steps[s].condition;
        if (condition.when != ALWAYS && &settings[condition.setting] == setting)
            return true;
        for (size_t i = 0; i < kernel->setting_count; i++)
            if (&settings[kernel->settings[i]] == setting)
                return true;
    }
    return false;
}
