"""Steps in time: what Veros makes of the same oceans, budgets, bits, and what may not be asked for."""

import re

import h5py
import numpy as np
import pytest

from conftest import GRID, INPUT, INSIDE, MISMATCH, USAGE, assert_same_on_threads, copied, put_output, read, replace
from oceans import SETUPS, Frozen

pytestmark = pytest.mark.every_gpu

ACC = GRID.with_name("acc.h5")


@pytest.fixture(scope="module", params=SETUPS)
def frozen(request, tmp_path_factory):
    return Frozen(request.param, tmp_path_factory.mktemp("frozen"))


def after(frozen, together, steps, device, precision="float64"):
    """The output of a run that several tests look at."""
    words = ("-d", device, "--precision", precision)
    return together.once((frozen.name, steps, *words), lambda path: frozen.step(together.miniapp, path, steps, *words))


@pytest.mark.every_device
@pytest.mark.parametrize("steps", [1, 100])
def test_veros_makes_the_same(together, frozen, device, steps):
    """As near as Veros is to itself when last digits change."""
    output = after(frozen, together, steps, device)
    for name, (wanted, spread) in frozen.after[steps].items():
        error = np.abs((read(output, name) - wanted)[INSIDE] * frozen.water).max()
        scale = np.abs(wanted[INSIDE] * frozen.water).max()
        print(f"{name} after {steps} steps: off by {error / scale:.1e}, spread {spread / scale:.1e}")
        assert error <= 10 * spread + 1e-12 * scale, name


def test_any_number_of_threads(miniapp, frozen, tmp_path):
    assert_same_on_threads(miniapp, tmp_path, (1, 2, 3), frozen.after[1], frozen.path, "--steps", 20,
                           "-k", frozen.sequence)


def content(fields, tracer):
    """Of the water: its sum over cells by their volume, and the sum of its magnitudes."""
    area = (fields["dyt"] * fields["cost"])[:, None] * fields["dxt"]
    parts = (fields["dzt"][:, None, None] * area * tracer)[INSIDE]
    parts = parts[fields["maskT"][INSIDE] == 1].astype(np.longdouble)
    return parts.sum(), abs(parts).sum()


def drift(fields, settings, name, steps, output):
    """What a tracer's content changed by, less what went in at the surface, as a share of it."""
    flux = fields[f"forc_{name}_surface"] * fields["maskT"][-1]
    taken_in = steps * settings["dt_tracer"] * (
        (fields["dyt"] * fields["cost"])[:, None] * fields["dxt"] * flux)[INSIDE].sum(dtype=np.longdouble)
    before, _ = content(fields, fields[name])
    after, size = content(fields, read(output, name))
    share = float(abs(after - before - taken_in) / size)
    print(f"{name}: {share:.1e} of its content after {steps} steps")
    return share


def test_heat_and_salt_are_kept(miniapp, together, frozen, device):
    """Over 250 steps, or 1,000, they change by what goes in at the surface, and by rounding, which adds up: a
    unit in the last place of each cell in each step would be far more."""
    steps = miniapp.steps(1000)
    output = after(frozen, together, steps, device)
    for name in ("temp", "salt"):
        assert drift(frozen.before, frozen.settings, name, steps, output) <= 1e-16 * steps


@pytest.mark.every_device
def test_float32_is_stable(miniapp, together, frozen, device):
    """Over 250 steps, or 1,000; how far it is from float64 is said."""
    steps = miniapp.steps(1000)
    outputs = [after(frozen, together, steps, device, precision) for precision in ("float64", "float32")]
    for name in frozen.after[1]:
        wide, narrow = (read(output, name)[INSIDE] * frozen.water for output in outputs)
        scale = np.abs(wide).max()
        error = np.abs(narrow - wide).max() / scale
        print(f"{name}: float32 is off by {error:.1e} after {steps} steps")
        assert error <= 0.1, name


@pytest.mark.every_device
def test_host_and_gpu_agree(together, frozen, gpu):
    """Over 100 steps."""
    outputs = [after(frozen, together, 100, device) for device in ("cpu", gpu)]
    for name, (_, spread) in frozen.after[100].items():
        ours, theirs = (read(output, name)[INSIDE] * frozen.water for output in outputs)
        assert np.abs(ours - theirs).max() <= 10 * spread + 1e-12 * np.abs(ours).max(), name


