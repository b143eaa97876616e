"""The program under test, what it can do here, and files to run it on.

    python3 -m pytest --miniapp build/emulated/bin/miniapp --offload emulated validation

Tests take their kernels from `--list-kernels`, so that a new kernel is tested without a change
here: the argument `kernel` of a test runs it once for each kernel, or for those that read what the
mark `kernels_that_read` names; `device` on the device, where there is one, else on the host. A test
of several takes `devices`, one that compares a device with the host takes `gpu`.
"""

import contextlib
import dataclasses
import importlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import h5py
import numpy as np
import pytest

import fields
import local_slurm
from processes import DEADLINE_S, Running, Starter

HERE = Path(__file__).parent
GRID = HERE.parent / "inputs" / "grid.h5"
GRID_REFERENCE = HERE / "stored" / "grid"
PACKAGE = HERE.parent / "python" / "src"

DONE, MISMATCH, USAGE, INPUT, DEVICE, OUTPUT = range(6)  # the exit codes

# What a sanitizer, a crash or a library prints; our own lines start with "miniapp: ".
TROUBLE = re.compile(r"Sanitizer|runtime error|terminate called|HDF5-DIAG|Assertion|core dumped"
                     r"|Traceback|PluginInterface|Libomptarget|OMP: ")
LONG = os.environ.get("MINIAPP_TEST_LONG") == "1"
QUICK = ("--repetitions", "1", "--burnin", "0")
INSIDE = np.s_[..., 2:-2, 2:-2]  # of a field with ghosts


# ---- the program ----

@dataclasses.dataclass
class Dataset:
    name: str
    axes: tuple
    units: str
    optional: bool
    is_mask: bool
    untouched: bool  # an output that the default settings leave out


@dataclasses.dataclass
class Kernel:
    name: str
    inputs: list
    outputs: list
    settings: list
    calibration: bool = False
    by_name: bool = False  # not one of "all"
    scratch: list = dataclasses.field(default_factory=list)
    new_inputs: list = None  # those that no kernel before it reads: how they are read is tested once

    def __str__(self):
        return self.name

    def made(self):
        """Its outputs with the default settings."""
        return [dataset for dataset in self.outputs if not dataset.untouched]

    def masks(self):
        return [dataset for dataset in self.inputs if dataset.is_mask]

    def reads(self, what):
        """Whether it reads a dataset, a setting, any `mask` or any `setting`."""
        return (what in self.settings or any(dataset.name == what for dataset in self.inputs)
                or (what == "mask" and bool(self.masks()))
                or (what == "setting" and bool(self.settings)))

    def reals(self, inputs=None):
        """What must be there and may hold a fraction: neither a mask nor an index."""
        return [dataset for dataset in (self.inputs if inputs is None else inputs)
                if not (dataset.is_mask or dataset.optional or dataset.name == "kbot")]


