#include "ranks.h"
#include "run.h"
#include "shape.h"
#include "status.h"
#include "stop.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* ---- by the spacing ---- */

static bool is_read(const struct options *options, const struct miniapp_setting *setting)
{
    for (size_t i = 0; i < options->kernel_count; i++)
        if (miniapp_sequence_uses(options->kernels[i], setting))
            return true;
    return false;
}

static bool is_on(const struct run *run, const char *name)
{
    return miniapp_settings_get(run->options.settings, name) != 0;
}

static void choose_one(struct run *run, const char *name, double value)
{
    const struct miniapp_setting *const setting = miniapp_setting_find(name);
    double given;
    bool is_given = !is_read(&run->options, setting);
    for (size_t i = 0; i < miniapp_setting_count(); i++)
        is_given |= miniapp_setting_at(i) == setting && run->options.is_set[i];
    if (is_given)
        return;
    const bool is_interpolated = !run->options.method.own_grid && strncmp(name, "dt_", 3) == 0;
    if (miniapp_input_setting(run->input, setting, &given) && !is_interpolated)
        return;
    miniapp_settings_set(run->options.settings, name, value);
    append(run->by_spacing, sizeof(run->by_spacing), ", ", "%s (%g by the %s)", name, value,
           is_interpolated ? "size" : "spacing");
}

static void choose_by_spacing(struct run *run)
{
    const double short_step = 10; /* s */
    const struct miniapp_water *const water = &run->water;
    if (run->options.steps == 0 || water->per_length == 0) /* or all is land */
        return;
    const double dt =
        run->options.method.own_grid ? miniapp_water_setting(water, "dt_mom", 0) : short_step;
    choose_one(run, "dt_mom", dt);
    choose_one(run, "dt_tracer",
               is_read(&run->options, miniapp_setting_find("dt_mom"))
                   ? miniapp_settings_get(run->options.settings, "dt_mom")
                   : dt);
    if (is_on(run, "enable_hor_friction"))
        choose_one(run, "A_h", miniapp_water_setting(water, "A_h", dt));
    if (is_on(run, "enable_bottom_friction") && !is_on(run, "enable_bottom_friction_var"))
        choose_one(run, "r_bot", miniapp_water_setting(water, "r_bot", dt));
}

/* A setting, or 0 where a switch is off. */
static double get_if(const struct run *run, const char *switch_name, const char *name)
{
    return is_on(run, switch_name) ? miniapp_settings_get(run->options.settings, name) : 0;
}

/* Warns of time steps that somebody gave, if a flow that is stepped is unstable with them. */
static void judge_time_steps(struct run *run)
{
    const struct miniapp_water *const water = &run->water;
    const struct miniapp_settings *const settings = run->options.settings;
    const bool is_flow_stepped = run_reads(&run->options, miniapp_field_find("du_taum1"));
    const double dt = miniapp_settings_get(settings, "dt_mom"), per_length = water->per_length;
    const double dt_tracer = miniapp_settings_get(settings, "dt_tracer");
    if (run->options.steps == 0 || !is_flow_stepped || per_length == 0 ||
        !run->options.method.own_grid)
        return;
    const double power = get_if(run, "enable_hor_friction_cos_scaling", "hor_friction_cosPower");
    const double friction = get_if(run, "enable_hor_friction", "A_h") * per_length * per_length /
                            pow(water->per_cosine, power);
    const double slope = 4 * get_if(run, "enable_neutral_diffusion", "K_iso_0") *
                         miniapp_settings_get(settings, "iso_slopec") * per_length *
                         water->per_height;
    const struct {
        const char *setting, *name;
        double number, most;
    } limits[] = {{"dt_mom", "coriolis_t dt_mom", water->turning * dt, 0.5},
                  {"dt_mom", "dt_mom 3 m/s over the narrowest spacing, for internal waves",
                   MINIAPP_WAVE_SPEED * dt * per_length, 1},
                  {"dt_mom", "A_h dt_mom over the narrowest spacing squared", friction * dt, 0.25},
                  {"dt_tracer",
                   "4 K_iso_0 iso_slopec dt_tracer over the least spacing and height of a level",
                   slope * dt_tracer, 1}};
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
        if (limits[i].number > limits[i].most) {
            run->is_step_long |= strcmp(limits[i].setting, "dt_mom") == 0;
            warn("%s=%g: steps may be unstable: %s is %.3g, but should be at most %g",
                 limits[i].setting, miniapp_settings_get(settings, limits[i].setting),
                 limits[i].name, limits[i].number, limits[i].most);
        }
}

