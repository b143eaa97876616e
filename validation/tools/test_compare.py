"""run/compare: what it compares, skips and refuses, with NumPy and frameworks that are made up."""

import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import types

import numpy as np
import pytest

from conftest import DONE, GRID, HERE, INPUT, LONG, MISMATCH, OUTPUT, USAGE, assert_failed, assert_one_line
from peers import cases, environment, external_mode, frameworks, pyhpc, session, solvers
from processes import DEADLINE_S, completed, executable, forked

RUN = HERE.parent / "run"

QUICKLY = ("--no-venv", "--rounds", "1", "--size", "512")

# A checkout of pyhpc-benchmarks that is made up: its eos is FACTOR times 1 everywhere.
PACKAGE = """
import numpy as np
__implementations__ = ("numpy", "jax")
def generate_inputs(size):
    shape = (16, 16, 2)
    return np.full(shape, 35.0), np.full(shape, 10.0), np.full((1, 1, 2), 100.0)
"""
FUNCTION = """
import numpy as np
def run(sa, ct, p, device="cpu"):
    return np.full_like(sa, {value})
"""

# miniapp, but for how long it measures: calibration kernels of arrays that no cache holds become small ones, and
# half a second for each kernel becomes a moment.
QUICK_PROGRAM = """#!/bin/sh
for word; do
  shift
  case $word in 16777216 | 16M | 1048576) word=4096 ;; 0.5) word=0.01 ;; esac
  set -- "$@" "$word"
done
case "$*" in *"-k triad"*) set -- --seconds 0.01 "$@" ;; esac
exec "{}" "$@"
"""


pytestmark = [pytest.mark.unsanitized("its calibration kernels take minutes under sanitizers"), pytest.mark.every_device]


@pytest.fixture(scope="module")
def program(miniapp, tmp_path_factory):
    path = tmp_path_factory.mktemp("quick") / "miniapp"
    executable(path, QUICK_PROGRAM.format(miniapp.path))
    return path


@pytest.fixture
def checkout(tmp_path):
    """A function that makes such a checkout with its NumPy kernel."""
    def make(function):
        package = tmp_path / "pyhpc/benchmarks/equation_of_state"
        package.mkdir(parents=True)
        (package.parent / "__init__.py").write_text("")
        (package / "__init__.py").write_text(PACKAGE)
        (package / "eos_numpy.py").write_text(function)
        return tmp_path / "pyhpc"
    return make


def compare(program, *arguments, path=None):
    """With modules in a folder that take the place of others, a start of Python imports them."""
    words = ["--miniapp", program, *arguments]
    if path is None:
        return forked("compare", *words)
    return completed([sys.executable, RUN / "compare", *map(str, words)], env=dict(os.environ, PYTHONPATH=str(path)))


def refuses(program, code, pattern, *arguments):
    assert_failed(compare(program, *arguments), code, pattern, "run/compare: ")


# ---- whole runs ----

