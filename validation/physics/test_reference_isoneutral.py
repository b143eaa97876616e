"""Tests of reference/isoneutral.py and of the fields that it and other kernels are tested with."""

import h5py
import mpmath as mp
import numpy as np
import pytest

import fields as test_fields
from reference import isoneutral, teos10

Real = np.longdouble


@pytest.fixture(scope="module", params=[(37, 29, 11, 1, 1e5), (8, 13, 5, 2, 1e3), (6, 5, 2, 3, 50)])
def case(request):
    fields, settings = test_fields.make(*request.param)
    return fields, settings, isoneutral.reference(fields, settings)


def uneven_ocean(seed=5, nx=9, ny=8, nz=6):
    """All water, K_iso and the grid at random; temperature is left to the test."""
    rng = np.random.default_rng(seed)
    fields, settings = test_fields.make(nx, ny, nz, seed, islands=False)
    fields["K_iso"] = rng.uniform(900, 1100, (nz, ny, nx))
    fields["salt"] = np.full((nz, ny, nx), Real(35))
    return fields, settings


def linear_temperature(fields, dTdz, dTdx, dTdy):
    """Constant differences per metre between neighbours, whatever the spacing."""
    def distance(width):
        return np.append(Real(0), np.cumsum(np.asarray(width[:-1], Real)))

    return (10 + dTdz * distance(fields["dzw"])[:, None, None]
            + dTdy * distance(fields["dyu"])[:, None] + dTdx * distance(fields["dxu"]))


def logistic_taper(slope):
    return 1 / (1 + np.exp(-2 * (Real(1e-3) - abs(slope)) / Real(1e-3)))


def assert_close(actual, expected):
    """To what 80-bit arithmetic leaves after the differences of temperature."""
    np.testing.assert_allclose(actual, expected, rtol=1e-15, atol=0)


