"""Sweeps, ceilings, transfers, and runs that are ended before their time."""

import csv
import io
import json
import math
import os
import random
import re
import signal
import time

import h5py
import pytest

import miniapp as package

from conftest import (DEVICE, DONE, GRID, INPUT, OUTPUT, QUICK, TROUBLE, USAGE, assert_one_line)
from processes import pause_at_random, watch

pytestmark = pytest.mark.every_device

CEILINGS = ("triad", "fma")


def rows_of(result):
    return [(row["kernel"], row["device"], row["precision"], row["points"])
            for row in result["results"]]


# ---- sizes ----

@pytest.mark.unsanitized("the larger ones take minutes under the sanitizers")
def test_sweep_has_the_sizes_of_pyhpc(miniapp, small):
    """4^6 to 4^11, in pyhpc's shape, which rounds up."""
    result = miniapp.json(small, "-k", "eos", "--sweep")
    points = [row["points"] for row in result["results"]]
    assert points[0] == 32 * 32 * 4 == 4096 and points[2] == 81 * 81 * 11
    assert len(points) == 6 and all(4**i <= n < 1.4 * 4**i for i, n in enumerate(points, 6))


def test_a_size_given_twice_is_run_once(miniapp, small):
    assert len(miniapp.json(small, "-k", "eos", "-s", 4096, "-s", 999, "-s", 4096)["results"]) == 2


def test_shape(miniapp, small):
    row, = miniapp.json(small, "-k", "matmul", "--shape", "23x17x40")["results"]
    assert (row["nx"], row["ny"], row["nz"]) == (23, 17, 40)
    assert row["flops"] == 2 * 23 * 17 * 40


@pytest.mark.parametrize("text", ["", "5", "5x5", "5x5x5x5", "5x5x0", "5x-5x5", "5x5x5 ", "axbxc",
                                  "5x5x1234567890123", "x5x5", "5xx5"])
def test_shapes_that_are_none(miniapp, small, text):
    miniapp.fails(USAGE, "--shape takes three whole numbers such as", small, f"--shape={text}")


@pytest.mark.parametrize("shape", ["2147483648x5x1", "5x2147483648x1", "5x5x2147483648"])
def test_shape_longer_than_can_be_counted(miniapp, small, shape):
    miniapp.fails(USAGE, f"--shape {shape}: an axis has at most 2147483647 cells", small,
                  "--shape", shape)


def test_ceilings_of_more_points_than_can_be_counted(miniapp, small):
    """Which only the sanitizer tells from another number."""
    miniapp.fails(DEVICE, r"out of memory, .* the run needs \d", small, "-k", "eos", "--roofline", "--shape",
                  "2147483647x2147483647x2147483647")


@pytest.mark.parametrize("option", ["--shape=4x9x9", "--shape=9x4x9", "--size=1"])
def test_too_small_for_ghosts(miniapp, small, option):
    miniapp.fails(USAGE, "too few for 2 ghost cells on each side", small, option)


# ---- turns ----

def test_seed_is_printed_and_can_be_set(miniapp, small):
    words = (small, "-k", "eos")
    assert miniapp.json(*words, "--seed", 17)["seed"] == 17
    assert re.search(r"^# seed +17$", miniapp.passes(*words, "--seed", 17), re.MULTILINE)
    assert miniapp.json(*words)["seed"] > 0


@pytest.mark.parametrize("text", ["", "-1", "x", "1.5"])
def test_seeds_that_are_none(miniapp, small, text):
    miniapp.fails(USAGE, "--seed takes a whole number", small, f"--seed={text}")


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "nan", "inf", "1e7"])
def test_seconds_that_are_none(miniapp, small, text):
    miniapp.fails(USAGE, "--seconds takes a number above 0", small, f"--seconds={text}")


def test_calls_go_on_until_the_seconds_are_used(miniapp, small):
    """However short a call is, and whatever its first calls took."""
    rows = miniapp.json(small, "-k", "all,calibration", "-s", 1000, "--seconds", 0.02, quick=False)["results"]
    assert all(row["measured_s"] >= 0.02 and "cut" not in row["marks"] for row in rows)
    assert all(math.isclose(row["measured_s"], row["calls"] * row["mean_s"]) for row in rows)


def test_ceilings_are_measured_as_long_as_their_rows(miniapp, small):
    """Their turns are shared out among the rows, of which each has five calls and so five turns."""
    rows = miniapp.json(small, "-k", "eos,tke", "--roofline", "--seconds", 1e-6, quick=False)["results"]
    fma, = (row for row in rows if row["kernel"] == "fma")
    assert fma["calls"] == 2 * 5 and all(row["bound"] for row in rows if row["kernel"] in ("eos", "tke"))


