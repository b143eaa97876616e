#include "report.h"
#include "status.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* The columns of a result that are numbers, for JSON and CSV alike. */
struct column {
    const char *name;
    double (*value)(const struct result *);
    bool whole;
};

static double nx(const struct result *r) { return (double)r->grid.nx; }
static double ny(const struct result *r) { return (double)r->grid.ny; }
static double nz(const struct result *r) { return (double)r->grid.nz; }
static double points(const struct result *r) { return (double)physics_grid_points(&r->grid); }
static double calls(const struct result *r) { return (double)r->timing.calls; }
static double mean(const struct result *r) { return r->timing.mean; }
static double stdev(const struct result *r) { return r->timing.stdev; }
static double least(const struct result *r) { return r->timing.min; }
static double p25(const struct result *r) { return r->timing.p25; }
static double median(const struct result *r) { return r->timing.median; }
static double p75(const struct result *r) { return r->timing.p75; }
static double most(const struct result *r) { return r->timing.max; }
static double speedup(const struct result *r) { return r->speedup; }
static double ns_per_point(const struct result *r) { return 1e9 * r->timing.median / points(r); }
static double gb_per_s(const struct result *r) { return 1e-9 * r->bytes / r->timing.median; }

static const struct column columns[] = {
    {"nx", nx, true},
    {"ny", ny, true},
    {"nz", nz, true},
    {"points", points, true},
    {"calls", calls, true},
    {"mean_s", mean, false},
    {"stdev_s", stdev, false},
    {"min_s", least, false},
    {"p25_s", p25, false},
    {"median_s", median, false},
    {"p75_s", p75, false},
    {"max_s", most, false},
    {"ns_per_point", ns_per_point, false},
    {"gb_per_s", gb_per_s, false},
    {"speedup", speedup, false},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* ---- the table that people read ---- */

/* Seconds with a unit that keeps three digits before the point at most. */
static const char *human_time(double seconds, char text[16])
{
    static const char *const units[] = {"s ", "ms", "us", "ns"};
    int unit = 0;
    while (unit < 3 && seconds < 1) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, 16, "%.*f %s", seconds >= 100 ? 1 : seconds >= 10 ? 2 : 3, seconds,
             units[unit]);
    return text;
}

static void print_times(const struct timing *timing)
{
    const double times[] = {timing->mean,   timing->stdev, timing->min, timing->p25,
                            timing->median, timing->p75,   timing->max};
    char text[16];
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        printf(" %9s", human_time(times[i], text));
}

static void print_rows(const struct results *results)
{
    printf("%-10s %-6s %-9s %-15s %9s %6s %9s %9s %9s %9s %9s %9s %9s %8s %7s %8s\n", "kernel",
           "device", "precision", "nx x ny x nz", "points", "calls", "mean   ", "stdev   ",
           "min   ", "25%   ", "median   ", "75%   ", "max   ", "ns/point", "GB/s", "speedup");
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        char shape[64];
        snprintf(shape, sizeof(shape), "%zu x %zu x %zu", r->grid.nx, r->grid.ny, r->grid.nz);
        printf("%-10s %-6s %-9s %-15s %9.0f %6zu", r->kernel->name, r->device,
               physics_precision_name(r->precision), shape, points(r), r->timing.calls);
        print_times(&r->timing);
        printf(" %8.2f %7.2f %8.2f\n", ns_per_point(r), gb_per_s(r), speedup(r));
    }
}

static void print_transfers(const struct results *results)
{
    char read[16], first[16], to[16], from[16];
    printf("\nnot in the times above: reading the file %s; then\n",
           human_time(results->read_seconds, read));
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        printf("%-10s %-6s %-9s %9.0f points: inputs to the device %.1f MB in %s, first call %s",
               r->kernel->name, r->device, physics_precision_name(r->precision), points(r),
               r->to_device_bytes / 1e6, human_time(r->to_device_seconds, to),
               human_time(r->timing.first, first));
        if (r->from_device_bytes > 0)
            printf(", outputs back %.1f MB in %s", r->from_device_bytes / 1e6,
                   human_time(r->from_device_seconds, from));
        putchar('\n');
    }
}

static const char *index_text(const struct verdict *verdict, char text[128])
{
    int used = snprintf(text, 128, "[");
    for (int i = 0; i < verdict->rank; i++)
        used += snprintf(text + used, 128 - (size_t)used, "%s%zu", i ? ", " : "",
                         verdict->worst_index[i]);
    snprintf(text + used, 128 - (size_t)used, "]");
    return text;
}

