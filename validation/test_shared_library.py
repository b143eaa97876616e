"""libphysics.so through ctypes, and run/pyhpc_backend.py on top of it."""

import ctypes
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import HERE, INPUT, assert_one_line, read
from processes import DEADLINE_S

RUN = HERE.parent / "run"
sys.path.insert(0, str(RUN))
from peers import cases, pyhpc  # noqa: E402  pylint: disable=wrong-import-position
from peers.library import (  # noqa: E402  pylint: disable=wrong-import-position
    PRECISIONS, Library, Mismatch, structure)


@pytest.fixture(scope="module")
def path(miniapp):
    if miniapp.is_sanitized:
        pytest.skip("a sanitized library needs a sanitized Python")
    return miniapp.path.parent.parent / "lib" / "libphysics.so"


@pytest.fixture(scope="module")
def library(path):
    return Library(path)


# ---- the library ----

def test_only_the_interface_is_visible(path):
    listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True,
                             check=True).stdout
    names = [line.split()[-1] for line in listing.splitlines()]
    names = [name for name in names if name[0] != "."]  # the compiler's own
    assert "physics_run" in names and "physics_fields" in names
    headers = "".join(header.read_text() for header in
                      (HERE.parent / "include/physics").glob("*.h"))
    for name in names:
        assert name.startswith("physics_") and name in headers, name
    for name in re.findall(r"^(?!typedef)\w[\w *]*?\b(physics_\w+)\(", headers, re.MULTILINE):
        assert name in names


def test_sizes_of_structures(library, tmp_path):
    """What the library says is what a C compiler makes of the headers."""
    names = ("field", "setting", "kernel", "call")
    source = tmp_path / "sizes.c"
    prints = "".join(f'printf("%zu ", sizeof(struct physics_{name}));' for name in names)
    source.write_text(
        "#include <physics/kernel.h>\n#include <stdio.h>\nint main(void) {\n" + prints +
        'printf("%d %d %d", PHYSICS_FIELDS, PHYSICS_SETTINGS, PHYSICS_MAX_FIELDS);}\n')
    subprocess.run(["cc", "-I", HERE.parent / "include", source, "-o", tmp_path / "sizes"],
                   check=True)
    said = subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout
    layout = library.layout
    assert [int(word) for word in said.split()] == [
        layout.field_bytes, layout.setting_bytes, layout.kernel_bytes, layout.call_bytes,
        layout.fields, layout.settings, layout.kernel_fields]
    for kind, name in ((library.Field, "field"), (library.Setting, "setting"),
                       (library.Kernel, "kernel"), (library.Call, "call")):
        assert ctypes.sizeof(kind) == getattr(layout, f"{name}_bytes")


def test_a_structure_that_is_too_small():
    with pytest.raises(Mismatch, match="struct physics_call has 4 bytes"):
        structure("x.so", "call", [("grid", ctypes.c_size_t * 3)], 4)


def test_tables(library, miniapp):
    fields = {field.name.decode() for field in library.fields if field.name}
    assert {"salt", "temp", "tke_taup1"} < fields
    assert b"dt_tracer" in {setting.name for setting in library.settings}
    for kernel in miniapp.kernels:
        for precision in PRECISIONS:
            found = library.kernel(kernel.name, precision).contents
            names = [library.fields[i].name.decode() for i in found.outputs if i]
            assert names == [output.name for output in kernel.outputs]
    with pytest.raises(KeyError, match="no kernel 'nothing'"):
        library.kernel("nothing")


@pytest.mark.parametrize("name", cases.OCEAN)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_same_numbers_as_the_program(library, miniapp, ocean, small, tmp_path, name, precision):
    """Bit for bit, with the default settings in place of the file's."""
    output = tmp_path / "out.h5"
    read_by = next(kernel.settings for kernel in miniapp.kernels if kernel.name == name)
    sets = [word for setting in library.settings if (setting.name or b"").decode() in read_by
            for word in ("--set", f"{setting.name.decode()}={setting.value!r}")]
    miniapp.passes("-k", name, "--precision", precision, *sets, "-o", output, small)
    inputs, _ = ocean
    outputs = {key: np.zeros(read(output, key).shape, precision) for key in pyhpc.OUTPUTS[name]}
    library.prepare(name, inputs, outputs, precision)()
    for key, value in outputs.items():
        assert np.array_equal(value, read(output, key)), key


def test_an_array_of_the_wrong_kind(library):
    with pytest.raises(ValueError, match="dHdT: is not contiguous float64"):
        library.prepare("eos", {"salt": np.ones((2, 9, 9)), "temp": np.ones((2, 9, 9)),
                                "p": np.ones(2)}, {"dHdT": np.ones((2, 9, 9), "float32")})


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
    return subprocess.run([python, RUN / "pyhpc_backend.py", "--library", path,
                           *map(str, arguments)], capture_output=True, text=True, check=False,
                          timeout=DEADLINE_S)


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
        done = backend(library, run)
        assert done.returncode == INPUT and done.stdout == "", done
        assert_one_line(done.stderr)
        assert done.stderr.startswith("run/pyhpc_backend.py: ") and pattern in done.stderr
