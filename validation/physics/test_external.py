"""The elliptic problems of the external mode beside a direct solver: seas of any shape, and what becomes of bits."""

import json
import re
import resource

import numpy as np
import pytest
from scipy import ndimage

import fields
import miniapp as package
import processes
from conftest import DEVICE, DONE, MISMATCH, QUICK, read, write
from reference import files
from reference import streamfunction, surface_pressure

pytestmark = pytest.mark.every_device

NX, NY, NZ = 70, 58, 40
SOLVED = {surface_pressure: "psi_taup1", streamfunction: "dpsi_taup1"}
MOVING = ("u_mean", "v_mean", "du_mean", "dv_mean", "psi", "dpsi", "dpsi_taum1")
both = pytest.mark.parametrize("reference", SOLVED, ids=lambda reference: reference.NAME)


def sea(kbot, *, dx=1e5, dy=1e5, cyclic=0, dzt=None, dt=3600.0, seed=1, **settings):
    """Fields around a given kbot without ghosts, and a flow of synoptic scales."""
    rng = np.random.default_rng(seed)
    ny, nx = kbot.shape
    x, y = np.meshgrid(2 * np.pi * np.arange(nx) / nx, np.pi * np.arange(ny) / ny)
    latitude = np.radians(np.linspace(-60, 60, 2 * ny))

    def waves(size):
        return size * (np.sin(2 * x + y) * np.cos(y) + 0.1 * rng.uniform(-1, 1, (ny, nx)))

    values = {
        "dxt": dx * rng.uniform(0.9, 1.1, nx), "dxu": dx * rng.uniform(0.9, 1.1, nx),
        "dyt": dy * rng.uniform(0.9, 1.1, ny), "dyu": dy * rng.uniform(0.9, 1.1, ny),
        "dzt": np.geomspace(876, 10, NZ) if dzt is None else dzt,
        "cost": np.cos(latitude[::2]), "cosu": np.cos(latitude[1::2]), "kbot": kbot.astype(np.int32),
        "u_mean": waves(0.1), "v_mean": waves(0.1), "psi": waves(2.0), "psi_taum1": waves(2.0),
        "du_mean": waves(1e-6), "dv_mean": waves(1e-6), "dpsi": waves(10.0), "dpsi_taum1": waves(10.0)}
    return values, {"dt_mom": dt, "dt_tracer": dt, "solver_tolerance": 1e-13, "halo": 0, "cyclic_x": cyclic} | settings


def faint(values, share):
    return {name: share * values[name] for name in MOVING}


def random_bottom(seed, land, shape=(NY, NX)):
    """Depths of 10 m to 8 km, rough, and land in single cells."""
    rng = np.random.default_rng(seed)
    kbot = rng.integers(1, NZ + 1, shape)
    return np.where(rng.random(shape) < land, 0, kbot)


def islands(shape=(NY, NX)):
    """30 of them, land on both sides of the seam, and a wall with a strait of one cell."""
    rng, number = np.random.default_rng(5), 30
    kbot = 1 + rng.integers(0, 20, shape)
    kbot[:, 30] = 0
    kbot[40:43, [0, -1]] = 0
    while number > 0:
        y, x = rng.integers(2, shape[0] - 6), rng.integers(2, shape[1] - 8)
        height, width = rng.integers(1, 5), rng.integers(1, 7)
        if kbot[y - 1:y + height + 1, x - 1:x + width + 1].all():
            kbot[y:y + height, x:x + width] = 0
            number -= 1
    kbot[17, 30] = NZ - 3
    return kbot


def basins(shape=(NY, NX)):
    """Two that nothing connects, and a lake."""
    kbot = np.ones(shape, int)
    kbot[:, [20, -1]] = 0
    kbot[29:33, 40:44] = 0
    kbot[30, 41] = 7
    return kbot


def only(*cells, shape=(NY, NX)):
    kbot = np.zeros(shape, int)
    for cell in cells:
        kbot[cell] = 3
    return kbot


