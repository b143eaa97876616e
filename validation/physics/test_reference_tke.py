"""Tests of reference/tke.py: balances, conservation, symmetry, and cases worked out by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import solve_banded

import fields as test_fields
from reference import tke

Real = np.longdouble
EPS = np.finfo(Real).eps
INSIDE = (slice(None), slice(2, -2), slice(2, -2))
EULER = {"AB_eps": -0.5}  # turns the Adams-Bashforth step into a plain one

CASES = [(37, 29, 11, 1, 1e5), (12, 13, 5, 2, 1e3), (6, 5, 2, 3, 50)]


def make(case, **variants):
    """Test fields in 80 bits, so that the tests can be exact."""
    fields, settings = test_fields.make(*case, **variants)
    fields = {name: values if name == "kbot" else values.astype(Real) for name, values in fields.items()}
    return fields, {name: Real(value) for name, value in settings.items()}


def still(fields):
    """Without sources, advection, and memory of the step before."""
    zero = np.zeros_like(fields["tke"])
    return fields | {name: zero for name in ("u_wgrid", "v_wgrid", "w_wgrid", "dtke_taum1", "forc")
                     } | {"forc_tke_surface": zero[0]}


def even_ocean(nx, ny, nz, dx=1000.0, dz=10.0):
    """All water at rest on an even grid; no vertical mixing, no dissipation, no tke."""
    def line(n, value):
        return np.full(n, Real(value))

    zero, ones = np.zeros((nz, ny, nx), Real), np.ones((nz, ny, nx), Real)
    fields = {name: zero.copy() for name in (
        "u_wgrid", "v_wgrid", "w_wgrid", "kappaM", "forc", "tke", "tke_taup1", "dtke_taum1")}
    fields |= {name: ones.copy() for name in ("maskU", "maskV", "maskW", "mxl")}
    fields |= {"dxt": line(nx, dx), "dxu": line(nx, dx), "dyt": line(ny, dx), "dyu": line(ny, dx),
               "dzt": line(nz, dz), "dzw": line(nz, dz), "cost": line(ny, 1),
               "cosu": line(ny, 1), "kbot": np.ones((ny, nx), int),
               "forc_tke_surface": np.zeros((ny, nx), Real)}
    return fields, {"dt_mom": Real(100), "dt_tracer": Real(400), "c_eps": Real(0)}


def volumes(fields):
    height = fields["dzw"].copy()
    height[-1] /= 2
    return (height[:, None, None] * (fields["cost"] * fields["dyt"])[:, None] * fields["dxt"])


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_tridiagonal_solution_satisfies_the_system(size):
    rng = np.random.default_rng(size)
    lower, upper, right = rng.uniform(-1, 1, (3, size)).astype(Real)
    diagonal = 2 + rng.uniform(0, 1, size).astype(Real)
    x = np.array(tke.solve_tridiagonal(list(zip(lower, diagonal, upper, right))))
    residual = diagonal * x - right
    residual[1:] += lower[1:] * x[:-1]
    residual[:-1] += upper[:-1] * x[1:]
    assert abs(residual).max() < 4 * EPS
    banded = np.array([np.roll(upper, 1), diagonal, np.roll(lower, -1)], float)
    np.testing.assert_allclose(x.astype(float), solve_banded((1, 1), banded, right.astype(float)), rtol=1e-12)


SUPERBEE = SimpleNamespace(enable_tke_upwind_advection=0)


@pytest.mark.parametrize("case", CASES)
def test_column_is_in_balance(case):
    """Change = sources - dissipation + what kappaM exchanges between the levels + surface flux."""
    f, s = make(case)
    f["tke_taup1"] = np.full_like(f["tke"], -7)
    s |= {"alpha_tke": Real(1.3)}
    new = np.zeros_like(f["tke"])
    settings = {**tke.SETTINGS, **s}
    tke.mix_vertically(as_attributes(f), as_attributes(settings), new)
    nz, ny, nx = new.shape
    for j, i in np.ndindex(ny, nx):
        wet = slice(f["kbot"][j, i] - 1, nz)
        if f["kbot"][j, i] == 0 or j < 2 or i < 2 or j >= ny - 2 or i >= nx - 2:
            assert (new[:, j, i] == 0).all(), "written where there is no water"
            continue
        assert (new[:wet.start, j, i] == 0).all(), "written below the bottom"
        old, now = f["tke"][wet, j, i], new[wet, j, i]
        kappa = f["kappaM"][wet, j, i]
        upward = np.zeros(len(now) + 1, Real)
        upward[1:-1] = (-s["alpha_tke"] * (kappa[1:] + kappa[:-1]) / 2 * np.diff(now) / f["dzt"][wet][1:])
        upward[-1] = -f["forc_tke_surface"][j, i]
        height = f["dzw"][wet].copy()
        height[-1] /= 2
        sink = s["c_eps"] * np.sqrt(np.maximum(0, old)) / f["mxl"][wet, j, i] * now
        change = s["dt_mom"] * (f["forc"][wet, j, i] - sink - np.diff(upward) / height)
        scale = abs(old) + abs(now) + s["dt_mom"] * (abs(upward).max() / height + abs(sink))
        assert (abs(now - old - change) <= 50 * EPS * scale).all()


def as_attributes(mapping):
    """Fields; or settings, with the defaults of those that are not there."""
    return type("Attributes", (), {**tke.SETTINGS, **mapping})


def closed(fields):
    """No flow and no diffusion between water and land, or across the edge of the interior."""
    f = {name: values.copy() for name, values in fields.items()}
    for name in ("maskU", "u_wgrid"):
        f[name][..., :2] = f[name][..., -3:] = 0
    for name in ("maskV", "v_wgrid"):
        f[name][..., :2, :] = f[name][..., -3:, :] = 0
    f["u_wgrid"][..., :-1] *= f["maskW"][..., :-1] * f["maskW"][..., 1:]
    f["v_wgrid"][..., :-1, :] *= f["maskW"][..., :-1, :] * f["maskW"][..., 1:, :]
    return f


@pytest.mark.parametrize("case", CASES)
def test_lateral_diffusion_conserves(case):
    f, s = make(case, negative_tke=False)
    f = still(closed(f))
    f |= {"kappaM": 0 * f["tke"], "tke_taup1": f["tke"]}
    out = tke.reference(f, s | {"c_eps": 0})
    change = ((out["tke_taup1"] - f["tke"]) * volumes(f))[INSIDE]
    assert abs(change).max() > 0
    content = (f["tke"] * volumes(f))[INSIDE].sum()
    assert abs(change.sum()) < 20 * EPS * (content + abs(change).sum())


@pytest.mark.parametrize("case", CASES)
def test_vertical_mixing_conserves(case):
    f, s = make(case, negative_tke=False)
    f = still(f) | {"tke_taup1": f["tke"]}
    out = tke.reference(f, s | {"c_eps": 0, "K_h_tke": 0})
    change = ((out["tke_taup1"] - f["tke"]) * volumes(f))[INSIDE]
    assert abs(change).max() > 0
    assert (abs(change.sum(axis=0)) <= 50 * EPS * (f["tke"] * volumes(f))[INSIDE].sum(axis=0)).all()


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("direction", ["u_wgrid", "v_wgrid", "w_wgrid", "all"])
def test_advection_conserves(case, direction):
    f, s = make(case, negative_tke=False)
    f = closed(f)
    velocity = {name: f[name] for name in ("u_wgrid", "v_wgrid", "w_wgrid") if direction in (name, "all")}
    f = still(f) | velocity | {"kappaM": 0 * f["tke"], "tke_taup1": f["tke"]}
    out = tke.reference(f, s | {"c_eps": 0, "K_h_tke": 0})
    for change in (out["dtke"], out["tke_taup1"] - f["tke"]):
        change = (change * volumes(f))[INSIDE]
        if min(case[0], case[1]) > 6:
            assert abs(change).max() > 0
        assert abs(change.sum()) < 20 * EPS * (f["tke"] * volumes(f))[INSIDE].sum()


def pulse(n):
    """Steps up and down, and a peak of one cell."""
    values = np.zeros(n, Real)
    values[n // 2 - 4:n // 2 + 2] = 1
    values[n // 2 + 5] = 0.5
    return values


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("courant", [0.3, -0.3, 0.9, -0.9])
def test_advection_of_a_step_has_no_new_extrema(axis, courant):
    shape = [5, 5, 5]  # z, y, x
    shape[axis] = 41
    f, s = even_ocean(*shape[::-1], dx=10.0, dz=10.0)
    name = ("w_wgrid", "v_wgrid", "u_wgrid")[axis]
    f[name] = np.full(shape, Real(courant) * 10 / s["dt_tracer"])
    across = [1, 1, 1]
    across[axis] = 41
    f["tke"] = np.broadcast_to(pulse(41).reshape(across), shape)
    for _ in range(8):
        out = tke.reference(f, s | EULER | {"K_h_tke": 0})
        new = out["tke_taup1"][INSIDE]
        assert new.min() >= -EPS and new.max() <= 1 + 4 * EPS
        pad = [(0, 0), (2, 2), (2, 2)]
        f["tke"] = np.pad(new, pad, mode="edge")
    profile = f["tke"][tuple(slice(None) if n == axis else 2 for n in range(3))]
    assert abs(profile.sum() - Real(6.5)) < 1e-17
    moved = (np.arange(41) * profile).sum() / profile.sum() - (np.arange(41) * pulse(41)).sum() / Real(6.5)
    assert abs(moved - 8 * Real(courant)) < 0.02
    assert abs(np.diff(profile)).max() > 0.35, "smeared as by an upwind scheme"


def test_limiter_is_superbee():
    ratio = np.array([-3, 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 5], Real)
    np.testing.assert_array_equal(tke.superbee_limiter(ratio), [0, 0, 0.5, 1, 1, 1, 1.5, 2, 2])


@pytest.mark.parametrize("sign", [1, -1])
def test_superbee_flux_by_hand(sign):
    # differences 1, 4, 2 towards the flow's head: ratios 1/4 and 1/2, limiters 1/2 and 1
    cells = [np.array([Real(value)]) for value in (0, 1, 5, 7)]
    velocity, courant = Real(2 * sign), Real(0.25 * sign)
    limiter = Real(0.5) if sign > 0 else Real(1)
    flux = tke.limited_flux(SUPERBEE, velocity, velocity > 0, courant, cells, [Real(1)] * 3)
    assert flux == 2 * sign * 3 - ((1 - limiter) + Real(0.25) * limiter) * 4
    # the limiter sees no difference across a closed face: upwind
    flux = tke.limited_flux(SUPERBEE, velocity, velocity > 0, courant, cells, [Real(0), Real(1), Real(0)])
    assert flux == (2 * 1 if sign > 0 else -2 * 5)
    # through a closed face itself, the flux is centred, as in Veros
    flux = tke.limited_flux(SUPERBEE, velocity, velocity > 0, courant, cells, [Real(1), Real(0), Real(1)])
    assert flux == 2 * sign * 3


@pytest.mark.parametrize("velocity", [0.002, -0.002])
def test_fluxes_of_a_linear_field_are_those_of_lax_wendroff(velocity):
    """Ratio 1, limiter 1: no more diffusion than the Courant number, in each direction's metric."""
    f, s = make((9, 8, 7, 4, 100.0), islands=False)
    velocity = Real(velocity)
    k, j, i = 3, 4, np.array([4])
    level = as_attributes(s)
    for flux, axis, factor, width in (
            (tke.zonal_advection, 2, 1, f["cost"][j] * f["dxt"][i]),
            (tke.meridional_advection, 1, f["cosu"][j], f["cost"][j] * f["dyt"][j]),
            (tke.vertical_advection, 0, 1, f["dzw"][k])):
        steps = np.arange(f["tke"].shape[axis]).reshape([-1 if n == axis else 1 for n in range(3)])
        f["tke"] = np.broadcast_to(steps.astype(Real), f["maskW"].shape)
        for name in ("u_wgrid", "v_wgrid", "w_wgrid"):
            f[name] = np.full(f["maskW"].shape, velocity)
        here = f["tke"][k, j, i]
        found = flux(as_attributes(f), level, k, j, i)
        transport = velocity * factor
        expected = (transport * (2 * here + 1) - abs(transport) * abs(transport) * s["dt_tracer"] / width) / 2
        np.testing.assert_allclose(found, expected, rtol=float(10 * EPS), atol=0)