def test_seconds_bound_the_calls(miniapp, small):
    few, many = (miniapp.json(small, "-k", "tke", "-s", 1000, "--seconds", seconds, quick=False)
                 ["results"][0]["calls"] for seconds in (1e-6, 0.3))
    assert few == 5 < many


@pytest.mark.parametrize("calls", [1, 7, 10, 23])
def test_all_calls_are_made(miniapp, small, calls):
    result = miniapp.json("-r", calls, "-k", "eos,tke", "-s", 1000, "-s", 2000, small, quick=False)
    assert {row["calls"] for row in result["results"]} == {calls}
    assert result["interrupted"] is None


# ---- clocks ----

def test_clock(miniapp, small):
    clock = miniapp.json(small, "-k", "eos")["clock"]
    assert 0 < clock["cost_s"] < 1e-3 and 0 < clock["resolution_s"] < 1e-3
    done = miniapp.run(*QUICK, small, "--verbose")
    assert done.returncode == DONE
    line, *announcements = done.stderr.splitlines()
    assert re.fullmatch(r"miniapp: a reading of the clock costs \S+ ns, it resolves \S+ ns", line)
    rows = [f"miniapp: {kernel} on cpu, 11 x 9 x 6 points: first {what} done"
            for what in ("call", "turn") for kernel in miniapp.ocean]
    assert sorted(announcements) == sorted(rows)


def test_marks(miniapp, small):
    """They follow from the row and the clock."""
    result = miniapp.json(small, "-r", 50, "-k", "eos,tke", "-k", "calibration", "-s", 500, "-s", 9000)
    tick = max(result["clock"].values())
    for row in result["results"]:
        assert ("short" in row["marks"]) == (row["median_s"] < 100 * tick)
        assert ("noisy" in row["marks"]) == (row["stdev_s"] > 0.2 * row["mean_s"])
        assert ("disturbed" in row["marks"]) == (row["min_s"] < 0.8 * row["median_s"])
        assert row["best_gb_per_s"] == pytest.approx(1e-9 * row["bytes"] / row["min_s"])
        assert row["best_gflop_per_s"] == pytest.approx(1e-9 * row["flops"] / row["min_s"])


# ---- ceilings ----

def test_roofline(miniapp, small, device):
    result = miniapp.json(small, "-d", device, "--roofline", "-r", 5)
    rows = [row for row in result["results"] if row["kernel"] not in CEILINGS]
    ceilings = [row for row in result["results"] if row["kernel"] in CEILINGS]
    assert [row["kernel"] for row in rows] == [kernel.name for kernel in miniapp.ocean]
    assert result["results"][:len(rows)] == rows
    fma, = [row for row in ceilings if row["kernel"] == "fma"]
    for row in rows:
        # the triad with as many bytes, but for what is rounded up in a shape
        triad, = [c for c in ceilings if c["kernel"] == "triad" and math.isclose(
            c["bytes"] / c["median_s"], row["ceiling_bytes_per_s"], rel_tol=1e-12)]
        assert row["bytes"] <= triad["bytes"] < 2 * row["bytes"]
        memory = row["bytes"] / (triad["bytes"] / triad["median_s"])
        arithmetic = row["flops"] / (fma["flops"] / fma["median_s"])
        assert row["bound"] == ("memory" if memory >= arithmetic else "arithmetic")
        share = max(memory, arithmetic) / row["median_s"]
        assert row["share"] is None if share > 1 else math.isclose(row["share"], share, rel_tol=1e-6)
        assert ("above" in row["marks"]) == (share > 1)
        best = row["min_s"] / max(row["bytes"] / row["best_ceiling_bytes_per_s"],
                                  row["flops"] / row["best_ceiling_flops_per_s"])
        assert row["best_ceiling_flops_per_s"] == pytest.approx(fma["flops"] / fma["min_s"])
        assert row["best_share"] is None if best < 1 else row["best_share"] == pytest.approx(1 / best)
        assert math.isclose(row["intensity"], row["flops"] / row["bytes"], rel_tol=1e-6)


@pytest.mark.parametrize("precision, linear, teos10", [
    ("float64", [24, 40, 3], [32, 48, 175]), ("float32", [12, 20, 3], [16, 24, 175])])
def test_bytes_follow_the_settings(miniapp, small, precision, linear, teos10):
    """Salinity is read by TEOS-10 only, and has no memory with other equations."""
    def row(equation):
        found, = miniapp.json(small, "-k", "expansion", "--set", f"eq_of_state_type={equation}",
                              "--precision", precision)["results"]
        return [round(found[name] / found["points"]) for name in ("bytes", "traffic_bytes", "flops")]
    assert row(3) == linear and row(5) == teos10


