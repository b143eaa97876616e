"""libminiapp.so through ctypes, and run/pyhpc_backend.py on top of it."""

import ctypes
import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import h5py
import numpy as np
import pytest

import pyhpc_backend
from conftest import HERE, INPUT, assert_failed, read
from miniapp import DeviceError, Error, InputError, Library, LibraryError, State, UsageError
from miniapp.library import DECLARATIONS, LISTENER, OUT, PRECISIONS, Grid, Status
from peers import cases, pyhpc
from processes import completed

RUN = HERE.parent / "run"

pytestmark = [pytest.mark.every_compiler, pytest.mark.every_device]

HEADERS = "".join(header.read_text() for header in
                  [*sorted((HERE.parent / "include/miniapp").glob("*.h")),
                   HERE.parent / "miniapp/common/program.h"])
PROTOTYPE = re.compile(r"^(?!typedef|static inline)([\w ]+?\s?\**)\s*(miniapp_\w+)\(([^)]*)\)", re.MULTILINE)


@pytest.fixture(scope="module")
def path(miniapp):
    if miniapp.is_sanitized:
        pytest.skip("it needs a sanitized Python")
    return miniapp.path.parent.parent / "lib" / "libminiapp.so"


@pytest.fixture(scope="module")
def library(path):
    return Library(path)


# ---- what it shows and uses ----

def test_only_the_interface_is_visible(path):
    """symbols.txt is what older clients may call: a name that was once there stays."""
    listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = [line.split()[-1] for line in listing.splitlines()]
    names = [name for name in names if name[0] != "."]  # the compiler's own
    stated = (HERE / "program/symbols.txt").read_text().split()
    assert not set(stated) - set(names), "clients that call these no longer work"
    assert not set(names) - set(stated), "add these to validation/program/symbols.txt"
    assert stated == sorted(stated) and all(name.startswith("miniapp_") for name in stated)
    assert set(stated) == {name for _, name, _ in PROTOTYPE.findall(HEADERS)}


def test_the_process_belongs_to_the_client(path):
    """The program installs what ends all processes, and what silences a runtime."""
    not_ours = {"MPI_Abort", "abort", "exit", "_Exit", "dup", "dup2", "dup3", "freopen"}
    modules = path.parent.glob("miniapp-offload.so")
    for binary in [path, *modules]:
        listing = subprocess.run(["nm", "-D", "--undefined-only", binary], capture_output=True, text=True,
                                 check=True).stdout
        used = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
        assert len(used) > 20 and not used & not_ours, binary


def test_no_function_returns_a_buffer_of_its_own():
    """Its next call would overwrite the text that a caller still has."""
    buffer = re.compile(r"^ +static char \w+\[[^\]]+\].*", re.MULTILINE)
    sources = [*(HERE.parent / "miniapp").glob("**/*.c")]
    assert len(sources) > 50 and not [found for source in sources for found in buffer.findall(source.read_text())]


def as_ctypes(words):
    """The type of a parameter or result as DECLARATIONS has it."""
    words = re.sub(r"(?<!^)\b\w+$", "", words) if not words.endswith("*") else words  # the name
    words = re.sub(r"\bconst\b|\s", "", words)
    known = {"": None, "void": None, "char*": ctypes.c_char_p, "int": ctypes.c_int,
             "size_t": ctypes.c_size_t, "bool": ctypes.c_bool, "double": ctypes.c_double,
             "char**": ctypes.POINTER(ctypes.c_char_p), "enumminiapp_status": Status,
             "miniapp_listener": LISTENER, "structminiapp_grid": Grid}
    if words in known:
        return known[words]
    if words.endswith("**"):
        return OUT
    return ctypes.c_void_p if words.endswith("*") else ctypes.c_int  # an enum


@pytest.mark.parametrize("name", DECLARATIONS)
def test_declarations_are_those_of_the_headers(name):
    result, _, arguments = next(found for found in PROTOTYPE.findall(HEADERS) if found[1] == f"miniapp_{name}")
    stated = DECLARATIONS[name]
    if name == "last_failure":  # the status of another call, and no failure of its own
        assert (result, arguments, stated) == ("enum miniapp_status ", "void", (ctypes.c_int,))
        return
    arguments = [] if arguments == "void" else arguments.split(",")
    assert stated == (as_ctypes(f"{result} x"), *map(as_ctypes, arguments))