@pytest.mark.parametrize("axis, name", [(0, "w_wgrid"), (1, "v_wgrid"), (2, "u_wgrid")])
@pytest.mark.parametrize("sign", [1, -1])
def test_advection_away_from_a_wall_is_upwind(axis, name, sign):
    """In a linear field, the limiter is 1 but where the face upwind is closed: there it is 0."""
    shape = [5, 5, 5]
    shape[axis] = 12
    f, s = even_ocean(*shape[::-1], dx=10, dz=10)
    along = np.arange(12, dtype=Real)
    f["tke"] = np.broadcast_to(along.reshape([-1 if n == axis else 1 for n in range(3)]), shape)
    wall = [slice(None)] * 3
    wall[axis] = 5
    f["maskW"][tuple(wall)] = 0
    f[name] += Real(0.25) * sign * 10 / s["dt_tracer"]
    advection = (tke.vertical_advection, tke.meridional_advection, tke.zonal_advection)[axis]
    first, last = (0, 10) if axis == 0 else (2, 8)
    for n in range(first, last + 1):
        place = [2, 2, np.array([2])]
        place[axis] = n if axis < 2 else np.array([n])
        flux = advection(as_attributes(f), as_attributes(s), *place) * s["dt_tracer"] / 10
        diffusion = Real(0.25) * Real(0.25)
        if n in (4, 5):
            diffusion = 0  # the face is closed: no slope across it
        elif (n == 6 and sign > 0) or (n == 3 and sign < 0) or (axis == 0 and n == (0 if sign > 0 else 10)):
            diffusion = Real(0.25)
        expected = (Real(0.25) * sign * (2 * n + 1) - diffusion) / 2
        np.testing.assert_allclose(flux, expected, rtol=float(20 * EPS), atol=0)