def test_an_output_is_what_the_next_step_needs(miniapp, frozen, tmp_path):
    """Steps that continue from it end in the same bits."""
    half, whole, goes_on = tmp_path / "half.h5", tmp_path / "whole.h5", tmp_path / "goes_on.h5"
    frozen.step(miniapp, half, 10)
    frozen.step(miniapp, whole, 20)
    goes_on.write_bytes(frozen.path.read_bytes())
    put_output(goes_on, half)
    rest = frozen.step(miniapp, tmp_path / "rest.h5", 10, path=goes_on)
    for name in frozen.after[1]:
        np.testing.assert_array_equal(read(rest, name), read(whole, name))


@pytest.mark.every_device
def test_budgets(miniapp, frozen, device, tmp_path):
    """What is reported as the change is what the fields say; all budgets are kept."""
    steps, f = 3, frozen.before
    output = tmp_path / "out.h5"
    report = miniapp.json(frozen.path, "--steps", steps, "-k", frozen.sequence, "-o", output, "-d", device, quick=False)
    march = report["results"][0]["steps"]
    budgets = {budget["budget"]: budget for budget in march["budgets"]}
    assert set(budgets) == {"heat", "salt", "tke", "energy"} | ({"eke"} if "eke" in frozen.after[1] else set())
    assert all(budget["kept"] for budget in budgets.values())
    assert (march["first"], march["last"], march["time_step_s"]) == (0, steps, frozen.settings["dt_tracer"])
    for name, tracer, factor in (("heat", "temp", 1024 * 3991.86795711963), ("salt", "salt", 1.024)):
        rate = factor * (content(f, read(output, tracer))[0] - content(f, f[tracer])[0]) / (
            steps * frozen.settings["dt_tracer"])
        assert abs(budgets[name]["change"] - rate) <= budgets[name]["bound"]
        assert budgets[name]["is_of_all_steps"] and budgets[name]["steps"] == steps
    for name, step in (("tke", "dt_mom"), ("eke", "dt_tracer")):
        if name in budgets:
            now, before = ((frozen.volume_w * read(output, level)[INSIDE]).sum(dtype=np.longdouble)
                           for level in (name, f"{name}_taup1"))
            rate = 1024 * (now - before) / frozen.settings[step]
            assert abs(budgets[name]["change"] - rate) <= budgets[name]["bound"]
            assert not budgets[name]["is_of_all_steps"] and budgets[name]["steps"] == 1
    both = sum(budgets[name]["change"] for name in ("tke", "eke") if name in budgets)
    assert abs(budgets["energy"]["change"] - both) <= budgets["energy"]["bound"]


def test_the_gain_of_salt(miniapp, frozen, tmp_path):
    """In kilograms of salt, from as many grams in each kilogram of water; the ocean of a setup may
    have none."""
    path = tmp_path / "in.h5"
    path.write_bytes(frozen.path.read_bytes())
    replace(path, "forc_salt_surface", np.full_like(frozen.before["forc_salt_surface"], 1e-6))
    report = miniapp.json(path, "--steps", 2, "-k", frozen.sequence, quick=False)
    salt, = (budget for budget in report["results"][0]["steps"]["budgets"] if budget["budget"] == "salt")
    gain = 1.024 * 1e-6 * frozen.area[frozen.water[-1]].sum()
    assert salt["gain"] == pytest.approx(gain, rel=1e-12)
    assert salt["change"] == pytest.approx(gain, rel=1e-6)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_budgets_under_strong_mixing(miniapp, frozen, precision):
    """With the largest diffusivity that TKE's closure gives by default, a column solve that takes
    differences of large numbers loses heat and salt."""
    miniapp.passes(frozen.path, "--steps", 3, "-k", frozen.sequence, "--precision", precision, "--set",
                   "kappaH_min=100", "--set", "kappaM_min=100", quick=False)