def test_flops_follow_the_pressure(miniapp, small):
    """As the nodes of the quadrature do; by shares of a sequence, too."""
    def flops(kernel, *settings):
        found, = miniapp.json(small, "-k", kernel, *settings)["results"]
        parts = {part["kernel"]: part["flops"] for part in found.get("shares", ())}
        return (parts.get("eos") or found["flops"]) / found["points"]
    for pressures, eos, density in (([10, 400, 0, 1, 2, 3], 166, 332), ([400, 401, 1401, 2801, 4301, 9001], 1495 / 6, 0)):
        with h5py.File(small, "r+") as file:
            file["p"][...] = pressures
        assert flops("eos") == flops("mixing") == pytest.approx(eos)
        assert flops("density") == 48
        assert not density or flops("density", "--set", "eq_of_state_type=5") == density


def test_roofline_in_the_table(miniapp, small):
    text = miniapp.passes(small, "--roofline", "-k", "eos")
    assert re.search(r"^kernel .* points flop/B bound ", text, re.MULTILINE)
    assert re.search(r"^eos +\d+ +\d\.\d\d +(memory|arithmetic) +[\d.]+ G\S+( +(\d+%|above)){4}$", text, re.MULTILINE)


def test_ceilings_are_not_compared(miniapp, small, reference):
    """The triad has a grid of its own."""
    checks = miniapp.json(small, "-k", "eos,tke", "--roofline", "--validate", reference)["validation"]
    assert {check["kernel"] for check in checks} == {"eos", "tke"}


def test_a_ceiling_that_is_asked_for_is_a_row(miniapp, small):
    """Though another row had it before as its ceiling: it comes in its place, and its output is shown."""
    result = miniapp.json(small, "-k", "eos,fma", "--roofline", "--checksums")
    assert [row["kernel"] for row in result["results"]] == ["eos", "fma", "triad", "triad"]
    assert len({one["kernel"] for one in result["checksums"]}) == 2


def test_without_ceilings_no_share_is_known(miniapp, small):
    for row in miniapp.json(small)["results"]:
        assert row["bound"] is None and row["share"] is None


# ---- transfers ----

def elements_of(dataset, row):
    return math.prod(row.get(f"n{axis}", 2) for axis in dataset.axes)


def test_transfers_to_a_device(miniapp, small, gpu):
    result = miniapp.json(small, "-d", "cpu", "-d", gpu, "-r", 3)
    kernels = {kernel.name: kernel for kernel in miniapp.ocean}
    for row, moved in zip(result["results"], result["transfers"]):
        if row["device"] == "cpu":
            assert moved["to_device_pinned_s"] is None and "wins_from_calls" not in moved
            continue
        kernel = kernels[row["kernel"]]  # what it updates is held once, and goes both ways
        updated = sum(elements_of(dataset, row) * 8 for dataset in kernel.inputs
                      if dataset in kernel.outputs)
        scratch = sum(elements_of(dataset, row) * 8 for dataset in kernel.scratch)
        assert (moved["to_device_bytes"] + moved["from_device_bytes"]
                == row["device_bytes"] + updated - scratch)
        for way in ("to_device", "from_device"):
            assert moved[f"{way}_s"] > 0 and moved[f"{way}_pinned_s"] > 0
        wins = row["speedup"] > 1
        assert (moved["wins_from_calls"] is None) == (not wins)
        assert moved["wins_from_points"] == (row["points"] if wins else None)
    text = miniapp.passes(small, "-d", "cpu", "-d", gpu, "-k", "eos")
    assert "break-even against the first device" in text


def timed_transfer(miniapp, small, device, transfer):
    result = miniapp.json(small, "-d", device, "-k", "triad", "-r", 10, "--transfer", transfer,
                          "--checksums", "-s", 1000000)
    row, = result["results"]
    assert row["transfer"] == transfer
    return row["min_s"], result["checksums"]


def test_transfer_at_each_call(miniapp, small, device):
    """The same results; and it takes longer, by so much that a noisy machine is not the reason; but
    not on the host, where nothing is transferred."""
    ratios = []
    most = 1 if device == "cpu" else 20
    while not ratios or (ratios[-1] < 1.3 and len(ratios) < most):
        (once, checksums), (each_call, others) = (
            timed_transfer(miniapp, small, device, transfer) for transfer in ("once", "each-call"))
        assert checksums == others
        ratios.append(each_call / once)
    assert device == "cpu" or ratios[-1] >= 1.3, ratios


def test_transfers_that_are_none(miniapp, small):
    miniapp.fails(USAGE, "unknown transfer 'never'; expected once or each-call", small, "--transfer", "never")


# ---- threads, lists, saved results ----

