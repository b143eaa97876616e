/* The table of fields. */
#include <physics/field.h>

#include <float.h>
#include <stdint.h>

#define ANYTHING -DBL_MAX, DBL_MAX
#define POSITIVE DBL_MIN, DBL_MAX
#define Z_Y_X {PHYSICS_Z, PHYSICS_Y, PHYSICS_X}
#define Y_X {PHYSICS_Y, PHYSICS_X}

#define MASK(field, cell)                                                                          \
    {field, Z_Y_X, PHYSICS_MASK, "1", "mask of " cell ": 1 water, 0 land", NULL, 0, 1}
#define SPACING(field, axis, text)                                                                 \
    {field, {axis}, PHYSICS_REAL, "m", text, NULL, POSITIVE, .spacing = true}
#define COSINE(field, text)                                                                        \
    {field, {PHYSICS_Y}, PHYSICS_REAL, "1", text, NULL, DBL_MIN, 1}
#define VELOCITY(field, text)                                                                      \
    {field, Z_Y_X, PHYSICS_REAL, "m s-1", text, NULL, ANYTHING}
#define DIFFUSIVITY(field, text)                                                                   \
    {field, Z_Y_X, PHYSICS_REAL, "m2 s-1", text, NULL, ANYTHING}
#define NUMBERS(field, text, ...)                                                                  \
    {field, {__VA_ARGS__}, PHYSICS_REAL, "1", text, NULL, -4, 4, .optional = true,                 \
     .stand_in = PHYSICS_TEMP, .sampled = true}
#define SLOPES(field, side, text)                                                                  \
    {field, {side, PHYSICS_KR, PHYSICS_Z, PHYSICS_Y, PHYSICS_X}, PHYSICS_REAL, "1", text, NULL,    \
     ANYTHING}

/* In the order of struct physics_field: name, axes, type, units, long name, standard name,
 * valid range, then what is special. */
