/* Whether the records that are read are of one time, as far as the coordinates of their time axes
 * say. */
#include "coordinates.h"
#include "dates.h"
#include "hdf5_file.h"
#include "input.h"
#include "status.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* When a record is, within what its number's rounding hides. */
struct moment {
    bool is_known;
    bool is_loose; /* it may be used with others */
    double from, to;
    char what[2 * TEXT_ATTRIBUTE]; /* the numbers are: "" stands for dates */
    char text[2 * TEXT_ATTRIBUTE];
};

/* A mask that has one record, or kbot, is of no time. */
static bool is_timeless(const struct miniapp_input *input, enum field_id id)
{
    return !input->record_of[id].scale ||
           (input->record_of[id].count == 1 && fields[id].type != MINIAPP_REAL);
}

/* Whether a dataset before this one has the same record of the same time axis. */
static bool was_seen(const struct miniapp_input *input, enum field_id id)
{
    const struct record *const own = &input->record_of[id];
    for (enum field_id other = NO_FIELD + 1; other < id; other++) {
        const struct record *const record = &input->record_of[other];
        if (!is_timeless(input, other) && record->index == own->index &&
            record->count == own->count && strcmp(record->scale, own->scale) == 0)
            return true;
    }
    return false;
}

/* Reads a number of a scale that has one for each record; NAN if nobody has written it. */
static enum miniapp_status read_number(struct miniapp_input *input, const struct record *record,
                                       hid_t scale, double *number)
{
    static const struct miniapp_field scalar = {.type = MINIAPP_REAL};
    const struct layout layout = {
        .part = {.rank = 1, .first = {record->index}, .count = {1}},
    };
    double *values = NULL;
    *number = NAN;
    if (H5Dget_storage_size(scale) == 0)
        return MINIAPP_DONE;
    const enum miniapp_status status = read_values(scale, input->path, record->scale, &scalar,
                                                   &layout, &input->outside, &values, NULL);
    if (values)
        *number = values[0];
    free(values);
    return status;
}

/* How far apart the numbers are that the scale's type can hold. */
static double rounding(hid_t scale, double number)
{
    const hid_t type = H5Dget_type(scale);
    const bool is_float = H5Tget_class(type) == H5T_FLOAT && H5Tget_size(type) < sizeof(double);
    H5Tclose(type);
    return fabs(number) * (is_float ? FLT_EPSILON : DBL_EPSILON);
}

/* Dates within a second are one. Those of the years 0 and 1 are, by custom, climatologies. */
static void find_dates(const struct timeline *timeline, double number, double margin,
                       struct moment *moment)
{
    const double seconds = timeline->start + timeline->step * number;
    const double apart = 0.5 + timeline->step * margin;
    moment->from = date_at(timeline, seconds - apart);
    moment->to = date_at(timeline, seconds + apart);
    moment->is_known = !isnan(moment->from) && !isnan(moment->to);
    moment->is_loose |= moment->to < 2 * DATE_YEAR;
    if (moment->is_known)
        date_text(date_at(timeline, round(seconds)), moment->text);
}

/* Numbers without units say nothing. In units that are no dates they say something beside others in
 * the same units. */
static void find_when(hid_t scale, double number, struct moment *moment)
{
    char units[TEXT_ATTRIBUTE], calendar[TEXT_ATTRIBUTE];
    struct timeline timeline;
    const double margin = rounding(scale, number);
    read_text_attribute(scale, "units", units);
    read_text_attribute(scale, "calendar", calendar);
    moment->is_loose |= H5Aexists(scale, "climatology") > 0;
    if (find_timeline(units, calendar, &timeline)) {
        find_dates(&timeline, number, margin, moment);
        return;
    }
    moment->is_known = units[0] != '\0';
    moment->from = number - margin;
    moment->to = number + margin;
    snprintf(moment->what, sizeof(moment->what), "%s %s", units, calendar);
    snprintf(moment->text, sizeof(moment->text), "%g %s", number, units);
}

static enum miniapp_status find_moment(struct miniapp_input *input, enum field_id id,
                                       struct moment *moment)
{
    const struct record *const record = &input->record_of[id];
    double number;
    hid_t scale;
    *moment = (struct moment){.is_loose = record->count == 1};
    if (is_timeless(input, id) || was_seen(input, id) ||
        !is_coordinate(input->file, record->scale, record->count))
        return MINIAPP_DONE;
    enum miniapp_status status =
        open_dataset(input->file, input->path, record->scale, &input->outside, &scale);
    if (status)
        return status;
    status = read_number(input, record, scale, &number);
    if (!status && isfinite(number))
        find_when(scale, number, moment);
    H5Dclose(scale);
    return status;
}

static bool contradict(const struct moment *moment, const struct moment *other)
{
    return moment->is_known && other->is_known && strcmp(moment->what, other->what) == 0 &&
           (moment->from > other->to || other->from > moment->to);
}

/* The first dataset before this one whose record is of another time; NO_FIELD if there is none. */
static enum field_id find_other(const struct moment *moments, enum field_id id, bool is_loose)
{
    for (enum field_id other = NO_FIELD + 1; other < id; other++)
        if (contradict(&moments[id], &moments[other]) &&
            (moments[id].is_loose || moments[other].is_loose) == is_loose)
            return other;
    return NO_FIELD;
}

/* "'salt' is of 2000-02-01 00:00:00 by 'time', but 'temp' of ..." */
static const char *describe(const struct miniapp_input *input, const struct moment *moments,
                            enum field_id id, enum field_id other)
{
    static char text[8 * TEXT_ATTRIBUTE];
    snprintf(text, sizeof(text), "'%.200s' is of %s by '%s', but '%.200s' of %s by '%s'",
             input->name[id], moments[id].text, input->record_of[id].scale, input->name[other],
             moments[other].text, input->record_of[other].scale);
    return text;
}

static enum miniapp_status compare_moments(const struct miniapp_input *input,
                                           const struct moment *moments)
{
    enum field_id id, other;
    for (id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if ((other = find_other(moments, id, false)))
            return fail(MINIAPP_INPUT, "%s: --time %lld chooses records of different times: %s",
                        input->path, input->time.index, describe(input, moments, id, other));
    for (id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if ((other = find_other(moments, id, true)))
            warn("%s: not all of one time: %s", input->path, describe(input, moments, id, other));
    return MINIAPP_DONE;
}

enum miniapp_status check_times(struct miniapp_input *input)
{
    struct moment *const moments = calloc(MOST_FIELDS, sizeof(*moments));
    enum miniapp_status status = MINIAPP_DONE;
    if (!moments)
        return fail(MINIAPP_DEVICE, "out of memory for the times of records");
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count() && !status; id++)
        status = find_moment(input, id, &moments[id]);
    if (!status)
        status = compare_moments(input, moments);
    free(moments);
    return status;
}
