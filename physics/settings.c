/* The table of settings: Veros's names and defaults. */
#include <physics/setting.h>

#include <float.h>

#define POSITIVE DBL_MIN, DBL_MAX

const struct physics_setting physics_settings[PHYSICS_SETTINGS] = {
    [PHYSICS_EQ_OF_STATE_TYPE] = {"eq_of_state_type", 3, 1, 5, true, "1",
                                  "equation of state of the isoneutral slopes: 1 linear, "
                                  "2 nonlin1, 3 nonlin2, 4 nonlin3, 5 TEOS-10 48-term"},
    [PHYSICS_ISO_SLOPEC] = {"iso_slopec", 1e-3, 0, DBL_MAX, false, "1",
                            "slope at which isoneutral mixing is tapered to a half"},
    [PHYSICS_ISO_DSLOPE] = {"iso_dslope", 1e-3, POSITIVE, false, "1",
                            "width of the taper in slope"},
    [PHYSICS_K_ISO_STEEP] = {"K_iso_steep", 50, 0, DBL_MAX, false, "m2 s-1",
                             "lateral diffusivity where slopes are steep"},
    [PHYSICS_DT_TRACER] = {"dt_tracer", 1, POSITIVE, false, "s", "time step of tracers"},
    [PHYSICS_DT_MOM] = {"dt_mom", 1, POSITIVE, false, "s", "time step of momentum"},
    [PHYSICS_AB_EPS] = {"AB_eps", 0.1, -DBL_MAX, DBL_MAX, false, "1",
                        "deviation from Adams-Bashforth weights"},
    [PHYSICS_ALPHA_TKE] = {"alpha_tke", 1, 0, DBL_MAX, false, "1",
                           "factor of the vertical viscosity in mixing TKE"},
    [PHYSICS_C_EPS] = {"c_eps", 0.7, 0, DBL_MAX, false, "1", "dissipation of TKE"},
    [PHYSICS_K_H_TKE] = {"K_h_tke", 2000, 0, DBL_MAX, false, "m2 s-1",
                         "lateral diffusivity of TKE"},
};