const struct physics_field physics_fields[PHYSICS_FIELDS] = {
    [PHYSICS_SALT] = {"salt", Z_Y_X, PHYSICS_REAL, "g kg-1", "Absolute Salinity",
                      "sea_water_absolute_salinity", 0, 50},
    [PHYSICS_TEMP] = {"temp", Z_Y_X, PHYSICS_REAL, "degC", "Conservative Temperature",
                      "sea_water_conservative_temperature", -20, 80},
    [PHYSICS_P] = {"p", {PHYSICS_Z}, PHYSICS_REAL, "dbar", "sea pressure",
                   "sea_water_pressure_due_to_sea_water", 0, 12000, .optional = true,
                   .stand_in = PHYSICS_ZT, .stand_in_factor = -1},
    [PHYSICS_ZT] = {"zt", {PHYSICS_Z}, PHYSICS_REAL, "m",
                    "height of the T point, negative below the surface", "height", ANYTHING},
    [PHYSICS_DXT] = SPACING("dxt", PHYSICS_X, "spacing in x at the T point"),
    [PHYSICS_DXU] = SPACING("dxu", PHYSICS_X, "spacing in x at the U point"),
    [PHYSICS_DYT] = SPACING("dyt", PHYSICS_Y, "spacing in y at the T point"),
    [PHYSICS_DYU] = SPACING("dyu", PHYSICS_Y, "spacing in y at the V point"),
    [PHYSICS_DZT] = SPACING("dzt", PHYSICS_Z, "spacing in z at the T point"),
    [PHYSICS_DZW] = SPACING("dzw", PHYSICS_Z, "spacing in z at the W point"),
    [PHYSICS_COST] = COSINE("cost", "cosine of latitude at T rows"),
    [PHYSICS_COSU] = COSINE("cosu", "cosine of latitude at U rows"),
    [PHYSICS_MASK_T] = MASK("maskT", "T cells"),
    [PHYSICS_MASK_U] = MASK("maskU", "U cells"),
    [PHYSICS_MASK_V] = MASK("maskV", "V cells"),
    [PHYSICS_MASK_W] = MASK("maskW", "W cells"),
    [PHYSICS_K_ISO] = {"K_iso", Z_Y_X, PHYSICS_REAL, "m2 s-1", "isoneutral diffusivity", NULL, 0,
                       DBL_MAX},
    [PHYSICS_KBOT] = {"kbot", Y_X, PHYSICS_INDEX, "1",
                      "1 + index of the deepest wet level, 0 on land", NULL, 0, INT32_MAX,
                      .counts = PHYSICS_Z},
    [PHYSICS_U_WGRID] = VELOCITY("u_wgrid", "eastward velocity on the W grid"),
    [PHYSICS_V_WGRID] = VELOCITY("v_wgrid", "northward velocity on the W grid"),
    [PHYSICS_W_WGRID] = VELOCITY("w_wgrid", "upward velocity on the W grid"),
    [PHYSICS_KAPPA_M] = {"kappaM", Z_Y_X, PHYSICS_REAL, "m2 s-1", "vertical viscosity",
                         "ocean_vertical_momentum_diffusivity", 0, DBL_MAX},
    [PHYSICS_MXL] = {"mxl", Z_Y_X, PHYSICS_REAL, "m", "mixing length", NULL, POSITIVE,
                     .wet = PHYSICS_KBOT},
    [PHYSICS_FORC] = {"forc", Z_Y_X, PHYSICS_REAL, "m2 s-3",
                      "sum of the sources of turbulent kinetic energy", NULL, ANYTHING},
    [PHYSICS_FORC_TKE_SURFACE] = {"forc_tke_surface", Y_X, PHYSICS_REAL, "m3 s-3",
                                  "flux of turbulent kinetic energy through the surface", NULL,
                                  ANYTHING},
    [PHYSICS_TKE] = {"tke", Z_Y_X, PHYSICS_REAL, "m2 s-2",
                     "turbulent kinetic energy at time level tau", NULL, ANYTHING},
    [PHYSICS_TKE_TAUP1] = {"tke_taup1", Z_Y_X, PHYSICS_REAL, "m2 s-2",
                           "turbulent kinetic energy at time level taup1", NULL, ANYTHING,
                           .optional = true},
    [PHYSICS_DTKE_TAUM1] = {"dtke_taum1", Z_Y_X, PHYSICS_REAL, "m2 s-3",
                            "advective tendency of turbulent kinetic energy at taum1", NULL,
                            ANYTHING},
    [PHYSICS_SAMPLE] = NUMBERS("sample", "numbers between 0 and 1", PHYSICS_Z, PHYSICS_Y, PHYSICS_X),
    [PHYSICS_FACTOR_A] = NUMBERS("factor_a", "left factor, transposed", PHYSICS_Z, PHYSICS_Y),
    [PHYSICS_FACTOR_B] = NUMBERS("factor_b", "right factor", PHYSICS_Z, PHYSICS_X),
    [PHYSICS_DHDT] = {"dHdT", Z_Y_X, PHYSICS_REAL, "J kg-1 K-1",
                      "derivative of dynamic enthalpy by Conservative Temperature", NULL,
                      ANYTHING},
    [PHYSICS_K_11] = DIFFUSIVITY("K_11", "isoneutral mixing tensor on the east face, along x"),
    [PHYSICS_K_22] = DIFFUSIVITY("K_22", "isoneutral mixing tensor on the north face, along y"),
    [PHYSICS_K_33] = DIFFUSIVITY("K_33", "isoneutral mixing tensor on the top face, along z"),
    [PHYSICS_AI_EZ] = SLOPES("Ai_ez", PHYSICS_IP, "tapered slopes along x of the east face"),
    [PHYSICS_AI_NZ] = SLOPES("Ai_nz", PHYSICS_JP, "tapered slopes along y of the north face"),
    [PHYSICS_AI_BX] = SLOPES("Ai_bx", PHYSICS_IP, "tapered slopes along x of the top face"),
    [PHYSICS_AI_BY] = SLOPES("Ai_by", PHYSICS_JP, "tapered slopes along y of the top face"),
    [PHYSICS_DTKE] = {"dtke", Z_Y_X, PHYSICS_REAL, "m2 s-3",
                      "advective tendency of turbulent kinetic energy", NULL, ANYTHING},
    [PHYSICS_TKE_SURF_CORR] = {"tke_surf_corr", Y_X, PHYSICS_REAL, "m3 s-3",
                               "flux that keeps turbulent kinetic energy at the surface from "
                               "being drained below zero",
                               NULL, ANYTHING},
    [PHYSICS_TRIAD] = {"triad", Z_Y_X, PHYSICS_REAL, "1", "salt + 3 temp, as numbers", NULL,
                       ANYTHING},
    [PHYSICS_FMA] = {"fma", Z_Y_X, PHYSICS_REAL, "1", "sum of eight polynomials of sample", NULL,
                     ANYTHING},
    [PHYSICS_EXPSUM] = {"expsum", {PHYSICS_NO_AXIS}, PHYSICS_REAL, "1",
                        "sum of exp(x^2 + 2 x) for x in sample, ghost cells included", NULL,
                        ANYTHING},
    [PHYSICS_MATMUL] = {"matmul", Y_X, PHYSICS_REAL, "1",
                        "sum over z of factor_a[z, y] factor_b[z, x]", NULL, ANYTHING},
};

const char *physics_axis_name(enum physics_axis axis)
{
    static const char *const names[PHYSICS_AXES] = {"", "x", "y", "z", "ip", "jp", "kr"};
    return names[axis];
}

size_t physics_axis_length(enum physics_axis axis, const struct physics_grid *grid)
{
    switch (axis) {
    case PHYSICS_X: return grid->nx;
    case PHYSICS_Y: return grid->ny;
    case PHYSICS_Z: return grid->nz;
    default: return 2; /* one of the two cells that meet at a triad */
    }
}

static size_t multiply(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

size_t physics_grid_points(const struct physics_grid *grid)
{
    return multiply(multiply(grid->nx, grid->ny), grid->nz);
}

int physics_field_rank(const struct physics_field *field)
{
    int rank = 0;
    while (field->axes[rank] != PHYSICS_NO_AXIS)
        rank++;
    return rank;
}

size_t physics_field_elements(const struct physics_field *field, const struct physics_grid *grid)
{
    size_t elements = 1;
    for (const enum physics_axis *axis = field->axes; *axis != PHYSICS_NO_AXIS; axis++)
        elements = multiply(elements, physics_axis_length(*axis, grid));
    return elements;
}

double physics_sample(size_t element)
{
    const double multiple = (double)(element + 1) * 0.6180339887498949;
    return multiple - (double)(size_t)multiple;
}

size_t physics_element_bytes(enum physics_type type, enum physics_precision precision)
{
    switch (type) {
    case PHYSICS_MASK: return sizeof(uint8_t);
    case PHYSICS_INDEX: return sizeof(int32_t);
    default: return precision == PHYSICS_FLOAT64 ? sizeof(double) : sizeof(float);
    }
}

const char *physics_precision_name(enum physics_precision precision)
{
    return precision == PHYSICS_FLOAT64 ? "float64" : "float32";
}