def test_dry_cell_does_not_diffuse():
    """Even where the masks of its faces are open, which no topography gives."""
    f, s = make((9, 8, 3, 5, 1e4), islands=False)
    f = still(f) | {"tke_taup1": f["tke"], "kappaM": 0 * f["tke"]}
    f["maskW"][0, 4, 4] = 0
    new = tke.reference(f, s | {"c_eps": 0})["tke_taup1"]
    assert new[0, 4, 4] == f["tke"][0, 4, 4] and new[0, 4, 5] != f["tke"][0, 4, 5]


def test_tendency_of_advection_is_the_convergence_of_fluxes():
    """A field of ones in a flow that diverges, over water and land: only metric terms are left."""
    f, s = make((9, 8, 5, 6, 1e4))
    f["tke"] = np.ones_like(f["tke"])
    dtke = tke.reference(f, s)["dtke"]
    u, v, w = f["u_wgrid"], f["v_wgrid"] * f["cosu"][:, None], f["w_wgrid"]
    for k, j, i in np.ndindex(*dtke.shape):
        if not (2 <= j < 6 and 2 <= i < 7):
            continue
        below = w[k - 1, j, i] if k > 0 else 0
        above, height = (w[k, j, i], f["dzw"][k]) if k < 4 else (0, f["dzw"][k] / 2)
        lateral = ((u[k, j, i] - u[k, j, i - 1]) / f["dxt"][i]
                   + (v[k, j, i] - v[k, j - 1, i]) / f["dyt"][j]) / f["cost"][j]
        expected = -f["maskW"][k, j, i] * lateral - (above - below) / height
        assert abs(dtke[k, j, i] - expected) < 1e-17 * abs(dtke).max()