def test_numpy_beside_ours(program, tmp_path):
    pytest.importorskip("peers.figures", reason="it draws figures at the end")
    prefix = tmp_path / "out"
    done = compare(program, *QUICKLY, "--kernel", "expsum", "--framework", "numpy", "-o", prefix)
    assert done.returncode == 0 and done.stderr == "", done
    assert re.search(r"^frameworks: numpy \S+ with .*(blas|mkl|blis|BLAS)", done.stdout, re.MULTILINE)
    with open(f"{prefix}.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    saved = json.loads((tmp_path / "out.json").read_text())
    assert str(tmp_path) not in json.dumps(saved), "a path of this machine, in what is published"
    assert [(row["framework"], row["precision"]) for row in rows] == [
        (framework, precision) for precision in ("float64", "float32")
        for framework in ("miniapp", "numpy")]
    for row in rows:
        assert row["consistent"] == ("yes" if row["framework"] == "numpy" else "reference")
        assert float(row["seconds"]) > 0
        assert float(row["triad_gb_per_s"]) > 0 and int(row["turns"]) == 1
    assert saved["skipped"] == [] and len(saved["rows"]) == len(rows)
    assert (tmp_path / "out-time-expsum.svg").exists()


def test_ours_on_a_device(program, gpu):
    """There the host's NumPy is what ours is compared with."""
    done = compare(program, *QUICKLY, "--kernel", "expsum", "--framework", "numpy", "--device", gpu)
    assert done.returncode == 0 and done.stderr == "", done
    assert "numpy" in done.stdout and "miniapp" in done.stdout


def test_a_matrix_product(miniapp, tmp_path):
    """The arrays of a case are the same numbers for both: ours transposed in the file."""
    small = cases.Case("matmul", "uniform", "float64", (7, 5, 6), 0)
    given, fields = cases.make(small, None)
    assert given["a"].shape == (5, 6) and given["b"].shape == (6, 7)
    assert np.array_equal(fields["factor_a"], given["a"].T)
    from peers import built, worker
    worker.write_input(tmp_path / "in.h5", fields)
    built.report(miniapp.path, "--kernel", "matmul", "--repetitions", 1, "--output", tmp_path / "out.h5",
                 tmp_path / "in.h5", cores=1)
    import h5py
    with h5py.File(tmp_path / "out.h5") as file:
        difference = cases.largest_difference("matmul", {"matmul": given["a"] @ given["b"]}, file)
    assert difference < 1e-14


def test_a_wrong_framework_is_marked(program, checkout):
    done = compare(program, *QUICKLY, "--kernel", "eos", "--framework", "numpy", "--inputs",
                   "pyhpc", "--pyhpc", checkout(FUNCTION.format(value="7.0")))
    assert done.returncode == MISMATCH, done
    assert_one_line(done.stderr)
    assert "numpy, eos pyhpc float64, 512 points, 1 cores: NOT CONSISTENT" in done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("numpy"))
    assert line.endswith("NO"), line


@pytest.mark.parametrize("value", ["np.nan", "np.inf"])
def test_what_is_not_finite_is_not_consistent(program, checkout, tmp_path, value):
    done = compare(program, *QUICKLY, "--kernel", "eos", "--framework", "numpy", "--inputs",
                   "pyhpc", "--pyhpc", checkout(FUNCTION.format(value=value)), "-o",
                   tmp_path / "out")
    assert done.returncode == MISMATCH and "off by no finite number" in done.stderr, done
    assert "Traceback" not in done.stderr
    row = json.loads((tmp_path / "out.json").read_text())["rows"][1]
    assert row["consistent"] == "NO" and row["largest_difference"] is None


def test_what_is_skipped_is_said_once(program, checkout, tmp_path):
    """Frameworks that are not there, do not start, end at once, and have no such kernel."""
    (tmp_path / "jax.py").write_text("raise ImportError('made up')")
    (tmp_path / "cupy.py").write_text("raise RuntimeError('broken')")
    (tmp_path / "numba.py").write_text("import os, sys\nprint('gone', file=sys.stderr)\n"
                                       "sys.stderr.flush()\nos._exit(9)")
    (tmp_path / "torch.py").write_text(
        "__version__ = '0'\nfloat64 = None\nclass cuda: pass\n"
        "def set_num_threads(n): pass\ndef set_default_dtype(d): pass\n"
        "class backends:\n  class cuda:\n    class matmul: pass\n")
    done = compare(program, *QUICKLY, "--kernel", "eos", "--inputs", "pyhpc", "--size", "600",
                   *(word for name in ("jax", "cupy", "numba", "pytorch")
                     for word in ("--framework", name)),
                   "--pyhpc", checkout(""), path=tmp_path)
    assert done.returncode == 0, done
    lines = done.stderr.splitlines()
    assert "run/compare: jax: skipped: not installed (made up)" in lines
    assert "run/compare: cupy: skipped: it does not start: RuntimeError: broken" in lines
    assert "run/compare: numba: skipped: its process ended with 9: gone" in lines
    assert "run/compare: pytorch, eos: skipped: pyhpc-benchmarks has no eos for it" in lines
    assert len(lines) == 4, lines


