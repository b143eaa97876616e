"""run/scaling: its runs by made-up and real launchers, its tables, its model and what it predicts."""

import json
import math
import re
import signal
import sys

import pytest

from conftest import DONE, HERE, INPUT, LONG, USAGE
from peers import cost, external_mode, figures, ranks as kept
from peers.figures import ranks as drawing
from processes import Running, executable, forked, library, wait_for, waiting
from test_mpi import ACC, count

SCRIPT = HERE.parent / "run" / "scaling"

UNUSABLE, TERMINATED, INTERRUPTED = INPUT, 143, 130
FACTORS = (80e-9, 5e-6, 30e-6, 1e-9)  # as in cost.FACTORS
STEP = cost.Step(22, 2, 3, 8)
OCEAN = cost.Step(43, 6, 10, 8, 4, 5)


# ---- made-up runs ----

def made_up(kind, ranks, seconds=None, settings="dt_tracer=43200", **changes):
    """What the program would print of so many ranks, were the model the truth."""
    size = (128, 128, 20) if kind == "strong" else (64 * ranks, 64, 20)
    if kind == "strong":
        blocks, block = cost.block_of(size, ranks)
    else:
        blocks, block = (ranks, 1), (68, 68, 20)
    seconds = seconds or cost.seconds(FACTORS, cost.counts(STEP, blocks, block))
    nx, ny = size[0] + 4, size[1] + 4
    row = {"kernel": "ocean_step", "device": "cpu", "precision": "float64", "threads": 1, "nx": nx,
           "ny": ny, "nz": 20, "steps": {"first": 0, "last": 20},
           "p25_s": 0.9 * seconds, "median_s": seconds, "p75_s": 1.2 * seconds,
           "device_bytes": 430.0 * block[0] * block[1] * 20,
           "shares": [{"kernel": "density", "bytes": 80 * nx * ny * 20, "flops": 48 * nx * ny * 20}]}
    if ranks > 1:
        row["processes"] = {
            "count": ranks, "along_x": blocks[0], "along_y": blocks[1], "fastest": 0.9,
            "exchange": 0.2, "largest_block": dict(zip(("nx", "ny", "nz"), block))}
    row.update(changes)
    provenance = {"host": "vm", "cpu": "made up", "time": "2026-11-22T00:00:00Z",
                  "settings": settings, "command_line": "PROGRAM OPTIONS",
                  "mpi": "MPI; 1 of the processes on this node; by the host's memory"}
    return {"interrupted": None, "provenance": provenance, "results": [row]}


def save(folder, kind, ranks, **changes):
    kept.path_of(folder, kind, ranks).write_text(json.dumps(made_up(kind, ranks, **changes)))


@pytest.fixture
def folder(tmp_path):
    """Runs of both kinds."""
    path = tmp_path / "runs"
    path.mkdir()
    for kind in kept.KINDS:
        for number in (1, 2, 4, 8):
            save(path, kind, number)
    return path


def run(*words, **options):
    return forked("scaling", *words, **options)


def passes(*words, **options):
    done = run(*words, **options)
    assert done.returncode == DONE and "Traceback" not in done.stderr, done
    return done.stdout


def fails(code, pattern, *words, **options):
    done = run(*words, **options)
    assert done.returncode == code and re.search(pattern, done.stderr), done
    assert done.stderr.splitlines()[-1].startswith("run/scaling: " if code != USAGE else "run/scaling: error: "), done
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def undrawn(monkeypatch):
    """Figures take longer than the rest, and other tests look at them."""
    monkeypatch.setattr(drawing, "draw", lambda *_: [])


# ---- tables and figures ----

def test_a_folder_is_read(folder):
    output = passes(folder)
    strong, weak = output.split("weak scaling of ocean_step")
    assert strong.startswith("strong scaling of ocean_step on cpu in float64")
    first, *_, last = [line.split() for line in weak.splitlines() if re.match(r"\d", line)]
    assert first[:5] == ["1", "1", "x", "1", "81920"] and last[:5] == ["8", "8", "x", "1", "81920"]
    time = [cost.seconds(FACTORS, cost.counts(STEP, (n, 1), (68, 68, 20))) for n in (1, 8)]
    efficiency = 100 * time[0] / time[1]
    assert f"{efficiency:.1f} %" in " ".join(last) and f"{8 * efficiency / 100:.2f}" in last
    assert {path.name for path in folder.glob("scaling.*")} == {"scaling.svg", "scaling.png"}