static void print_checks(const struct results *results)
{
    size_t passed = 0;
    char index[128];
    printf("\ncompared with %s; |x - ref| <= atol + rtol |ref| passes\n", results->reference);
    printf("%-10s %-6s %-9s %-13s %11s %11s %11s %8s %8s  %-18s %s\n", "kernel", "device",
           "precision", "variable", "max |x-ref|", "max |ref|", "max rel.", "atol", "rtol",
           "worst at", "verdict");
    for (size_t i = 0; i < results->check_count; i++) {
        const struct check *c = &results->checks[i];
        const struct verdict *v = &c->verdict;
        passed += v->passed;
        printf("%-10s %-6s %-9s %-13s %11.2e %11.4g %11.2e %8.1e %8.1e  %-18s %s\n",
               c->kernel->name, c->device, physics_precision_name(c->precision), c->field->name,
               v->max_abs, v->largest, v->max_rel, v->atol, v->rtol, index_text(v, index),
               v->passed ? "passed" : "FAILED");
    }
    printf("\nvalidation %s: %zu of %zu variables agree with the reference\n",
           results_passed(results) ? "PASSED" : "FAILED", passed, results->check_count);
}

static void report_table(const struct results *results)
{
    const struct provenance *provenance = &results->provenance;
    for (size_t i = 0; i < provenance->count; i++)
        printf("# %-14s %s\n", provenance->names[i], provenance->texts[i]);
    putchar('\n');
    print_rows(results);
    print_transfers(results);
    if (results->reference)
        print_checks(results);
}

/* ---- for programs ---- */

/* JSON knows no Inf or NaN: they become null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* JSON is UTF-8; a path or command line may hold any bytes. Where they are not UTF-8, those that are
 * not ASCII become question marks. */
static json_t *text_value(const char *text)
{
    char ascii[PROVENANCE_TEXT];
    size_t length = 0;
    json_t *value = json_string(text);
    if (value)
        return value;
    for (; text[length] && length + 1 < sizeof(ascii); length++)
        ascii[length] = (text[length] & 0x80) ? '?' : text[length];
    return json_stringn(ascii, length);
}

static json_t *provenance_object(const struct provenance *provenance)
{
    json_t *object = json_object();
    for (size_t i = 0; i < provenance->count; i++)
        json_object_set_new(object, provenance->names[i], text_value(provenance->texts[i]));
    return object;
}

static json_t *result_object(const struct result *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", json_string(r->kernel->name));
    json_object_set_new(object, "device", json_string(r->device));
    json_object_set_new(object, "precision", json_string(physics_precision_name(r->precision)));
    for (size_t i = 0; i < COLUMNS; i++) {
        const double value = columns[i].value(r);
        json_object_set_new(object, columns[i].name,
                            columns[i].whole ? json_integer((json_int_t)value) : number(value));
    }
    return object;
}

static json_t *transfer_object(const struct result *r)
{
    json_t *object = json_object();
    json_object_set_new(object, "kernel", json_string(r->kernel->name));
    json_object_set_new(object, "device", json_string(r->device));
    json_object_set_new(object, "precision", json_string(physics_precision_name(r->precision)));
    json_object_set_new(object, "points", json_integer((json_int_t)points(r)));
    json_object_set_new(object, "to_device_bytes", number(r->to_device_bytes));
    json_object_set_new(object, "to_device_s", number(r->to_device_seconds));
    json_object_set_new(object, "from_device_bytes", number(r->from_device_bytes));
    json_object_set_new(object, "from_device_s", number(r->from_device_seconds));
    json_object_set_new(object, "first_call_s", number(r->timing.first));
    return object;
}

static json_t *check_object(const struct check *c)
{
    const struct verdict *v = &c->verdict;
    json_t *object = json_object();
    json_t *index = json_array();
    for (int i = 0; i < v->rank; i++)
        json_array_append_new(index, json_integer((json_int_t)v->worst_index[i]));
    json_object_set_new(object, "kernel", json_string(c->kernel->name));
    json_object_set_new(object, "device", json_string(c->device));
    json_object_set_new(object, "precision", json_string(physics_precision_name(c->precision)));
    json_object_set_new(object, "variable", json_string(c->field->name));
    json_object_set_new(object, "max_abs", number(v->max_abs));
    json_object_set_new(object, "max_rel", number(v->max_rel));
    json_object_set_new(object, "rtol", number(v->rtol));
    json_object_set_new(object, "atol", number(v->atol));
    json_object_set_new(object, "worst_index", index);
    json_object_set_new(object, "passed", json_boolean(v->passed));
    return object;
}