def with_tendencies(source, path):
    """A copy with a dye, and with tendencies of the step before that no advection makes."""
    with copied(source, path) as file:
        file["dye"] = file["temp"][...]
        for tendency, level in (("dtemp_taum1", "temp"), ("dsalt_taum1", "salt"), ("ddye_taum1", "dye"),
                                ("dtke_taum1", "tke"), ("deke_taum1", "eke")):
            if tendency in file:
                del file[tendency]
            file[tendency] = 1e-7 * file[level][...]
    return path


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("sequence, source", [("ocean_step", ACC), ("ocean_step_eke", ACC), ("ocean_step_forced", ACC)])
def test_budgets_of_the_first_step(miniapp, tmp_path, device, sequence, source, precision):
    """Whatever tendencies the file has for the step before it, even such as no advection makes; a run
    that continues from a snapshot has its own first step."""
    path = with_tendencies(source, tmp_path / "in.h5")
    for steps, *more in ((1,), (3,), (4, "--restart")):
        report = miniapp.json("-d", device, "-k", sequence, "--tracer", "dye", "--precision", precision,
                              "--steps", steps, "--every", 1, "-o", tmp_path / "end.nc", *more, path,
                              quick=False)
        march = report["results"][0]["steps"]
        assert march["first"] == (3 if more else 0)
        assert {"heat", "salt", "tke", "energy", "dye"} <= {each["budget"] for each in march["budgets"]}
        assert all(abs(each["residual"]) <= each["bound"] for each in march["budgets"])
        assert precision == "float32" or all(each["kept"] for each in march["budgets"])


def test_budgets_where_steps_take_nothing_back(miniapp, tmp_path):
    """By Euler's method, the tendency of the step before has no weight."""
    miniapp.passes("--steps", 2, "--tracer", "dye", "--set", "AB_eps=-0.5",
                   with_tendencies(ACC, tmp_path / "in.h5"), quick=False)


def turned(file):
    file["w"][...] *= -1


def exchanged(file):
    u, v = file["u"][...], file["v"][...]
    file["u"][...], file["v"][...] = v * file["maskU"][...], u * file["maskV"][...]


def rising(file):
    file["w"][...] = 1e-4 * file["maskW"][...]


@pytest.mark.every_device
@pytest.mark.parametrize("change", [turned, exchanged, rising])
def test_a_flow_that_diverges(miniapp, tmp_path, device, change):
    """It would dilute and concentrate the water, with all budgets kept."""
    path = tmp_path / "in.h5"
    with copied(ACC, path) as file:
        change(file)
    words = (path, "--steps", 1, "-d", device)
    miniapp.fails(INPUT, r"the flow is not free of divergence: in a step of 43200 s, cell \[0, \d+, \d+\] "
                  r"gains or loses 0\.\d+ of its volume", *words, quick=False)
    flow = miniapp.json(*words, "--allow-divergent", quick=False)["results"][0]["steps"]["flow"]
    assert flow["divergence_below"] > 1e-3


@pytest.mark.parametrize("side, cyclic, cell", [
    (np.s_[..., :2, :], 1, r"0, 2, \d+"), (np.s_[..., -2:, :], 1, r"0, 43, \d+"),
    (np.s_[..., :2], 0, r"0, \d+, 2"), (np.s_[..., -2:], 0, r"0, \d+, 31")])
def test_water_beyond_a_closed_side(miniapp, tmp_path, side, cyclic, cell):
    """Kernels take it as it is, but in steps it would carry water out of the ocean."""
    path = tmp_path / "in.h5"
    with copied(ACC, path) as file:
        file.attrs["cyclic_x"] = cyclic
        for name, level in (("maskT", 1), ("maskU", 0), ("maskV", 0), ("maskW", 1), ("kbot", 1)):
            values = file[name][...]
            if not cyclic:
                values[..., :2] = values[..., -2:] = 0
                values[..., -3] *= name != "maskU"
            values[side] = level
            file[name][...] = values
    word = "ghosts of closed sides are water: kernels read them as they are, but steps in time refuse them\n"
    assert word in miniapp.passes("--check", path) and word not in miniapp.passes("--check", ACC)
    miniapp.fails(INPUT, rf"in\.h5: the ghost beside cell \[{cell}\] is water, though that side of the ocean is "
                  "closed: maskT has to be 0 there", path, "--steps", 1, quick=False)