def test_several_folders_are_one(folder, tmp_path, undrawn):
    other = tmp_path / "other"
    other.mkdir()
    save(other, "strong", 16)
    assert re.search(r"\n16 ", passes(folder, other))


@pytest.mark.parametrize("what, spoil", [
    ("holds no strong", lambda folder: [path.unlink() for path in folder.glob("*.json")]),
    ("is not what miniapp", lambda folder: (folder / "weak-0002.json").write_text("{")),
    ("is not what miniapp", lambda folder: (folder / "weak-0002.json").write_text("[1]")),
    ("is not what miniapp", lambda folder: (folder / "weak-x.json").write_text("{}")),
    ("is of 2 ranks, not of 3", lambda folder: (folder / "weak-0002.json").rename(
        folder / "weak-0003.json")),
    ("was not interrupted", lambda folder: (folder / "weak-0002.json").write_text(
        json.dumps({**made_up("weak", 2), "interrupted": "SIGTERM"}))),
    ("is not what miniapp.*'host'", lambda folder: (folder / "weak-0001.json").write_text(
        json.dumps({**made_up("weak", 1), "provenance": {}}))),
    ("is not what miniapp", lambda folder: (folder / "weak-0001.json").write_text(
        json.dumps({**made_up("weak", 1), "provenance": {"host": "h", "cpu": "c", "time": None}}))),
    ("is not what miniapp", lambda folder: (folder / "weak-0002.json").write_text(100000 * "[")),
    ("a step of inf", lambda folder: save(folder, "strong", 2, median_s=math.inf, p75_s=math.inf)),
    ("its kernel is eos", lambda folder: save(folder, "weak", 2, kernel="eos")),
    ("its threads is 2", lambda folder: save(folder, "weak", 2, threads=2)),
    ("that is no weak scaling", lambda folder: save(folder, "weak", 2, nx=100)),
    ("that is no strong scaling", lambda folder: save(folder, "strong", 2, nz=21)),
    ("its dt_tracer is 100, but in", lambda folder: save(folder, "weak", 2, settings="dt_tracer=100")),
    ("its K_h is 1, but in .*strong", lambda folder: [save(folder, "weak", number, settings="dt_tracer=43200 K_h=1")
                                                      for number in (1, 2, 4, 8)]),
    ("has 5 steps, but", lambda folder: save(folder, "weak", 2, steps={"first": 0, "last": 5})),
    ("weak-0002.json: .*remove", lambda folder: (folder / "weak-0002.json").write_text("{")),
    ("a step of 0", lambda folder: save(folder, "strong", 2, median_s=0)),
    ("cannot be read", lambda folder: (folder / "weak-0099.json").mkdir()),
])
def test_bad_folders(folder, what, spoil):
    spoil(folder)
    done = fails(UNUSABLE, what, folder)
    assert done.stderr.count("\n") == 1 and not list(folder.glob("*.svg"))


def test_time_steps_of_each_kind(folder):
    """A --shape makes them shorter, and one kind of scaling may have one where the other has not."""
    for number in (1, 2, 4, 8):
        save(folder, "weak", number, settings="dt_tracer=10")
    assert [len(runs) for runs in kept.read_folders([folder]).values()] == [4, 4]