class Program:
    """The program, and what each of its runs has to fulfil."""

    def __init__(self, path, offload):
        self.path = Path(path).resolve()
        self.offload = offload
        self.starter, self.starts = None, self.path.parent.parent / "lib" / "libstarter.so"
        self.is_sanitized = b"__asan_init" in self.path.read_bytes()
        self.is_gcc = bool(re.search(r"^compiler +GNU", self.run("--version").stdout, re.MULTILINE))
        self.kernels = parse_kernels(self.run("--list-kernels").stdout)
        self.ocean = [kernel for kernel in self.kernels if not (kernel.calibration or kernel.by_name)]  # "all"
        self.devices = self.find_devices()
        # the host's code is the same in builds without offload, whose tests look at it
        self.devices_to_test = self.devices[1:] or self.devices
        self.is_first = offload == "no" and not self.is_gcc  # of the builds, Clang's for the host

    def find_devices(self):
        if self.offload == "no":
            return ["cpu"]
        listing = self.run("--list-devices").stdout
        usable = re.search(r"^gpu:0 (?!.*cannot be used)", listing, re.MULTILINE)
        # an emulated device is there wherever its build is; a GPU may not be
        assert usable or self.offload == "yes", listing
        return ["cpu", "gpu"] if usable else ["cpu"]

    def environment(self, changes=None):
        """Ours, but for the name of the test, with changes; None takes a variable away."""
        result = {**os.environ, "PYTEST_CURRENT_TEST": None, **(changes or {})}
        result = {name: value for name, value in result.items() if value is not None}
        if self.is_sanitized:
            # a report has an exit code of its own, which no test takes for ours
            result["ASAN_OPTIONS"] = "exitcode=99:detect_stack_use_after_return=1"
            result["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:exitcode=99"
        return result

    def steps(self, many):
        """So many where long runs are asked for; else a quarter in the first build, and a tenth in others, which
        compile the same formulas."""
        return many if LONG else many // (4 if self.is_first else 10)

    def skip_repeat(self, what):
        """Leaves what the first build shows to it, unless all is asked for."""
        if not self.is_first:
            self.leave_to_long(what)

    @staticmethod
    def leave_to_long(what):
        """Leaves what other cases of this build show as well, unless all is asked for."""
        if not LONG:
            pytest.skip(f"{what}: MINIAPP_TEST_LONG=1 repeats it")

    def read_by(self, name, values):
        """Those values that a kernel reads: a dataset that it does not takes as long to write."""
        inputs = next(kernel.inputs for kernel in self.kernels if kernel.name == name)
        return {dataset.name: values[dataset.name] for dataset in inputs if dataset.name in values}

    def made_by(self, kernel, folder, values, settings, *words, halo=2, **more):
        """{name: values} of what a kernel makes of those that it reads."""
        path = write(folder / "in.h5", self.read_by(kernel, values), settings, halo=halo, **more)
        self.passes("-k", kernel, "-o", folder / "out.h5", *words, path)
        with h5py.File(folder / "out.h5") as out:
            return datasets(out)

    def command(self, *arguments):
        return [str(self.path), *map(str, arguments)]

    def run(self, *arguments, env=None, **options):
        """One run, whatever comes of it. Options go to subprocess.run; it is a true start with any."""
        if not (env or options) and self.starts.exists():
            return self.run_by_starter(self.command(*arguments))
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "stdin": subprocess.DEVNULL, "timeout": DEADLINE_S, **options}
        return subprocess.run(self.command(*arguments), env=self.environment(env), text=True,
                              errors="surrogateescape", check=False, **options)

    def run_by_starter(self, command):
        environment = self.environment()
        if not self.starter or self.starter.environment != environment:
            self.stop()
            self.starter = Starter(self.starts, self.path, environment)
        try:
            return self.starter.run(command)
        except TimeoutError as error:
            self.stop()
            raise subprocess.TimeoutExpired(command, DEADLINE_S) from error

    def stop(self):
        """Ends what starts the program, with a run that hangs."""
        if self.starter:
            self.starter.stop()
            self.starter = None

    def start(self, *arguments, env=None, **options):
        """A run to wait for and to disturb; it announces its first calls and turns."""
        return Running(self.command("--verbose", *arguments), env=self.environment(env), **options)

    def passes(self, *arguments, warning=None, quick=True, **options):
        """A run that is done, silently or with one warning; what it printed."""
        done = self.run(*(QUICK if quick else ()), *arguments, **options)
        assert done.returncode == DONE, done
        if warning is None:
            assert done.stderr == ""
        else:
            assert_one_line(done.stderr)
            assert re.match(r"miniapp: warning: .*" + warning, done.stderr), done.stderr
        return done.stdout

    def fails(self, code, pattern, *arguments, quick=True, max_line=1000, **options):
        """A run that fails with the code and one line in which the pattern occurs."""
        done = self.run(*(QUICK if quick else ()), *arguments, **options)
        assert done.returncode == code, done
        assert_one_line(done.stderr, max_line)
        assert re.match("miniapp: ", done.stderr), done.stderr
        assert re.search(pattern, done.stderr), f"{pattern!r} is not in {done.stderr!r}"
        # a failed validation shows its results; nothing else may look like a result
        if code != MISMATCH and done.stdout:
            assert "passed" not in done.stdout.lower() and "median" not in done.stdout
        return done.stderr

    def json(self, *arguments, **options):
        return json.loads(self.passes("--format", "json", *arguments, **options))

    def checksums(self, *arguments, **options):
        return checksums_in(self.json("--checksums", *arguments, **options))


def checksums_in(report):
    """Of outputs, by kernel and name: they are equal where all bits are."""
    return {(one["kernel"], one["variable"]): one["sha256"] for one in report["checksums"]}


def assert_one_line(text, longest=1000):
    assert not TROUBLE.search(text), text
    assert text.count("\n") == 1 and text.endswith("\n") and len(text) < longest, text


def assert_failed(done, code, text="", start=""):
    """It has ended with the code, no result, and one line, which begins like that and holds the text."""
    assert done.returncode == code and not done.stdout, done
    assert_one_line(done.stderr)
    assert done.stderr.startswith(start) and text in done.stderr, done
    return done