def test_a_flow_that_dilutes_slowly(miniapp, tmp_path):
    """In no step by much, but in all of them by more than the top level holds: 0.046 a day, in grid.h5."""
    words = (GRID, "-o", tmp_path / "end.h5", "--set", "dt_tracer=86400")
    said = "in 30 steps of the same flow, a tracer of 1 drifts by up to 1.4 in the top level: too much water goes"
    miniapp.passes(*words, "--steps", 30, warning=said, quick=False)
    miniapp.passes(*words, "--steps", 30, "--allow-divergent", quick=False)
    miniapp.passes(*words, "--steps", 20, quick=False)


def lacking(path, *names, renamed=None):
    """The stored acc without some datasets, or with other names for them."""
    with copied(ACC, path) as file:
        for name in names:
            if renamed:
                file[renamed] = file[name][...]
            del file[name]
    return path


@pytest.mark.every_device
def test_w_is_made_by_continuity(miniapp, tmp_path, device):
    """And so a salinity that is 35 everywhere stays so, nearly."""
    lacks, end = lacking(tmp_path / "in.h5", "w"), tmp_path / "end.h5"
    table = miniapp.passes(lacks, "--steps", 5, "-d", device, "-o", end, quick=False)
    assert re.search(r"^# absent .*\bw \(by continuity from u and v\)", table, re.MULTILINE)
    own = tmp_path / "own.h5"
    miniapp.passes(ACC, "--steps", 5, "-d", device, "-o", own, quick=False)
    for name in ("temp", "salt"):
        np.testing.assert_allclose(read(end, name), read(own, name), rtol=1e-12)


def test_what_is_absent_is_named(miniapp, tmp_path):
    path = lacking(tmp_path / "in.h5", "kappaH", renamed="kappa_H")
    said = miniapp.passes("--check", "-k", "vertical_mixing", path, quick=False)
    assert re.search(r"^absent: .*\bkappaH \(kappaM times 0.1; the closest is 'kappa_H'\)", said, re.MULTILINE)


@pytest.mark.parametrize("name, complaint", [
    ("t_star", "has t_rest but no t_star"), ("t_rest", "has t_star but no t_rest"),
    ("coriolis_t", "dataset 'coriolis_t' is missing, which enable_eke needs"),
    ("K_diss_v", "dataset 'K_diss_v' is missing, which enable_tke needs")])
def test_half_a_pair(miniapp, tmp_path, name, complaint):
    path = lacking(tmp_path / "in.h5", name)
    for words in (("--check",), ("--steps", 2)):
        miniapp.fails(INPUT, complaint, *words, "-k", "ocean_step_forced", path, quick=False)


def test_the_other_name_of_half_a_pair(miniapp, tmp_path):
    path = lacking(tmp_path / "in.h5", "t_star", renamed="tstar")
    miniapp.fails(INPUT, "has t_rest but no t_star; the closest in the file is 'tstar'", "--steps", 2, "-k",
                  "ocean_step_forced", path, quick=False)


def test_a_flow_through_the_surface(miniapp, tmp_path):
    """In the top level a little is accepted, and said."""
    table = miniapp.passes("--steps", 1, GRID, quick=False)
    drift = re.search(r"^a tracer of 1 drifts by up to (\S+) in the first step:", table, re.MULTILINE)[1]
    assert 0.01 < float(drift) < 0.05
    miniapp.fails(INPUT, r"cell \[\d+, \d+, \d+\] gains or loses 0\.\d+ of its volume", "--steps", 1, "--set",
                  "dt_tracer=130000", GRID, quick=False)


@pytest.mark.every_device
def test_the_divergence_is_that_of_the_fields(miniapp, device):
    """Beside NumPy; the flow of acc has none."""
    flow = miniapp.json("--steps", 1, "-k", "ocean_step_forced", "-d", device, ACC, quick=False)["results"][0]["steps"]["flow"]
    assert flow["divergence_below"] < 1e-15 and flow["divergence_in_top_level"] < 1e-12
    with h5py.File(ACC) as file:
        u, v, w, dxt, dyt, dzt, cost, cosu, mask = (file[name][...] for name in (
            "u", "v", "w", "dxt", "dyt", "dzt", "cost", "cosu", "maskT"))
    along_x, along_y, along_z = 43200 / (cost[:, None] * dxt), 43200 / (cost * dyt)[:, None], 43200 / dzt[:, None, None]
    w[-1], below = 0, np.concatenate([np.zeros_like(w[:1]), w[:-1]])
    north = v * cosu[:, None]
    for name, after, before in (("x", u * along_x, np.roll(u, 1, 2) * along_x),
                                ("y", north * along_y, np.roll(north, 1, 1) * along_y),
                                ("z", w * along_z, below * along_z)):
        largest = (np.maximum(np.abs(after), np.abs(before)) * mask)[INSIDE].max()
        assert flow[f"courant_{name}"] == pytest.approx(largest, rel=1e-14)