@pytest.mark.parametrize("words", [
    (), ("--strong", "folder"), ("--strong", "--weak"), ("--predict",), ("folder", "--", "-k", "eos"),
    ("--strong", "-n", "0"), ("--strong", "-n", "2,2"), ("--strong", "-n", "x"),
    ("--weak", "--shape", "2x2"), ("--weak", "--steps", "0"), ("--weak", "--task", "0"),
    ("--weak", "--launcher", "srun -n {count}"), ("--weak", "--launcher", "mpirun '"),
    ("--weak", "--launcher", "{ranks.x}"), ("--weak", "--launcher", "{ranks[a]}"),
    ("folder", "--predict", "--rate", "0"),
])
def test_wrong_usage(words, tmp_path):
    fails(USAGE, "", *words, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


# ---- the model ----

def test_the_model_is_fitted_back(folder):
    series = kept.read_folders([folder])
    fitted, held = cost.split(series)
    assert [(one.kind, one.ranks) for one in held] == [("strong", 8), ("weak", 8)]
    assert cost.fit(STEP, fitted) == pytest.approx(FACTORS, rel=1e-6)


def test_what_is_held_out_is_not_fitted(folder):
    """A run of the most ranks that is twice as slow changes no prediction, and is seen."""
    before = cost.predict(kept.read_folders([folder]), OPTIONS)
    assert before.basis.endswith("off by 0 % at most where held out")
    slow = 2 * before.modelled(before.held[1])
    save(folder, "weak", 8, seconds=slow)
    after = cost.predict(kept.read_folders([folder]), OPTIONS)
    assert after.factors == before.factors and after.error(after.held[1]) == pytest.approx(-0.5)
    assert after.basis.endswith("off by 50 % at most where held out")


def test_no_factor_is_below_0(folder):
    """Times that fall with more messages have no latency."""
    for number in (2, 4):
        for kind in kept.KINDS:
            save(folder, kind, number, seconds=1e-3)
    factors = cost.fit(STEP, cost.split(kept.read_folders([folder]))[0])
    assert min(factors) >= 0 and max(factors) > 0


class OPTIONS:
    """Those of run/scaling."""

    latency, bandwidth, copy, launch, memory_bandwidth, rate = 2, 50, 25, 10, 4.3, 34


def test_predictions_follow_the_model(folder):
    found = cost.predict(kept.read_folders([folder]), OPTIONS)
    ours, gpus = found.machines
    assert ours.factors == pytest.approx(FACTORS, rel=1e-6)  # of ranks on several nodes
    rows = list(cost.predictions(found.step, ours, (1440, 720, 50)))
    assert [row[0] for row in rows][::10] == [1, 1000]
    assert sum(rows[0][3]) == pytest.approx(80e-9 * 1444 * 724 * 50 + 22 * 5e-6)
    bytes_and_flops = max(80 / 4.3e12, 48 / 34e12)
    assert gpus.factors == pytest.approx((bytes_and_flops, 10e-6, 22e-6, 1e-9 / 50 + 1e-9 / 25))


# ---- the solver of the external mode ----

@pytest.fixture
def oceans(folder):
    """Runs of both kinds, in which a solver takes 20 ns for each cell of the whole ocean's plane."""
    for kind, runs in kept.read_folders([folder]).items():
        for one in runs:
            plane = 128 * 128 if kind == "strong" else 64 * 64 * one.ranks
            others = cost.seconds(FACTORS, cost.counts(OCEAN, one.blocks, one.block))
            whole = others + 20e-9 * plane
            shares = [{**one.row["shares"][0], "share": others / whole},
                      {"kernel": "streamfunction", "share": 20e-9 * plane / whole, "bytes": 1e12, "flops": 1e12}]
            save(folder, kind, one.ranks, seconds=whole, kernel="ocean", shares=shares)
    return kept.read_folders([folder])


def test_counts_of_an_ocean():
    """On 2 x 2 blocks of 64 x 64 x 20 points, x cyclic: copies for 10 fields on 3 sides, in and out, but for 10 on
    one rank. 6 exchanges along x and y, 4 sums, each in 2 doublings, and 5 planes, each from 3 others, then to all in
    2 doublings. 204 fields of 2 rows or columns on 3 sides of 68."""
    assert cost.step_of({"kernel": "ocean", "precision": "float64"}) == OCEAN
    assert cost.counts(OCEAN, (2, 2), (68, 68, 20)) == (68 * 68 * 20, 43 + 60 - 10, 12 + 8 + 25, 204 * 2 * 3 * 68 * 8)


def test_time_of_a_solver(oceans):
    assert cost.seconds_of_solver(oceans["strong"][2]) == pytest.approx(20e-9 * 16384)
    assert cost.seconds_of_solver(oceans["weak"][1]) == pytest.approx(20e-9 * 8192)


@pytest.mark.parametrize("cells, launches, moved", [
    (8192, 8 + 8 * 3, 16296618.67), (8193, 8 + 8 * (7 + 3), 16298608),
    (1440 * 720, 8 + 8 * (4 * 7 + 3), 2062540800)])
def test_solver_on_paper(cells, launches, moved):
    """1440 x 720 cells have 4 levels of more than 8,192; a cell's bytes are 8 (4 / 3 x 134 + 52) + 3 x 48."""
    assert external_mode.launches_of_solver(cells) == launches
    assert external_mode.bytes_of_solver(cells) == pytest.approx(moved)
    assert external_mode.expected_seconds(cells, 1e-5, 1e12) == pytest.approx(1e-5 * launches + 1e-12 * moved)


def test_predictions_know_the_solver(oceans):
    """It is not fitted, and each rank solves the whole ocean; on GPUs at 10 us a launch and 4.3 TB/s."""
    found = cost.predict(oceans, OPTIONS)
    assert found.factors == pytest.approx(FACTORS, rel=1e-6)
    assert [found.error(one) for one in found.held] == pytest.approx([0, 0], abs=1e-6)
    assert found.machines[1].factors[0] == pytest.approx(80 / 4.3e12)  # none of the solver's bytes
    for machine, expected in zip(found.machines, (20e-9 * 1440 * 720, 256e-5 + 2062540800 / 4.3e12)):
        for *_, parts in cost.predictions(found.step, machine, (1440, 720, 50)):
            assert len(parts) == 5 and parts[4] == pytest.approx(expected)
    assert "\n".join(cost.report(found)).count("points, launches, latency, bytes, solver\n") == 4


def test_on_one_node_there_was_no_network(folder):
    for kind in kept.KINDS:
        for number in (2, 4, 8):
            path = kept.path_of(folder, kind, number)
            path.write_text(path.read_text().replace("; 1 of the", f"; {number} of the"))
    found = cost.predict(kept.read_folders([folder]), OPTIONS)
    assert found.machines[0].factors[2:] == pytest.approx((2e-6, 1e-9 / 50))
    assert "stated: the runs were on one node" in found.machines[0].sources


def test_a_prediction_says_that_it_is_one(folder, monkeypatch):
    output = passes("--predict", folder, "--latency", 3, "--bandwidth", 40, "--copy", 20, "--launch", 5,
                    "--memory-bandwidth", 2, "--rate", 9)
    assert output.startswith("prediction, not measured; fitted to ocean_step on ranks strong 1, ")
    for stated in ("2 TB/s, 9 TFLOP/s)", "3 us, and two copies as long as a launch)", "40 GB/s, and copies at 20)"):
        assert f"(stated: {stated}\n" in output
    assert "time a launch 5 us (stated)\n" in output
    for title in ("1/4 degree", "1/10 degree"):
        lines = [line for line in output.splitlines() if title in line]
        assert len(lines) == 2 and all(line.startswith("prediction: ") for line in lines)
    assert output.count("held out") == 3  # two runs, and the worst of them in the first line
    assert (folder / "prediction.svg").exists() and (folder / "prediction.png").exists()
    drawn = []
    monkeypatch.setattr(figures.plt, "close", drawn.append)
    drawing.draw_predictions(cost.predict(kept.read_folders([folder]), OPTIONS), folder / "again")
    for axis in drawn[-1].axes:
        assert axis.get_title().startswith("PREDICTION, not measured")
        assert axis.get_ylabel().startswith("predicted")
    assert "prediction, not measured; fitted to" in "".join(text.get_text() for text in drawn[-1].texts)


@pytest.mark.parametrize("what, spoil", [
    ("too few", lambda folder: [path.unlink() for path in folder.glob("weak*.json")]),
    ("too few", lambda folder: [kept.path_of(folder, kind, number).unlink()
                                for kind in kept.KINDS for number in (4, 8)]),
    ("the model knows ocean_step", lambda folder: [
        save(folder, kind, number, kernel="veros") for kind in kept.KINDS
        for number in (1, 2, 4, 8)]),
])
def test_what_cannot_be_fitted(folder, what, spoil):
    spoil(folder)
    assert fails(UNUSABLE, what, "--predict", folder).stderr.count("\n") == 1


# ---- runs by a made-up launcher ----

# Prints what a real one would, after it has noted its command line.
LAUNCHER = """#!/bin/sh
echo "$@" >>"{log}"
case "$*" in *--decompose*) kind=weak ;; *) kind=strong ;; esac
name=$kind-$(printf %04d "$1")
shift
sed "s|PROGRAM OPTIONS|$*|" "{folder}/$name.json"
"""


@pytest.fixture
def launcher(tmp_path):
    """(options of run/scaling for it, the command lines that it gets)"""
    path, log, printed = (tmp_path / name for name in ("launcher", "log", "printed"))
    printed.mkdir()
    for kind in kept.KINDS:
        for ranks in (1, 2, 4, 6):
            save(printed, kind, ranks)
    executable(path, LAUNCHER.format(log=log, folder=printed))
    return (("--launcher", f"{path} {{ranks}}", "-o", tmp_path / "out", "--program", "PROGRAM",
             "--input", "INPUT"), lambda: log.read_text().splitlines() if log.exists() else [])


def test_what_is_kept_is_not_run_again(launcher, tmp_path):
    options, lines = launcher
    passes("--strong", "-n", "1,2", *options, "--", "-k", "ocean_step")
    assert lines() == [f"{number} PROGRAM --steps 20 --format json -k ocean_step INPUT" for number in (1, 2)]
    output = passes("--strong", "-n", "1,2,4", *options, "--", "-k", "ocean_step")
    assert len(lines()) == 3 and lines()[-1].startswith("4 ") and re.search(r"\n4 ", output)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"strong-0001.json", "strong-0002.json", "strong-0004.json", "scaling.svg", "scaling.png"}