def test_another_library():
    with pytest.raises(LibraryError, match="is no libminiapp.so of this version: it has no miniapp_"):
        Library("libm.so.6")


def test_tables(library, miniapp):
    assert {"salt", "temp", "tke_taup1"} < set(library.fields)
    assert "dt_tracer" in library.settings
    for kernel in miniapp.kernels:
        assert kernel.name in library.sequences
        assert set(library.reads(kernel.name)) == {dataset.name for dataset in kernel.inputs}
        assert set(library.writes(kernel.name)) == {dataset.name for dataset in kernel.outputs}
    with pytest.raises(UsageError, match="unknown kernel 'nothing'$"):
        library.reads("nothing")
    with pytest.raises(UsageError, match="unknown kernel 'ocean_stp'; the closest is 'ocean_step'"):
        library.reads("ocean_stp")


# ---- an ocean on a device ----

@pytest.fixture
def make_state(library, ocean):
    """Makes a state that holds the fields of the small ocean that a kernel reads."""
    def make(kernel, device="cpu", precision="float64", **settings):
        inputs, _ = ocean
        state = State(inputs["salt"].shape, device, precision, library=library, **settings)
        for name in library.reads(kernel):
            state.set(name, inputs[name])
        return state
    return make


@pytest.mark.parametrize("name", cases.OCEAN)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_same_numbers_as_the_program(library, miniapp, make_state, small, tmp_path, name, precision, device):
    """Bit for bit, with the default settings in place of the file's."""
    output = tmp_path / "out.h5"
    read_by = next(kernel.settings for kernel in miniapp.kernels if kernel.name == name)
    sets = [word for setting in library.settings.values() if setting.name in read_by
            for word in ("--set", f"{setting.name}={setting.default!r}")]
    miniapp.passes("-k", name, "--precision", precision, "--device", device, *sets, "-o", output, small)
    state = make_state(name, device, precision)
    assert state.device == {"cpu": "cpu", "gpu": "gpu:0"}[device]
    state.run(name)
    for key in pyhpc.OUTPUTS[name]:
        assert state.read(key).dtype == precision
        assert np.array_equal(state.read(key), read(output, key)), key
        assert np.array_equal(state.get(key), read(output, key)), key


def test_settings(make_state, device):
    state, other = (make_state("isoneutral", device, eq_of_state_type=type_) for type_ in (1, 4))
    state.run("isoneutral")
    other.run("isoneutral")
    assert not np.array_equal(state.get("K_33"), other.get("K_33"))


def test_a_sequence_holds_what_its_kernels_share_once(library, make_state, device):
    together, apart = make_state("mixing", device), make_state("mixing", device)
    together.run("mixing")
    for kernel in ("eos", "isoneutral", "tke"):
        apart.run(kernel)
    for name in library.writes("mixing"):
        assert np.array_equal(together.get(name), apart.get(name)), name


def test_other_bindings(make_state, ocean, device):
    temp = ocean[0]["temp"]
    state = make_state("triad", device)
    state.add("dye", "temp")
    state.set("dye", 2 * temp)
    plan = state.plan("triad:salt=temp", "temp=dye")
    plan.run()
    assert np.allclose(state.get("triad"), 8 * temp, rtol=1e-15)


def test_time_levels(make_state, ocean, device):
    state = make_state("triad", device)
    state.rotate("salt", "temp")
    assert np.array_equal(state.get("salt"), ocean[0]["temp"])
    assert np.array_equal(state.get("temp"), ocean[0]["salt"])


# ---- its memory as arrays ----

def test_memory_is_that_of_the_state(make_state, ocean):
    """On the host there is one copy."""
    state, temp = make_state("triad"), ocean[0]["temp"]
    assert np.shares_memory(state.read("temp"), state.read("temp"))
    plan, result = state.plan("triad"), state.write("triad")
    state.write("salt")[...] = 1
    plan.run()
    assert np.allclose(result, 1 + 3 * temp, rtol=1e-15)


def test_memory_that_is_filled_goes_to_the_device(make_state, ocean, device):
    state, temp = make_state("triad", device), ocean[0]["temp"]
    for value in (1, 2):
        state.write("salt")[...] = value
        state.run("triad")
        assert np.allclose(state.read("triad"), value + 3 * temp, rtol=1e-15)