static void report_json(const struct results *results)
{
    json_t *root = json_object();
    json_t *rows = json_array(), *transfers = json_array(), *validation = json_array();
    for (size_t i = 0; i < results->result_count; i++) {
        json_array_append_new(rows, result_object(&results->results[i]));
        json_array_append_new(transfers, transfer_object(&results->results[i]));
    }
    for (size_t i = 0; i < results->check_count; i++)
        json_array_append_new(validation, check_object(&results->checks[i]));
    json_object_set_new(root, "provenance", provenance_object(&results->provenance));
    json_object_set_new(root, "read_s", number(results->read_seconds));
    json_object_set_new(root, "results", rows);
    json_object_set_new(root, "transfers", transfers);
    json_object_set_new(root, "validation", validation);
    json_dumpf(root, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(root);
}

/* The rows, after the provenance in comments. */
static void report_csv(const struct results *results)
{
    const struct provenance *provenance = &results->provenance;
    for (size_t i = 0; i < provenance->count; i++)
        printf("# %s: %s\n", provenance->names[i], provenance->texts[i]);
    printf("# read_s: %.9g\n", results->read_seconds);
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        printf("# transfer: %s %s %s points=%.0f to_device_bytes=%.0f to_device_s=%.9g "
               "from_device_bytes=%.0f from_device_s=%.9g first_call_s=%.9g\n", r->kernel->name,
               r->device, physics_precision_name(r->precision), points(r), r->to_device_bytes,
               r->to_device_seconds, r->from_device_bytes, r->from_device_seconds,
               r->timing.first);
    }
    for (size_t i = 0; i < results->check_count; i++) {
        const struct check *c = &results->checks[i];
        const struct verdict *v = &c->verdict;
        char index[128];
        printf("# validation: %s %s %s %s max_abs=%.17g max_rel=%.17g rtol=%.17g atol=%.17g "
               "worst_index=%s %s\n", c->kernel->name, c->device,
               physics_precision_name(c->precision), c->field->name, v->max_abs, v->max_rel,
               v->rtol, v->atol, index_text(v, index), v->passed ? "passed" : "FAILED");
    }
    printf("kernel,device,precision");
    for (size_t i = 0; i < COLUMNS; i++)
        printf(",%s", columns[i].name);
    putchar('\n');
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *r = &results->results[i];
        printf("%s,%s,%s", r->kernel->name, r->device, physics_precision_name(r->precision));
        for (size_t j = 0; j < COLUMNS; j++)
            printf(",%.*g", columns[j].whole ? 17 : 9, columns[j].value(r));
        putchar('\n');
    }
}

enum physics_status report(const struct results *results, enum output_format format)
{
    switch (format) {
    case FORMAT_TABLE: report_table(results); break;
    case FORMAT_JSON: report_json(results); break;
    case FORMAT_CSV: report_csv(results); break;
    }
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(PHYSICS_OUTPUT, "results cannot be written to standard output: %s",
                    strerror(errno));
    return PHYSICS_DONE;
}

static void list_fields(FILE *stream, const char *what, const enum physics_field_id *ids)
{
    for (; *ids; ids++) {
        const struct physics_field *field = &physics_fields[*ids];
        char axes[32] = "";
        if (!physics_field_rank(field))
            strcpy(axes, "-");
        for (const enum physics_axis *axis = field->axes; *axis; axis++) {
            strcat(axes, axis == field->axes ? "" : " ");
            strcat(axes, physics_axis_name(*axis));
        }
        fprintf(stream, "  %-7s %-17s %-12s %-11s %s%s\n", what, field->name, axes, field->units,
                field->long_name, field->optional ? " (optional)" : "");
    }
}

void list_kernels(FILE *stream)
{
    const struct physics_grid large = {1000, 1000, 100};
    for (const struct physics_kernel *kernel = physics_host_kernels(PHYSICS_FLOAT64); kernel->name;
         kernel++) {
        fprintf(stream, "%s: %s\n  defined by %s\n", kernel->name, kernel->summary,
                kernel->source);
        if (kernel->calibration)
            fprintf(stream, "  measures the machine: one of 'calibration', not of 'all'\n");
        list_fields(stream, "reads", kernel->inputs);
        list_fields(stream, "writes", kernel->outputs);
        for (const enum physics_setting_id *id = kernel->settings; *id; id++)
            fprintf(stream, "  setting %-17s [%g] %s: %s\n", physics_settings[*id].name,
                    physics_settings[*id].value, physics_settings[*id].units,
                    physics_settings[*id].long_name);
        fprintf(stream, "  a point costs %.0f bytes and %.0f flops in float64\n\n",
                physics_kernel_bytes(kernel, &large, PHYSICS_FLOAT64) /
                    (double)physics_grid_points(&large),
                kernel->flops);
    }
}