SEAS = {
    "rough": (random_bottom(1, 0.1), {}), "rough, cyclic": (random_bottom(2, 0.1), {"cyclic": 1}),
    "half land": (random_bottom(3, 0.5), {}), "half land, cyclic": (random_bottom(4, 0.5), {"cyclic": 1}),
    "flat": (random_bottom(5, 0, (33, 47)) * 0 + 1, {"cyclic": 1}),
    "islands": (islands(), {}), "islands, cyclic": (islands(), {"cyclic": 1}),
    "narrow cells": (islands(), {"dx": 5e3}), "flat cells": (islands(), {"dy": 5e3, "cyclic": 1}),
    "basins": (basins(), {}), "lake": (only((4, 4), (4, 5)), {}), "one cell": (only((7, 9)), {}),
    "a row": (random_bottom(6, 0, (1, 40)), {"cyclic": 1}), "a column": (random_bottom(7, 0, (40, 1)), {"cyclic": 1}),
    "two columns": (random_bottom(8, 0, (40, 2)), {"cyclic": 1}), "a canal": (random_bottom(9, 0, (3, 900)), {}),
    "a cell": (random_bottom(10, 0, (1, 1)), {}), "short steps": (islands(), {"dt": 1.0}),
}


# Cells of 1:20, where levels join water on either side of a coast; depths that change 600-fold in a row of two.
HARD = ("narrow cells", "flat cells", "two columns")
# Channels, each shape of cells; rows that end in no whole vector, and those of one cell. Many islands take long.
ELSEWHERE = ("islands", "flat cells", "two columns", "a cell")


def number_of_islands(kbot, cyclic):
    """Land masses without a wall: what one more copy of the ocean, beside others, adds. Cells that touch are one."""
    walled = np.pad(kbot == 0, ((1, 1), (0, not cyclic)), constant_values=True)
    two, three = (ndimage.label(np.tile(walled, copies), np.ones((3, 3)))[1] for copies in (2, 3))
    return three - two


def test_seas_are_as_hard_as_they_are_meant_to_be():
    """30 islands, one more on the seam of a channel; depths of 10 m to 8 km."""
    for cyclic in (0, 1):
        assert number_of_islands(islands(), cyclic) == 30 + cyclic
        values, _ = sea(random_bottom(1, 0.1), cyclic=cyclic)
        depths = values["dzt"][::-1].cumsum()[::-1][values["kbot"][values["kbot"] > 0] - 1]
        assert depths.min() == 10 and 8000 <= depths.max() < 8010


def expected(reference, values, settings):
    """The reference of the solution, without ghosts."""
    padded = {name: files.add_ghosts(name, value, settings["cyclic_x"]) for name, value in values.items()}
    return reference.reference(padded, settings)[SOLVED[reference]][2:-2, 2:-2]


def store(path, values, settings):
    settings = dict(settings)
    return write(path, values, settings, halo=settings.pop("halo"), cyclic_x=settings.pop("cyclic_x"))


@pytest.mark.parametrize("name", SEAS)
@both
@pytest.mark.every_compiler
def test_a_direct_solver_agrees(reference, miniapp, device, tmp_path, name):
    if not miniapp.is_first and name not in ELSEWHERE:
        pytest.skip("other builds take fewer seas")
    kbot, options = SEAS[name]
    values, settings = sea(kbot, **options)
    path, out = store(tmp_path / "in.h5", values, settings), tmp_path / "out.h5"
    done = miniapp.run(*QUICK, path, "-k", reference.NAME, "-d", device, "-o", out)
    told = ["", f"miniapp: {WARNING}", f"miniapp: {WARNING}miniapp: {ROUNDING}"]
    assert done.returncode == DONE and done.stderr in told[:3 if name in HARD else 1], done
    solution = expected(reference, values, settings)
    assert np.abs(read(out, SOLVED[reference]) - solution).max() <= 1e-10 * np.abs(solution).max()


@pytest.mark.parametrize("tolerance", [0.1, 1e-13])
@pytest.mark.parametrize("cyclic", [0, 1])
def test_coasts_are_constant(miniapp, device, cyclic, tolerance, tmp_path):
    """To the last bit, however far the solver goes, where the streamfunction and its tendency before were."""
    if tolerance < 0.1 or not cyclic:
        miniapp.skip_repeat("one case shows what another build makes of coasts")
    values, settings = sea(islands(), cyclic=cyclic, solver_tolerance=tolerance)
    unknown, count = streamfunction.unknowns(np.pad(values["kbot"], ((1, 1), (0, 0))), cyclic)
    number, corners = unknown[1:], np.bincount(unknown[1:][unknown[1:] >= 0], minlength=count)
    for name in ("psi", "psi_taum1", "dpsi"):
        values[name] = np.append(np.random.default_rng(7).uniform(-9, 9, count), 0)[number]
    path, out = store(tmp_path / "in.h5", values, settings), tmp_path / "out.h5"
    miniapp.passes(path, "-k", "streamfunction", "-d", device, "-o", out)
    for made in (read(out, name) for name in ("psi_taup1", "dpsi_taup1")):
        coasts = [made[number == coast] for coast in np.flatnonzero(corners > 1)]
        assert len(coasts) >= 30 and all(np.ptp(coast) == 0 != coast[0] for coast in coasts)
        assert not made[number == streamfunction.NOWHERE].any()