def parse_kernels(listing):
    """The kernels of --list-kernels."""
    kernels = []
    for line in listing.splitlines():
        if match := re.match(r"(\w+): ", line):
            kernels.append(Kernel(match[1], [], [], []))
        elif line.startswith("  measures the machine"):
            kernels[-1].calibration = True
        elif line.startswith("  is chosen by name"):
            kernels[-1].by_name = True
        elif match := re.match(r"  (reads|writes|updates|scratch) +(\w+) +((?:\w+ )*\w+|-)  +"
                               r"(\S+(?: \S+)*)  +(.*)", line):
            what, name, axes, units, text = match.groups()
            dataset = Dataset(name, tuple(axes.strip("-").split()), units, text.endswith("(optional)"),
                              text.startswith("mask of"), text.endswith("(not with these settings)"))
            if what in ("reads", "updates"):
                kernels[-1].inputs.append(dataset)
            if what in ("writes", "updates"):
                kernels[-1].outputs.append(dataset)
            if what == "scratch":
                kernels[-1].scratch.append(dataset)
        elif match := re.match(r"  setting (\w+)", line):
            kernels[-1].settings.append(match[1])
    seen = set()
    for kernel in kernels:
        kernel.new_inputs = [dataset for dataset in kernel.inputs if dataset.name not in seen]
        seen.update(dataset.name for dataset in kernel.inputs)
    return kernels


# ---- files ----

def create(path):
    """A file in the format whose metadata carries checksums."""
    return h5py.File(path, "w", libver=("v110", "v110"))


def write(path, values, settings=None, **more):
    """An input file whose data, too, carry checksums; of settings and what is beside them, None is left out."""
    with create(path) as file:
        file.attrs.update({name: value for name, value in {**(settings or {}), **more}.items() if value is not None})
        for name, value in values.items():
            value = np.asarray(value)
            file.create_dataset(name, data=value, chunks=value.shape, fletcher32=True, track_times=False)
    return path


def replace(path, name, values, **options):
    """Puts other data in a dataset's place."""
    with h5py.File(path, "a") as file:
        attributes = dict(file[name].attrs)
        del file[name]
        file.create_dataset(name, data=values, **options)
        file[name].attrs.update(attributes)


def change(path, name, index, value):
    """Puts another value in one element; the reals of our files are of type float64."""
    with h5py.File(path, "a") as file:
        file[name][index] = value


def read(path, name):
    with h5py.File(path, "r") as file:
        return file[name][...]


def datasets(group):
    """{name: values} of those that a file or a group holds, without groups in it."""
    return {name: data[...] for name, data in group.items() if isinstance(data, h5py.Dataset)}


@contextlib.contextmanager
def copied(source, path):
    """A copy of a file, open to be changed."""
    with h5py.File(shutil.copyfile(source, path), "a") as file:
        yield file


def put_output(path, output):
    """Puts the fields of an output, with what they are on a southern wall, in the place of a file's own."""
    with h5py.File(output) as made, h5py.File(path, "a") as file:
        for name, dataset in made.items():
            if not h5py.h5ds.is_scale(dataset.id):
                if name in file:
                    del file[name]
                file[name] = dataset[...]
                file[name].attrs.update({key: value for key, value in dataset.attrs.items() if key == "southern_wall"})


def assert_same_on_threads(miniapp, folder, threads, names, *words):
    """Outputs of runs that differ in the number of threads alone have the same bits."""
    outputs = [folder / f"{number}.h5" for number in threads]
    for number, output in zip(threads, outputs):
        done = miniapp.run(*words, "-t", number, "-o", output)  # it may warn of more threads than CPUs
        assert done.returncode == DONE, done
    for name in names:
        for output in outputs[1:]:
            np.testing.assert_array_equal(read(output, name), read(outputs[0], name))


@dataclasses.dataclass
class Ocean:
    """An input file, and what is in it."""
    path: Path
    values: dict
    settings: dict