def test_types_of_the_memory(make_state, ocean, device):
    state = make_state("tke", device, "float32")
    for name, dtype in (("maskU", "uint8"), ("kbot", "int32"), ("tke", "float32")):
        assert state.read(name).dtype == state.dtype(name) == dtype
        assert np.array_equal(state.read(name), ocean[0][name].astype(dtype))
    assert state.shape("kbot") == ocean[0]["kbot"].shape


def test_an_array_keeps_its_state(library, device):
    memory = State((2, 9, 9), device, library=library).write("temp")
    gc.collect()
    memory[...] = 1
    assert memory.sum() == memory.size


def test_memory_that_is_read_is_not_written(make_state, device):
    with pytest.raises(ValueError, match="read-only"):
        make_state("triad", device).read("temp")[...] = 1


# ---- refusals ----

@pytest.mark.parametrize("kind, pattern, use", [
    (UsageError, "unknown kernel 'eso'; the closest is 'eos'", lambda state: state.run("eso")),
    (UsageError, "'eos' has no argument 'speed'", lambda state: state.run("eos:speed=salt")),
    (UsageError, "'p' cannot stand for 'temp'", lambda state: state.plan("eos", "temp=p")),
    (UsageError, "'zt' is read, but was never set", lambda state: state.run("isoneutral")),
    (UsageError, "field 'tke' is read, but was never set", lambda state: state.read("tke")),
    (UsageError, "there is a field 'salt' already", lambda state: state.add("salt", "temp")),
    (UsageError, "unknown field 'tmep'; the closest is 'temp'", lambda state: state.rotate("tmep")),
    (UsageError, "unknown setting 'speed'", lambda state: State((2, 9, 9), library=state.library, speed=1)),
    (UsageError, "a grid cannot have 4 x 9 x 2 points", lambda state: State((2, 9, 4), library=state.library)),
    (UsageError, "unknown device 'tpu'", lambda state: State((2, 9, 9), "tpu", library=state.library)),
    (DeviceError, "device 'gpu:7' cannot be used", lambda state: state.library.check_device("gpu:7")),
    (InputError, "'temp' holds 1e[+]300, which float32 cannot",
     lambda state: state.set("temp", np.full((2, 9, 9), 1e300))),
])
def test_refusals(library, kind, pattern, use):
    state = State((2, 9, 9), precision="float32", library=library)
    for name in library.reads("eos"):
        state.set(name, np.ones(state.shape(name)))
    with pytest.raises(kind, match=pattern) as refused:
        use(state)
    assert isinstance(refused.value, Error) and "\n" not in str(refused.value)
    state.run("eos")  # it goes on


def test_an_array_of_the_wrong_kind(library):
    state = State((2, 9, 9), library=library)
    with pytest.raises(UsageError, match=re.escape("salt: the shape is (9, 9), not (2, 9, 9) of (z, y, x)")):
        state.set("salt", np.ones((9, 9)))
    with pytest.raises(UsageError, match="unknown field 'slat'; the closest is 'salt'"):
        state.set("slat", np.ones((2, 9, 9)))
    assert not state.has("salt")


# ---- one more backend ----

# A checkout that is made up: what run/pyhpc_backend.py relies on of the real one, and a run.py
# that says what comes of the backend.
BACKENDS = """
class SetupContext:
    def __init__(self, function): self.function = function
    def __call__(self, **options): self.options = options; return self
    def __enter__(self): return next(iter(self.function(**self.options)))
    def __exit__(self, *error): pass
def convert_to_numpy(value, backend, device="cpu"): return value
__backends__ = {}
"""
PACKAGE = """
import functools, importlib, numpy as np
__implementations__ = ()
def generate_inputs(size):
    random = np.random.default_rng(1)
    shape = (9, 8, 5)
    return random.uniform(30, 36, shape), random.uniform(0, 20, shape), np.full((1, 1, 5), 100.0)
def get_callable(backend, size, device="cpu"):
    module = importlib.import_module(f".eos_{backend}", __name__)
    return functools.partial(module.run, *module.prepare_inputs(*generate_inputs(size),
                             device=device), device=device)
"""
SCRIPT = """
import json, sys
from backends import __backends__, convert_to_numpy
import benchmarks.equation_of_state as package
with __backends__["miniapp"](device="cpu") as module:
    result = convert_to_numpy(package.get_callable("miniapp", 1)(), "miniapp")
print(json.dumps({"arguments": sys.argv[1:], "version": module.__version__,
                  "implementations": package.__implementations__, "result": result.tolist()}))
"""