def test_budgets_that_cannot_tell(miniapp):
    """In short steps, rounding in float32 is more than all that comes in."""
    words = ("--steps", 10, "--set", "dt_tracer=1", "--set", "dt_mom=1", "--precision", "float32", ACC)
    march = miniapp.json(*words, quick=False)["results"][0]["steps"]
    budgets = {each["budget"]: each for each in march["budgets"]}
    heat = budgets["heat"]
    assert heat["bound"] > heat["gross"] > 0 and heat["kept"] is None and heat["verdict"] == "cannot tell"
    assert budgets["salt"]["gross"] == 0 and budgets["salt"]["verdict"] == "cannot tell"
    assert re.search(r"^heat .* cannot tell$", miniapp.passes(*words, quick=False), re.MULTILINE)


def test_a_budget_that_is_not_kept(miniapp, small):
    """Masks that no ocean has lead water where none is."""
    error = miniapp.fails(MISMATCH, "the budget of heat is not kept: its residual is", small, "--steps", 1,
                          "-k", "ocean_step", "--allow-divergent", "--allow-invalid", quick=False)
    assert "by ocean_step on cpu in float64" in error


def test_budgets_of_another_size_are_not_judged(miniapp):
    """Interpolated masks do not fit each other."""
    table = miniapp.passes("-k", "ocean_step", "--steps", 1, "--shape", "12x12x6", GRID, quick=False)
    assert len(re.findall(r"^(heat|salt|tke|energy) .* not judged$", table, re.MULTILINE)) == 4


def test_budgets_in_the_table(miniapp, frozen):
    table = miniapp.passes(frozen.path, "--steps", 2, "-k", frozen.sequence, quick=False)
    assert re.search(r"2 steps of \d+ s took .* years a day", table)
    assert len(re.findall(r"^(heat|salt|tke|eke|energy) .* kept$", table, re.MULTILINE)) in (4, 5)


def test_report(miniapp, frozen):
    """A row as of any kernel: a call is a step, and each kernel has its share."""
    result = miniapp.json(frozen.path, "--steps", 5, "-k", frozen.sequence, quick=False)["results"][0]
    assert result["kernel"] == frozen.sequence and result["calls"] == 5
    assert "density" in [part["kernel"] for part in result["shares"]]
    assert abs(sum(part["share"] for part in result["shares"]) - 1) < 1e-6
    for what in ("bytes", "flops"):
        assert sum(part[what] for part in result["shares"]) == pytest.approx(result[what])
    assert all(part["share_of_ceilings"] is None for part in result["shares"])


def test_shares_of_the_ceilings(miniapp, frozen):
    """Of each kernel, where they are measured."""
    words = (frozen.path, "--steps", 5, "-k", frozen.sequence, "--roofline")
    shares = miniapp.json(*words, quick=False)["results"][0]["shares"]
    assert all(part["share_of_ceilings"] is None or 0 < part["share_of_ceilings"] <= 1 for part in shares)
    table = miniapp.passes(*words, quick=False)
    lines = re.search(rf"^{frozen.sequence} .* points: (.*(\n    .*)*) of the ceilings$", table, re.MULTILINE)[1]
    assert [part.split()[0] for part in lines.split(",")] == [part["kernel"] for part in shares]


@pytest.mark.parametrize("words, complaint", [
    (("-k", "eos"), "needs a sequence with time levels, such as ocean_step; 'eos' has none"),
    (("-k", "ocean_step:forc_temp_surface=forc_salt_surface"), "needs a sequence without bindings, not 'oc"),
    (("-k", "tracer_step:tracer=temp"), "needs a sequence without bindings"),
    (("-k", "ocean_step,ocean_step_eke"), "takes one kernel"), (("-t", "1,2"), "takes one kernel"),
    (("-r", "3"), "leave out --resume, --repetitions, --seconds and --transfer each-call"),
    (("--seconds", "5"), "leave out --resume, --repetitions, --seconds and --transfer each-call"),
    (("--transfer", "each-call"), "leave out"), (("--resume", "results.json"), "leave out")])