/* ---- on the command line or in the file ---- */

static bool is_possible(const struct miniapp_setting *setting, double value)
{
    double least, most;
    miniapp_setting_range(setting, &least, &most);
    return value >= least && value <= most &&
           (!miniapp_setting_is_whole(setting) || value == floor(value));
}

enum miniapp_status choose_settings(struct run *run)
{
    const struct options *options = &run->options;
    for (size_t i = 0; i < miniapp_setting_count(); i++) {
        const struct miniapp_setting *const setting = miniapp_setting_at(i);
        const char *const name = miniapp_setting_name(setting);
        double value;
        if (options->is_set[i] && !is_read(options, setting))
            warn("--set %s: none of the kernels reads it", name);
        if (options->is_set[i] || !miniapp_input_setting(run->input, setting, &value))
            continue;
        if (!is_read(options, setting)) { /* its value is reported, but need not be valid */
            if (is_possible(setting, value))
                miniapp_settings_set(run->options.settings, name, value);
            continue;
        }
        TRY(options_check_setting(options, setting, value, options->input, MINIAPP_INPUT));
        miniapp_settings_set(run->options.settings, name, value);
    }
    choose_by_spacing(run);
    judge_time_steps(run);
    return MINIAPP_DONE;
}

/* ---- grids ---- */

/* Fields four times as large as a cache are read from memory nearly as if there were none. */
enum { TIMES_THE_CACHES = 4 };

static double cache_of(const struct run *run, const struct miniapp_device *device)
{
    const bool is_on_host = strcmp(miniapp_device_kind(device), "host") == 0 ||
                            miniapp_device_takes_host_memory(device);
    const int most = options_most_threads(&run->options);
    return is_on_host ? last_cache_bytes(&run->results.caches, most ? most : miniapp_host_threads())
                      : miniapp_device_cache(device);
}

static bool is_in_memory(const struct miniapp_grid *shape)
{
    return same_grid(shape, &grid_beyond_caches);
}

enum miniapp_status choose_bytes_beyond_caches(struct run *run)
{
    enum miniapp_status status = MINIAPP_DONE;
    bool is_asked = false;
    double most = 0;
    for (size_t i = 0; i < run->options.shape_count; i++)
        is_asked |= is_in_memory(&run->options.shapes[i]);
    for (size_t i = 0; i < run->device_count && is_asked && !status; i++) {
        const double bytes = cache_of(run, run->devices[i]);
        most = fmax(most, bytes);
        if (bytes == 0)
            status = fail(MINIAPP_USAGE,
                          "--size memory: the caches of '%s' are not known: give a number",
                          miniapp_device_label(run->devices[i]));
    }
    status = agree_on(status, &most, 1);
    run->beyond_caches = TIMES_THE_CACHES * most * ranks_count();
    return status;
}

/* The least of pyhpc-benchmarks' shapes, but for 2 %, on which the kernel moves so many bytes. */
static struct miniapp_grid grid_that_moves(double bytes, const struct miniapp_sequence *sequence,
                                           enum miniapp_precision precision,
                                           const struct miniapp_settings *settings)
{
    struct miniapp_grid grid;
    size_t points = 64;
    do {
        grid = grid_of_size(points);
        points += points / 64 + 1;
    } while (miniapp_sequence_moves(sequence, &grid, precision, settings).bytes < bytes);
    return grid;
}

struct miniapp_grid grid_of_row(const struct run *run, size_t shape,
                                const struct miniapp_sequence *sequence,
                                enum miniapp_precision precision)
{
    const struct miniapp_grid *const asked = &run->options.shapes[shape];
    if (is_in_memory(asked))
        return grid_that_moves(run->beyond_caches, sequence, precision, run->options.settings);
    return asked->nx ? *asked : miniapp_input_grid(run->input);
}