def test_lateral_diffusion_of_a_single_cell():
    f, s = make((9, 8, 3, 5, 1e4), islands=False)
    f = still(f)
    k, j, i = 1, 4, 4
    f["tke"], f["tke_taup1"] = np.zeros((2, 3, 8, 9), Real)
    f["tke"][k, j, i] = 1
    f["kappaM"] = 0 * f["tke"]
    new = tke.reference(f, s | {"c_eps": 0})["tke_taup1"]
    K, cost, cosu = s["dt_mom"] * s["K_h_tke"], f["cost"], f["cosu"]
    expected = {
        (j, i + 1): K / (cost[j] * f["dxu"][i]) / (cost[j] * f["dxt"][i + 1]),
        (j, i - 1): K / (cost[j] * f["dxu"][i - 1]) / (cost[j] * f["dxt"][i - 1]),
        (j + 1, i): K * cosu[j] / f["dyu"][j] / (cost[j + 1] * f["dyt"][j + 1]),
        (j - 1, i): K * cosu[j - 1] / f["dyu"][j - 1] / (cost[j - 1] * f["dyt"][j - 1]),
    }
    for place, value in expected.items():
        np.testing.assert_allclose(new[k][place], value, rtol=float(10 * EPS), atol=0)
    assert (new[k] != 0).sum() == 5 and (new[[0, 2]] == 0).all()


def test_surface_flux_that_drains_tke_is_put_back():
    f, s = even_ocean(6, 5, 3)
    f["tke"] += Real(0.001)
    f["forc_tke_surface"][2, 2] = Real(-0.001)  # takes 0.02 from the half cell in 100 s
    f["forc_tke_surface"][2, 3] = Real(0.0001)
    out = tke.reference(f, s | {"K_h_tke": 0})
    expected = (Real(-0.001) * 100 / 5 + Real(0.001)) * -5 / 100
    np.testing.assert_allclose(out["tke_surf_corr"][2, 2], expected, rtol=float(10 * EPS))
    assert (out["tke_surf_corr"] != 0).sum() == 1
    assert out["tke_taup1"][-1, 2, 2] == 0
    np.testing.assert_allclose(out["tke_taup1"][-1, 2, 3], Real(0.001) + Real(0.0001) * 20, rtol=float(10 * EPS))
    np.testing.assert_array_equal(out["tke_taup1"][:-1, 2, 2:4], Real(0.001))