def test_what_does_not_go_with_it(miniapp, small, words, complaint):
    miniapp.fails(USAGE, "--steps " + ".*" + complaint, small, "--steps", 2, *words, quick=False)


@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many"])
def test_numbers_of_steps(miniapp, small, value):
    miniapp.fails(USAGE, "--steps takes a whole number", small, f"--steps={value}", quick=False)


# ---- inputs/acc.h5 ----

@pytest.mark.parametrize("sequence, most, kept", [
    ("ocean_step", 100, ("temp", "salt")), ("ocean_step_eke", 100, ("temp", "salt")),
    ("ocean_step_forced", 1, ("temp", "salt")), ("ocean_step_forced", 100, ("salt",))])
def test_stored_acc(miniapp, device, tmp_path, sequence, most, kept):
    """It stays finite and about as warm as it was, and keeps heat and salt: the file holds the fluxes of
    the first step, and restoring changes that of heat."""
    output, steps = tmp_path / "out.h5", max(1, miniapp.steps(most))
    miniapp.passes(ACC, "--steps", steps, "-k", sequence, "-d", device, "-o", output, quick=False)
    with h5py.File(ACC) as file:
        fields, settings = {name: data[...] for name, data in file.items()}, dict(file.attrs)
    before, after = fields["temp"], read(output, "temp")
    assert before.min() - 0.5 < after.min() and after.max() < before.max() + 0.5
    for name in kept:
        assert drift(fields, settings, name, steps, output) <= 1e-16 * max(steps, 10)


@pytest.fixture(scope="module")
def acc_with_sources(tmp_path_factory):
    """Sources of heat, salt and energy everywhere in the water, none of them negligible."""
    path = tmp_path_factory.mktemp("sources") / "acc.h5"
    path.write_bytes(ACC.read_bytes())
    random = np.random.default_rng(7)
    with h5py.File(path, "a") as file:
        for name, scale in (("temp_source", 1e-8), ("salt_source", 1e-9), ("K_diss_v", 1e-8), ("K_diss_bot", 1e-8),
                            ("K_diss_gm", 1e-8), ("K_diss_h", 1e-8), ("P_diss_hmix", -1e-8)):
            mask = file["maskT" if name.endswith("source") else "maskW"][...]
            if name in file:
                del file[name]
            file[name] = scale * random.uniform(0.5, 1, (*mask.shape[:2], 1)) * mask  # the same in ghosts
    return path


@pytest.mark.parametrize("stores_heat", [0, 1])
@pytest.mark.parametrize("has_eke", [0, 1])
@pytest.mark.parametrize("sequence", ["ocean_step", "ocean_step_eke", "ocean_step_forced"])
def test_budgets_count_each_source(miniapp, acc_with_sources, sequence, has_eke, stores_heat):
    """A source that a budget left out, or counted in the wrong case, would break it."""
    miniapp.passes(acc_with_sources, "--steps", 2, "-k", sequence, "--set", f"enable_eke={has_eke}",
                   "--set", f"enable_store_cabbeling_heat={stores_heat}", quick=False)


def test_every_kernel_runs_on_the_stored_acc(miniapp):
    assert "can be used by density, " in miniapp.passes("--check", ACC, quick=False)
    miniapp.passes(ACC, "-k", "all")


def test_stored_acc_is_land_or_water():
    """Land is 0 in what steps start from; ghosts along x are copies."""
    with h5py.File(ACC) as file:
        land = file["maskT"][...] == 0
        for name in ("temp", "salt", "tke", "eke", "u", "v", "w", "rho", "Hd", "Nsqr", "K_gm"):
            values = file[name][...]
            assert not values[land].any(), name
            np.testing.assert_array_equal(values[..., :2], values[..., -4:-2])
            assert [list(axis)[0] for axis in file[name].dims] == ["zt", "yt", "xt"]