@both
@pytest.mark.parametrize("cyclic", [0, 1])
def test_two_places_answer_each_other_alike(reference, miniapp, device, cyclic, tmp_path):
    """The problem is symmetric, coasts included: what a push at one place does at another is what one there does at
    the first, times the area of a cell or, in a face across which the streamfunction differs, its width. One place is
    beside an island."""
    values, settings = sea(islands(), cyclic=cyclic)
    is_stream, answers, places = reference is streamfunction, [], [(24, 12), (30, 15)]
    scale = values["dyu"][:, None] if is_stream else np.outer(values["dyt"] * values["cost"], values["dxt"])
    for here, there in (places, places[::-1]):
        pushed = {name: 0 * values[name] for name in MOVING}
        pushed["dv_mean" if is_stream else "psi"][here] = 1
        path, out = store(tmp_path / "in.h5", values | pushed, settings), tmp_path / "out.h5"
        miniapp.passes(path, "-k", reference.NAME, "-d", device, "-o", out)
        made = read(out, SOLVED[reference])
        answer = scale * (np.diff(made, prepend=0) if is_stream else made)
        answers.append(answer[there])
    assert answers[0] != 0 and abs(answers[0] - answers[1]) <= 1e-13 * np.abs(answer).max()


@both
def test_all_land_and_no_flow_give_zero(reference, miniapp, device, tmp_path):
    values, settings = sea(islands())
    still = {name: 0 * values[name] for name in MOVING}
    land = {"kbot": 0 * values["kbot"]}
    for changes, warning in ((still, None), (land, "all of the ocean is land")):
        path, out = store(tmp_path / "in.h5", values | changes, settings), tmp_path / "out.h5"
        miniapp.passes(path, "-k", reference.NAME, "-d", device, "-o", out, warning=warning)
        assert not read(out, SOLVED[reference]).any()


@both
def test_almost_no_flow_gives_almost_zero(reference, miniapp, device, tmp_path):
    """Products of such numbers underflow, as those of an ocean that comes to rest."""
    values, settings = sea(islands())
    path, out = store(tmp_path / "in.h5", values | faint(values, 1e-310), settings), tmp_path / "out.h5"
    miniapp.passes(path, "-k", reference.NAME, "-d", device, "-o", out)
    assert np.abs(read(out, SOLVED[reference])).max() <= 1e-300


@pytest.mark.usefixtures("library")
@both
def test_a_guess_too_large_for_floats(reference, device, tmp_path):
    """It is told, and leaves nothing for the next run."""
    values, settings = sea(islands())
    guess = SOLVED[reference].replace("taup1", "taum1")
    weak = values | faint(values, 1e-60) | {guess: 1e6 * values[guess]}
    state, other = (package.load(store(tmp_path / "in.h5", some, settings), reference.NAME, device)
                    for some in (values, weak))
    state.run(reference.NAME)
    with pytest.raises(package.MismatchError, match="not solved: a residual of -?nan of the right-hand side is left"):
        other.run(reference.NAME)
    for name in {*MOVING, guess} & set(other):
        other[name] = state[name]
    other.run(reference.NAME)
    assert other[SOLVED[reference]].tobytes() == state[SOLVED[reference]].tobytes()


@both
@pytest.mark.parametrize("shape", [(160, 140), (96, 100)])
def test_any_number_of_threads(reference, miniapp, tmp_path, shape):
    """Bits do not depend on it, on grids whose finest levels are shared; on one in bands as narrow as can be."""
    path = store(tmp_path / "in.h5", *sea(islands(shape), cyclic=1))
    outputs = [tmp_path / f"{threads}.h5" for threads in (1, 2, 4)]
    for output in outputs:
        done = miniapp.run(*QUICK, path, "-k", reference.NAME, "-t", output.stem, "-o", output)
        assert done.returncode == DONE, done
    for output in outputs[1:]:
        np.testing.assert_array_equal(read(output, SOLVED[reference]), read(outputs[0], SOLVED[reference]))