def test_a_kernel_that_fails_is_skipped(program, checkout):
    function = "def run(*a, device):\n    raise ValueError('out of\\nluck')"
    done = compare(program, *QUICKLY, "--kernel", "eos", "--framework", "numpy", "--inputs",
                   "pyhpc", "--pyhpc", checkout(function))
    assert done.returncode == 0, done
    assert done.stderr == ("run/compare: numpy, eos: skipped: it failed: ValueError: out of\n")


@pytest.mark.parametrize("package", ["h5py", "numpy"])
def test_a_python_without_packages(program, tmp_path, package):
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('no', name='{package}')")
    done = compare(program, *QUICKLY, "--kernel", "expsum", path=tmp_path)
    assert_failed(done, INPUT, f"lacks the module {package}:", "run/compare: ")


def test_rows_are_written_where_nothing_can_be_drawn(program, tmp_path):
    """run/gpu-check runs it by whatever Python there is."""
    (tmp_path / "matplotlib.py").write_text("raise ImportError('made up')")
    done = compare(program, *QUICKLY, "--kernel", "expsum", "--framework", "numpy", "-o",
                   tmp_path / "out", path=tmp_path)
    assert done.returncode == 0, done
    assert_one_line(done.stderr)
    assert done.stderr.startswith("run/compare: no figures") and "matplotlib" in done.stderr
    assert len(json.loads((tmp_path / "out.json").read_text())["rows"]) == 4
    assert done.stdout.splitlines()[-1] == f"written: {tmp_path}/out.csv {tmp_path}/out.json"


def test_a_signal_ends_it_in_good_order(program, tmp_path):
    """The rows so far are written, and no process is left. Of many sizes the first is soon done."""
    pytest.importorskip("matplotlib", reason="it draws figures at the end")
    sizes = [word for size in (512, *range(4096, 4136)) for word in ("--size", size)]
    command = [sys.executable, RUN / "compare", "--miniapp", program, "--no-venv", "--kernel",
               "expsum", "--framework", "numpy", *sizes, "--rounds", "5", "-o", tmp_path / "out"]
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        while not process.stdout.readline().startswith("numpy"):
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 130, errors
    assert errors == "run/compare: stopped by the user; the rows so far follow\n"
    assert len(json.loads((tmp_path / "out.json").read_text())["rows"]) >= 2


def test_a_signal_within_a_destructor(monkeypatch):
    """Python lets no exception out of it, and what it told of that stood among the messages."""
    class Last:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    told, stopped = [], session.Session(types.SimpleNamespace(threads=[]), ".")
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    before = signal.signal(signal.SIGTERM, stopped.interrupt)
    Last()
    signal.signal(signal.SIGTERM, before)
    assert stopped.is_stopped and not told


# ---- the environment, NumPy's BLAS ----

def no_room(*_, **__):
    raise OSError("no room")