def test_numbers_of_threads(miniapp, small):
    """A row for each, with the speedup over the first; the outputs are the same."""
    done = miniapp.run(*QUICK, small, "-k", "eos,tke", "-t", "1,2", "-t", 3, "--format", "json",
                       "--checksums")
    assert done.returncode == DONE  # with a warning where there are fewer CPUs
    result = json.loads(done.stdout)
    assert result["threads"] == [1, 2, 3]
    rows = [(row["kernel"], row["threads"]) for row in result["results"]]
    assert rows == [(kernel, threads) for kernel in ("eos", "tke") for threads in (1, 2, 3)]
    for row in result["results"]:
        base = next(one for one in result["results"] if one["kernel"] == row["kernel"])
        assert math.isclose(row["speedup"], base["median_s"] / row["median_s"])
        assert math.isclose(row["efficiency"], row["speedup"] / row["threads"])
    assert len({one["sha256"] for one in result["checksums"] if one["variable"] == "dHdT"}) == 1
    table = miniapp.run(*QUICK, small, "-k", "eos", "-t", "1,2").stdout
    assert re.search(r"^kernel +threads .* speedup  eff.$", table, re.MULTILINE)
    assert re.search(r"^eos +1 .* 1.00  100%", table, re.MULTILINE)


def test_each_number_of_threads_has_its_own_sum(miniapp):
    """Its bits depend on threads, and their rows share a state."""
    apart, together = ([one["sha256"] for threads in words for one in miniapp.json(
        GRID, "-k", "expsum", "--checksums", "-t", threads)["checksums"]] for words in (("1", "2"), ("1,2",)))
    assert together == apart


def test_lists_and_sizes(miniapp, small):
    result = miniapp.json(small, "-k", "triad:b=temp,c=salt,eos", "-s", "4Ki,10k", "--precision",
                          "float64,float32", "-d", "cpu,cpu")
    assert {row["kernel"] for row in result["results"]} == {"triad:b=temp,c=salt", "eos"}
    assert {row["points"] for row in result["results"]} == {32 * 32 * 4, 44 * 44 * 6}
    assert {row["precision"] for row in result["results"]} == {"float64", "float32"}
    miniapp.fails(USAGE, "--size takes a whole number", small, "-s", "1X")
    miniapp.fails(USAGE, "--size takes a whole number", small, "-s", "1Kib")
    miniapp.fails(USAGE, "--size takes a whole number", small, "-s", "4096,")


def test_bindings(miniapp, small):
    """A row of the table with other fields."""
    plain, swapped = (miniapp.json(small, "-k", name, "--checksums")["checksums"]
                      for name in ("triad", "triad:b=temp,c=salt"))
    assert plain[0]["sha256"] != swapped[0]["sha256"]
    miniapp.fails(USAGE, "'triad' has no argument 'd'", small, "-k", "triad:d=temp")
    miniapp.fails(USAGE, "unknown field 'tmp'; the closest is 'temp'", small, "-k", "triad:b=tmp")
    miniapp.fails(USAGE, "other axes or another type", small, "-k", "triad:b=kbot")
    miniapp.fails(USAGE, "bindings are ARGUMENT=FIELD", small, "-k", "triad:b")
    miniapp.fails(USAGE, "unknown kernel 'traid'; the closest is 'triad'", small, "-k",
                  "traid:b=temp")


def test_a_sequence(miniapp, small, device):
    """It has the outputs of its kernels, and says what each took."""
    single = miniapp.json(small, "-k", "eos,isoneutral,tke", "--checksums", "-d", device)
    result = miniapp.json(small, "-k", "mixing", "--checksums", "-d", device, "-r", 3)
    row, = result["results"]
    assert [step["kernel"] for step in row["shares"]] == ["eos", "isoneutral", "tke"]
    assert math.isclose(sum(step["share"] for step in row["shares"]), 1)
    assert ({one["variable"]: one["sha256"] for one in single["checksums"]}
            == {one["variable"]: one["sha256"] for one in result["checksums"]})
    assert re.search(r"mixing .* points: eos \d+ %, isoneutral \d+ %, tke \d+ %",
                     miniapp.passes(small, "-k", "mixing", "-d", device))