def backend(path, *arguments, python=sys.executable):
    return completed([python, RUN / "pyhpc_backend.py", "--library", path, *map(str, arguments)])


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "pyhpc"
    for package in pyhpc.PACKAGES.values():
        (folder / "benchmarks" / package).mkdir(parents=True)
        (folder / "benchmarks" / package / "__init__.py").write_text(PACKAGE)
    (folder / "benchmarks" / "__init__.py").write_text("")
    (folder / "backends.py").write_text(BACKENDS)
    (folder / "run.py").write_text(SCRIPT)
    return folder


def test_a_backend_of_a_made_up_checkout(library, miniapp, path, checkout, tmp_path):
    before = sorted(checkout.rglob("*"))
    done = backend(path, checkout / "run.py", "some", "-b", "miniapp")
    assert done.returncode == 0 and done.stderr == "", done
    said = json.loads(done.stdout)
    assert said["arguments"] == ["some", "-b", "miniapp"]
    assert said["implementations"] == ["miniapp"]
    assert sorted(checkout.rglob("*")) == before  # it is only read
    # the same numbers, by the program
    namespace = {}
    exec(PACKAGE, namespace)  # pylint: disable=exec-used
    given = dict(zip(pyhpc.ARGUMENTS["eos"], namespace["generate_inputs"](1)))
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.attrs["halo"] = 2
        for name, value in pyhpc.our_fields("eos", given).items():
            file[name] = value
    miniapp.passes("-k", "eos", "-o", tmp_path / "out.h5", tmp_path / "in.h5")
    assert np.array_equal(np.array(said["result"]).T, read(tmp_path / "out.h5", "dHdT"))


@pytest.mark.parametrize("package", pyhpc.PACKAGES.values())
def test_their_own_check(path, package):
    """Against their NumPy, where a checkout is named. tke on their inputs is meaningless."""
    folder = os.environ.get("PYHPC_BENCHMARKS")
    if not folder:
        pytest.skip("there is no checkout of pyhpc-benchmarks: give $PYHPC_BENCHMARKS")
    python = HERE.parent / "build/venv/bin/python"
    if not python.exists():
        pytest.skip("their run.py needs the virtual environment that run/compare makes")
    done = backend(path, Path(folder) / "run.py", Path(folder) / "benchmarks" / package,
                   "-b", "numpy", "-b", "miniapp", "-s", "4096", "-r", "2", python=python)
    assert done.returncode == 0 and "miniapp" in done.stdout, done
    if package != "turbulent_kinetic_energy":
        assert "inconsistent" not in done.stderr, done


def test_refusals_of_the_backend(path, checkout, tmp_path):
    for library, run, pattern in ((tmp_path / "none.so", checkout / "run.py", "none.so"),
                                  (path, tmp_path / "run.py", "is not the run.py")):
        assert_failed(backend(library, run), INPUT, pattern, "run/pyhpc_backend.py: ")


def test_a_package_that_their_script_imports_is_missing(path, checkout, monkeypatch, tmp_path):
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError('no', name='click')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (checkout / "run.py").write_text("import click\n")
    assert_failed(backend(path, checkout / "run.py"), INPUT, "install python3-click")


@pytest.mark.parametrize("spacing, times", [(1.0, 0), (-1.0, 1)])
def test_it_says_once_why_tke_is_called_inconsistent(spacing, times, capsys):
    """Where spacings are negative, as in their random inputs."""
    levels = np.zeros((5, 5, 2, 3))
    given = {"dxt": np.full(5, spacing), "tke": levels, "dtke": levels}
    outputs = {"tke_taup1": np.ones((2, 5, 5)), "dtke": np.ones((2, 5, 5)), "tke_surf_corr": np.ones((5, 5))}
    for _ in range(2):
        pyhpc_backend.Result("tke", given, SimpleNamespace(read=outputs.get)).as_theirs()
    assert capsys.readouterr().err.count("their check may call tke inconsistent") == times