def test_runs_of_other_options_do_not_share_a_folder(launcher, undrawn):
    """Not even where none of them would be used again; and before anything is run."""
    options, lines = launcher
    passes("--strong", "-n", "1", *options)
    for words, what in ((["--steps", "5"], "made with '--steps 20', not with '--steps 5'"),
                        (["--shape", "64x64x20"], "made with no more, not with '--shape 68x68x20'"),
                        (["--", "--set", "dt_tracer=1"], "made with no more, not with '--set dt_tracer=1'"),
                        (["--input", "OTHER"], "made with 'INPUT', not with 'OTHER'")):
        fails(UNUSABLE, f"strong-0001.json: was {what}.*: give another -o", "--strong", "-n", "2", *options, *words)
    assert len(lines()) == 1


def test_blocks_of_weak_scaling_are_alike(launcher, undrawn):
    options, lines = launcher
    passes("--weak", "-n", "1,2,4,6", "--shape", "30x20x10", "--steps", "7", *options)
    shapes = [re.search(r"--steps 7 .* --shape (\S+) --decompose (\S+)", line).groups() for line in lines()]
    assert shapes == [("34x24x10", "1x1"), ("64x64x10", "2x3"), ("64x44x10", "2x2"), ("34x44x10", "1x2")]


def test_runs_whose_threads_differ(launcher, tmp_path):
    """The last number of ranks comes second, so this shows there."""
    options, lines = launcher
    save(tmp_path / "printed", "strong", 4, threads=2)
    said = ("^run/scaling: not kept: .*strong-0004.json: its threads is 2, but in .*strong-0001.json it is 1: set "
            "OMP_NUM_THREADS for all runs, and remove those that differ\n$")
    fails(UNUSABLE, said, "--strong", "-n", "1,2,4", *options)
    assert [line.split()[0] for line in lines()] == ["1", "4"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["strong-0001.json"]


def test_a_task_of_an_array_runs_its_own_number(launcher, tmp_path):
    options, lines = launcher
    done = run("--strong", "-n", "1,2,4", "--task", 4, *options)
    assert (done.returncode, done.stdout, done.stderr) == (
        DONE, "", "run/scaling: --task 4: -n has no more than 3: there is nothing to run\n")
    assert not (tmp_path / "out").exists()
    assert passes("--strong", "-n", "1,2,4", "--task", 2, *options) == ""
    assert [line.split()[0] for line in lines()] == ["2"]
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["strong-0002.json"]


@pytest.mark.parametrize("body, code, what", [
    ("echo why >&2; exit 3", 3, "2 ranks: '.*launcher 2 PROGRAM.*' failed"),
    ("kill -9 $$", 137, "failed"),
    ("echo '{}{}'", UNUSABLE, "did not start 2 processes of one run"),
    (": nothing", UNUSABLE, "did not start 2 processes"),
])
def test_a_run_that_fails_is_not_kept(launcher, tmp_path, body, code, what):
    executable(tmp_path / "launcher", f"#!/bin/sh\n{body}\n")
    fails(code, what, "--strong", "-n", "2", *launcher[0])
    assert not list((tmp_path / "out").iterdir())


def test_no_launcher(launcher):
    fails(4, "cannot be run", "--strong", *launcher[0], "--launcher", "none/there {ranks}")


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, TERMINATED), (signal.SIGUSR1, TERMINATED),
                                          (signal.SIGINT, INTERRUPTED)])