def test_rows_share_what_they_read(miniapp, small, device):
    """Together they hold their common inputs once; the order of turns changes no output."""
    both = miniapp.json(small, "-k", "eos,isoneutral", "-d", device)
    eos, isoneutral = both["results"]
    held, = {moved["state_bytes"] for moved in both["transfers"]}
    points = eos["points"]
    assert eos["device_bytes"] + isoneutral["device_bytes"] - held == 2 * 8 * points  # salt, temp
    text = miniapp.passes(small, "-k", "eos,isoneutral", "-d", device)
    assert re.search(r"2 rows share [\d.]+ MB \([\d.]+ MB unshared\)", text)
    # tke updates tke_taup1 in place, mixing does so too: each has its own
    outputs = [miniapp.json(small, "-k", names, "--checksums", "-d", device, "-r", 7,
                            "--seed", seed)["checksums"]
               for names, seed in (("tke", 1), ("tke,mixing", 1), ("tke,mixing", 2))]
    for checksums in outputs:
        for one in checksums:
            alone = next(o for o in outputs[0] if o["variable"] == one["variable"]
                         ) if one["variable"] in {o["variable"] for o in outputs[0]} else one
            assert one["sha256"] == alone["sha256"], one


def test_a_finished_run_shows_its_rows(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    first = miniapp.passes(small, "--resume", path, "-k", "eos,tke")
    again = miniapp.passes(small, "--resume", path, "-k", "eos,tke")
    for kernel in ("eos", "tke"):
        row = re.compile(rf"^{kernel} +11 x 9 x 6 .*$", re.MULTILINE)
        assert row.search(first)[0] == row.search(again)[0]


def test_share_above_the_ceiling_is_no_fact(miniapp, small, tmp_path):
    """Made from a run whose ceilings were, let us say, disturbed."""
    path = tmp_path / "results.json"
    words = (small, "-k", "eos", "--roofline", "--resume", path)
    result = miniapp.json(*words)
    for row in result["results"]:
        if row["kernel"] == "eos":
            row["ceiling_bytes_per_s"] = row["bytes"] / row["median_s"] / 2
            row["ceiling_flops_per_s"] = row["flops"] / row["median_s"] / 2
            row["marks"] = "above"
    path.write_text(json.dumps(result))
    table = miniapp.passes(*words)
    assert re.search(r"^eos .* (memory|arithmetic) .* above +above +above$", table, re.MULTILINE)
    assert "faster than its ceiling" in table and "200%" not in table
    row, = (row for row in miniapp.json(*words)["results"]
            if row["kernel"] == "eos")
    assert row["share"] is None and row["bound"] and row["marks"] == "above"
    text = miniapp.passes(*words, "--format", "csv")
    row, = (row for row in csv.DictReader(io.StringIO(text[text.index("\nkernel,") + 1:]))
            if row["kernel"] == "eos")
    assert row["share"] == "" and row["bound"] and row["marks"] == "above"


@pytest.fixture(scope="module")
def kept_run(miniapp, small_file, tmp_path_factory):
    """What --resume keeps of a run."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "small.h5").write_bytes(small_file)
    miniapp.passes(folder / "small.h5", "-k", "eos", "-s", 1000, "--resume", folder / "results.json")
    return (folder / "results.json").read_text()


@pytest.mark.parametrize("number", [-1, 0, 1e300, -1e300, 2**63 - 1, -2**63, 4294967297, 0.5, None,
                                    "text", [], {}], ids=repr)
def test_saved_run_with_any_number(miniapp, small, kept_run, tmp_path, number):
    """In the place of each that an honest file has."""
    path = tmp_path / "results.json"
    whole = json.loads(kept_run)
    for entry in (*whole["results"], *whole["transfers"], whole["clock"], whole):
        entry.update({name: number for name, value in entry.items() if isinstance(value, (int, float))})
    path.write_text(json.dumps(whole))
    done = miniapp.run(*QUICK, small, "-k", "eos", "-s", 2000, "--resume", path)
    assert done.returncode == (DONE if number == 4294967297 else INPUT), done
    assert not TROUBLE.search(done.stderr), done


@pytest.mark.parametrize("name, value", [
    ("median_s", None), ("median_s", 0), ("median_s", -1), ("nx", 0), ("ny", None), ("nz", -1),
    ("kernel", ""), ("device", None)])
def test_resume_with_a_row_that_lacks_something(miniapp, small, kept_run, tmp_path, name, value):
    """It would never be measured again."""
    path = tmp_path / "results.json"
    whole = json.loads(kept_run)
    whole["results"].append(whole["results"][0] | {name: value})
    path.write_text(json.dumps(whole))
    miniapp.fails(INPUT, r"cannot be resumed: its row 2 lacks a kernel, a device, nx, ny, nz or a median above 0",
                  small, "-k", "eos", "-s", 1000, "--resume", path)


# ---- checksums ----

def test_checksums(miniapp, small, ocean, tmp_path):
    """One for each output; they tell results apart."""
    runs = [miniapp.json(small, "--checksums")["checksums"] for _ in range(2)]
    assert runs[0] == runs[1]
    assert {c["variable"] for c in runs[0]} == {o.name for k in miniapp.ocean for o in k.outputs}
    assert all(re.fullmatch("[0-9a-f]{64}", c["sha256"]) for c in runs[0])
    other = miniapp.json(small, "--checksums", "--set", "AB_eps=0.11")["checksums"]
    changed = {a["variable"] for a, b in zip(runs[0], other) if a != b}
    assert changed == {"tke_taup1", "eke_taup1", "tracer_taup1"}
    assert miniapp.json(small)["checksums"] == []


# ---- ended before their time ----

@pytest.mark.parametrize("number, name, code", [
    (signal.SIGINT, "SIGINT", 130), (signal.SIGHUP, "SIGHUP", 129), (signal.SIGTERM, "SIGTERM", 143),
    (signal.SIGUSR1, "SIGUSR1", 143), (signal.SIGUSR2, "SIGUSR2", 143)])
def test_what_is_done_is_printed(miniapp, small, number, name, code):
    with miniapp.start(small, "-t", 1, "-r", 10**8, "--format", "json") as process:
        process.wait_for("first turn")
        process.send_signal(number)
        text, message = process.finish()
    assert process.returncode == code
    assert_one_line(message)
    assert f"warning: ended by {name}" in message
    result = json.loads(text)
    assert result["interrupted"] == name
    assert 1 <= len(result["results"]) <= len(miniapp.ocean)
    assert all(1 <= row["calls"] < 10**8 for row in result["results"])


def test_progress_on_a_terminal(miniapp, small):
    """A bar on stderr that is gone in the end; nothing of it where stderr is no terminal."""
    code, seen = watch(miniapp.command(small, "-k", "eos,tke", "--seconds", "0.3"), env=miniapp.environment())
    assert code == DONE
    assert re.search(r"\[#* *\] +\d+%", seen) and seen.rstrip(" ").endswith("\r")
    assert not TROUBLE.search(seen)


# ---- resumed ----

def test_resume(miniapp, small, tmp_path):
    """A second run adds what the first one lacks, and nothing twice."""
    path = tmp_path / "results.json"
    first = miniapp.json(small, "--resume", path, "-s", 1000)
    assert json.loads(path.read_text())["results"] == first["results"]
    both = miniapp.json(small, "--resume", path, "-s", 1000, "-s", 2000)
    assert both["results"][:len(first["results"])] == first["results"]
    assert rows_of(both) == sorted(set(rows_of(both)), key=rows_of(both).index)
    assert len(both["results"]) == 2 * len(miniapp.ocean)
    assert json.loads(path.read_text())["results"] == both["results"]
    again = miniapp.json(small, "--resume", path, "-s", 1000, "-s", 2000)
    assert again["results"] == both["results"]


@pytest.mark.parametrize("large", [(), pytest.param(
    (4300000, 4400000), marks=pytest.mark.unsanitized("they take long under the sanitizers"))], ids=str)
def test_resume_with_ceilings(miniapp, small, tmp_path, large):
    """The two largest have one fma between them."""
    path = tmp_path / "results.json"
    for sizes in ((1000,), (1000, 2000), (1000, 2000, *large)):
        words = [word for size in sizes for word in ("-s", size)]
        result = miniapp.json(small, "-k", "eos", "--resume", path, "--roofline", *words)
    assert len(rows_of(result)) == len(set(rows_of(result)))


def test_a_signal_during_the_burnin(miniapp, small):
    with miniapp.start(small, "--burnin", 10**9) as process:
        process.wait_for("first call")
        process.send_signal(signal.SIGTERM)
        process.finish()
    assert process.returncode == 143


def test_options_that_do_not_go_together(miniapp, small, tmp_path):
    miniapp.fails(USAGE, "--roofline measures kernels alone", small, "--roofline", "--transfer",
                  "each-call")
    for option in ("--output", "--validate", "--resume"):
        miniapp.fails(USAGE, f"{option} is given twice: 'a' and 'b'", small, option, "a", option, "b")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_resume_after_a_signal_at_any_moment(miniapp, small, tmp_path, number):
    path = tmp_path / "results.json"
    generator = random.Random(number)
    words = [small, "--format", "json", "-r", 20, "-k", "eos,tke"]
    words += [word for size in (1000, 5000, 6000, 7000, 8000) for word in ("-s", size)]
    began = time.monotonic()
    miniapp.passes(*words, quick=False)
    duration = time.monotonic() - began
    for _ in range(8):
        with miniapp.start(*words, "--resume", path) as process:
            pause_at_random(generator, duration)
            process.send_signal(number)
            process.finish()
        assert process.returncode in (DONE, -number, 143)
        if path.exists() and path.stat().st_size:
            rows = rows_of(json.loads(path.read_text()))
            assert len(rows) == len(set(rows))
    result = json.loads(miniapp.passes(*words, "--resume", path, quick=False))
    assert len(rows_of(result)) == 5 * 2
    assert {row["calls"] for row in result["results"]} == {20}


@pytest.mark.parametrize("text, message", [
    ("{", r"results.json: cannot be resumed: .*line"), ("[1, 2]", "it holds no results of miniapp"),
    ("{}", "it holds no results of miniapp"), ('{"results": [], "provenance": {}}', "made with no version, but this run has version=")])
def test_resume_from_what_is_no_result(miniapp, small, tmp_path, text, message):
    path = tmp_path / "results.json"
    path.write_text(text)
    miniapp.fails(INPUT, message, small, "--resume", path)
    assert path.read_text() == text


def test_resume_with_another_input(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    miniapp.passes(small, "--resume", path, "-s", 1000)
    before = path.read_bytes()
    miniapp.fails(INPUT, "made with input_sha256=.* but this run has input_sha256=[0-9a-f]{64} of .*grid.h5", GRID, "--resume", path, "-s", 1000)
    assert path.read_bytes() == before


def test_resume_where_nothing_can_be_written(miniapp, small, tmp_path):
    """It is told before hours of measuring."""
    miniapp.fails(OUTPUT, "cannot be written: No such file or directory", small, "-r", 10**9,
                  "--resume", tmp_path / "absent" / "results.json", quick=False)
    assert os.listdir(tmp_path) == [small.name]


def test_resume_with_other_settings(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    miniapp.passes(small, "--resume", path, "-k", "isoneutral")
    before = path.read_bytes()
    miniapp.fails(INPUT, "made with eq_of_state_type=3, but this run has eq_of_state_type=5$", small,
                  "--resume", path, "-k", "isoneutral", "--set", "eq_of_state_type=5")
    assert path.read_bytes() == before


def test_resume_with_other_threads(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    done = miniapp.run(*QUICK, small, "--resume", path, "-k", "eos", "--threads", 2)
    assert done.returncode == DONE  # on one core with a warning
    miniapp.fails(INPUT, "made with threads=2, but this run has threads=1$", small, "--resume", path, "-k",
                  "tke", "--threads", 1)


def test_resume_with_ceilings_that_it_lacks(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    miniapp.passes(small, "--resume", path, "-k", "eos")
    miniapp.fails(INPUT, "cannot be resumed with --roofline: it has 'eos' on", small, "--resume",
                  path, "-k", "eos", "--roofline")
    text = miniapp.passes(small, "--resume", path, "-k", "eos")
    assert "1 rows were there already" in text and "Not timed: " in text


def test_resume_with_checksums_that_it_lacks(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    miniapp.passes(small, "--resume", path, "-k", "eos")
    miniapp.fails(INPUT, "cannot be resumed with --checksums: it has 'eos' on .* points without checksums", small,
                  "--resume", path, "-k", "eos", "--checksums")
    hashed = miniapp.json(small, "--resume", path, "-k", "tke", "--checksums")["checksums"]
    assert miniapp.json(small, "--resume", path, "-k", "tke", "--checksums")["checksums"] == hashed != []


def test_resume_with_another_binding_of_threads(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    words = (small, "--resume", path, "-k", "eos", "-t", 1)
    miniapp.passes(*words, env={"OMP_PROC_BIND": "false"})
    miniapp.passes(*words, env={"OMP_PROC_BIND": "close"},
                   warning="the binding was 'none, on .*; OMP_PROC_BIND=false.*', but is 'close, with .*; OMP_PROC_BIND=close")


def test_resume_with_a_kernel_that_measures_ceilings(miniapp, small, tmp_path):
    """The triad of the first size's eos has the shape of the second size. It becomes a row itself."""
    path = tmp_path / "results.json"
    words = (small, "-k", "eos,triad", "--roofline", "--shape", "20x20x3,22x22x3", "--resume", path)
    first = miniapp.json(*words)["results"]
    shapes = [(row["kernel"], row["nx"], row["ny"], row["nz"]) for row in first]
    assert len(shapes) == len(set(shapes)) and ("triad", 22, 22, 3) in shapes
    assert all(row["bound"] for row in first if (row["kernel"], row["nx"]) == ("triad", 22))
    assert miniapp.json(*words)["results"] == first


def test_resume_with_another_kernel(miniapp, small, tmp_path):
    """What it reads of the file's settings does not make it another run."""
    path = tmp_path / "results.json"
    miniapp.passes(small, "--resume", path, "-k", "eos")
    assert len(miniapp.json(small, "--resume", path, "-k", "tke")["results"]) == 2


def test_resume_with_another_device(miniapp, small, gpu, tmp_path):
    """A speedup is of one run."""
    path = tmp_path / "results.json"
    miniapp.passes(small, "--resume", path, "-k", "eos", "-d", "cpu")
    miniapp.fails(INPUT, "it has some rows of 'eos' on .* points, but not that on 'gpu:0'", small,
                  "--resume", path, "-k", "eos", "-d", "cpu", "-d", gpu)
    both = miniapp.json(small, "--resume", path, "-k", "tke", "-d", "cpu", "-d", gpu,
                        warning="the device was")
    assert len(both["results"]) == 3


def test_resume_keeps_no_size_that_a_signal_ended(miniapp, small, tmp_path):
    """Its rows were to be measured in turns with each other."""
    path = tmp_path / "results.json"
    with miniapp.start(small, "-k", "eos,tke", "-t", 1, "-s", 1000, "-s", 120000, "-r", 500,
                       "--resume", path, "--format", "json", "--roofline") as process:
        process.wait_for("(?s)first turn.*first call.*first turn")  # the second size's
        process.send_signal(signal.SIGUSR2)
        text, _ = process.finish()
    assert process.returncode == 143
    kept = json.loads(path.read_text())["results"]
    assert len({row["points"] for row in kept if row["kernel"] in map(str, miniapp.ocean)}) == 1
    assert all(row["bound"] is not None for row in kept if row["kernel"] in map(str, miniapp.ocean))
    assert len(json.loads(text)["results"]) > len(kept)


def test_memory_is_checked_for_all_sizes_first(miniapp, small, tmp_path):
    path = tmp_path / "results.json"
    miniapp.fails(DEVICE, "out of memory, give fewer or smaller sizes", small, "-r", 10**9,
                  "-s", 1000, "-s", 1e14, "--resume", path, quick=False)
    assert not path.exists()


def needed(miniapp, *words):
    """The bytes a point that a run says it needs."""
    said = miniapp.fails(DEVICE, "out of memory, give fewer or smaller sizes: the run needs", GRID, *words,
                         "--shape", "100000x100000x10000", quick=False)
    return float(re.search(r"needs (\S+) GB", said)[1]) / 1e5


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("threads", ["1", "1,2"])
@pytest.mark.parametrize("kernels", ["copy", "tempsalt_sources", "tke,tke_diffusivities", "tke_diffusivities,tke"])
def test_memory_that_rows_need(miniapp, kernels, threads, precision):
    """A field that several rows have counts once, and so does the copy of a kernel that writes what another one has,
    however many threads there are. Each row keeps what it updates, in float64."""
    library = package.library.default()
    sizes = {package.library.Type.MASK: 1, package.library.Type.REAL: 8 if precision == "float64" else 4}
    names = {name: [{field for field in which(name) if library.fields[field].axes == ("z", "y", "x")}
                    for which in (library.reads, library.writes)] for name in kernels.split(",")}
    held, kept = set(), 0
    for name, (reads, writes) in names.items():
        others = set().union(*(reads | writes for other, (reads, writes) in names.items() if other != name))
        held |= {(field, name if field in writes & others else "") for field in reads | writes}
        kept += 8 * len(reads & writes) * len(threads.split(","))
    expected = kept + sum(sizes[library.fields[field].type] for field, _ in held)
    words = ("-r", 1, "-t", threads, "-k", kernels, "--precision", precision)
    reading_all = ("--set", "enable_idemix=1") if "tke" in names else ()
    assert needed(miniapp, *words, *reading_all) == pytest.approx(expected, rel=6e-3)


def test_inputs_that_settings_leave_unread_need_no_memory(miniapp):
    """With waves, tke_diffusivities reads two fields more; with sources, momentum two, besides drag on (y, x)."""
    for kernel, setting in ("tke_diffusivities", "enable_idemix"), ("momentum", "enable_momentum_sources"):
        off, on = (needed(miniapp, "-r", 1, "-k", kernel, "--set", f"{setting}={value}") for value in (0, 1))
        assert on - off == pytest.approx(2 * 8, rel=0.3)


def test_steps_keep_nothing_that_they_update(miniapp):
    """The last one is their result; a call of the same kernels keeps TKE."""
    steps, call = (needed(miniapp, *words, "-k", "ocean_step") for words in (("--steps", 1), ("-r", 1)))
    assert call - steps == pytest.approx(8)


def test_resume_keeps_times_only(miniapp, small, reference, tmp_path):
    path = tmp_path / "results.json"
    miniapp.fails(USAGE, "--resume keeps times", small, "--resume", path, "--validate", reference)
    miniapp.fails(USAGE, "--resume keeps times", small, "--resume", path, "-o", tmp_path / "o.h5")