def test_constant_slopes_on_an_uneven_grid():
    f, settings = uneven_ocean()
    f["temp"] = linear_temperature(f, Real(0.01), Real(3e-6), Real(-5e-6))
    out = isoneutral.reference(f, settings | {"eq_of_state_type": 1})
    cost, cosu, K = (np.asarray(f[name], Real) for name in ("cost", "cosu", "K_iso"))
    dxt, dxu, dyt, dyu, dzt, dzw = (np.asarray(f[name], Real) for name in ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw"))
    for k, j, i in ((2, 3, 4), (1, 2, 2), (4, 5, 6)):
        x_slope, y_slope = -Real(3e-4) / cost[j], Real(5e-4)
        x_taper, y_taper = logistic_taper(x_slope), logistic_taper(y_slope)
        thickness = 2 * (dzw[k - 1] + dzw[k]) / (4 * dzt[k])
        assert_close(out["Ai_ez"][:, :, k, j, i], x_taper * x_slope)
        assert_close(out["Ai_bx"][:, :, k, j, i], x_taper * x_slope)
        assert_close(out["Ai_nz"][:, :, k, j, i], y_taper * y_slope)
        assert_close(out["Ai_by"][:, :, k, j, i], y_taper * y_slope)
        assert_close(out["K_11"][k, j, i], thickness * x_taper * K[k - 1:k + 1, j, i:i + 2].mean())
        assert_close(out["K_22"][k, j, i], thickness * y_taper * K[k - 1:k + 1, j:j + 2, i].mean())
        assert_close(out["K_33"][k, j, i], K[k, j, i] / 2 * (
            x_taper * x_slope ** 2 * (dxu[i - 1] + dxu[i]) / dxt[i]
            + y_taper * y_slope ** 2 * (cosu[j - 1] * dyu[j - 1] + cosu[j] * dyu[j])
            / (cost[j] * dyt[j])))


def test_lowest_and_uppermost_level():
    f, settings = uneven_ocean()
    f["temp"] = linear_temperature(f, Real(0.01), Real(3e-6), Real(-5e-6))
    out = isoneutral.reference(f, settings | {"eq_of_state_type": 1})
    j, i, top = 3, 4, -1
    K, dzt, dzw = (np.asarray(f[name], Real) for name in ("K_iso", "dzt", "dzw"))
    x_taper = logistic_taper(Real(3e-4) / np.asarray(f["cost"], Real)[j])
    # the lowest cell has its upper triads only, with K_iso of its own level
    assert_close(out["K_11"][0, j, i], x_taper * K[0, j, i:i + 2].mean() * dzw[0] / (2 * dzt[0]))
    # in the uppermost cell the upper triads have no vertical gradient: infinitely steep
    assert_close(out["K_11"][top, j, i], (dzw[-2] * x_taper * K[-2:, j, i:i + 2].mean() + dzw[-1] * 50) / (2 * dzt[-1]))
    assert (out["Ai_ez"][:, 1, top] == 0).all()
    assert (out["Ai_nz"][:, 1, top] == 0).all()


def test_places_without_output_are_zero(case):
    _, _, out = case
    ranges = {"K_11": (2, 1), "Ai_ez": (2, 1), "K_22": (1, 2), "Ai_nz": (1, 2)}
    for name, values in out.items():
        y, x = ranges.get(name, (2, 2))
        outside = np.ones(values.shape[-2:], bool)
        outside[y:-2, x:-2] = False
        assert (values[..., outside] == 0).all(), name
    for name in ("Ai_ez", "Ai_nz"):
        assert (out[name][:, 0, 0] == 0).all(), f"{name} below the lowest cell"
    for name in ("K_33", "Ai_bx", "Ai_by"):
        assert (out[name][..., -1, :, :] == 0).all(), f"{name} above the uppermost cell"


def test_every_value_is_finite_and_bounded(case):
    _, _, out = case
    assert set(out) == {name for name, *_ in isoneutral.OUTPUTS}
    for name, axes, _, _ in isoneutral.OUTPUTS:
        assert out[name].dtype == Real and out[name].ndim == len(axes)
        assert np.isfinite(out[name]).all(), name
    slope = np.linspace(0, 1e-2, 100001)
    largest = (slope * logistic_taper(slope)).max() * (1 + 1e-6)
    for name in ("Ai_ez", "Ai_nz", "Ai_bx", "Ai_by"):
        assert abs(out[name]).max() <= largest
    assert (out["K_33"] >= 0).all()


def test_a_triad_has_one_slope(case):
    """A triad with a side face and an upper face is met from both, with one slope."""
    fields, _, out = case
    inside = (slice(2, -2), slice(2, -2))
    for k in range(len(fields["dzw"]) - 1):
        wet = fields["maskW"][k][inside]
        for p in (0, 1):
            for kr, level in ((0, k), (1, k + 1)):
                east = np.roll(out["Ai_ez"][1 - p, 1 - kr, level], 1 - p, axis=1)
                north = np.roll(out["Ai_nz"][1 - p, 1 - kr, level], 1 - p, axis=0)
                np.testing.assert_array_equal(out["Ai_bx"][p, kr, k][inside], wet * east[inside])
                np.testing.assert_array_equal(out["Ai_by"][p, kr, k][inside], wet * north[inside])


def mirrored(field, staggered=False):
    """In x; the face between i and i + 1 becomes that between n - 2 - i and n - 1 - i."""
    field = field[..., ::-1]
    return np.roll(field, -1, axis=-1) if staggered else field


def test_mirrored_ocean_has_mirrored_mixing(case):
    fields, settings, out = case
    image = fields | {name: mirrored(fields[name]) for name in (
        "salt", "temp", "K_iso", "dxt", "maskT", "maskV", "maskW")}
    image |= {name: mirrored(fields[name], staggered=True) for name in ("dxu", "maskU")}
    found = isoneutral.reference(image, settings)
    for name, staggered in (("K_11", True), ("K_22", False), ("K_33", False)):
        assert_close(found[name], mirrored(out[name], staggered))
    for name, staggered in (("Ai_ez", True), ("Ai_bx", False)):
        assert_close(found[name], -mirrored(out[name][::-1], staggered))
    for name in ("Ai_nz", "Ai_by"):
        assert_close(found[name], mirrored(out[name]))


def test_x_and_y_are_alike_where_latitude_does_not_matter(case):
    fields, settings, _ = case
    ny, nx = fields["kbot"].shape
    plane = fields | {"cost": np.ones(ny), "cosu": np.ones(ny)}
    turned = plane | {name: fields[name].swapaxes(-1, -2) for name in ("salt", "temp", "K_iso", "maskT", "maskW")}
    turned |= {"maskU": fields["maskV"].swapaxes(1, 2), "maskV": fields["maskU"].swapaxes(1, 2),
               "dxt": fields["dyt"], "dxu": fields["dyu"], "dyt": fields["dxt"],
               "dyu": fields["dxu"], "cost": np.ones(nx), "cosu": np.ones(nx)}
    expected = isoneutral.reference(plane, settings)
    found = isoneutral.reference(turned, settings)
    for name, other in (("K_11", "K_22"), ("K_22", "K_11"), ("K_33", "K_33"), ("Ai_ez", "Ai_nz"),
                        ("Ai_nz", "Ai_ez"), ("Ai_bx", "Ai_by"), ("Ai_by", "Ai_bx")):
        assert_close(found[name], expected[other].swapaxes(-1, -2))


def test_nothing_passes_land(case):
    fields, _, out = case
    assert (out["K_11"][fields["maskU"] == 0] == 0).all()
    assert (out["K_22"][fields["maskV"] == 0] == 0).all()
    assert (out["K_33"][fields["maskW"] == 0] == 0).all()


def test_triad_of_a_dry_cell_has_no_slope():
    """Even where the masks of its faces are open, which no topography gives."""
    f, settings = uneven_ocean()
    f["temp"] = linear_temperature(f, Real(0.01), Real(3e-6), Real(-5e-6))
    k, j, i = 2, 3, 4
    f["maskT"][k, j, i] = 0
    out = isoneutral.reference(f, settings)
    assert (out["Ai_ez"][0, :, k, j, i] == 0).all() and (out["Ai_ez"][1, :, k, j, i] != 0).all()
    assert (out["Ai_nz"][0, :, k, j, i] == 0).all() and (out["Ai_nz"][1, :, k, j, i] != 0).all()
    assert (out["Ai_bx"][:, 0, k, j, i] == 0).all() and (out["Ai_bx"][:, 1, k, j, i] != 0).all()


def test_constant_density_has_no_slope():
    f, settings = uneven_ocean()
    f["temp"] = np.full(f["salt"].shape, 10.0)
    f["K_iso"] = np.full(f["salt"].shape, 1000.0)
    out = isoneutral.reference(f, settings)
    assert (out["K_33"] == 0).all() and (out["Ai_ez"] == 0).all()
    k, j, i = 2, 3, 4
    weight = 2 * 1000 * logistic_taper(Real(0)) / (4 * Real(f["dzt"][k]))
    assert_close(out["K_11"][k, j, i], weight * (Real(f["dzw"][k - 1]) + Real(f["dzw"][k])))


@pytest.mark.parametrize("eq_of_state_type", [1, 2, 3, 4, 5])
def test_unstable_water_has_no_neutral_slope(eq_of_state_type):
    f, settings = uneven_ocean()
    f["temp"] = linear_temperature(f, Real(-0.01), Real(3e-6), Real(-5e-6))
    out = isoneutral.reference(f, settings | {"eq_of_state_type": eq_of_state_type})
    for name in ("Ai_ez", "Ai_nz", "Ai_bx", "Ai_by", "K_33"):
        assert (out[name] == 0).all(), name
    k, j, i = 2, 3, 4  # what is left is the least diffusivity
    assert_close(out["K_11"][k, j, i], 50 * (Real(f["dzw"][k - 1]) + Real(f["dzw"][k])) / (2 * Real(f["dzt"][k])))


def density(eq_of_state_type, salt, temp, depth):
    """Vallis (2008) as Veros has it, and TEOS-10; kg m-3, up to a constant."""
    theta, dS = temp - mp.mpf("9.85"), salt - 35
    betaT, betaT2, betaS = mp.mpf("1.67e-4"), mp.mpf("1e-5"), mp.mpf("0.78e-3")
    g, rho0, z = mp.mpf("9.81"), mp.mpf(1024), -depth
    if eq_of_state_type == 5:
        v = teos10.specific_volume(salt, temp, teos10.EXACT)
        return (sum(c * depth ** n for n, c in enumerate(v.denominator))
                / sum(c * depth ** n for n, c in enumerate(v.numerator)))
    return rho0 * {
        1: -betaT * theta + betaS * dS,
        2: -betaT * theta - betaT2 / 2 * theta ** 2 + betaS * dS,
        3: -g * z / 1490 ** 2 - betaT * (1 - mp.mpf("1.1e-8") * g * z * rho0) * theta
           - betaT2 / 2 * theta ** 2 + betaS * dS,
        4: -betaT * theta - betaT2 / 2 * theta ** 2,
    }[eq_of_state_type]


@pytest.mark.parametrize("eq_of_state_type", [1, 2, 3, 4, 5])
def test_density_derivatives_are_those_of_density(eq_of_state_type):
    rng = np.random.default_rng(eq_of_state_type)
    points = rng.uniform((0.1, -2, 0), (42, 40, 8000), (40, 3)).astype(Real)
    by_temp, by_salt = isoneutral.density_derivatives(eq_of_state_type, *points.T)
    with mp.workdps(50):
        step = mp.mpf(10) ** -16
        for n, (salt, temp, depth) in enumerate(points.astype(float)):
            salt, temp, depth = mp.mpf(salt), mp.mpf(temp), mp.mpf(depth)

            def rho(ds, dt):
                return density(eq_of_state_type, salt + ds, temp + dt, depth)

            for found, expected in (
                    (by_temp[n], (rho(0, step) - rho(0, -step)) / (2 * step)),
                    (by_salt[n], (rho(step, 0) - rho(-step, 0)) / (2 * step))):
                # 80-bit to decimal and back keeps every bit
                error = mp.mpf(np.format_float_scientific(found, precision=25)) - expected
                assert abs(error) < 1e-16


def test_unknown_equation_of_state_is_refused():
    f, settings = uneven_ocean()
    with pytest.raises(ValueError, match="eq_of_state_type is 6"):
        isoneutral.reference(f | {"temp": f["salt"]}, settings | {"eq_of_state_type": 6})


def test_fields_hold_the_hard_places():
    f, settings = test_fields.make(37, 29, 11, 1)
    kbot, inside = f["kbot"], (slice(2, -2), slice(2, -2))
    assert {0, 1, 11} <= set(kbot[inside].flat)
    wet = kbot > 0
    lonely = ~wet[1:-1, 1:-1] & wet[1:-1, :-2] & wet[1:-1, 2:] & wet[:-2, 1:-1] & wet[2:, 1:-1]
    assert lonely.any(), "no island of one cell"
    stable = np.diff(f["temp"], axis=0) > 0
    assert stable.any() and not stable.all()
    assert (np.diff(f["temp"], axis=0) == 0).any(), "no constant temperature"
    assert (f["tke"][:, 2:-2, 2:-2] < 0).any() and (f["forc_tke_surface"] < 0).any()
    courant = abs(f["u_wgrid"]) * settings["dt_tracer"] / (f["cost"][:, None] * f["dxt"])
    assert 0.29 < courant.max() <= 0.3
    assert f["salt"].min() > 30 and f["salt"].max() < 40
    assert f["temp"].min() > -2 and f["temp"].max() < 35


def test_fields_have_slopes_on_both_sides_of_the_critical_one():
    f, settings = test_fields.make(37, 29, 11, 1)
    out = isoneutral.reference(f, settings)
    taper_at_work = (out["K_11"] > 100) & (out["K_11"] < 800)
    steep = np.isclose(out["K_11"].astype(float), 50, rtol=0.2)
    assert taper_at_work.mean() > 0.1 and steep.mean() > 0.05


def test_written_fields_are_an_input_file(tmp_path):
    fields, settings = test_fields.make(7, 6, 3, 1)
    test_fields.write(tmp_path / "input.h5", fields, settings)
    with h5py.File(tmp_path / "input.h5", "r") as file:
        assert file.attrs["halo"] == 2
        assert all(file.attrs[name] == value for name, value in settings.items())
        for name, values in fields.items():
            np.testing.assert_array_equal(file[name][...], values)
            assert file[name].fletcher32