def test_a_signal_reaches_the_ranks_as_sigusr1(launcher, tmp_path, number, code):
    executable(tmp_path / "launcher", waiting("USR1", f"touch {tmp_path}/started", f"touch {tmp_path}/told; exit 143"))
    with Running([sys.executable, SCRIPT, "--strong", "-n", "2,4", *launcher[0]]) as job:
        wait_for(lambda: (tmp_path / "started").exists(), job)
        job.send_signal(number)
        output, said = job.finish()
    assert job.returncode == code and output == "" and "run the same command again" in said, said
    assert (tmp_path / "told").exists() and not list((tmp_path / "out").iterdir())


# ---- real ones ----

def test_real_runs_have_the_blocks_of_the_model(ranks, tmp_path, undrawn):
    """Both kinds in one folder: the file's own ocean in its own steps, and others in shorter ones."""
    launcher = " ".join([*ranks.launcher, "-n", "{ranks}"])
    for kind, numbers, *shape in (("strong", "1,2,4"), ("weak", "1,2", "--shape", "20x16x6")):
        passes(f"--{kind}", "-n", numbers, *shape, "--steps", "3", "--launcher",
               launcher, "--program", ranks.miniapp.path, "-o", tmp_path, env=ranks.environment())
    series = kept.read_folders([tmp_path])
    assert [(one.blocks, one.block) for one in series["strong"]] == [
        cost.block_of((30, 42, 15), number) for number in (1, 2, 4)]
    assert {one.block for one in series["weak"]} == {(24, 20, 6)}
    assert all(0 < one.exchange < 1 and one.on_one_node for one in series["weak"][1:])
    assert all(machine.solver(1000) > 0 for machine in cost.predict(series, OPTIONS).machines)