@both
def test_what_is_kept_is_counted_as_memory(miniapp, reference, device, tmp_path):
    """Six numbers a cell in double precision and eleven in single, and those of coarser levels."""
    path = store(tmp_path / "in.h5", *sea(islands(), cyclic=1))
    row, = json.loads(miniapp.passes(path, "-k", reference.NAME, "-d", device, "--format", "json"))["results"]
    cells, points = (row["nx"] - 4) * (row["ny"] - 4), row["nx"] * row["ny"]
    assert row["device_bytes"] > 5 * 8 * points + (6 * 8 + 1.25 * 11 * 4) * cells, row


@pytest.mark.unsanitized("the sanitizer needs an address space without limits")
def test_modes_that_memory_lacks(miniapp, tmp_path):
    """4,400 islands need more than the process may use, which is known before any of it is used."""
    kbot, most = np.ones((200, 200), int), 2**30
    kbot[1::3, 1::3] = 0
    message = miniapp.fails(DEVICE, r"out of memory for what a kernel keeps: it needs [\d.e+]+ GB, but the limit",
                            store(tmp_path / "in.h5", *sea(kbot)), "-k", "streamfunction", "-t", 1,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    assert float(re.search(r"needs ([\d.e+]+) GB", message)[1]) * 1e9 > most


@pytest.mark.usefixtures("library")
@both
def test_what_is_kept_follows_the_grid(reference, device, tmp_path):
    """A plan keeps levels and eigenvalues between its runs, but not those of another sea."""
    path = store(tmp_path / "in.h5", *sea(islands(), cyclic=1))
    kept = package.load(path, reference.NAME, device)
    plan = kept.plan(reference.NAME)
    for changes in ({}, {"kbot": 9 - np.minimum(8, kept["kbot"])}, {"dyt": kept["dyt"] * 1.3}):
        fresh = package.load(path, reference.NAME, device)
        for name, values in changes.items():
            kept[name] = fresh[name] = values
        plan.run()
        fresh.run(reference.NAME)
        assert kept["psi_taup1"].tobytes() == fresh["psi_taup1"].tobytes()
        for name in changes:
            kept[name] = package.load(path, reference.NAME, device)[name]


def strange(dt):
    """Neighbours a thousand times as wide, and so much time that nothing but rounding sets the mean pressure."""
    values, settings = sea(random_bottom(3, 0.3), dt=dt)
    rng = np.random.default_rng(1)
    for name in ("dxt", "dxu", "dyt", "dyu"):
        values[name] = values[name] * 10**rng.uniform(-3, 1.5, values[name].size)
    return values, settings


WARNING = "warning: the external mode does not converge by Chebyshev's iteration: conjugate gradients take over\n"
ROUNDING = "warning: the external mode is solved as far as rounding allows, but not to solver_tolerance\n"


def test_conjugate_gradients_take_over(miniapp, device, tmp_path):
    """They are told. Rounding, the device's own, may end them just before the tolerance, which is told, too."""
    values, settings = strange(3600.0)
    path, out = store(tmp_path / "in.h5", values, settings), tmp_path / "out.h5"
    threads = ("-t", 1) if device == "gpu" else ()  # of an emulated one several mostly wait, at each of many launches
    done = miniapp.run(*QUICK, path, "-k", "surface_pressure", "-d", device, *threads, "-o", out)
    assert done.returncode == DONE
    assert done.stderr in (f"miniapp: {WARNING}", f"miniapp: {WARNING}miniapp: {ROUNDING}")
    solution = expected(surface_pressure, values, settings)
    assert np.abs(read(out, "psi_taup1") - solution).max() <= 1e-8 * np.abs(solution).max()


@both
def test_a_small_sea_takes_few_iterations(reference, miniapp, device, tmp_path):
    """They are of one level, whose inverse leaves little to do."""
    path = store(tmp_path / "in.h5", *sea(random_bottom(1, 0, (8, 8)), dx=1e4, dy=1e4, solver_tolerance=1e-10))
    assert miniapp.json(path, "-k", reference.NAME, "-d", device)["results"][0]["solution"]["iterations"] <= 6


def test_lakes_with_almost_no_excess(miniapp, tmp_path):
    """Their inverse is bounded: else it makes so much of rounding that conjugate gradients fail."""
    lakes = sea(random_bottom(1, 0.3, (3, 300)), dx=1e3, dy=1e3, dt=3e5, solver_tolerance=1e-10)
    done = miniapp.run(*QUICK, store(tmp_path / "in.h5", *lakes), "-k", "surface_pressure")
    assert done.returncode == DONE and done.stderr == f"miniapp: {WARNING}", done


# A device that does not return the array of this number, of those of at least 10 kB.
FAILING = """
#include <string.h>
int omp_get_initial_device(void);
int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset, int there,
                      int here)
{
    static int returned;
    (void)to_offset, (void)from_offset, (void)here;
    return there == omp_get_initial_device() && bytes > 10000 && ++returned == 50 ? 1 : !memcpy(to, from, bytes);
}
"""


def test_sums_that_a_device_does_not_return(miniapp, device, tmp_path):
    """That is told, not what becomes of the solution without them. Eigenvalues take 32 sums at most."""
    if miniapp.offload != "emulated" or device == "cpu":
        pytest.skip("needs an emulated device")
    failing = processes.library(tmp_path / "failing.so", FAILING)
    done = miniapp.run(*QUICK, store(tmp_path / "in.h5", *strange(3600.0)), "-k", "surface_pressure", "-d", device,
                       "-t", 1, env={"LD_PRELOAD": str(failing)})
    assert done.returncode == DEVICE
    assert re.fullmatch(rf"miniapp: {WARNING}miniapp: device '.*' did not return 'sums'\n", done.stderr), done


@both
def test_a_tolerance_beyond_rounding(reference, miniapp, device, tmp_path):
    """The iteration ends, as near to exact as it can be, before its last resort, and a warning says so."""
    values, settings = sea(islands(), solver_tolerance=1e-20)
    path, out = store(tmp_path / "in.h5", values, settings), tmp_path / "out.h5"
    done = miniapp.run(*QUICK, path, "-k", reference.NAME, "-d", device, "--format", "json", "-o", out)
    assert done.returncode == DONE and done.stderr == f"miniapp: {ROUNDING}", done
    row, = json.loads(done.stdout)["results"]
    assert row["solution"]["residual"] > 1e-20 and row["solution"]["iterations"] < 60, row
    solution = expected(reference, values, settings)
    assert np.abs(read(out, SOLVED[reference]) - solution).max() <= 1e-10 * np.abs(solution).max()


def test_conjugate_gradients_that_rounding_ends(miniapp, tmp_path):
    """Each warning is told, whichever came first."""
    values, settings = strange(3600.0)
    path = store(tmp_path / "in.h5", values, settings | {"solver_tolerance": 1e-20})
    done = miniapp.run(*QUICK, path, "-k", "surface_pressure")
    assert done.returncode == DONE and done.stderr == f"miniapp: {WARNING}miniapp: {ROUNDING}", done


def test_a_step_that_cannot_be_made(miniapp, tmp_path):
    """The message has its number, whatever else the ocean is."""
    values, settings = strange(1e9)
    kbot, height = values["kbot"], values["dzt"]
    wet = (np.arange(NZ)[:, None, None] >= kbot - 1) & (kbot > 0)
    top = height.cumsum() - height.sum()
    values |= fields.faces(wet.astype("u1"), False, 0) | {"zw": top, "zt": top - height / 2, "dzw": height}
    values |= {name: np.zeros(wet.shape) for name in ("u", "v", "K_diss_v", "tke", "dtke_taum1")}
    values |= {name: np.zeros(kbot.shape) for name in ("coriolis_t", "beta", "forc_tke_surface")}
    values |= {"temp": np.random.default_rng(3).uniform(9, 11, wet.shape), "salt": np.full(wet.shape, 35.0)}
    settings |= {"enable_streamfunction": 0, "enable_eke": 0, "enable_conserve_energy": 0}
    done = miniapp.run(store(tmp_path / "in.h5", values, settings), "-k", "ocean", "--steps", "3")
    assert done.returncode == MISMATCH
    assert re.search("^miniapp: step 1: the external mode is not solved: ", done.stderr, re.MULTILINE), done


def test_what_cannot_be_solved(miniapp, device, tmp_path):
    done = miniapp.run(*QUICK, store(tmp_path / "in.h5", *strange(1e9)), "-k", "surface_pressure", "-d", device)
    assert done.returncode == MISMATCH
    assert re.fullmatch(rf"miniapp: {WARNING}miniapp: the external mode is not solved: a residual of \S+ of the "
                        "right-hand side is left\n", done.stderr), done
