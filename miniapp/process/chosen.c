#include "chosen.h"
#include "stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool moves_the_flow(const struct options *options)
{
    bool moves = false;
    for (size_t i = 0; i < options->kernel_count && options->steps; i++)
        moves |= miniapp_sequence_carries(options->kernels[i], miniapp_field_find("du_taum1"));
    return moves;
}

/* The scales of the whole ocean in the file. */
static enum miniapp_status find_spacing(const struct run *run, struct miniapp_scales *scales)
{
    enum miniapp_status status = miniapp_input_scales(run->input, scales);
    double most[] = {1 / scales->least_dx, 1 / scales->least_dy, scales->widest, scales->turning,
                     scales->highest};
    status = agree_on(status, most, 5);
    *scales = (struct miniapp_scales){1 / most[0], 1 / most[1], most[2], most[3], most[4]};
    return status;
}

static void choose_one(struct run *run, const char *name, double value)
{
    const struct miniapp_setting *const setting = miniapp_setting_find(name);
    const size_t used = strlen(run->by_spacing);
    double given;
    for (size_t i = 0; i < miniapp_setting_count(); i++)
        if (miniapp_setting_at(i) == setting && run->options.is_set[i])
            return;
    const bool is_interpolated = run->options.shapes[0].nx > 0 && strncmp(name, "dt_", 3) == 0;
    if (miniapp_input_setting(run->input, setting, &given) && !is_interpolated)
        return;
    miniapp_settings_set(run->options.settings, name, value);
    snprintf(run->by_spacing + used, sizeof(run->by_spacing) - used, "%s%s (%g by the %s)",
             used ? ", " : "", name, value, is_interpolated ? "size" : "spacing");
}

enum miniapp_status choose_by_spacing(struct run *run)
{
    const double wave_speed = 3, short_step = 10; /* m s-1, s */
    struct miniapp_scales scales;
    if (!moves_the_flow(&run->options))
        return MINIAPP_DONE;
    const enum miniapp_status status = find_spacing(run, &scales);
    const double spacing = fmin(scales.least_dx, scales.least_dy);
    const bool is_wild = run->options.shapes[0].nx > 0;
    if (status || !isfinite(spacing)) /* all land */
        return status;
    const double dt =
        is_wild ? short_step : fmin(0.2 * spacing / wave_speed, 0.3 / fmax(scales.turning, 1e-9));
    choose_one(run, "dt_mom", dt);
    choose_one(run, "dt_tracer", miniapp_settings_get(run->options.settings, "dt_mom"));
    choose_one(run, "A_h", fmin(2e-11 * pow(scales.widest, 3), 0.1 * spacing * spacing / dt));
    choose_one(run, "r_bot", fmin(5e-3 / scales.highest, 0.1 / dt));
    return MINIAPP_DONE;
}
