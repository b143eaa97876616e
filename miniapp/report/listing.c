#include "measure.h"
#include "printable.h"
#include "program.h"
#include "report.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels ---- */

/* An output that the settings leave untouched says so. */
static void list_argument(const struct miniapp_sequence *sequence, size_t place,
                          const struct miniapp_settings *settings)
{
    static const char *const words[] = {"reads", "writes", "updates", "scratch"};
    const struct miniapp_kernel *const kernel = miniapp_sequence_kernel(sequence, 0);
    const struct miniapp_field *const field = miniapp_argument_field(kernel, place);
    const char *const name = miniapp_argument_name(kernel, place);
    const bool is_left = miniapp_argument_access(kernel, place) == MINIAPP_WRITE &&
                         !miniapp_sequence_makes(sequence, field, settings);
    const bool is_pressure =
        miniapp_field_surface_units(field) && miniapp_sequence_is_at_surface(sequence, settings);
    const bool is_renamed = strcmp(name, miniapp_field_name(field)) != 0;
    char axes[32] = "", range[RANGE_TEXT] = "";
    double least, most;
    miniapp_field_range(field, &least, &most);
    if (is_pressure) {
        most = miniapp_field_surface_most(field);
        least = -most;
    }
    if (miniapp_is_real(miniapp_field_type(field)))
        range_text(least, most, range);
    if (!miniapp_field_rank(field))
        strcpy(axes, "-");
    for (int i = 0; i < miniapp_field_rank(field); i++)
        append(axes, sizeof(axes), " ", "%s", miniapp_axis_name(miniapp_field_axis(field, i)));
    printf("  %-7s %-17s %-13s %-13s %s%s%s%s%s%s\n", words[miniapp_argument_access(kernel, place)],
           miniapp_field_name(field), axes,
           is_pressure ? miniapp_field_surface_units(field) : miniapp_field_units(field),
           is_pressure ? miniapp_field_surface_name(field) : miniapp_field_long_name(field),
           range[0] ? ", " : "", range, is_renamed ? ", as " : "", is_renamed ? name : "",
           is_left                            ? " (not with these settings)"
           : miniapp_field_is_optional(field) ? " (optional)"
                                              : "");
}

bool is_chosen_by_name(const char *subject)
{
    return strcmp(subject, "momentum") == 0 || strcmp(subject, "external") == 0 ||
           strcmp(subject, "waves") == 0 || strcmp(subject, "forcing") == 0;
}

/* As a sequence of one step. */
static void list_kernel(const struct miniapp_sequence *sequence,
                        const struct miniapp_settings *settings)
{
    const struct miniapp_kernel *const kernel = miniapp_sequence_kernel(sequence, 0);
    const struct miniapp_grid large = {1000, 1000, 100};
    const double points = (double)miniapp_grid_points(&large);
    const struct miniapp_moves moves =
        miniapp_kernel_moves(kernel, &large, MINIAPP_FLOAT64, settings);
    const double of_iteration = miniapp_kernel_flops_of_iteration(kernel, &large);
    printf("%s: %s\n  defined by %s\n", miniapp_kernel_name(kernel), miniapp_kernel_summary(kernel),
           miniapp_kernel_citation(kernel));
    if (strcmp(miniapp_kernel_subject(kernel), "calibration") == 0)
        printf("  measures the machine: one of 'calibration', not of 'all'\n");
    if (is_chosen_by_name(miniapp_kernel_subject(kernel)))
        printf("  is chosen by name: not one of 'all'\n");
    for (size_t i = 0; i < miniapp_kernel_argument_count(kernel); i++)
        list_argument(sequence, i, settings);
    for (size_t i = 0; i < miniapp_kernel_setting_count(kernel); i++) {
        const struct miniapp_setting *const setting = miniapp_kernel_setting(kernel, i);
        double least, most;
        char range[RANGE_TEXT], value[EXACT_TEXT];
        miniapp_setting_range(setting, &least, &most);
        printf("  setting %-17s [%s] %s: %s, %s\n", miniapp_setting_name(setting),
               exact_text(miniapp_setting_default(setting), value), miniapp_setting_units(setting),
               miniapp_setting_long_name(setting), range_text(least, most, range));
    }
    printf("  a point costs %.0f bytes (%.0f where a line is fetched before it is written) and "
           "%.0f flops in float64",
           moves.bytes / points, moves.traffic / points,
           miniapp_kernel_flops(kernel, &large, settings) / points);
    if (of_iteration > 0)
        printf("; an iteration, %.0f flops a column", of_iteration / (double)(large.nx * large.ny));
    printf("\n\n");
}