# By MPI's profiling interface: what a process sends in all.
COUNTING = """
#include <mpi.h>
#include <stdio.h>
static long messages, bytes, single, together, looks;
int MPI_Isend(const void *data, int many, MPI_Datatype type, int to, int tag, MPI_Comm all,
              MPI_Request *request)
{
    messages++;
    bytes += many;
    return PMPI_Isend(data, many, type, to, tag, all, request);
}
int MPI_Testall(int many, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    looks++;
    return PMPI_Testall(many, requests, flag, statuses);
}
int MPI_Send(const void *data, int many, MPI_Datatype type, int to, int tag, MPI_Comm all)
{
    single++;
    return PMPI_Send(data, many, type, to, tag, all);
}
int MPI_Bcast(void *data, int many, MPI_Datatype type, int from, MPI_Comm all)
{
    single++;
    return PMPI_Bcast(data, many, type, from, all);
}
int MPI_Allreduce(const void *own, void *data, int many, MPI_Datatype type, MPI_Op by, MPI_Comm all)
{
    together++;
    return PMPI_Allreduce(own, data, many, type, by, all);
}
int MPI_Finalize(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "sent %ld %ld %ld %ld %ld\\n", messages, bytes, single, together, looks);
    return PMPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def counting(ranks, tmp_path_factory):
    return library(tmp_path_factory.mktemp("counting") / "counting.so", COUNTING,
                   compiler="mpicc.mpich" if ranks.is_mpich else "mpicc.openmpi")


# Along y, without overlap, the sequence that sends most shows what the others send as well.
WAYS = [(sequence, *way) for sequence in cost.EXCHANGES for way in (("1x2", []), ("2x1", ["--overlap"]))
        if sequence == "ocean" or way[1] or LONG]


@pytest.mark.parametrize("sequence, cut, overlap", WAYS)
def test_a_step_sends_what_the_model_says(ranks, counting, sequence, cut, overlap):
    def sent(steps):
        """21 and 23 steps look at the fields equally often, whether they are finite."""
        done = ranks.run(count(cut), "--decompose", cut, *overlap, "-k", sequence, "--steps", steps,
                         "--shape", "20x18x6", ACC,
                         program=["env", f"LD_PRELOAD={counting}:{ranks.idling}", ranks.miniapp.path])
        found = re.search(r"sent (.*)", done.stderr)
        assert done.returncode == DONE and found, done
        return [int(word) for word in found[1].split()]

    blocks = tuple(map(int, cut.split("x")))
    step = cost.step_of({"kernel": sequence, "precision": "float64"})
    block = 16 // blocks[0] + 4, 14 // blocks[1] + 4, 6
    messages, moved, single, together, looks = ((more - less) / 2 for more, less in zip(sent(23), sent(21)))
    sides = 2 * (blocks[0] > 1) + (blocks[1] > 1)  # x is cyclic
    is_whole = sequence == "ocean"  # overlap sends what momentum reads in two parts
    assert messages == (step.exchanges + (is_whole and bool(overlap))) * sides
    assert moved == cost.counts(step, blocks, block)[3]
    assert (single, together) == (step.gathered, cost.REDUCTIONS + is_whole)  # a solver's largest residual
    # In ocean_step messages have the time of one kernel, and then they are waited for.
    assert (looks > 0) == (bool(overlap) and sequence != "ocean_step")