def test_adams_bashforth_steps_by_dt_tracer():
    f, s = even_ocean(7, 5, 2)
    f["tke"] += Real(0.5)
    f["tke"][:, :, 2:] += np.arange(5)  # velocity 1 from the left over cells of 1000 m
    f["u_wgrid"] += 1
    f["dtke_taum1"] += Real(2e-4)
    out = tke.reference(f, s | {"K_h_tke": 0, "AB_eps": Real(0.25)})
    np.testing.assert_allclose(out["dtke"][:, 2, 4], Real(-1) / 1000, rtol=float(20 * EPS))
    np.testing.assert_allclose(
        out["tke_taup1"][:, 2, 4],
        f["tke"][:, 2, 4] + 400 * (Real(-1.75) / 1000 - Real(0.75) * Real(2e-4)),
        rtol=float(20 * EPS))


def test_what_the_solve_does_not_write_is_kept():
    f, s = make((12, 13, 5, 2, 1e4))
    f = still(f)
    out = tke.reference(f, s)["tke_taup1"]
    dry = np.arange(5)[:, None, None] < f["kbot"] - 1
    dry |= f["kbot"] == 0
    kept = f["tke_taup1"].copy()
    kept[-1] = np.maximum(0, kept[-1])  # on land, too, the surface is corrected
    assert dry[INSIDE].sum() > 20
    np.testing.assert_array_equal(out[INSIDE][dry[INSIDE]], kept[INSIDE][dry[INSIDE]])
    without = {name: values for name, values in f.items() if name != "tke_taup1"}
    assert (tke.reference(without, s)["tke_taup1"][INSIDE][dry[INSIDE]] == 0).all()


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_finite_and_zero_outside(case):
    f, s = make(case)
    out = tke.reference(f, s)
    assert set(out) == {name for name, *_ in tke.OUTPUTS}
    for name, axes, _, _ in tke.OUTPUTS:
        assert out[name].dtype == Real and out[name].ndim == len(axes)
        assert np.isfinite(out[name]).all()
        outside = np.ones(f["kbot"].shape, bool)
        outside[2:-2, 2:-2] = False
        assert (out[name][..., outside] == 0).all()


def mirrored(field, staggered=False):
    """In x; the face between i and i + 1 becomes that between n - 2 - i and n - 1 - i."""
    field = field[..., ::-1]
    return np.roll(field, -1, axis=-1) if staggered else field


@pytest.mark.parametrize("case", CASES)
def test_mirrored_ocean_has_mirrored_tke(case):
    f, s = make(case)
    f["dxt"][:] = f["dxt"][0]  # superbee takes the width on one side of the face
    image = {name: mirrored(values) if values.shape[-1] == case[0] and name not in
             ("dyt", "dyu", "dzt", "dzw", "cost", "cosu") else values for name, values in f.items()}
    for name in ("dxu", "maskU", "u_wgrid"):
        image[name] = mirrored(f[name], staggered=True)
    image["u_wgrid"] = -image["u_wgrid"]
    expected, found = tke.reference(f, s), tke.reference(image, s)
    for name, values in expected.items():
        scale = abs(values).max() + abs(f["tke"]).max() * (name == "tke_taup1")
        assert abs(found[name] - mirrored(values)).max() <= 100 * EPS * scale


@pytest.mark.parametrize("case", CASES)
def test_x_and_y_are_alike_where_latitude_does_not_matter(case):
    f, s = make(case)
    nx, ny = case[:2]
    f |= {"cost": np.ones(ny, Real), "cosu": np.ones(ny, Real)}
    turned = {name: values.swapaxes(-1, -2) if values.ndim > 1 else values for name, values in f.items()}
    for x, y in (("maskU", "maskV"), ("u_wgrid", "v_wgrid"), ("dxt", "dyt"), ("dxu", "dyu")):
        turned[x], turned[y] = turned[y], turned[x]
    turned |= {"cost": np.ones(nx, Real), "cosu": np.ones(nx, Real)}
    expected, found = tke.reference(f, s), tke.reference(turned, s)
    for name, values in expected.items():
        scale = abs(values).max() + abs(f["tke"]).max() * (name == "tke_taup1")
        assert abs(found[name] - values.swapaxes(-1, -2)).max() <= 100 * EPS * scale