static void list_sequence(const struct miniapp_sequence *sequence)
{
    printf("sequence %s: %s\n  runs", miniapp_sequence_name(sequence),
           miniapp_sequence_summary(sequence));
    for (size_t s = 0; s < miniapp_sequence_step_count(sequence); s++)
        printf("%s %s", s ? "," : "", miniapp_kernel_name(miniapp_sequence_kernel(sequence, s)));
    printf("\n\n");
}

void list_kernels(const struct miniapp_settings *settings)
{
    for (size_t i = 0; i < miniapp_kernel_count(); i++)
        list_kernel(miniapp_sequence_at(i), settings);
    for (size_t i = miniapp_kernel_count(); i < miniapp_sequence_count(); i++)
        list_sequence(miniapp_sequence_at(i));
}

/* ---- directive variants ---- */

/* A directive may have several lines. */
static void list_directive(const char *word, const char *text)
{
    if (!text[0])
        printf("  %-28s nothing\n", word);
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        printf("  %-28s %.*s\n", line == text ? word : "", (int)(end - line), line);
}

void list_variants(void)
{
    size_t count;
    const struct miniapp_variant *const variants = miniapp_variants(&count);
    for (const struct miniapp_variant *v = variants; v < variants + count; v++) {
        printf("%s: %s: %s%s\n", v->name, v->is_offload ? "offload" : "host", v->purpose,
               v->is_built ? "" : " (not in this build)");
        for (const char *const *word = v->directives; *word; word += 2)
            list_directive(word[0], word[1]);
        printf("\n");
    }
}

/* ---- devices ---- */

/* The median of many calls: no kernel is faster. */
static double time_of_empty_call(const struct miniapp_device *device)
{
    enum { CALLS = 201 };
    struct samples samples;
    struct timing timing;
    if (!samples_open(&samples, CALLS))
        return NAN;
    miniapp_device_empty_call(device); /* the first is not counted */
    for (int i = 0; i < CALLS; i++)
        samples_add(&samples, miniapp_device_empty_call(device));
    summarise(&samples, &timing);
    free(samples.seconds);
    return timing.median;
}

static void list_usable(const char *text, const struct miniapp_device *device)
{
    enum { POINTS = 1 << 20 };
    int blocks, threads;
    miniapp_device_geometry(device, POINTS, &blocks, &threads);
    print("%-6s %s; %d points take %d blocks of %d threads; an empty kernel takes %.3g us\n",
          miniapp_device_label(device), text, POINTS, blocks, threads,
          1e6 * time_of_empty_call(device));
}

/* Prints a line for a device; false, with the reason in `text`, if no device has that number. */
static bool list_offload(int number, char *text, size_t size)
{
    struct miniapp_device *device;
    char name[32];
    if (!miniapp_device_describe(number, text, size))
        return false;
    snprintf(name, sizeof(name), "gpu:%d", number);
    const miniapp_listener listener = miniapp_listen(NULL); /* its line says what is wrong */
    const bool failed = miniapp_device_open(name, &device) != MINIAPP_DONE;
    miniapp_listen(listener);
    if (failed)
        print("gpu:%-2d cannot be used: %s: %s\n", number, text, miniapp_message());
    else
        list_usable(text, device);
    miniapp_device_close(device);
    return true;
}

void list_devices(void)
{
    char text[1024];
    struct miniapp_device *host;
    int number = 0;
    const miniapp_listener listener = miniapp_listen(NULL);
    if (miniapp_device_open("cpu", &host))
        print("cpu    cannot be used: %s\n", miniapp_message());
    else
        print("cpu    %s\n", miniapp_device_name(host));
    miniapp_listen(listener);
    miniapp_device_close(host);
    while (list_offload(number, text, sizeof(text)))
        number++;
    if (number == 0)
        print("gpu    none: %s\n", text);
}
