/*
 * Tracers beside temperature and salinity. Each has fields of its own, which are added to the table
 * of fields when a tracer is first named: those of `dye` are like `tracer`, `tracer_taup1` and so
 * on, and are called `dye`, `dye_taup1`. Like all rows of the table, they are never removed.
 */
#include "sequence.h"
#include "status.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The fields that each tracer has for itself, one after the other in the table. */
static const enum field_id own_fields[TRACER_FIELDS] = {
    FIELD_tracer, FIELD_tracer_taup1, FIELD_dtracer, FIELD_dtracer_taum1, FIELD_forc_tracer_surface,
};

/* ---- names ---- */

enum { LONGEST_TRACER = 40 }; /* so that none of its fields' names is too long */

/* Names of dimensions in outputs, which no field may have. */
static bool is_dimension(const char *name)
{
    static const char *const names[] = {"x",  "y",  "z",  "ip", "jp",  "kr",
                                        "xt", "yt", "xu", "yu", "Time"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return length > 0 && length <= LONGEST_TRACER && isalpha((unsigned char)name[0]);
}

/* Copies the first of the names, which have a + between them. */
static enum miniapp_status first_name(const char *names, char name[MOST_NAME])
{
    const size_t length = strcspn(names, "+");
    const bool is_valid = is_name(names, length);
    snprintf(name, MOST_NAME, "%.*s", (int)(length < MOST_NAME ? length : MOST_NAME - 1), names);
    if (!is_valid || is_dimension(name))
        return fail(MINIAPP_USAGE,
                    "'%s' is no name of a tracer: it begins with a letter, has at most %d letters, "
                    "digits and _, and is no dimension of outputs",
                    name, LONGEST_TRACER);
    return MINIAPP_DONE;
}

/* A text about `tracer`, with this tracer's name in its place; NULL if memory is short. */
static char *text_with_name(const char *text, const char *name)
{
    static const char any[] = "tracer";
    const char *const place = strstr(text, any);
    char *with_name;
    const int length =
        asprintf(&with_name, "%.*s%s%s", (int)(place - text), text, name, place + sizeof(any) - 1);
    return length < 0 ? NULL : with_name;
}

/* ---- fields ---- */

bool is_tracer(enum field_id id)
{
    return id >= FIELDS && (id - FIELDS) % TRACER_FIELDS == 0;
}

enum field_id field_of_tracer(enum field_id tracer, enum field_id id)
{
    for (size_t i = 0; i < TRACER_FIELDS && tracer != FIELD_tracer; i++)
        if (own_fields[i] == id)
            return tracer + i;
    return id;
}

/* A field of this tracer, like that of `tracer`. It may be in any unit, and the tracer itself has
 * to be in the file. */
static struct miniapp_field make_field(enum field_id like, const char *name)
{
    struct miniapp_field field = fields[like];
    field.name = text_with_name(fields[like].name, name);
    field.long_name = text_with_name(fields[like].long_name, name);
    field.units = "";
    field.is_optional = like != FIELD_tracer;
    field.stand_in = NO_FIELD;
    return field;
}

static void free_texts(struct miniapp_field rows[TRACER_FIELDS])
{
    for (size_t i = 0; i < TRACER_FIELDS; i++) {
        free((char *)rows[i].name);
        free((char *)rows[i].long_name);
    }
}

static enum miniapp_status check_tracer_rows(const struct miniapp_field rows[TRACER_FIELDS])
{
    for (size_t i = 0; i < TRACER_FIELDS; i++) {
        if (!rows[i].name || !rows[i].long_name)
            return fail(MINIAPP_DEVICE, "out of memory for a tracer");
        if (miniapp_field_find(rows[i].name))
            return fail(MINIAPP_USAGE, "a tracer cannot be '%s': there is a field '%s' already",
                        rows[0].name, rows[i].name);
    }
    return MINIAPP_DONE;
}

static enum miniapp_status make_tracer(const char *name)
{
    struct miniapp_field rows[TRACER_FIELDS];
    for (size_t i = 0; i < TRACER_FIELDS; i++)
        rows[i] = make_field(own_fields[i], name);
    enum miniapp_status status = check_tracer_rows(rows);
    if (!status && !append_fields(rows, TRACER_FIELDS))
        status = fail(MINIAPP_USAGE,
                      "a process has at most %d names of tracers, and '%s' is one more: "
                      "take an earlier one again",
                      MOST_TRACER_NAMES, name);
    if (status)
        free_texts(rows);
    return status;
}

/* The first field of a tracer, which is made if there is no tracer of that name. */
static enum miniapp_status find_tracer(const char *name, enum field_id *tracer)
{
    const struct miniapp_field *const known = miniapp_field_find(name);
    enum miniapp_status status = MINIAPP_DONE;
    if (!known || !is_tracer(field_id(known)))
        status = make_tracer(name);
    *tracer = status ? NO_FIELD : field_id(miniapp_field_find(name));
    return status;
}

/* ---- steps ---- */

static void add_step(struct miniapp_sequence *to, const struct step *step, enum field_id tracer)
{
    struct step *const own = &to->steps[to->count++];
    *own = *step;
    for (size_t i = 0; i < step->kernel->argument_count; i++)
        own->field[i] = field_of_tracer(tracer, step->field[i]);
}

static bool has_tracer(const struct miniapp_sequence *sequence, enum field_id tracer)
{
    for (size_t i = 0; i < sequence->level_count; i++)
        if (sequence->levels[i].before == tracer)
            return true;
    return false;
}

/* The kernels that a tracer's step runs only at the start run here in every step, once for all
 * tracers, before the first of them. */
static enum miniapp_status append_tracer(const struct miniapp_sequence *step, const char *name,
                                         bool is_first, struct miniapp_sequence *to,
                                         struct levels *levels)
{
    enum field_id tracer;
    TRY(find_tracer(name, &tracer));
    if (has_tracer(to, tracer))
        return fail(MINIAPP_USAGE, "tracer '%s' is given twice", name);
    for (size_t s = is_first ? 0 : step->start_count; s < step->count; s++)
        add_step(to, &step->steps[s], tracer);
    for (size_t i = 0; i < step->level_count; i++)
        levels[to->level_count++] = (struct levels){field_of_tracer(tracer, step->levels[i].before),
                                                    field_of_tracer(tracer, step->levels[i].after),
                                                    step->levels[i].condition};
    return MINIAPP_DONE;
}

static size_t count_names(const char *names)
{
    size_t count = 1;
    for (; *names; names++)
        count += *names == '+';
    return count;
}

enum miniapp_status add_tracers(const struct miniapp_sequence *base,
                                const struct miniapp_sequence *step, const char *names,
                                struct miniapp_sequence *to)
{
    const size_t count = count_names(names);
    if (base->level_count == 0)
        return fail(MINIAPP_USAGE,
                    "tracers need a sequence with time levels, such as ocean_step; '%s' has none",
                    base->name);
    struct levels *const levels =
        calloc(base->level_count + count * step->level_count, sizeof(*levels));
    *to = *base;
    to->steps = calloc(base->count + count * step->count, sizeof(*to->steps));
    to->levels = levels;
    TRY(allocated(to->steps && levels, "a sequence"));
    memcpy(to->steps, base->steps, base->count * sizeof(*to->steps));
    memcpy(levels, base->levels, base->level_count * sizeof(*levels));
    for (size_t i = 0; i < count; i++) {
        char name[MOST_NAME];
        TRY(first_name(names, name));
        if (i == MOST_TRACERS)
            return fail(MINIAPP_USAGE, "there are at most %d tracers, and '%s' is one more",
                        MOST_TRACERS, name);
        TRY(append_tracer(step, name, i == 0, to, levels));
        names += strcspn(names, "+");
        names += *names == '+';
    }
    return MINIAPP_DONE;
}
