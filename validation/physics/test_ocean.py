"""The sequence `ocean`: whole steps, momentum included, beside Veros's own (make_veros_ocean.py)."""

import re

import h5py
import numpy as np
import pytest
from scipy import ndimage

import miniapp as package
from conftest import GRID, INPUT, INSIDE, LONG, MISMATCH, assert_same_on_threads, copied, put_output, read, write
from oceans import CASES, Whole
from processes import watch
from reference import streamfunction
from test_verdict import edit

pytestmark = pytest.mark.every_gpu


@pytest.fixture(scope="module", params=CASES)
def whole(request, tmp_path_factory):
    return Whole(request.param, tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module", params=("eddies", "islands", "surface", "waves", "without TKE"))
def some(request, tmp_path_factory):
    return Whole(request.param, tmp_path_factory.mktemp("some"))


@pytest.mark.every_device
@pytest.mark.parametrize("steps", [1, 100])
@pytest.mark.every_compiler
def test_veros_makes_the_same(miniapp, whole, device, steps, tmp_path):
    """Within five times what Veros differs from itself when last digits change in each step, at random. After one step
    the bar is 1e-12 of the largest value; where Veros's own derivatives of dynamic enthalpy by TEOS-10 are off by
    more, from Veros with density in 80 bits."""
    if steps > 1 and not miniapp.is_first and whole.name != "islands":
        pytest.skip("other builds make many steps of one ocean")
    output = whole.step(miniapp, tmp_path / "out.h5", steps, "-d", device)
    for name, (wanted, spread) in whole.after[steps].items():
        made, water = read(output, name)[INSIDE], whole.water if wanted.ndim == 3 else 1
        scale = np.abs(wanted).max() or 1  # eddies have no energy after one step from rest
        error = (np.abs(made - wanted) * water).max()
        print(f"{name} after {steps} steps: off by {error / scale:.1e}, spread {spread / scale:.1e}")
        assert error <= 5 * spread + 1e-12 * scale, name
        if steps == 1:
            exact = (np.abs(made - whole.exact.get(name, wanted)) * water).max()
            assert exact <= 1e-12 * scale, name


@pytest.mark.every_compiler
def test_steps_are_as_near_to_exact_ones_as_those_of_veros(miniapp, whole, tmp_path):
    """After 100, at most 1.5 times as far as the farthest of Veros's runs from initial states that differ in the last
    place. At a tolerance of 1e-13, errors of the solver of the external mode would count."""
    if not miniapp.is_first and whole.name != "islands":
        pytest.skip("other builds make many steps of one ocean")
    output = whole.step(miniapp, tmp_path / "out.h5", 100, "--set", "solver_tolerance=1e-14")
    for name, (wanted, _) in whole.after[100].items():
        made, water = read(output, name)[INSIDE], whole.water if wanted.ndim == 3 else 1
        exact_less_veros, farthest = whole.exact_less_veros[name]
        error = (np.abs(made - wanted - exact_less_veros) * water).max()
        print(f"{name}: {error:.1e} from exact, Veros {farthest:.1e}")
        assert error <= 1.5 * farthest, name


@pytest.fixture(scope="module")
def rest(tmp_path_factory):
    return Whole("rest", tmp_path_factory.mktemp("rest"))


def test_a_start_from_rest(miniapp, rest, tmp_path):
    """It is said, and a run that continues does not start again. The report is of the flow after the last step."""
    table = miniapp.passes(rest.path, "--steps", 1, quick=False)
    assert "u (from rest)" in table and "v (from rest)" in table and "step: w is 0 at the start from rest" in table
    numbers = re.search(r"Courant numbers (\S+) along x, (\S+) along y, (\S+) along z", table)
    assert all(0 < float(number) < 0.1 for number in numbers.groups())
    through = rest.step(miniapp, tmp_path / "through.h5", 6)
    cut = tmp_path / "cut.nc"
    rest.step(miniapp, cut, 4, "--every", 4)
    rest.step(miniapp, cut, 6, "--every", 4, "--restart")
    for name in rest.after[1]:
        np.testing.assert_array_equal(read(cut, name), read(through, name))


def test_python_starts_from_rest(miniapp, library, rest, tmp_path):
    """Its flow is not judged, as in the program, whatever the wind is, unless the client sets one."""
    state = package.load(rest.path, "ocean")
    state["surface_taux"] = state["surface_taux"]
    state.step(2, "ocean")
    output = rest.step(miniapp, tmp_path / "out.h5", 2)
    for name in rest.after[1]:
        np.testing.assert_array_equal(state[name][INSIDE], read(output, name)[INSIDE])
    for put in (lambda state: state.set("u", state["u"]), lambda state: state.write("u")):
        state = package.load(rest.path, "ocean")
        put(state)
        with pytest.raises(package.InputError, match="the flow is not free of divergence"):
            state.step(1, "ocean")


@pytest.mark.parametrize("is_under_lid", [0, 1])
def test_water_that_rises_in_a_start_from_rest(miniapp, tmp_path, is_under_lid):
    path = tmp_path / "in.h5"
    with copied(REST, path) as file:
        file["w"] = 1e-4 * file["maskW"][...]
    miniapp.fails(INPUT, "the flow is not free of divergence", path, "--steps", 1, "--set",
                  f"enable_streamfunction={is_under_lid}", quick=False)


def test_water_beyond_a_closed_side_of_a_start_from_rest(miniapp, tmp_path):
    path = tmp_path / "in.h5"
    with copied(REST, path) as file:
        file["maskT"][:, -2] = file["maskT"][:, -3]
    miniapp.fails(INPUT, r"the ghost beside cell \[0, 43, \d+\] is water", path, "--steps", 1, "--allow-invalid",
                  quick=False)


def test_a_channel_one_cell_wide(miniapp, tmp_path):
    """Its ghosts along x are all copies of that cell, before the first step, too: else mixing would lose heat."""
    with h5py.File(REST) as file:
        values = {name: np.repeat(data[..., 9:10], 5, -1) if data.shape[-1:] == (34,) else data[...]
                  for name, data in file.items() if isinstance(data, h5py.Dataset)}
        path = write(tmp_path / "in.h5", values, dict(file.attrs))
    miniapp.passes(path, "--steps", 1, "--set", "enable_biharmonic_mixing=1", "--set", "K_hbi=1e12", quick=False)


@pytest.mark.every_device
def test_terms_are_made_where_they_are_asked_for(miniapp, rest, tmp_path, device):
    """Which changes nothing else; together they are the tendency below the wind."""
    terms = ("du_cor", "du_adv", "du_mix", "p_hydro", "du_taum1")
    words = ("--set", "enable_momentum_terms=1", "--every", 4, "--average", f"1:{','.join(terms)}")
    rest.step(miniapp, tmp_path / "without.nc", 4, "-d", device, "--every", 4)
    rest.step(miniapp, tmp_path / "with.nc", 4, "-d", device, *words)
    for name in rest.after[1]:
        np.testing.assert_array_equal(read(tmp_path / "with.nc", name), read(tmp_path / "without.nc", name))
    cor, adv, mix, p, du = (read(tmp_path / "with.average.000004.nc", name)[0, :-1] for name in terms)
    wet = du > -1e17
    slope = np.diff(p, axis=-1, append=p[..., :1]) / (rest.before["cost"][2:-2, None] * rest.before["dxu"][2:-2])
    np.testing.assert_allclose((cor + adv - slope)[wet], du[wet], rtol=0, atol=1e-13 * np.abs(du[wet]).max())
    assert np.abs(mix[wet]).max() > 0


@pytest.mark.parametrize("sequence, lacking", [("ocean_step_forced", "u"), ("ocean", "v")])
def test_what_is_not_at_rest(miniapp, rest, tmp_path, sequence, lacking):
    """A flow that is given has to be there; half a flow is none."""
    path = tmp_path / "in.h5"
    path.write_bytes(rest.path.read_bytes())
    if sequence == "ocean":
        with h5py.File(path, "a") as file:
            file["u"] = 0 * file["temp"][...]
    miniapp.fails(INPUT, f"'{lacking}'.* missing", path, "--steps", 1, "-k", sequence, quick=False)


def without_psi(source, path):
    with copied(source, path) as file:
        for name in {"psi", "psi_taum1"} & set(file):
            del file[name]
    return path


@pytest.mark.every_device
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_streamfunction_that_is_absent(miniapp, device, tmp_path, precision):
    """It is made from u, and steps keep the depth mean of the flow."""
    words = ("--steps", 1, "-d", device, "--precision", precision)
    path = without_psi(GRID.with_name("acc.h5"), tmp_path / "in.h5")
    made, own = tmp_path / "made.h5", tmp_path / "own.h5"
    table = miniapp.passes(path, *words, "-o", made, quick=False)
    assert re.search(r"\bpsi \(from u\)", table)
    miniapp.passes(GRID.with_name("acc.h5"), *words, "-o", own, quick=False)
    for name in ("psi", "u", "v"):
        assert np.abs(read(made, name) - read(own, name)).max() <= 1e-6 * np.abs(read(own, name)).max(), name


def on_coasts(path, psi):
    """The values of a cyclic ocean's streamfunction at the corners of each coast; land that touches is one."""
    water = np.pad(read(path, "maskT")[-1][INSIDE] == 1, ((1, 1), (0, 0)))
    land, masses = ndimage.label(~np.tile(water, 3), np.ones((3, 3)))
    psi = np.tile(psi[1:-2, 2:-2], 3)[:, :-1]
    cells = np.stack([land[:-1, :-1], land[:-1, 1:], land[1:, :-1], land[1:, 1:]])
    return [psi[(cells == mass).any(axis=0) & (cells == 0).any(axis=0)] for mass in range(1, masses + 1)]


@pytest.mark.every_device
@pytest.mark.parametrize("name", ["acc", "islands"])
def test_a_streamfunction_of_a_flow_that_was_rounded(miniapp, device, tmp_path, name):
    """It is one number on a coast, since steps would keep what it differs by, and lose their budget of volume."""
    source = GRID.with_name("acc.h5") if name == "acc" else Whole(name, tmp_path).path
    path, made = without_psi(source, tmp_path / "in.h5"), tmp_path / "made.h5"
    with h5py.File(path, "a") as file:
        for each in ("u", "v"):
            file[each][...] = file[each][...].astype("f4")
        del file["dpsi"], file["dpsi_taum1"]  # which Veros rounds differently at a corner on acc's seam
    for steps in (1, 20):
        miniapp.passes(path, "--steps", steps, "-k", "ocean", "-d", device, "-o", made, quick=False)
        coasts = on_coasts(path, read(made, "psi"))
        assert len(coasts) > 1 and all(len(coast) and np.all(coast == coast[0]) for coast in coasts)
        assert any(coast[0] != 0 for coast in coasts)


@pytest.mark.parametrize("has_ghosts", [True, False])
def test_the_streamfunction_is_that_of_the_flow(miniapp, some, tmp_path, has_ghosts):
    """On islands and walls, too, to rounding of the flow; at a free surface there is none, and pressure begins as 0."""
    path = some.path if has_ghosts else some.write_without_ghosts(tmp_path / "without.h5")
    lacks = without_psi(path, tmp_path / "in.h5")
    if some.name == "surface":
        assert re.search(r"\bpsi \(0\)", miniapp.passes(lacks, "--check", "--steps", 1, "-k", "ocean", quick=False))
        return
    made, own = some.step(miniapp, tmp_path / "made.h5", 1, path=lacks), some.step(miniapp, tmp_path / "own.h5", 1)
    for name in ("psi", "u", "v", "w"):
        off = np.abs(read(made, name) - read(own, name)[... if has_ghosts else INSIDE]).max()
        assert off <= 1e-12 * np.abs(read(own, name)).max(), name


@pytest.mark.parametrize("name, is_set, said", [
    ("acc", 0, "'psi' is in 'm3 s-1', but has to be in 'm2 s-2', since enable_streamfunction is 0"),
    ("end", 1, "'psi' is in 'm2 s-2', but has to be in 'm3 s-1', since enable_streamfunction is 1")])
def test_a_pressure_is_no_streamfunction(miniapp, tmp_path, name, is_set, said):
    """Nor the other way round: the unit says so, with --check, too."""
    with copied(GRID.with_name("acc.h5"), tmp_path / "acc.h5") as file:
        psi = 0 * file["psi"][...]
    path = tmp_path / f"{name}.h5"
    if name == "end":
        with copied(tmp_path / "acc.h5", path) as file:
            for each in ("psi", "psi_taum1"):
                file[each][...] = psi
                file[each].attrs["units"] = "m2 s-2"
        miniapp.passes(path, "--steps", 1, "--set", "enable_streamfunction=0", quick=False)
    for words in ((), ("--check",)):
        miniapp.fails(INPUT, said, path, "--steps", 1, *words, "--set", f"enable_streamfunction={is_set}", quick=False)


def test_a_streamfunction_without_a_unit_is_no_pressure(miniapp, tmp_path):
    """Since sea level would be kilometres high."""
    with copied(GRID.with_name("acc.h5"), tmp_path / "in.h5") as file:
        for each in ("psi", "psi_taum1"):
            del file[each].attrs["units"]
    miniapp.fails(INPUT, r"psi\[\d+, \d+\] is \S+, but must be from -10000 to 10000 m2 s-2, since "
                  "enable_streamfunction is 0", tmp_path / "in.h5", "--steps", 1,
                  "--set", "enable_streamfunction=0", quick=False)


def halve(psi):
    psi *= 0.5


def shift_southern_coast(psi):
    psi[1] += 0.002 * np.abs(psi).max()


def shift_a_corner(psi):
    psi[20, 17] += 0.002 * np.abs(psi).max()


def shift_a_corner_little(psi):
    psi[20, 17] += 1e-5 * np.abs(psi).max()


@pytest.mark.every_device
@pytest.mark.parametrize("change, place", [(halve, r"\d+, \d+"), (shift_southern_coast, r"2, \d+"),
                                           (shift_a_corner, r"20, 1[78]"), (shift_a_corner_little, r"20, 1[78]")])
def test_a_streamfunction_that_does_not_fit(miniapp, device, tmp_path, change, place):
    """Its flow would replace that of u and v without a word; a precision of float32 does not hide it."""
    path = tmp_path / "in.h5"
    with copied(GRID.with_name("acc.h5"), path) as file:
        psi = file["psi"][...]
        change(psi)
        file["psi"][...] = psi
    said = (rf"psi does not fit u and v: through the column's face at \[{place}\], [uv] carries \S+ m3 s-1, but "
            r"\S+ by psi, which would replace it \(--allow-divergent accepts that")
    for precision in ("float64", "float32"):
        miniapp.fails(INPUT, said, path, "--steps", 1, "-d", device, "--precision", precision, quick=False)
    miniapp.passes(path, "--steps", 1, "-d", device, "--allow-divergent", quick=False)


def test_a_misfit_beside_what_is_not_finite(miniapp, tmp_path):
    """A face farther north, whose flow is no number, does not hide it; nor does a flow that was rounded to float32."""
    path = tmp_path / "in.h5"
    with copied(GRID.with_name("acc.h5"), path) as file:
        for each in ("u", "v"):
            file[each][...] = file[each][...].astype("f4")
        file["u"][-1, 30, 17] = np.nan
        file["psi"][20, 17] += 4e-4 * np.abs(file["psi"][...]).max()
    miniapp.fails(INPUT, r"psi does not fit u and v: through the column's face at \[20, 1[78]\], ", path, "--steps", 1,
                  "--allow-nonfinite", quick=False)


def integrals(fields, flow):
    """Mean temperature, kinetic energy, and the transport between the southern wall and the land north of it."""
    f = {name: data[...] for name, data in fields.items()}

    def volume(width, breadth, mask):
        return (f["dzt"][:, None, None] * breadth[:, None] * width * mask)[INSIDE]

    water = volume(f["dxt"], f["dyt"] * f["cost"], f["maskT"])
    u, v = (flow[name][...][INSIDE] for name in ("u", "v"))
    energy = (u**2 * volume(f["dxu"], f["dyt"] * f["cost"], f["maskU"])).sum() + (
        v**2 * volume(f["dxt"], f["dyu"] * f["cosu"], f["maskV"])).sum()
    through = (u * (f["dzt"][:, None] * f["dyt"][2:-2])[..., None]).sum(axis=0)
    return (flow["temp"][...][INSIDE] * water).sum() / water.sum(), energy, through[:10].sum(axis=0).mean()


def test_acc_from_rest(miniapp, tmp_path):
    """Salinity stays what it is everywhere. After ten years, integrals are those of Veros's own run."""
    output = tmp_path / "out.h5"
    miniapp.passes(GRID.with_name("acc_rest.h5"), "--steps", 7300 if LONG else 50, "-o", output, quick=False)
    acc = h5py.File(GRID.with_name("acc.h5"))
    with acc, h5py.File(output) as made:
        salt = made["salt"][...][acc["maskT"][...] == 1]
        assert np.abs(salt - 35).max() <= 1e-9
        for ours, theirs in zip(integrals(acc, made), integrals(acc, acc)):
            print(f"{ours:.8g} beside Veros's {theirs:.8g} after ten years")
            assert not LONG or ours == pytest.approx(theirs, rel=1e-3)


def test_float32_is_stable_in_a_flow_that_it_makes(miniapp, device, tmp_path):
    """Over 30 steps from rest, or 1,000; how far it is from float64 is said. Energies are patchy, and may be more."""
    steps, made = 1000 if LONG else 30, {}
    for precision in ("float64", "float32"):
        made[precision] = tmp_path / f"{precision}.h5"
        miniapp.passes(GRID.with_name("acc_rest.h5"), "--steps", steps, "--precision", precision, "-d", device,
                       "-o", made[precision], quick=False)
    water = read(GRID.with_name("acc.h5"), "maskT") == 1
    for name, most in {"temp": 0.1, "salt": 0.1, "u": 0.1, "v": 0.1, "psi": 0.1, "eke": 0.3, "tke": 0.3}.items():
        wide, narrow = (read(made[precision], name)[INSIDE] * (water[INSIDE] if name != "psi" else 1)
                        for precision in ("float64", "float32"))
        error = np.abs(narrow - wide).max() / np.abs(wide).max()
        print(f"{name}: float32 is off by {error:.1e} after {steps} steps")
        assert error <= most, name


def test_an_ocean_left_alone(miniapp, tmp_path):
    """Without heat and salt from outside, their means stay; wind, drag and friction bound the energy of the flow."""
    path, output = tmp_path / "in.h5", tmp_path / "out.h5"
    with copied(GRID.with_name("acc.h5"), path) as file:
        for name in ("t_star", "t_rest", "forc_temp_surface"):
            del file[name]
        fields = {name: data[...] for name, data in file.items()}
        water = fields["dxt"] * (fields["dyt"] * fields["cost"])[:, None] * fields["dzt"][:, None, None] * fields["maskT"]
    steps = 1000 if LONG else 20
    budgets = miniapp.json(path, "--steps", steps, "-o", output, quick=False)["results"][0]["steps"]["budgets"]
    assert all(each["kept"] for each in budgets)
    _, energy, _ = integrals(fields, fields)
    with h5py.File(output) as made:
        for name in ("temp", "salt"):
            before, after = ((values[INSIDE] * water[INSIDE]).sum() / water[INSIDE].sum()
                             for values in (fields[name], made[name][...]))
            assert abs(after - before) <= 1e-16 * steps * np.abs(fields[name]).max()
        assert integrals(fields, made)[1] <= 1.2 * energy


class Watched:
    """The conditions of walls, lid and surface on each step: residuals, and the values beside which they are small."""

    def __init__(self, ocean):
        self.f, self.is_lid = ocean.before, ocean.settings["enable_streamfunction"] != 0
        self.per_rise = 9.81 * ocean.settings["dt_tracer"]
        self.area = (self.f["dxt"] * (self.f["dyt"] * self.f["cost"])[:, None] * (self.f["kbot"] > 0))[INSIDE]
        self.dry = {name: self.f[mask] == 0 for name, mask in (("u", "maskU"), ("v", "maskV"))}
        kbot = np.pad(self.f["kbot"][INSIDE], ((1, 1), (0, 0)))
        unknown, number = streamfunction.unknowns(kbot, ocean.settings["cyclic_x"])
        coasts = (unknown == coast for coast in range(streamfunction.NOWHERE, number))
        self.coasts = [coast for coast in coasts if coast.sum() > 1]

    def residuals(self, state, before):
        """After a step, and the external mode before it."""
        u, v, w, psi = (state[name] for name in ("u", "v", "w", "psi"))
        for flow, dry in ((u, self.dry["u"]), (v, self.dry["v"])):
            yield "flow in walls", (flow * dry)[INSIDE], flow
        if self.is_lid:
            for coast in self.coasts:
                yield "coasts", np.ptp(psi[1:-2, 2:-2][coast]), psi
            yield from self.transports(u, v, psi)
            yield "through the lid", w[-1][INSIDE], w
        else:
            rise = ((psi - before) / self.per_rise)[INSIDE] * (self.area > 0)
            yield "through the surface", w[-1][INSIDE] - rise, w
            yield "volume", (self.area * rise).sum(), (self.area * abs(psi[INSIDE])).sum() / self.per_rise

    def transports(self, u, v, psi):
        f, south, west = self.f, np.roll(psi, 1, axis=0), np.roll(psi, 1, axis=1)
        for name, flow, width, along in (("u", u, f["dyt"][:, None], south - psi),
                                         ("v", v, f["dxt"] * f["cosu"][:, None], psi - west)):
            through = (flow * f["dzt"][:, None, None]).sum(axis=0) * width
            yield f"transport of {name}", ((through - along) * ~self.dry[name][-1])[INSIDE], through


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("name", ("islands", "basin", "eddies", "surface", "rough benchmark"))
def test_each_step_keeps_to_walls_and_surface(name, device, tmp_path):
    """With hills, under a lid with islands and at a free surface, which takes w for its rise and keeps its volume."""
    ocean = Whole(name, tmp_path)
    watched, state = Watched(ocean), package.load(ocean.path, "ocean", device)
    for step in range(1000 if LONG else 20):
        before = state["psi"].copy()
        state.step(1, "ocean")
        for what, residual, scale in watched.residuals(state, before):
            assert np.abs(residual).max() <= 1e-12 * np.abs(scale).max() != 0, (what, step)


def test_any_number_of_threads(miniapp, some, tmp_path):
    assert_same_on_threads(miniapp, tmp_path, (1, 2, 4), some.after[1], some.path, "--steps", 10, "-k", "ocean")


def test_restart(miniapp, some, tmp_path):
    """Steps that continue from a snapshot end in the same bits, the streamfunction on the southern wall included."""
    through = some.step(miniapp, tmp_path / "through.h5", 8)
    cut = tmp_path / "cut.nc"
    some.step(miniapp, cut, 5, "--every", 5)
    some.step(miniapp, cut, 8, "--every", 5, "--restart")
    for name in (*some.after[1], "du_taum1", "dtemp_taum1", "dpsi"):
        np.testing.assert_array_equal(read(cut, name), read(through, name))


def test_a_basin_without_ghosts(miniapp, tmp_path):
    """All of its walls are one, where the streamfunction is 0, and so it needs no attribute."""
    basin = Whole("basin", tmp_path)
    path = basin.write_without_ghosts(tmp_path / "other.h5")
    with h5py.File(path, "a") as file:
        for name in ("psi", "psi_taum1", "dpsi", "dpsi_taum1"):
            del file[name].attrs["southern_wall"]
    output = basin.step(miniapp, tmp_path / "out.h5", 1, path=path)
    for name, (wanted, _) in basin.after[1].items():
        assert np.abs(read(output, name) - wanted).max() <= 1e-12 * np.abs(wanted).max(), name


def test_no_slip_without_ghosts(miniapp, tmp_path):
    """Along the southern wall it reads the cosine of the wall's latitude, which the program makes as Veros does."""
    drag = Whole("drag", tmp_path)
    output = drag.step(miniapp, tmp_path / "out.h5", 1, path=drag.write_without_ghosts(tmp_path / "other.h5"))
    for name, (wanted, _) in drag.after[1].items():
        assert np.abs(read(output, name) - wanted).max() <= 1e-12 * np.abs(wanted).max(), name


@pytest.mark.parametrize("has_ghosts", [True, False])
def test_an_output_is_what_the_next_step_needs(miniapp, some, tmp_path, has_ghosts):
    """Corners on the southern wall included, which are ghosts, or attributes in a file without these."""
    if not has_ghosts and some.name not in ("islands", "surface"):
        miniapp.leave_to_long("one ocean of each external mode shows what a file without ghosts has")
    half, through, goes_on = (tmp_path / f"{name}.h5" for name in ("half", "through", "goes_on"))
    begins = some.path if has_ghosts else some.write_without_ghosts(tmp_path / "begins.h5")
    some.step(miniapp, half, 4, path=begins)
    some.step(miniapp, through, 8, path=begins)
    goes_on.write_bytes(begins.read_bytes())
    put_output(goes_on, half)
    rest = some.step(miniapp, tmp_path / "rest.h5", 4, path=goes_on)
    for name in some.after[1]:
        np.testing.assert_array_equal(read(rest, name), read(through, name))


def test_a_file_without_ghosts(miniapp, some, tmp_path):
    """It makes the same, and is refused where the row of the southern wall is not one."""
    path = some.write_without_ghosts(tmp_path / "in.h5")
    own, other = (some.step(miniapp, tmp_path / f"{name}.h5", 2, path=file)
                  for name, file in (("own", some.path), ("other", path)))
    for name, (wanted, _) in some.after[1].items():
        np.testing.assert_allclose(read(other, name), read(own, name)[INSIDE], rtol=0,
                                   atol=1e-12 * np.abs(wanted).max())
    columns = len(some.before["dxt"]) - 4
    for row, said in (([1.0], rf"must hold {columns} numbers"), ([np.nan] * columns, "holds nan, but must be from"),
                      ([1e13] * columns, r"holds 1e\+13, but must be from -1e\+12 to 1e\+12")):
        with h5py.File(path, "a") as file:
            file["psi"].attrs["southern_wall"] = row
        miniapp.fails(INPUT, rf"attribute 'southern_wall' of 'psi' {said}", path, "--steps", 1, quick=False)


def test_budgets(miniapp, some):
    """They are kept in a flow that changes; columns of one level lose some of what frictions take."""
    march = miniapp.json(some.path, "--steps", 5, "-k", "ocean", quick=False)["results"][0]["steps"]
    switches = {"tke": "enable_tke", "energy": "enable_tke", "eke": "enable_eke", "iw": "enable_idemix"}
    energies = {name for name, switch in switches.items() if some.settings.get(switch)}
    budgets = {each["budget"]: each for each in march["budgets"]}
    assert set(budgets) == {"heat", "salt", "kinetic", "volume"} | energies
    assert budgets.pop("kinetic")["verdict"] == "cannot tell"
    assert all(each["kept"] for each in budgets.values())


def without_settings(path):
    """A start from rest whose time steps and frictions the spacing decides."""
    with copied(GRID.with_name("acc_rest.h5"), path) as file:
        for name in ("dt_mom", "dt_tracer", "A_h", "r_bot"):
            del file.attrs[name]
    return path


def test_settings_by_the_spacing(miniapp, tmp_path):
    """Where neither the file nor --set has them. The viscosity is that of Veros's setup; steps stay an ocean's."""
    path = without_settings(tmp_path / "in.h5")
    with h5py.File(GRID.with_name("acc_rest.h5")) as file:
        viscosity = file.attrs["A_h"]
    said = [f"A_h ({viscosity:g} by the spacing)", "dt_tracer (3135.41 by the spacing)", "r_bot (1.81159e-05"]
    table = " ".join(miniapp.passes(path, "--steps", 20, quick=False).replace("#", " ").split())
    assert all(each in table for each in [*said, "dt_mom (3135.41"]) and re.search("kinetic.*? kept", table)
    table = miniapp.passes(path, "--check", "--steps", 1, "--set", "dt_mom=600", quick=False)
    assert "dt_tracer (600 by the spacing)" in table and "dt_mom (" not in table


def test_time_steps_by_the_spacing_in_a_given_flow(miniapp, tmp_path):
    """Where no kernel reads the Coriolis parameter; and only those that the sequence reads."""
    with copied(GRID, tmp_path / "in.h5") as file:
        for name in ("dt_mom", "dt_tracer"):
            del file.attrs[name]
        wet = file["maskT"][-1].any(axis=1)
        spacing = min((file["cost"][wet] * file["dxt"][...].min()).min(), file["dyt"][wet].min())
    step = f"{0.2 * spacing / 3:g} by the spacing"
    for sequence, said in (("ocean_step", f"dt_mom ({step}), dt_tracer ({step})"),
                           ("tracer_step", f"(0), dt_tracer ({step})")):
        table = miniapp.passes(tmp_path / "in.h5", "--check", "--steps", 1, "-k", sequence, quick=False)
        assert said in " ".join(table.replace("#", " ").split())
    miniapp.passes(GRID, "--check", "--steps", 1, "-k", "ocean_step", "--set", "dt_mom=1e6", quick=False)


def test_settings_by_the_spacing_along_either_axis(miniapp, tmp_path):
    """The time step is that of the least spacing, the viscosity that of the largest."""
    path = without_settings(tmp_path / "in.h5")
    with h5py.File(path, "r+") as file:
        file["dxt"][...] *= 0.9
        northward = float(np.max(file["dyt"]))
    viscosity = f"A_h ({2e-11 * northward ** 3:g} by"
    assert viscosity in " ".join(miniapp.passes(path, "--check", "--steps", 1, quick=False).replace("#", " ").split())
    with h5py.File(path, "r+") as file:
        file["dyt"][...] *= 0.1
    step = f"dt_mom ({0.2 * 0.1 * northward / 3:g} by"
    assert step in " ".join(miniapp.passes(path, "--check", "--steps", 1, quick=False).replace("#", " ").split())


LONG_STEP = "steps may be unstable: "
REST = GRID.with_name("acc_rest.h5")


@pytest.mark.parametrize("settings, warning", [
    ({"dt_mom": 15000}, LONG_STEP + r"coriolis_t dt_mom is 1\.\d+, but should be at most 0\.5"),
    ({"A_h": 2e6}, LONG_STEP + r"A_h dt_mom over the narrowest spacing squared is 0\.\d+, but should be at most 0\.25"),
    ({"A_h": 2e6, "hor_friction_cosPower": 0}, LONG_STEP + r"A_h dt_mom over the narrowest spacing squared is "),
    ({"dt_tracer": 1e6}, LONG_STEP + r"4 K_iso_0 iso_slopec dt_tracer over .* is 11\.\d+, but should be at most 1"),
    ({"A_h": 2e6, "enable_hor_friction": 0}, None), ({"dt_mom": 5000}, None), ({"dt_tracer": 8e4}, None),
    ({"dt_tracer": 1e6, "enable_neutral_diffusion": 0}, None)])
def test_a_time_step_that_is_too_long(miniapp, settings, warning):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    miniapp.passes(REST, "--check", "--steps", 1, *words, warning=warning, quick=False)
    miniapp.passes(REST, "--check", "--steps", 1, "--shape", "40x40x10", *words, quick=False)


def test_waves_cross_a_cell_in_a_step(miniapp, tmp_path):
    """Near the equator, where the turning of the earth allows a longer one."""
    with copied(REST, tmp_path / "in.h5") as file:
        file["coriolis_t"][...] = 1e-6
    miniapp.passes(tmp_path / "in.h5", "--check", "--steps", 1, "--set", "dt_mom=90000", "--set", "A_h=1", quick=False,
                   warning=LONG_STEP + r"dt_mom 3 m/s over the narrowest spacing, for internal waves is 1\.\d+, but")


def test_advice_names_the_time_step_at_fault(miniapp):
    """The Courant numbers are those of the flow that went wrong, though it began at rest."""
    done = miniapp.run(REST, "--steps", 60, "--set", "dt_mom=15000")
    numbers = re.search(r"with Courant numbers (\S+), (\S+) and (\S+) \(shorter steps may help: --set dt_mom=SECONDS",
                        done.stderr)
    assert done.returncode == MISMATCH and all(float(number) > 0 for number in numbers.groups()), done


def test_courant_numbers_of_a_flow_that_is_not_finite(miniapp, tmp_path):
    with copied(GRID.with_name("acc.h5"), tmp_path / "in.h5") as file:
        file["v"][9, 20, 17] = np.nan
    table = miniapp.passes(tmp_path / "in.h5", "--steps", 1, "--allow-divergent", "--allow-nonfinite", quick=False)
    assert re.search(r"Courant numbers inf along x, inf along y, inf along z", table)


def test_settings_by_the_spacing_that_nothing_uses(miniapp, tmp_path):
    path = without_settings(tmp_path / "in.h5")
    for switches, used in ((("hor", "bottom"), ""), (("hor",), "r_bot"), (("bottom",), "A_h")):
        words = [word for switch in switches for word in ("--set", f"enable_{switch}_friction=0")]
        table = miniapp.passes(path, "--check", "--steps", 1, *words, quick=False)
        assert re.findall(r"(A_h|r_bot) \(\S+ by the spacing", table) == [used][:bool(used)]


def test_the_time_step_that_was_given_is_the_one_that_differs(miniapp, tmp_path):
    """Where that of tracers follows it."""
    path = without_settings(tmp_path / "in.h5")
    words = (path, "--every", 1, "--restart", "-o", tmp_path / "end.nc")
    miniapp.passes("--steps", 1, *words, quick=False)
    miniapp.fails(INPUT, "this run has dt_mom=1000; 1 more differs", "--steps", 2, "--set", "dt_mom=1000", *words,
                  quick=False)


@pytest.mark.parametrize("sequence", ["ocean", "ocean_step"])
@pytest.mark.parametrize("words", [("--size", "20k"), ("--set", "dt_mom=1200", "--set", "dt_tracer=1200")])
def test_another_size(miniapp, words, sequence):
    """Time steps are short, unless --set gives others."""
    path, is_set = REST if sequence == "ocean" else GRID, "--set" in words
    table = miniapp.passes(path, "--steps", 20, "-k", sequence, *words, quick=False)
    assert ("dt_tracer (10 by the size)" in " ".join(table.replace("#", " ").split())) != is_set


@pytest.mark.every_device
@pytest.mark.parametrize("value", [0.25, np.nan])
def test_largest_velocity_in_the_progress_line(miniapp, value, device, tmp_path):
    """On a terminal; it is infinite where a velocity is not finite."""
    path, output = tmp_path / "in.h5", tmp_path / "out.h5"
    with copied(GRID.with_name("acc.h5"), path) as file:
        file["v"][9, 20, 17] = value
    code, seen = watch(miniapp.command(path, "--steps", 1, "-d", device, "--allow-divergent", "--allow-nonfinite",
                                       "-o", output), env=miniapp.environment())
    flow = np.abs([read(output, "u"), read(output, "v")])
    shown = f"{np.max(flow):.3g}" if np.isfinite(value) else "inf"
    assert code == 0 and f"100% step 1 of 1, 0:00 left, {shown} m/s, " in seen, seen


FRICTIONS = {
    "vertical and lateral": {},
    "by eddies": {"enable_TEM_friction": 1},
    "biharmonic": {"enable_hor_friction": 0, "enable_biharmonic_friction": 1, "A_hbi": 2e15},
    "explicit": {"enable_implicit_vert_friction": 0, "enable_explicit_vert_friction": 1, "dt_mom": 600, "dt_tracer": 600},
    "drag": {"enable_quadratic_bottom_friction": 1, "r_quad_bot": 2e-3, "enable_ray_friction": 1, "r_ray": 1e-7},
}


def budget_from_rest(miniapp, name, steps, device, precision="float64", **settings):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    march = miniapp.json(GRID.with_name("acc_rest.h5"), "--steps", steps, "-d", device, "--precision", precision, *words,
                         quick=False)["results"][0]["steps"]
    budget, = (each for each in march["budgets"] if each["budget"] == name)
    return budget


@pytest.mark.parametrize("precision, share", [("float64", 1e-11), ("float32", 1e-2)])
@pytest.mark.parametrize("kind", FRICTIONS)
def test_the_work_of_forces(miniapp, device, kind, precision, share):
    """Frictions dissipate what wind and sinking water put in, and the flow does not gain."""
    budget = budget_from_rest(miniapp, "kinetic", 12, device, precision, **FRICTIONS[kind])
    assert budget["kept"] and not budget["is_of_all_steps"]
    gains = budget["gains"]
    assert abs(sum(gains.values()) - budget["gain"]) <= budget["bound"] and gains["wind"] > 0 > gains["K_diss_v"]
    assert ("K_diss_gm" in gains) == (kind == "by eddies") and gains["K_diss_h"] < 0 and gains["K_diss_bot"] < 0
    assert 0 < budget["bound"] <= 10 * share * abs(budget["gain"]) and abs(budget["residual"]) <= share * abs(budget["gain"])


def test_the_terms_of_that_work(device):
    """Each is the integral of what the state has, also where the surface is free and the budget cannot tell."""
    state = package.load(REST, "ocean", device, **FRICTIONS["drag"], enable_TEM_friction=1, enable_streamfunction=0)
    state.step(11, "ocean")
    f = {name: state[name] for name in ("u", "v", "w", "rho", "dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu",
                                        "maskU", "maskV", "maskW", "surface_taux", "surface_tauy")}
    state.step(1, "ocean")
    areas = {"t": np.outer(f["cost"] * f["dyt"], f["dxt"]), "u": np.outer(f["cost"] * f["dyt"], f["dxu"]),
             "v": np.outer(f["cosu"] * f["dyu"], f["dxt"])}
    volume = np.append(f["dzw"][:-1], f["dzw"][-1] / 2)[:, None, None] * areas["t"] * f["maskW"]
    inner, both = f["rho"][:-1] + f["rho"][1:], volume[:-1] * f["w"][:-1]
    terms = {"wind": sum(areas[name] * f[f"mask{name.upper()}"][-1] * f[name][-1] * f[f"surface_tau{axis}"]
                         for name, axis in (("u", "x"), ("v", "y"))), "buoyancy": -9.81 / 2 * both * inner}
    terms |= {name: -1024 * volume * state[name] for name in ("K_diss_v", "K_diss_h", "K_diss_gm", "K_diss_bot")}
    budget = state.budgets["kinetic"]
    assert list(budget.gains) == list(terms) and budget.units == "W"
    for name, values in terms.items():
        values = values[..., 2:-2, 2:-2]
        assert abs(budget.gains[name] - values.sum()) <= 1e-13 * np.abs(values).sum() != 0, name
    assert abs(sum(budget.gains.values()) - budget.gain) <= 1e-15 * sum(map(abs, budget.gains.values()))


def test_the_terms_of_that_work_in_the_report(miniapp):
    table = " ".join(miniapp.passes(REST, "--steps", 2, quick=False).split())
    terms = re.search(r"gain of kinetic in W: wind (\S+), buoyancy (\S+), K_diss_v (\S+), K_diss_h (\S+), "
                      r"K_diss_bot (\S+) Not timed", table).groups()
    gain = float(re.search(r"kinetic the last step W \S+ (\S+)", table)[1])
    assert abs(sum(map(float, terms)) - gain) <= 1e-3 * float(terms[0])


@pytest.mark.parametrize("steps, settings", [
    (2, {"enable_noslip_lateral": 1}), (2, {"enable_streamfunction": 0}), (2, {"enable_conserve_energy": 0}),
    (2, {"enable_biharmonic_friction": 1, "A_hbi": 1e15}), (1, {}),
    (2, {"enable_explicit_vert_friction": 1, "dt_mom": 600, "dt_tracer": 600})])
def test_work_of_which_part_is_lost(miniapp, device, steps, settings):
    """As in Veros: on walls without slip, at a free surface, by two frictions of one kind; a first flow is the file's."""
    assert budget_from_rest(miniapp, "kinetic", steps, device, **settings)["verdict"] == "cannot tell"


@pytest.mark.every_device
@pytest.mark.parametrize("is_lid, tolerance", [(1, 1e-10), (1, 0.1), (0, 1e-10)],
                         ids=["lid", "lid, loosely", "surface"])
def test_volume(miniapp, device, is_lid, tolerance):
    """A surface that rises somewhere sinks elsewhere; under a lid, no cell gains, however far the solver goes."""
    budget = budget_from_rest(miniapp, "volume", 12, device, enable_streamfunction=is_lid, solver_tolerance=tolerance)
    assert budget["kept"] and 0 < abs(budget["change"]) and budget["bound"] <= 1e-4 * budget["gross"]


SOURCES_OF_WAVES = {
    "where eddies dissipate": {"enable_eke_diss_bottom": 0},
    "at bottom and surface": {"enable_eke_diss_bottom": 0, "enable_eke_diss_surfbot": 1, "eke_diss_surfbot_frac": 0.3},
    "mean flow": {"enable_eke": 0},
    "mean flow, not drag": {"enable_eke": 0, "enable_store_bottom_friction_tke": 1, "enable_store_cabbeling_heat": 0},
    "upwind": {"enable_idemix_upwind_advection": 1, "enable_idemix_hor_diffusion": 0},
}


@pytest.fixture(scope="module")
def waves(tmp_path_factory):
    """A file that has a diffusivity, and what eddies and waves dissipate, too."""
    ocean = Whole("waves", tmp_path_factory.mktemp("waves"))
    with h5py.File(ocean.path, "a") as file:
        file["K_iso"] = np.full(file["temp"].shape, 1000.0)
        for name in ("eke_diss_iw", "iw_diss"):
            file[name] = 1e-9 * (1 + len(name)) * file["maskW"][...]
    return ocean


@pytest.mark.parametrize("sequence", ["ocean", "ocean_step", "ocean_step_eke"])
@pytest.mark.parametrize("source", SOURCES_OF_WAVES)
def test_budgets_of_internal_waves(miniapp, waves, source, sequence, tmp_path):
    """From each source, with columns of one level; where eddies and waves are stepped and where they are given."""
    path = tmp_path / "in.h5"
    path.write_bytes(waves.path.read_bytes())
    edit(path, "/", **SOURCES_OF_WAVES[source])
    march = miniapp.json(path, "--steps", 3, "-k", sequence, quick=False)["results"][0]["steps"]
    budgets = {each["budget"]: each for each in march["budgets"]}
    assert all(each["kept"] for name, each in budgets.items() if name != "kinetic")
    assert budgets["iw"]["gain"] != 0 if sequence == "ocean" else "iw" not in budgets
    has_eke = SOURCES_OF_WAVES[source].get("enable_eke", 1)
    parts = sum(budgets[name]["change"] for name in ("tke", *["eke"][:has_eke], "iw") if name in budgets)
    assert abs(budgets["energy"]["change"] - parts) <= budgets["energy"]["bound"]


def test_which_kernels_run(miniapp, some):
    """The external mode that a setting chooses, and eddies where they have energy; what is not run has no share."""
    result = miniapp.json(some.path, "--steps", 2, "-k", "ocean", quick=False)["results"][0]
    kernels = [part["kernel"] for part in result["shares"]]
    is_stream = some.settings["enable_streamfunction"] != 0
    assert ("streamfunction" in kernels) == is_stream and ("surface_pressure" in kernels) != is_stream
    assert ("eke" in kernels) == (some.settings["enable_eke"] != 0)
    for what in ("bytes", "flops"):
        assert sum(part[what] for part in result["shares"]) == pytest.approx(result[what])


@pytest.mark.parametrize("words, sequence", [((), "ocean"), (("--tracer", "dye=temp"), "ocean+dye")])
def test_the_input_chooses(miniapp, some, words, sequence):
    """Where it has a flow that is driven, the steps are those of the whole ocean."""
    assert miniapp.json(some.path, "--steps", 1, *words, quick=False)["results"][0]["kernel"] == sequence


def test_an_input_without_wind(miniapp):
    assert miniapp.json(GRID, "--steps", 1, quick=False)["results"][0]["kernel"] == "ocean_step"


def test_a_choice_that_cannot_be_made(miniapp, tmp_path):
    miniapp.fails(INPUT, "No such file", tmp_path / "none.h5", "--steps", 1, quick=False)