class Together:
    """Runs of all kernels at once, which the tests of each kernel share: a run is made when the
    first of them asks for it."""

    def __init__(self, miniapp, folder):
        self.miniapp, self.folder, self.made = miniapp, folder, {}
        self.numbers = itertools.count()

    def once(self, key, make):
        """What `make` makes, by the path of a file that no other has."""
        if key not in self.made:
            self.made[key] = make(self.folder / f"{next(self.numbers)}.h5")
        return self.made[key]

    def ocean(self, name, make):
        """The ocean of that name, whose fields and settings `make` makes."""
        def stored(path):
            values, settings = make()
            return Ocean(write(path, values, settings, halo=2), values, settings)
        return self.once(name, stored)

    def output(self, path, *arguments, of=None, again=0):
        """The output of all kernels, or `of` some, by a run with these arguments; `again` tells equal
        runs apart."""
        def run(output):
            names = ",".join(of or (kernel.name for kernel in self.miniapp.kernels))
            done = self.miniapp.run(*QUICK, path, "-k", names, "-o", output, *arguments)
            assert done.returncode == DONE and not TROUBLE.search(done.stderr), done
            return output
        return self.once((path, *arguments, *(of or ()), again), run)

    def opened(self, output):
        """The file of an output, which stays open: opening takes longer than reading."""
        return self.once((output, "opened"), lambda _: h5py.File(output, "r"))


def field_of(kernel, file, name):
    """A kernel's output in a file that may have those of several."""
    own = f"{kernel}.{name}"
    return file[own if own in file else name][...]


def read_of(kernel, path, name):
    with h5py.File(path, "r") as file:
        return field_of(kernel, file, name)


# ---- pytest ----

def pytest_addoption(parser):
    parser.addoption("--miniapp", default=os.environ.get("MINIAPP"), metavar="PATH",
                     help="the program under test; also as $MINIAPP")
    parser.addoption("--offload", default=os.environ.get("MINIAPP_OFFLOAD", "no"),
                     choices=("no", "emulated", "yes"), help="the offload of its build [no]")
    parser.addoption("--needs-device", action="store_true",
                     help="run only tests of devices, and none where there is but the host")


def program_of(config):
    """One for the session; None where there is no program to test."""
    if not hasattr(config, "miniapp_program"):
        path = config.getoption("--miniapp")
        config.miniapp_program = Program(path, config.getoption("--offload")) if path else None
        if path:
            config.add_cleanup(config.miniapp_program.stop)
    return config.miniapp_program


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    # Whoever starts beside this run closes pytest's common folder, through which the tests that run
    # as nobody have to come: this run has one of its own.
    if not config.option.basetemp:
        folder = tempfile.TemporaryDirectory(prefix="miniapp-pytest-")
        config.add_cleanup(folder.cleanup)
        config.option.basetemp = Path(folder.name) / "tests"
    # A shell lets what runs in the background ignore some signals, nohup another; what tests start
    # would ignore them as well.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    config.addinivalue_line("markers", "kernels_that_read(name): of a dataset, a setting, `mask`")
    config.addinivalue_line("markers", "every_compiler: other compilers' builds repeat it")
    config.addinivalue_line("markers", "every_device: builds with offload repeat it, where it takes a device")
    config.addinivalue_line("markers", "every_gpu: builds for GPUs repeat it, where it takes a device")
    config.addinivalue_line("markers", "every_mpi: builds with another MPI, or with MPI and offload, repeat it")
    config.addinivalue_line("markers", "unsanitized(reason): not for a build with sanitizers, for a reason")


def pytest_generate_tests(metafunc):
    program = program_of(metafunc.config)
    if "kernel" in metafunc.fixturenames:
        kernels = program.kernels if program else []
        for mark in metafunc.definition.iter_markers("kernels_that_read"):
            kernels = [kernel for kernel in kernels if kernel.reads(*mark.args)]
        metafunc.parametrize("kernel", kernels, ids=str)
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", program.devices_to_test if program else [])


def pytest_collection_modifyitems(config, items):
    """The host's code of a build with offload is that of the build without, which has its tests: with
    --needs-device those of devices are left."""
    program = program_of(config)
    for item in items if program and program.is_sanitized else ():
        for mark in item.iter_markers("unsanitized"):
            item.add_marker(pytest.mark.skip(reason=mark.args[0]))
    if not config.getoption("--needs-device"):
        return
    of_devices = [item for item in items if {"device", "devices", "gpu"} & set(item.fixturenames)
                  and (program.offload != "emulated" or item.get_closest_marker("every_device")
                       or not item.get_closest_marker("every_gpu"))]
    config.hook.pytest_deselected(items=[item for item in items if item not in of_devices])
    items[:] = of_devices