def test_an_environment_that_cannot_be_made(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(environment, "FOLDER", tmp_path / "venv")
    monkeypatch.setattr(environment.venv, "create", no_room)
    with pytest.raises(SystemExit) as end:
        environment.make()
    assert end.value.code == INPUT and "cannot be installed into" in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("is_there", [True, False])
def test_an_environment_is_entered_where_there_is_one(tmp_path, monkeypatch, is_there):
    python, entered = tmp_path / "venv" / "bin" / "python", []
    monkeypatch.setattr(environment, "FOLDER", tmp_path / "venv")
    monkeypatch.setattr(os, "execv", lambda *words: entered.append(words))
    monkeypatch.setattr(sys, "argv", ["run/plot", "a.json"])
    if is_there:
        executable(python, "")
    environment.enter()
    assert entered == [(python, [python, "run/plot", "a.json"])] * is_there


@pytest.mark.parametrize("files, name", [
    (["libc.so.6", "blas/libblas.so.3.11.0", "lapack/liblapack.so.3"],
     "the reference BLAS libblas.so.3.11.0"),
    (["openblas/libblas.so.3", "libopenblasp-r0.3.21.so"], "libopenblasp-r0.3.21.so"),
    (["numpy.libs/libscipy_openblas64_-f.so"], "libscipy_openblas64_-f.so"),
    (["libmkl_rt.so.2"], "libmkl_rt.so.2"), (["libc.so.6"], "an unknown BLAS")])
def test_name_of_the_blas(files, name):
    assert frameworks.blas_of([f"/usr/lib/{file}" for file in files]) == name


@pytest.mark.parametrize("product, blas, warns", [
    ("matmul", "the reference BLAS libblas.so.3", True), ("matmul", "libopenblas.so", False),
    ("expsum", "the reference BLAS libblas.so.3", False)])
def test_a_slow_blas_is_warned_of(tmp_path, product, blas, warns):
    a_session = session.Session(types.SimpleNamespace(threads=[1], device="cpu", miniapp="none", kernel=[product]),
                                tmp_path)
    numpy = types.SimpleNamespace(framework="numpy", version=f"1 with {blas}", skip=None)
    a_session.peers = [numpy]
    a_session.warn_of_slow_blas()
    assert len(a_session.skipped) == warns
    assert all(note.startswith("warning: numpy 1 with ") for note in a_session.skipped)


# ---- what is refused ----

def test_refusals(program, tmp_path):
    refuses(program, USAGE, "need --pyhpc DIR", *QUICKLY, "--kernel", "eos")
    refuses(program, INPUT, "is no checkout", *QUICKLY, "--pyhpc", tmp_path)
    refuses(program, USAGE, "--threads: takes a whole number from 1 to ", *QUICKLY, "--threads", "9999")
    for size in (1, 99999999999999):
        refuses(program, USAGE, "--size: takes", "--no-venv", "--size", size)
    refuses(program, OUTPUT, "folder does not exist", *QUICKLY, "-o", tmp_path / "none" / "x")
    refuses(program, INPUT, "is no program", *QUICKLY, "--miniapp", tmp_path)


def test_a_size_that_does_not_fit(program):
    most = 2 ** 36  # of memory, so that no machine has enough
    done = completed([sys.executable, RUN / "compare", "--miniapp", program, "--no-venv", "--kernel", "expsum",
                      "--framework", "numpy", "--size", str(2 ** 40)],
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    assert done.returncode == INPUT, done
    assert_one_line(done.stderr)
    assert "out of memory" in done.stderr


def test_a_program_that_fails(tmp_path):
    executable(tmp_path / "fails", "#!/bin/sh\necho 'miniapp: no luck' >&2\nexit 4\n")
    done = compare(tmp_path / "fails", *QUICKLY, "--kernel", "expsum", "--framework", "numpy")
    assert done.returncode == INPUT, done
    assert_one_line(done.stderr)
    assert done.stderr.startswith("run/compare: ") and "miniapp: no luck" in done.stderr


# ---- parts ----

def test_turns_fit_their_time():
    for call_s in (1e-7, 1e-5, 1e-3, 0.1, 0.9, 2.0, 30.0):
        calls, turns = session.calls_in_turn(call_s), session.turns(call_s, 5)
        assert 1 <= calls <= session.MOST_CALLS and session.FEWEST_TURNS <= turns <= 5
        assert calls * call_s <= max(session.TURN_S, session.FEWEST_CALLS * call_s)
    assert session.turns(1e-3, 1) == 1


@pytest.mark.parametrize("sizes, shapes", [
    ([512], [(22, 22, 22)]),
    ([4096, 4096, 1 << 24], [(64, 64, 64), (512, 1024, 2048), (2048, 2048, 2048)]),
])
def test_sizes_bound_matrix_products(sizes, shapes):
    found = cases.all_cases(["matmul"], sizes, [], ["float64"])
    assert [case.shape for case in found] == shapes


def test_both_sides_get_the_same_ocean():
    """What a peer's function gets, converted to our fields, is what our file holds."""
    for kernel in cases.OCEAN:
        case = cases.Case(kernel, "plausible", "float64", (9, 8, 5), 360)
        given, fields = cases.make(case, None)
        assert list(given) == pyhpc.ARGUMENTS[kernel]
        again = pyhpc.our_fields(kernel, pyhpc.their_arguments(kernel, fields) if "salt" in fields else given)
        assert set(again) == set(fields)
        for name, value in fields.items():
            assert np.array_equal(again[name], value), name


# ---- the external mode ----

def compare_external(miniapp, *arguments):
    library = miniapp.path.parents[1] / "lib" / "libminiapp.so"
    return forked("compare-external", *arguments, env={"MINIAPP_LIBRARY": str(library)})


def test_solvers_of_the_external_mode(miniapp):
    """All reach the same residual, hypre's where it is installed."""
    done = compare_external(miniapp, "--size", "30x24", "--steps", "3", "--rounds", "1", "--without", "Jacobi")
    assert done.returncode == DONE, done
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("  ")]
    lacks = {"run/compare-external: libHYPRE is missing: apt-get install libhypre-dev"} & {*done.stderr.splitlines()}
    hypre = () if lacks else ("PFMG", "BoomerAMG")
    assert [row[0] for row in rows] == 2 * ["miniapp", "ready", "LU", "ILU", *hypre]
    assert all(float(row[4]) <= 1e-10 for row in rows)


@pytest.mark.parametrize("form", external_mode.FORMS)
def test_an_input_as_warm_as_in_a_run(miniapp, form, tmp_path):
    path = tmp_path / "kept.h5"
    alone = (word for name in solvers.SOLVERS for word in ("--without", name))
    words = ("--size", "30x24", "--form", form, "--steps", "3", "--rounds", "1")
    assert compare_external(miniapp, *words, *alone, "--keep", path).returncode == DONE
    row, = miniapp.json(path, "-k", external_mode.FORMS[form])["results"]
    assert (row["nx"], row["ny"]) == (34, 28) and row["solution"]["iterations"] > 3
    done = compare_external(miniapp, *words, "--keep", tmp_path / "none" / "kept.h5")
    assert_failed(done, OUTPUT, "none/kept.h5: cannot be written: No such file", "run/compare-external: ")


def test_several_problems_in_one_input(miniapp, tmp_path):
    for words in ((), ("--form", "stream"), ("--size", "30x24")):
        done = compare_external(miniapp, *words, "--keep", tmp_path / "kept.h5")
        assert done.returncode == USAGE and "--keep takes one --size and one --form" in done.stderr, done


@pytest.mark.skipif(not LONG, reason="takes minutes and 4 GB: MINIAPP_TEST_LONG=1 runs it")
def test_the_largest_external_mode(miniapp):
    """4.2 million cells of water; SciPy's matrix tells the residual."""
    done = compare_external(miniapp, "--size", "3600x1800", "--form", "pressure", "--steps", "8", "--rounds", "1",
                            *(word for name in ("LU", "ILU", "Jacobi", "PFMG", "BoomerAMG") for word in ("--without", name)))
    assert done.returncode == DONE and done.stderr == "", done


def test_bad_sizes_of_the_external_mode(miniapp):
    for size in ("30", "30x4", "axb"):
        done = compare_external(miniapp, "--size", size)
        assert done.returncode == USAGE and "--size: takes 2 whole numbers from 8 to 1000000, such as" in done.stderr
    done = compare_external(miniapp, "--size", "999999x999999")
    assert_failed(done, INPUT, "out of memory: ", "run/compare-external: ")


def test_a_problem_that_is_too_hard_for_ours(miniapp):
    """Cells are so narrow that ours leaves more of the residual, and the others have nothing to be compared with."""
    others = (word for name in ("LU", "ILU", "Jacobi", "PFMG", "BoomerAMG") for word in ("--without", name))
    done = compare_external(miniapp, "--size", "8x2000", "--form", "stream", "--steps", "1", "--rounds", "1", *others)
    assert done.returncode == MISMATCH and done.stdout == "" and "Traceback" not in done.stderr, done
    assert "run/compare-external: miniapp does not reach 1e-10 on 8 x 2000, stream\n" in done.stderr, done


def test_a_solver_that_is_none(miniapp):
    done = compare_external(miniapp, "--without", "LUU")
    assert done.returncode == USAGE
    assert done.stderr.endswith("error: --without takes one of LU, ILU, Jacobi, PFMG, BoomerAMG, not 'LUU'\n"), done


# ---- Veros itself ----

def compare_veros(program, python, *arguments):
    return forked("compare-veros", "--python", python, "--miniapp", program, "--rounds", "1", *arguments)


def test_beside_a_veros_that_is_made_up(program, tmp_path):
    """It takes 1000 ns a point for everything, on the stored grid."""
    python, saved = tmp_path / "bin" / "python", tmp_path / "times.json"
    executable(python, f"""#!/bin/sh
test "$2 $3" = "peers.inside_veros Kernels" || exit 7
test -e "$4" || cp "{GRID}" "$4"
echo ready
while read -r line; do echo '{{"calc_eq_of_state": 1000, "isoneutral": 1000}}'; done
""")
    done = compare_veros(program, python, "--backends", "numpy", "--json", saved)
    assert done.returncode == 0, done
    row, = re.findall(r"^calc_eq_of_state +1000  density eq_of_state_type=5 +([\d.]+) +([\d.]+)$",
                      done.stdout, re.MULTILINE)
    assert abs(float(row[0]) * float(row[1]) / 1000 - 1) < 0.05
    assert json.loads(saved.read_text())["isoneutral, numpy"] == [1000]


def test_steps_beside_a_veros_that_is_made_up(program, tmp_path):
    """Its step takes 1000 ns a point, on the stored channel; two threads are compared with the triad."""
    python, saved = tmp_path / "bin" / "python", tmp_path / "times.json"
    executable(python, f"""#!/bin/sh
test "$2 $3" = "peers.inside_veros Stepped" || exit 7
test -e "$4" || cp "{GRID.with_name('acc.h5')}" "$4"
echo ready
while read -r request file; do
  case $request in compare) test -e "$file" && echo '{{"temp": 2e-14}}' ;; *) echo '{{"step": 1000}}' ;; esac
done
""")
    done = compare_veros(program, python, "--backends", "numpy", "--json", saved, "--steps", "2", "--shape", "9,9,9")
    assert done.returncode == 0, done
    rows = re.findall(r"^(acc|global), numpy +(\d+) +1000 +([\d.]+) +([\d.]+)  temp 2e-14$", done.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == ["acc", "global"], done.stdout
    for _, points, own, ratio in rows:
        assert int(points) == 34 * 46 * 15
        assert abs(float(ratio) - 1000 / float(own)) < 0.06  # whatever the machine's load, and rounded
    found = json.loads(saved.read_text())["acc 9,9,9"]
    assert found["apart"] == {"numpy": {"temp": 2e-14}} and found["times"]["step, numpy"] == [1000]
    if len(os.sched_getaffinity(0)) > 1:
        assert re.search(r"^gain of the 2nd core .*\nacc +\d+( +[\d.]+){3}$", done.stdout, re.MULTILINE)
        assert len(found["times"]["triad, 2"]) == 1


def test_models_that_are_made_up(program, tmp_path):
    """The plug-in makes them four times as fast, by one thread and by two."""
    python, saved = tmp_path / "bin" / "python", tmp_path / "times.json"
    executable(python, """#!/bin/sh
test "$3" = Models || exit 7
echo ready
while read -r request; do
  case $request in compare) echo '{"temp": 2e-14}' ;;
  *) echo '{"model": 1000, "with plug-in": 250, "with plug-in, kernels": 90}' ;; esac
done
""")
    done = compare_veros(program, python, "--backends", "numpy", "--json", saved, "--steps", "2", "--model")
    assert done.returncode == 0, done
    rows = re.findall(r"^(acc|global|diagnosed|shipped), numpy +(1|2) +1000 +250 +4.00 +90  temp 2e-14$", done.stdout,
                      re.MULTILINE)
    threads = ("1", "2")[:len(os.sched_getaffinity(0))]
    assert rows == [(setup, count) for setup in ("acc", "global", "diagnosed", "shipped") for count in threads], done.stdout
    assert json.loads(saved.read_text())["acc"]["times"]["with plug-in, numpy, 1"] == [250]


@pytest.mark.parametrize("words", [(), ("--steps", "1"), ("--steps", "1", "--model")])
def test_beside_veros(miniapp, words):
    """In the virtual environment of --help, or one with less."""
    python = os.environ.get("VEROS_PYTHON")
    if not python:
        pytest.skip("there is no Python with Veros: give $VEROS_PYTHON")
    done = compare_veros(miniapp.path, python, "--backends", "numpy", "--shape", "12,12,6", *words)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr


def test_without_veros(program, tmp_path):
    executable(tmp_path / "python", "#!/bin/sh\nexit 7\n")
    done = compare_veros(program, tmp_path / "python")
    assert (done.returncode, done.stderr) == (1, "run/compare-veros: Veros ended with exit code 7\n")
    executable(tmp_path / "bare", f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")
    done = compare_veros(program, tmp_path / "bare")
    assert done.returncode == INPUT
    assert re.fullmatch(r"run/compare-veros: \S+ lacks veros; --help says how to make one that has all\n", done.stderr)
    executable(tmp_path / "with packages", f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
    if completed([tmp_path / "with packages", "-c", "import veros.variables"]).returncode:
        done = compare_veros(program, tmp_path / "with packages")
        assert_failed(done, INPUT, " lacks veros; ", "run/compare-veros: ")
    executable(tmp_path / "python", "no program\n")
    done = compare_veros(program, tmp_path / "python")
    assert_failed(done, 4, "python: cannot be run: Exec format error", "run/compare-veros: ")
    executable(tmp_path / "python", "#!/bin/sh\necho ready\n")
    done = compare_veros(program, tmp_path / "python", "--backends", "numpy")
    assert_failed(done, 1, "Veros ended with exit code 0", "run/compare-veros: ")


def test_times_that_cannot_be_written(program, tmp_path):
    """It is said before Veros starts, which here would end with 7."""
    executable(tmp_path / "python", "#!/bin/sh\nexit 7\n")
    link, absent = tmp_path / "link", tmp_path / "none" / "times.json"
    link.symlink_to(absent)
    for path, why in ((absent, "there is no folder for it that is writable"),
                      (link, "there is no folder for it that is writable"), (tmp_path, "Is a directory")):
        done = compare_veros(program, tmp_path / "python", "--json", path)
        assert_failed(done, OUTPUT, f"{path}: cannot be written: {why}", "run/compare-veros: ")


@pytest.mark.parametrize("name, words, end", [
    ("absent", (), "absent is missing\n"), (".", (), "is no program\n"),
    ("python", ("--steps", "0"), "--steps: takes a whole number from 1, not '0'\n"),
    ("python", ("--rounds", "0"), "--rounds: takes a whole number from 1, not '0'\n"),
    ("python", ("--shape", "9,9"), "--shape: takes 3 whole numbers from 4 to 1000000, such as 64,64,64, not '9,9'\n"),
    ("python", ("--model",), "--model needs --steps\n")])
def test_wrong_usage_beside_veros(program, tmp_path, name, words, end):
    executable(tmp_path / "python", "#!/bin/sh\nexit 7\n")
    done = compare_veros(program, tmp_path / name, *words)
    assert_failed(done, USAGE, start="run/compare-veros: error: ")
    assert done.stderr.endswith(end), done