class WithoutDevice(pytest.Module):
    """A file that is not even imported, since all its tests would be skipped."""

    def collect(self):
        pytest.skip("no GPU here, and what the host does other presets test", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    program = program_of(parent.config)
    if parent.config.getoption("--needs-device") and program.devices == ["cpu"]:
        return WithoutDevice.from_parent(parent, path=module_path)
    return None


@pytest.fixture(scope="module")
def basin():
    """A small ocean without ghosts: fields and settings."""
    values, settings = fields.make(12, 9, 6, seed=5)
    values |= fields.faces(values["maskT"], cyclic=False, halo=0)
    return {name: value for name, value in values.items() if name not in ("sample", "factor_a", "factor_b")}, settings


@pytest.fixture(scope="module")
def original(basin, tmp_path_factory):
    """Its file."""
    return write(tmp_path_factory.mktemp("plain") / "plain.h5", *basin, halo=0)


@pytest.fixture(scope="session")
def miniapp(request):
    program = program_of(request.config)
    if program is None:
        pytest.skip("there is no program to test: give --miniapp PATH or $MINIAPP")
    return program


@pytest.fixture(scope="session")
def devices(miniapp):
    """All that can be used here, the host first."""
    return miniapp.devices


@pytest.fixture(scope="session")
def gpu(devices):
    if "gpu" not in devices:
        pytest.skip("there is no gpu in this build, or here")
    return "gpu"


@pytest.fixture(scope="session")
def together(miniapp, tmp_path_factory):
    return Together(miniapp, tmp_path_factory.mktemp("together"))


@pytest.fixture(scope="module")
def ranks(miniapp, tmp_path_factory):
    from test_mpi import Ranks  # which imports this file
    return Ranks(miniapp, tmp_path_factory.mktemp("mpi"))


@pytest.fixture(scope="module")
def library(miniapp):
    """The functions of the package in python/ take the library of the build under test."""
    if miniapp.is_sanitized:
        pytest.skip("a sanitized library needs a sanitized Python")
    path = miniapp.path.parent.parent / "lib" / "libminiapp.so"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MINIAPP_LIBRARY", str(path))
        importlib.import_module("miniapp").library.default.cache_clear()
        yield path


@pytest.fixture(scope="session")
def ocean():
    """The fields and settings of a small ocean for all kernels, with ghosts."""
    return fields.make(11, 9, 6, seed=3)


@pytest.fixture(scope="session")
def small_file(tmp_path_factory, ocean):
    """The bytes of an input file of that ocean."""
    values, settings = ocean
    return write(tmp_path_factory.mktemp("ocean") / "small.h5", values, settings, halo=2).read_bytes()


@pytest.fixture(scope="session")
def reference_file(miniapp, tmp_path_factory, small_file):
    """Those of what the program makes of it, to be reproduced bit for bit."""
    folder = tmp_path_factory.mktemp("reference")
    path = folder / "reference.h5"
    (folder / "small.h5").write_bytes(small_file)
    miniapp.passes(folder / "small.h5", "--output", path)
    with h5py.File(path, "a") as file:
        for dataset in file.values():
            dataset.attrs.update(rtol=0.0, atol=0.0)
    return path.read_bytes()


@pytest.fixture(scope="session")
def small_checksums(miniapp, tmp_path_factory, small_file):
    """Those of what the program makes of it: reading a reference takes longer than making it."""
    path = tmp_path_factory.mktemp("checksums") / "small.h5"
    path.write_bytes(small_file)
    return miniapp.checksums(path)


@pytest.fixture(scope="session")
def of_each_shape(miniapp):
    """Inputs that differ in their axes or kinds, and a kernel that reads each: how a dataset is read
    depends on nothing else."""
    found = {}
    for kernel in miniapp.kernels:
        for dataset in kernel.new_inputs:
            kind = dataset.axes, dataset.is_mask, dataset.optional, dataset.name == "kbot"
            found.setdefault(kind, (dataset, kernel))
    return found.values()


@pytest.fixture
def small(tmp_path, small_file):
    """A new input file."""
    path = tmp_path / "small.h5"
    path.write_bytes(small_file)
    return path


@pytest.fixture
def reference(tmp_path, reference_file):
    """A new reference of it."""
    path = tmp_path / "reference.h5"
    path.write_bytes(reference_file)
    return path


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A Slurm of our own on this machine."""
    if missing := local_slurm.missing():
        pytest.skip(f"no {', '.join(missing)}: install slurmctld, slurmd and slurm-client")
    slurm = local_slurm.LocalSlurm(tmp_path_factory.mktemp("slurm"))
    if reason := slurm.start():
        pytest.skip(reason)
    yield slurm
    slurm.stop()
