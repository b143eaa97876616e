"""Several processes: the same bits as one, however the ocean is cut, and failures that all hear of."""

import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import miniapp as package
import random_inputs
from conftest import DEVICE, DONE, GRID, INPUT, LONG, OUTPUT, PACKAGE, QUICK, TROUBLE, USAGE, copied, replace, write
from oceans import CASES, Whole
from processes import Running, executable, library, wait_for, watch
from test_mock import mock  # noqa: F401, a fixture
from test_steps import ACC, with_tendencies
from test_variants import built

every_mpi = pytest.mark.every_mpi  # of what a device, another MPI or its launcher may do otherwise
ROUGH = GRID.parent / "rough.h5"
AT_REST = GRID.parent / "acc_rest.h5"
INPUTS = GRID, ACC, ROUGH, AT_REST
TOGETHER_S = 600  # only turns a hang of processes that wait for each other into a failure


def count(cut):
    along_x, along_y = cut.split("x")
    return int(along_x) * int(along_y)


# A process that waits sleeps for a moment each time that it has asked in vain: otherwise it would spin on
# a core that another process needs. Open MPI then yields its core, where it is told to; MPICH, which
# cannot be told, asks by another function.
IDLING = """
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>
int sched_yield(void)
{
    return nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}
unsigned ucp_worker_progress(void *worker)
{
    unsigned (*const progress)(void *) = (unsigned (*)(void *))dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned events = progress(worker);
    if (events == 0)
        sched_yield();
    return events;
}
"""


def unpacked(path, folder):
    """An input whose data are not compressed: to decompress them takes each process longer than to compute. Tests that
    change an input take the compressed one, as does who gives its name as a string."""
    plain = folder / path.name
    if not plain.exists():
        with h5py.File(path) as compressed, h5py.File(plain, "w") as file:
            file.attrs.update(compressed.attrs)
            for name, dataset in compressed.items():
                file[name] = dataset[...]
                file[name].attrs.update({key: value for key, value in dataset.attrs.items()
                                         if not key.isupper()})  # but for those of axes
                if h5py.h5ds.is_scale(dataset.id):
                    file[name].make_scale(dataset.attrs["NAME"])
            for name, dataset in compressed.items():
                for axis, own in zip(dataset.dims, file[name].dims):
                    for scale in axis.values():
                        own.attach_scale(file[scale.name])
    return plain


class Ranks:
    """The program, started by the launcher of the MPI that it is linked with. Processes that wait
    sleep: there may be more of them than cores, and other tests run beside them."""

    def __init__(self, miniapp, folder):
        libraries = subprocess.run(["ldd", miniapp.path], capture_output=True, text=True, check=True).stdout
        self.miniapp, self.folder, self.changes = miniapp, folder, {}
        self.is_mpich = "libmpich" in libraries
        if not self.is_mpich and "libmpi.so" not in libraries:
            pytest.skip("the program is built without MPI")
        self.idling = library(folder / "idling.so", "#define _GNU_SOURCE\n" + IDLING)
        self.launcher = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-x", f"LD_PRELOAD={self.idling}"]
        if self.is_mpich:
            self.launcher = ["mpirun.mpich", "-genv", "LD_PRELOAD", str(self.idling)]

    def command(self, ranks, *arguments, program=None):
        """Of so many ranks, or of a process that no launcher starts."""
        launcher = [*self.launcher, "-n", str(ranks)] if ranks else []
        arguments = [unpacked(word, self.folder) if word in INPUTS else word for word in arguments]
        return [*launcher, *map(str, program or [self.miniapp.path]), *map(str, arguments)]

    def environment(self):
        """Open MPI takes 0.2 s to look for networks that are not used within a node, and as long to start
        a daemon beside a process that has no launcher. Its launcher fails if another one, of another file
        of tests, removes their common folder just then, as the last of them does: each file has its own.
        Either MPI has hwloc look for PCI devices, which takes 20 ms in a virtual machine, and load plug-ins for GPUs
        with X11. Open MPI's launcher and MPICH's UCX set up ways to share memory of which one is enough."""
        return self.miniapp.environment({
            "OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_pml": "ob1", "OMPI_MCA_ess_singleton_isolated": "1",
            "OMPI_MCA_orte_tmpdir_base": str(self.folder), "HWLOC_COMPONENTS": "-pci,-linuxio",
            "HWLOC_PLUGINS_PATH": str(self.folder / "none"), "PMIX_MCA_gds": "hash", "UCX_TLS": "self,posix",
            **self.changes})

    def run(self, ranks, *arguments, program=None):
        return subprocess.run(self.command(ranks, *arguments, program=program),
                              env=self.environment(), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=TOGETHER_S,
                              check=False)

    def start(self, ranks, *arguments):
        return Running(self.command(ranks, "--verbose", *arguments), env=self.environment())

    def passes(self, cut, *arguments):
        """A run that is done without a word on stderr; what it printed. It is test_scaling.py that
        runs one rank by a launcher, which takes longer than most runs."""
        done = self.run(count(cut) if cut != "1x1" else 0, "--decompose", cut, *arguments)
        said = [line for line in own_lines(done.stderr) if "of a node share" not in line]
        assert done.returncode == DONE and not said, done
        assert not TROUBLE.search(done.stderr), done
        return done.stdout

    def fails(self, code, pattern, ranks, *arguments, program=None, or_codes=()):
        """Whatever the launcher says, one of the processes says why, in one line."""
        done = self.run(ranks, *arguments, program=program)
        assert done.returncode in (code, *or_codes), done
        lines = own_lines(done.stderr)
        assert len(lines) == 1 and re.search(pattern, lines[0]), done
        assert "median" not in done.stdout
        return done

    def checksums(self, cut, *arguments):
        results = json.loads(self.passes(cut, "--format", "json", "--checksums", *arguments))
        return {(entry["kernel"], entry["precision"], entry["variable"]): entry["sha256"]
                for entry in results["checksums"]}


def own_lines(text):
    return [line for line in text.splitlines() if line.startswith("miniapp: ")]


# ---- the same bits ----

MANY = 30 if LONG else 8  # the first step in which ghosts are others shows in all bits after it
ODD = ("--shape", "35x31x10")  # its blocks differ in size
WORK = {
    "kernels": ("-k", "all", *QUICK, "--precision", "float64,float32", *ODD, GRID),
    "cells": ("-k", "all", *QUICK, "--shape", "10x10x6", GRID),  # 4x1 has blocks of one column
    "external": ("-k", "surface_pressure,streamfunction", *QUICK, "--precision", "float64,float32", ROUGH),
    "steps": ("--steps", MANY, ACC),
    "eke": ("-k", "ocean_step_eke", "--steps", 5, *ODD, GRID),
    "one step": ("-k", "ocean_step_eke", *QUICK, ACC),
    "forced": ("-k", "ocean_step_forced", "--steps", 5, ACC),
    "ocean": ("--steps", 5, AT_REST),
    "surface": ("--steps", 3, "rough benchmark"),  # a free one above hills, with internal waves
    "frictions": ("--steps", 3, "--set", "enable_explicit_vert_friction=1", "--set", "enable_momentum_terms=1",
                  "eddies"),
    "tracers": ("-k", "ocean_step_eke", "--steps", 5, "--tracer", "dye=temp,age=salt",
                *ODD, GRID),
    "steps of cells": ("-k", "ocean_step_eke", "--steps", MANY, "--shape", "10x10x6", GRID),
}
# Cuts of each: 3x3 has a block between others along both axes, and 4x1 of cells has blocks as narrow as they can
# be, and one axis whole. Sequences differ in the fields that they exchange, which two blocks along each axis show.
# Each rank solves the external mode in a field gathered from all, whose number may be odd.
CUTS = {"kernels": ["3x3"], "steps of cells": ["4x1", "1x4"], "cells": ["4x1", "1x4"],
        "external": ["2x1", "2x2", "3x2"], "surface": ["3x2"],
        "ocean": ["2x2", *(["5x1", "1x7", "4x2"] if LONG else [])]}
MORE = ["2x1", "1x2", "2x2", "3x1", "1x3", "3x2", "3x3", "4x4", "6x2"] if LONG else []
# Work that holds all others': what a sequence exchanges depends neither on the device nor on the MPI.
BY_MPICH = ("kernels", "cells", "external", "ocean")


@pytest.fixture(scope="module", params=WORK)
def kind(request, ranks):
    if ranks.is_mpich and request.param not in BY_MPICH:
        ranks.miniapp.skip_repeat("Open MPI makes more sequences")
    if request.param == "eke":
        ranks.miniapp.leave_to_long("tracers step with the same sequence and grid, and exchange more")
    return request.param


@pytest.fixture(scope="module")
def work(kind, tmp_path_factory):
    """With the file of an ocean that Veros has stepped in place of its name."""
    return [Whole(word, tmp_path_factory.mktemp("whole")).path if word in CASES else word for word in WORK[kind]]


@pytest.fixture(scope="module")
def alone(ranks, work):
    """What one process makes, on each device."""
    return {device: ranks.checksums("1x1", "-d", device, *work) for device in ranks.miniapp.devices_to_test}


@every_mpi
def test_bits_do_not_depend_on_the_cut(ranks, kind, work, alone, device):
    for cut in ["2x2"] if ranks.is_mpich else sorted({*CUTS.get(kind, ["2x2"]), *MORE}):
        assert ranks.checksums(cut, "-d", device, *work) == alone[device], cut


@every_mpi
def test_bits_do_not_depend_on_when_ghosts_come(ranks, kind, work, alone, device):
    """Between kernels, in as many rounds as a block one cell wide takes."""
    if kind not in ("kernels", "ocean"):
        ranks.miniapp.skip_repeat("Open MPI overlaps more sequences")
    for cut in ["1x4", "4x1"] if "cells" in kind else ["2x2"]:
        assert ranks.checksums(cut, "--overlap", "-d", device, *work) == alone[device], cut


@every_mpi
def test_variants_make_the_same(ranks, device):
    """Also that which waits once, at the end of a sequence, though ghosts are sent before."""
    names = built(ranks.miniapp, device)[1:]
    if not names:
        pytest.skip("this build has no other variants: -DMINIAPP_VARIANTS=... adds some, as run/test does")
    for name in names:
        words = ("-d", device, "--variant", name, "--steps", 2, AT_REST)
        assert ranks.checksums("2x2", *words) == ranks.checksums("1x1", *words), name


def test_size_beyond_the_caches_of_all(ranks):
    """Those of each process, which share them here."""
    words = ("-k", "copy", "--size", "memory", *QUICK, "--format", "json", GRID)
    one, two = (json.loads(ranks.passes(cut, *words))["results"][0]["bytes"] for cut in ("1x1", "1x2"))
    assert two == pytest.approx(2 * one, rel=0.05)


def islands(path):
    """A basin with islands one cell wide, some of them where blocks meet."""
    import fields
    values, settings = fields.make(16, 14, 5, seed=11)
    for y, x in ((5, 9), (6, 9), (8, 8), (9, 7), (4, 4), (11, 13)):
        values["kbot"][y, x] = 0
        for name in ("maskT", "maskU", "maskV", "maskW"):
            values[name][:, y, x] = 0
        values["maskU"][:, y, x - 1] = 0
        values["maskV"][:, y - 1, x] = 0
    return write(path, values, settings, halo=2)


@pytest.mark.parametrize("cut", ["2x1", "2x2"])
def test_islands_across_cuts(ranks, tmp_path, device, cut):
    path = islands(tmp_path / "islands.h5")
    for kernels in ("all", "streamfunction"):
        words = ("-d", device, "-k", kernels, *QUICK, path)
        assert ranks.checksums(cut, *words) == ranks.checksums("1x1", *words)


def test_an_ocean_between_walls(ranks, tmp_path):
    """Without ghosts in its file, and of an odd number of columns."""
    with h5py.File(GRID) as file:
        values = {name: np.array(file[name]) for name in ("salt", "temp", "p")}
    path = write(tmp_path / "odd.h5", {**values, "salt": values["salt"][..., :-1, :-1],
                                       "temp": values["temp"][..., :-1, :-1]}, halo=0)
    words = ("-k", "eos", *QUICK, path)
    assert ranks.checksums("2x2", *words) == ranks.checksums("1x1", *words)


@every_mpi
def test_messages_from_the_memory_of_a_device(ranks, device, monkeypatch):
    """As where MPI takes a GPU's pointers; the emulated device's memory is the host's."""
    if device == "cpu":
        pytest.skip("the host's memory is the device's")
    words = ("-d", device, "-k", "ocean_step_eke", "--steps", 3, ACC)
    alone = ranks.checksums("1x1", *words)
    monkeypatch.setenv("MINIAPP_GPU_AWARE", "1")
    assert ranks.checksums("2x2", *words) == alone
    shown = re.sub(r"\n#? +", " ", ranks.passes("2x1", *words))  # where a line was too long
    assert "it sends from a GPU's memory" in shown


# What a runtime without pinned memory answers, as GCC's is.
UNPINNED = """
#include <stddef.h>
void *llvm_omp_target_alloc_host(size_t bytes, int device)
{
    (void)bytes;
    (void)device;
    return NULL;
}
"""


@every_mpi
def test_messages_without_pinned_memory(ranks, device, tmp_path):
    if device == "cpu":
        pytest.skip("the host's memory is the device's")
    unpinned = library(tmp_path / "unpinned.so", UNPINNED)
    done = ranks.run(2, "-d", device, "-k", "ocean_step_eke", "--steps", 3, ACC,
                     program=["env", f"LD_PRELOAD={unpinned}:{ranks.idling}", ranks.miniapp.path])
    assert done.returncode == DONE and not TROUBLE.search(done.stderr), done


@every_mpi
@pytest.mark.parametrize("more", [("--transfer", "each-call", GRID), ("--shape", "14x13x6", ACC)],
                         ids=["copied at each call", "resampled with ghosts"])
def test_ghosts_across_the_seam(ranks, device, more):
    """Those beyond the edge of a file come from the other side, before anything is run."""
    words = ("-d", device, "-k", "all", *QUICK, *more)
    assert ranks.checksums("2x1", *words) == ranks.checksums("1x1", *words)


@every_mpi
def test_ptx_on_the_mock_of_a_driver(ranks, mock, monkeypatch):  # noqa: F811
    """Of a build for NVIDIA's GPUs, `cmake --preset nvptx -DMINIAPP_MPI=ON`."""
    monkeypatch.setattr(ranks, "changes", mock.environment())
    for words in (("-k", "ocean_step_eke", "--steps", 3), ("-k", "all", *QUICK)):
        words = ("-d", "gpu", "--shape", "14x14x6", *words, GRID)
        alone = ranks.checksums("1x1", *words)
        assert all(ranks.checksums(cut, *words) == alone for cut in ("2x1", "1x2", "2x2"))


# ---- clients ----

CLIENT = f"""
import ctypes, os, re, sys
import numpy as np
mpi = ctypes.CDLL(os.environ["MINIAPP_LIBRARY"], ctypes.RTLD_GLOBAL)  # idling.so looks for MPICH's progress
mpi.MPI_Init(None, None)
import miniapp
rank, along_x, along_y = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]), *map(int, sys.argv[1:3])
whole = miniapp.load("{ACC}", "ocean", check=False)
nz, ny, nx = whole["temp"].shape
height, width = (ny - 4) // along_y, (nx - 4) // along_x
rows, columns = (slice(place * size, (place + 1) * size + 4)
                 for place, size in zip((rank // along_x, rank % along_x), (height, width)))

def own(name):
    along = dict(x=columns, y=rows)
    return whole[name][tuple(along.get(axis, slice(None)) for axis in whole.field(name).axes)]

def shared(device="cpu"):
    part = miniapp.State((nz, height + 4, width + 4), device, cyclic_x=True, check=False)
    part.share(along_x, along_y)
    for name in miniapp.settings():
        part.set_setting(name, whole.setting(name))
    for name in list(whole):
        part[name] = own(name)
    return part

part = shared()
"""


def run_client(ranks, cut, body, *words, program=()):
    """Runs the body after CLIENT, in a process for each block of the cut; returns what they print."""
    ranks.changes = {"PYTHONPATH": str(PACKAGE),
                     "MINIAPP_LIBRARY": str(ranks.miniapp.path.parent.parent / "lib/libminiapp.so")}
    done = ranks.run(count(cut), "-c", CLIENT + body + "mpi.MPI_Finalize()", *cut.split("x"), *words,
                     program=[*program, sys.executable])
    ranks.changes = {}
    assert done.returncode == DONE and not done.stderr, done.stderr
    return done.stdout


@every_mpi
def test_a_client_shares_an_ocean(ranks):
    """It starts MPI itself. After an exchange, ghosts along x, too, are those of the whole."""
    run_client(ranks, "2x2", """
for state in (whole, part):
    state.step(3, "ocean")
for name in ("temp", "salt", "tke", "u", "psi"):
    whole.exchange(name)
    part.exchange(name)
    assert np.array_equal(part[name][..., 2:-2, :], own(name)[..., 2:-2, :]), name
""")


# The library has no memory for its request of this number, counted from 1, of those larger than a block's plane.
LACKING = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
int lacking;
static int lacks(size_t bytes, void *caller)
{
    Dl_info of = {0};
    return bytes > 20000 && lacking > 0 && dladdr(caller, &of) && strstr(of.dli_fname, "libminiapp") && --lacking == 0;
}
#define OR_LACK(bytes, lack, memory) lacks(bytes, __builtin_return_address(0)) ? lack : memory
void *malloc(size_t bytes) { return OR_LACK(bytes, NULL, __libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { return OR_LACK(count * bytes, NULL, __libc_calloc(count, bytes)); }
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    return OR_LACK(bytes, MAP_FAILED, (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
"""


@pytest.mark.parametrize("call, place, what", [
    ('part.flow("ocean")', 1, "a level of the flow"),
    ("part.call(part.c.budgets_open, plan.sequence, budgets)", 1, "budgets"),
    ("part.call(part.c.budgets_close, plan.sequence, 1, budgets)", 2, "the work of forces"),
    ("part.call(part.c.budgets_close, plan.sequence, 1, budgets)", 3, "the work of forces")])
def test_a_client_of_which_one_rank_lacks_memory(ranks, tmp_path, call, place, what):
    """For its part in what the first process needs of the whole ocean: then both fail, and none waits."""
    lacking = library(tmp_path / "lacking.so", LACKING)
    said = run_client(ranks, "2x1", f"""
part.step(2, "ocean")
plan = part.steps["ocean"]
budgets = part.open_budgets(plan)
plan.advance()
ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[3]), "lacking").value = {place} * (rank == 1)
try:
    {call}
except miniapp.DeviceError as error:
    os.write(1, b"%a\\n" % str(error))  # at once, beside the other's
""", lacking, program=["env", f"LD_PRELOAD={lacking}:{ranks.idling}"])
    assert sorted(said.splitlines()) == [f"'out of memory for {what}'", "'process 1 failed'"]


def test_a_client_of_which_one_rank_lacks_memory_in_a_step(ranks, tmp_path):
    """For each of a first step's pieces of memory in turn: both fail. After that, a step is possible."""
    lacking = library(tmp_path / "lacking.so", LACKING)
    said = run_client(ranks, "2x1", """
lacking, failures, place = ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[3]), "lacking"), [], 0
while len(failures) == place:
    place, part = len(failures) + 1, shared()
    lacking.value = place * (rank == 1)
    try:
        part.step(1, "ocean")
    except miniapp.Error as error:
        failures.append(str(error))
    lacking.value = 0
    part.step(1, "ocean")
os.write(1, b"%a\\n" % sorted({re.split(" '|: ", error)[0] for error in failures}))
""", lacking, program=["env", f"LD_PRELOAD={lacking}:{ranks.idling}"])
    what = ("a gathered field", "a plan", "a snapshot", "an elliptic problem", "messages to other processes")
    own = ["device", "out of memory", *(f"out of memory for {each}" for each in what)]
    assert sorted(said.splitlines(), key=len) == ["['process 1 failed']", f"{own}"]


# A copy to or from the emulated device, whose memory is the host's: the one of this number, counted from 1, fails.
FAILING = """
#include <string.h>
int failing;
int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset, size_t from_offset, int there,
                      int here)
{
    (void)to_offset, (void)from_offset, (void)there, (void)here;
    return failing > 0 && --failing == 0 ? 1 : !memcpy(to, from, bytes);
}
"""


@every_mpi
@pytest.mark.parametrize("place", [1, 2], ids=["largest", "sums"])
def test_a_client_of_which_one_rank_cannot_fetch_sums(ranks, device, tmp_path, place):
    """Both fail, and after that a run is possible."""
    if ranks.miniapp.offload != "emulated":
        pytest.skip("needs a build with emulated offload")
    failing = library(tmp_path / "failing.so", FAILING)
    said = run_client(ranks, "2x1", f"""
part = shared("{device}")
part.step(1, "ocean")
part.run("advection_dissipation")  # with all ghosts
made = part["P_diss_adv"]
ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[3]), "failing").value = {place} * (rank == 1)
try:
    part.run("advection_dissipation")
except miniapp.DeviceError as error:
    os.write(1, b"%a\\n" % str(error).rpartition("' did")[-1])
part.run("advection_dissipation")
assert np.array_equal(part["P_diss_adv"], made)
""", failing, program=["env", f"LD_PRELOAD={failing}:{ranks.idling}"])
    assert sorted(said.splitlines()) == ['" not return \'sums\'"', "'process 1 failed'"]


@every_mpi
def test_a_client_of_which_one_rank_cannot_fetch_what_it_solved(ranks, device, tmp_path):
    """It alone fails, at its last copy: the solver's memory is not new in its next run, as it is in no other's."""
    if ranks.miniapp.offload != "emulated":
        pytest.skip("needs a build with emulated offload")
    failing = library(tmp_path / "failing.so", FAILING)
    said = run_client(ranks, "2x1", f"""
part, failing = shared("{device}"), ctypes.c_int.in_dll(ctypes.CDLL(sys.argv[3]), "failing")
part.step(1, "ocean")
part.run("streamfunction")
failing.value = most = 1000000
part.run("streamfunction")
failing.value, made = (most - failing.value) * (rank == 1), part["psi_taup1"]
""" + """
try:
    part.run("streamfunction")
except miniapp.DeviceError as error:
    os.write(1, b"%a\\n" % str(error))
part.run("streamfunction")
assert np.array_equal(part["psi_taup1"], made)
""", failing, program=["env", f"LD_PRELOAD={failing}:{ranks.idling}"])
    assert re.fullmatch(r"\"device '.*' did not take 'dpsi_taup1'\"\n", said), said


# ---- files ----

def attributes(dataset):
    """Their values, but for references to axes."""
    return {name: "" if name.isupper() else str(value) for name, value in dataset.attrs.items()}


def same_datasets(a, b):
    with h5py.File(a) as ours, h5py.File(b) as theirs:
        assert set(ours) == set(theirs)
        for name in ours:
            assert ours[name][...].tobytes() == theirs[name][...].tobytes(), name
            assert attributes(ours[name]) == attributes(theirs[name]), name
            assert ours[name].dtype == theirs[name].dtype, name
            assert ours[name].id.get_create_plist().equal(theirs[name].id.get_create_plist()), name


@every_mpi
@pytest.mark.parametrize("path", [GRID, ACC], ids=["without ghosts", "with ghosts"])
def test_the_output_is_that_of_one_process(ranks, tmp_path, device, path):
    if path == GRID:
        ranks.miniapp.skip_repeat("Open MPI's build writes files without ghosts")
    words = ("-d", device, "-k", "eos,isoneutral,tke", *QUICK, path)
    ranks.passes("1x1", *words, "-o", tmp_path / "one.h5")
    ranks.passes("2x2", *words, "-o", tmp_path / "four.h5")
    same_datasets(tmp_path / "one.h5", tmp_path / "four.h5")
    assert sorted(os.listdir(tmp_path)) == ["four.h5", "one.h5"]


@pytest.mark.parametrize("words", [
    ("-k", "triad", "--precision", "float32", "-s", 4096),
    ("-k", "triad", "--shape", "16400x12x5"),  # where a plane is no single chunk
], ids=["float32", "two chunks a plane"])
def test_other_outputs_are_those_of_one_process(ranks, tmp_path, words):
    words = (*words, *QUICK, GRID)
    ranks.passes("1x1", *words, "-o", tmp_path / "one.h5")
    ranks.passes("3x2", *words, "-o", tmp_path / "six.h5")
    same_datasets(tmp_path / "one.h5", tmp_path / "six.h5")


def test_a_reference_is_compared(ranks, device):
    reference = GRID.parent.parent / "validation" / "stored" / "grid"
    words = ("-d", device, "-k", "eos,isoneutral,tke", *QUICK, GRID, "--validate", reference, "--format", "json")
    one, four = (json.loads(ranks.passes(cut, *words))["validation"] for cut in ("1x1", "2x2"))
    assert one == four


@pytest.mark.parametrize("precision", ["float64", pytest.param("float32", marks=every_mpi)])
def test_steps_go_on_from_a_snapshot_of_other_blocks(ranks, tmp_path, device, precision):
    """Which brings no ghosts, so those at the seam are old while the flow is judged."""
    if device == "cpu":
        ranks.miniapp.skip_repeat("Open MPI's build goes on from snapshots")
        if precision == "float32":
            ranks.miniapp.leave_to_long("the build with MPICH goes on in it")
    words = ("-d", device, ACC, "-k", "ocean", "--precision", precision, "--every", 2)
    whole, end = tmp_path / "whole.nc", tmp_path / "end.nc"
    ranks.passes("1x1", *words, "--steps", 5, "-o", whole)
    ranks.passes("2x2", *words, "--steps", 4, "-o", end)
    same_datasets(tmp_path / "whole.000002.nc", tmp_path / "end.000002.nc")
    ranks.passes("2x1", *words, "--steps", 5, "-o", end, "--restart")
    same_datasets(whole, end)


@every_mpi
def test_forcing_means_and_chosen_fields_do_not_depend_on_the_cut(ranks, tmp_path, device):
    """Records of a cyclic ocean without ghosts, whose blocks lack ghosts along x once these are read."""
    if device == "cpu":
        ranks.miniapp.skip_repeat("Open MPI's build cuts records and means")
    path = tmp_path / "in.h5"
    with copied(GRID, path) as file:
        del file["forc_temp_surface"]
        file["forc_temp_surface"] = np.random.default_rng(3).uniform(-1e-5, 1e-5, (5, *file["kbot"].shape))
        file["forc_temp_surface"].attrs["period"] = 6 * 43200.0
    words = ("-d", device, path, "-k", "ocean_step", "--steps", 6, "--every", "4:temp,mxl")
    for cut, name in (("1x1", "one"), ("2x2", "four")):
        ranks.passes(cut, *words, "--average", "3:temp,forc_temp_surface", "-o", tmp_path / f"{name}.nc")
    for end in (".nc", ".000004.nc", ".state.nc", ".average.000003.nc", ".average.000006.nc"):
        same_datasets(tmp_path / f"one{end}", tmp_path / f"four{end}")
    ranks.passes("1x2", *words, "--restart", "-o", tmp_path / "four.nc")
    same_datasets(tmp_path / "one.nc", tmp_path / "four.nc")


def at_random(seed, path):
    """A small ocean at rest with switches on or off at random; the size of its interior."""
    draw, tables = random.Random(seed), package.library.default()
    is_cyclic = draw.random() < 0.5
    values = random_inputs.make_ocean(draw, seed, 0, is_cyclic)
    flow = {"u", "v", "w", "psi", "psi_taum1", "dpsi", "dpsi_taum1", "du_taum1", "dv_taum1"}
    settings = {name: draw.randint(0, 1) for name in tables.settings if name.startswith("enable_")}
    settings |= {"enable_implicit_vert_friction": 1, "K_hbi": 1e12, "K_h": 500.0, "A_hbi": 2e13, "A_h": 2e3,
                 "dt_mom": 300.0, "dt_tracer": 1200.0, "eq_of_state_type": draw.randint(1, 5)}
    write(path, {name: values[name] for name in set(values) & set(tables.reads("ocean")) - flow}, settings, halo=0,
          cyclic_x=int(is_cyclic))
    return values["kbot"].shape[::-1]


@pytest.mark.skipif(not LONG, reason="24 oceans on 4 cuts each: MINIAPP_TEST_LONG=1 runs them")
def test_oceans_at_random(ranks, library, tmp_path):  # pylint: disable=unused-argument
    """Whatever comes of them, fields and lines are those of one process, in one run and in two on different cuts."""
    ended = []
    for seed in range(24):
        folder = tmp_path / str(seed)
        folder.mkdir()
        nx, ny = at_random(seed, folder / "in.h5")
        fitting = [cut for cut in ("2x1", "1x2", "3x1", "1x3", "2x2", "3x2", "4x1") if
                   int(cut[0]) <= nx and int(cut[2]) <= ny] or ["1x1"]
        cuts = ["1x1", *random.Random(seed).choices(fitting, k=3)]

        def steps(place, count, *more):
            cut = cuts[place]
            return ranks.run(int(cut[0]) * int(cut[2]), "--decompose", cut, "-k", "ocean", "--steps", count,
                             "--every", 2, "--average", "2:temp,u", *more, folder / "in.h5")

        alone = steps(0, 4, "-o", folder / "0.nc")
        shared = steps(1, 4, "--overlap", "-o", folder / "1.nc")
        assert (alone.returncode, own_lines(alone.stderr)) == (shared.returncode, own_lines(shared.stderr)), seed
        ended.append(alone.returncode)
        if alone.returncode == DONE:
            assert steps(2, 2, "-o", folder / "2.nc").returncode == DONE, seed
            assert steps(3, 4, "--restart", "-o", folder / "2.nc").returncode == DONE, seed
            for end in (".nc", ".000002.nc", ".average.000002.nc", ".average.000004.nc"):
                same_datasets(folder / f"0{end}", folder / f"1{end}")
                same_datasets(folder / f"0{end}", folder / f"2{end}")
    assert ended.count(DONE) > 20


def test_steps_do_not_go_on_from_another_run(ranks, tmp_path):
    words = (ACC, "-k", "ocean_step_eke", "--every", 1, "-o", tmp_path / "end.nc")
    ranks.passes("2x1", *words, "--steps", 2)
    ranks.fails(INPUT, r"end\.000001\.nc: cannot continue from it: it was made with kappaH_min=2e-05, but this run has "
                "kappaH_min=10$", 2, *words, "--steps", 2, "--restart", "--set", "kappaH_min=10")


def test_budgets_do_not_depend_on_the_cut(ranks, tmp_path):
    """Nor on the tendencies that the file brings into the first step."""
    words = (with_tendencies(ACC, tmp_path / "in.h5"), "-k", "ocean_step_eke", "--tracer", "dye", "--steps", 2,
             "--format", "json")
    one, four = (json.loads(ranks.passes(cut, *words))["results"][0]["steps"] for cut in ("1x1", "2x2"))
    assert one["budgets"] == four["budgets"] and all(budget["kept"] for budget in one["budgets"])
    assert one["flow"] == four["flow"] and one["flow"]["divergence_below"] > 0


def test_the_first_cell_that_diverges_does_not_depend_on_the_cut(ranks, tmp_path):
    path = tmp_path / "in.h5"
    with copied(ACC, path) as file:
        file["w"][1, 35, 28] *= 2
    for count in (0, 4):
        ranks.fails(INPUT, r"cell \[1, 35, 28\] gains or loses", count, "--steps", 2, path)


@every_mpi
def test_a_streamfunction_that_is_absent(ranks, tmp_path, device):
    """The first process makes it from the flow of all, however that was rounded."""
    path = tmp_path / "in.h5"
    with copied(ACC, path) as file:
        del file["psi"], file["psi_taum1"]
        for each in ("u", "v"):
            file[each][...] = file[each][...].astype("f4")
    words = ("-d", device, "--steps", 2, path)
    assert ranks.checksums("2x2", *words) == ranks.checksums("1x1", *words)


def test_a_streamfunction_that_does_not_fit_in_one_block(ranks, tmp_path):
    path = tmp_path / "in.h5"
    with copied(ACC, path) as file:
        file["psi"][35, 28] *= 2
    for count in (0, 4):
        ranks.fails(INPUT, r"psi does not fit u and v: .* \[3[56], 2[89]\]", count, "--steps", 2, path)


@pytest.mark.parametrize("cut", ["1x4", "2x2"])
def test_ceilings_have_the_blocks_of_their_row(ranks, tmp_path, cut):
    """Where they have its grid, they have its state, too."""
    words = ("-k", "eos,fma", "--roofline", *QUICK, GRID)
    ranks.passes("1x1", *words, "-o", tmp_path / "one.h5")
    ranks.passes(cut, *words, "-o", tmp_path / "four.h5")
    same_datasets(tmp_path / "one.h5", tmp_path / "four.h5")


def test_progress_where_one_process_has_a_terminal(ranks):
    """All processes look for the largest velocity when it is to be shown."""
    terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
    script = ("case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 0) "
              f"set -- {sys.executable} -c '{terminal}' \"$@\";; esac; exec \"$@\"")
    words = ("--steps", 1, AT_REST)
    done = ranks.run(2, *words, program=["sh", "-c", script, "sh", ranks.miniapp.path])
    alone, seen = watch(ranks.command(0, *words), env=ranks.environment())
    shown, expected = (re.findall(r"step 1 of 1, 0:00 left, (\S+) m/s", text) for text in (done.stdout, seen))
    assert done.returncode == alone == DONE and len(shown) == 1 and shown == expected, done


# ---- processes that disagree ----

def at_home(ranks, folder, *options):
    """A program that each rank runs in a folder of its own, with options of its own."""
    cases = " ".join(f"{rank}) set -- {words} \"$@\";;" for rank, words in enumerate(options))
    script = (f"rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; cd {folder}/$rank; "
              f"case $rank in {cases} esac; exec {ranks.miniapp.path} \"$@\"")
    return ["sh", "-c", script, "sh"]


def change_a_value(file):
    """Far from the cells that blocks share, and no more than a rounding."""
    file["temp"][3, 5, 5] = np.nextafter(file["temp"][3, 5, 5], 100)


def widen(file):
    file["dzt"][3] += 1


def set_another(file):
    file.attrs["AB_eps"] = 0.3


def choose_another_sequence(file):
    """Without these, steps are those of tracers."""
    del file["psi"], file["surface_taux"]


@pytest.fixture(scope="module")
def copies(ranks, tmp_path_factory):
    """The folders of two ranks with a copy of an input each, which differ in nothing yet; and the run's words."""
    folder, words = tmp_path_factory.mktemp("copies"), ("--steps", 2, "--allow-divergent", "in.h5")
    for rank in "01":
        (folder / rank).mkdir()
        path = folder / rank / "in.h5"
        path.write_bytes(ACC.read_bytes())
        with h5py.File(path) as file:
            unpacked = {name: file[name][...] for name in ("dzt", "temp")}
        for name, values in unpacked.items():
            replace(path, name, values)  # so that a change keeps the size of the file
    done = ranks.run(2, *words, program=at_home(ranks, folder))
    assert done.returncode == DONE, done
    return folder, words


@pytest.mark.parametrize("change", [change_a_value, widen, set_another, choose_another_sequence])
def test_copies_of_the_input_that_differ(ranks, copies, change):
    """As stale ones on a node's own disk do."""
    folder, words = copies
    first, second = (folder / rank / "in.h5" for rank in "01")
    with copied(first, second) as file:
        change(file)
    ranks.fails(INPUT, "in.h5: process 1 has read another file of that name than the first$", 2, *words,
                program=at_home(ranks, folder))


def test_copies_of_a_snapshot_that_differ(ranks, tmp_path):
    """A node may hold one of an earlier run."""
    words = ("--steps", 2, "--every", 1, "-o", "end.h5", ACC)
    for rank in "01":
        (tmp_path / rank).mkdir()
    done = ranks.run(2, *words, program=at_home(ranks, tmp_path))
    assert done.returncode == DONE, done
    first, second = (tmp_path / rank / "end.000001.h5" for rank in "01")
    second.write_bytes(first.read_bytes())
    done = ranks.run(2, *words, "--restart", program=at_home(ranks, tmp_path))
    assert done.returncode == DONE, done
    with h5py.File(second) as file:
        temp = file["temp"][...]
    replace(second, "temp", temp + 3)
    ranks.fails(INPUT, "end.000001.h5: process 1 has read another file of that name than the first$", 2, *words,
                "--restart", program=at_home(ranks, tmp_path))


@pytest.mark.parametrize("options", [("--steps 2", "--steps 3"), ("--decompose 1x2", "--decompose 2x1")])
def test_options_that_differ(ranks, tmp_path, options):
    for rank in "01":
        (tmp_path / rank).mkdir()
    ranks.fails(USAGE, "process 1 has other options than the first", 2, "-k", "ocean_step", ACC,
                program=at_home(ranks, tmp_path, *options))


# ---- processes on the cores of a node ----

@every_mpi
def test_processes_that_crowd_on_one_core(ranks):
    """The OpenMP runtime of each binds its thread to the first core, where the launcher binds none."""
    siblings = "/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list"
    if len({Path(siblings.format(cpu)).read_text() for cpu in os.sched_getaffinity(0)}) < 2:
        pytest.skip("this machine has one core")
    ranks.changes = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}
    if ranks.is_mpich:
        ranks.launcher += ["-bind-to", "none"]
    done = ranks.run(2, "-k", "eos", *QUICK, GRID, "--format", "json")
    lines = own_lines(done.stderr)
    assert done.returncode == DONE and len(lines) == 1, done
    assert re.search("warning: 2 threads share a core, though 2 processes of this node have 2 threads on "
                     r"\d+ cores: bind each process", lines[0])
    ranks.changes = {"OMP_PROC_BIND": "false"}
    done = ranks.run(2, "-k", "eos", *QUICK, GRID)
    assert done.returncode == DONE and not own_lines(done.stderr), done


# ---- reports ----

@every_mpi
def test_one_process_prints(ranks):
    table = ranks.passes("2x2", "-k", "eos", *QUICK, GRID)
    assert table.count("times of calls") == 1
    assert re.search(r"2 x 2 blocks of at most 49 x 24 x 20 points", table)
    assert re.search(r"# processes +4\n", table)
    assert re.search(r"# mpi +\S.*; 4 of the processes on this node", table)
    assert ranks.run(2, "--help").stdout.count("Usage:") == 1


def test_a_report_says_how_processes_shared(ranks):
    results = json.loads(ranks.passes("2x1", "--steps", 3, "-k", "ocean_step_eke", ACC, "--format", "json"))
    shared = results["results"][0]["processes"]
    assert (shared["count"], shared["along_x"], shared["along_y"]) == (2, 2, 1)
    assert 0 < shared["exchange"] < 1 and 0 < shared["fastest"] <= 1 and shared["gather"] == 0


def test_a_report_says_what_gathering_costs(ranks):
    """It warns of more than a twentieth of a step, but not of a kernel that does nothing else."""
    said = r"^    (warning: )?gathering the whole ocean for the external mode took ([\d.]+) %$"
    for words, is_step in ((("--steps", 3, AT_REST), True), (("-k", "surface_pressure", *QUICK, ROUGH), False)):
        (warning, share), = re.findall(said, ranks.passes("2x1", *words), re.MULTILINE)
        assert float(share) > 0 and (float(share) == 5.0 or bool(warning) == (is_step and float(share) > 5))


def test_memory_of_a_process_falls(ranks):
    def held(cut):
        results = json.loads(ranks.passes(cut, "-k", "isoneutral", *QUICK, "--shape", "124x124x10",
                                          GRID, "--format", "json"))
        return results["results"][0]["device_bytes"]
    assert held("2x2") / held("1x1") == pytest.approx(64 * 64 / 124**2, rel=0.02)


def test_a_sweep_is_resumed(ranks, tmp_path):
    kept = tmp_path / "kept.json"
    words = ("-k", "eos", *QUICK, GRID, "--resume", kept)
    ranks.passes("2x1", *words, "-s", 4096)
    ranks.passes("2x1", *words, "-s", "4096,16384")
    results = json.loads(kept.read_text())["results"]
    assert [(row["nx"], row["processes"]["count"]) for row in results] == [(32, 2), (51, 2)]
    ranks.fails(INPUT, "cannot be resumed", 4, *words)
    ranks.fails(INPUT, "made with no overlap, but this run has overlap=ghosts are under way", 2, *words, "--overlap")


def test_a_sweep_with_ceilings_is_resumed(ranks, tmp_path):
    kept = tmp_path / "kept.json"
    words = (*QUICK, GRID, "--roofline", "-s", 4096, "--resume", kept)
    for kernels in ("eos", "eos,isoneutral"):
        ranks.passes("2x1", "-k", kernels, *words)
    names = [row["kernel"] for row in json.loads(kept.read_text())["results"]]
    assert sorted(set(names)) == ["eos", "fma", "isoneutral", "triad"]


# ---- failures ----

@every_mpi
def test_one_line_of_what_all_find(ranks, tmp_path):
    ranks.fails(USAGE, "--steps takes a whole number", 2, "--steps", "x", GRID)
    ranks.fails(INPUT, "No such file", 2, tmp_path / "none.h5")
    ranks.fails(USAGE, "--decompose 2x2 makes 4 blocks, but there are 2 processes", 2, "--decompose", "2x2", GRID)
    ranks.fails(USAGE, "--decompose takes two whole numbers", 2, "--decompose", "2", GRID)
    ranks.fails(USAGE, "3 processes cannot share 1 x 2 columns", 3, *QUICK, "--shape", "5x6x4", "-k", "eos", GRID)
    ranks.fails(USAGE, "'expsum' is a single number", 2, *QUICK, "-k", "expsum", GRID)
    ranks.fails(OUTPUT, "cannot be written", 2, "-k", "eos", *QUICK, GRID, "-o", tmp_path / "none" / "out.h5")


def test_one_line_of_what_is_found_before_a_run(ranks, tmp_path, monkeypatch):
    ranks.fails(INPUT, "none.h5", 2, tmp_path / "none.h5")
    monkeypatch.setattr(ranks, "changes", {"OMP_NUM_THREADS": "abc"})
    ranks.fails(USAGE, "OMP_NUM_THREADS is 'abc'", 2, GRID)
    ranks.fails(USAGE, "OMP_NUM_THREADS is 'abc'", 1, GRID)


def test_a_warning_of_any_part(ranks, tmp_path):
    """Faces in the north of the file that are closed between cells of water: a process counts those of its rows."""
    path = tmp_path / "closed.h5"
    with copied(ACC, path) as file:
        file["maskV"][:, -6, 10:14] = 0
    for words in ((GRID, 0), (path, 1)):
        done = ranks.run(2, "--decompose", "1x2", "-k", "isoneutral", *QUICK, words[0])
        warned = [line for line in own_lines(done.stderr) if "are closed between cells" in line]
        assert done.returncode == DONE and len(warned) == words[1], done
        first = "closed between cells of water in this part: the first is maskV[0, 40, 10]"
        assert all(first in line for line in warned)


def test_a_part_without_water(ranks, tmp_path):
    """It is no fault, but an ocean without any is odd."""
    path = tmp_path / "land.h5"
    path.write_bytes(ACC.read_bytes())
    with h5py.File(path) as file:
        masks = {name: file[name][...] for name in ("maskT", "maskU", "maskV", "maskW", "kbot")}
        north = len(file["dyt"]) // 3
    for southern, chosen, said in ((1, "isoneutral", 0), (0, "isoneutral", 1), (0, "all", 1)):
        for name, mask in masks.items():
            mask[..., north - (name == "maskV"):, :] = 0
            replace(path, name, mask * southern)
        done = ranks.run(2, "--decompose", "1x2", "-k", chosen, *QUICK, path)
        warned = [line for line in own_lines(done.stderr) if "all of the ocean is land" in line]
        assert done.returncode == DONE and len(warned) == said, done


def one_rank(folder, command):
    """A program that runs the command in place of the own one on rank 1."""
    script = folder / "one_rank"
    executable(script, f"""#!/bin/sh
if [ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ]; then
  {command}
fi
exec "$@"
""")
    return script


@every_mpi
def test_a_file_that_one_process_cannot_open(ranks, tmp_path):
    script = one_rank(tmp_path, f'exec "$1" "{tmp_path}/none.h5"')
    ranks.fails(INPUT, "none.h5: No such file", 2, GRID, program=[script, ranks.miniapp.path])


def test_a_file_in_which_one_process_finds_an_error(ranks, tmp_path):
    """In the northern block, by its place in the whole file."""
    path = tmp_path / "wrong.h5"
    with copied(ACC, path) as file:
        water = np.argwhere(file["maskT"][...] != 0)
        place = tuple(water[np.argmax(water[:, 1])])
        file["temp"][place] = 99
    ranks.fails(INPUT, re.escape(f"temp[{', '.join(map(str, place))}] is 99"), 2, *QUICK,
                "--decompose", "1x2", "-k", "eos", path)


def test_a_process_without_memory(ranks, tmp_path):
    if ranks.miniapp.is_sanitized:
        pytest.skip("a sanitizer takes more address space than any limit")
    script = one_rank(tmp_path, "ulimit -v 1200000")
    ranks.fails(DEVICE, "out of memory", 2, *QUICK, "-k", "isoneutral", "-s", "16M", GRID,
                program=[script, ranks.miniapp.path])


# ---- failures of writing ----

LARGE = ("-k", "triad", *QUICK, "--shape", "300x200x40", GRID)  # 20 MB; MPI's own files are less


def some_ranks(folder, condition, command):
    """A program that runs the command in place of the own one, or before it, on some ranks."""
    script = folder / "some_ranks"
    executable(script, f"""#!/bin/sh
rank="${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}"
if [ {condition} ]; then
  {command}
fi
exec "$@"
""")
    return script


@every_mpi
@pytest.mark.parametrize("condition", ['"$rank" -ge 0', '"$rank" = 0'], ids=["all", "the first"])
def test_data_that_cannot_be_written(ranks, tmp_path, condition):
    """The first process writes, and the others learn that it could not."""
    script = some_ranks(tmp_path, condition, "trap '' XFSZ; ulimit -f 32768")
    folder = tmp_path / "out"
    folder.mkdir()
    ranks.fails(OUTPUT, "out.h5: cannot be written: ", 3, *LARGE, "-o", folder / "out.h5",
                program=[script, ranks.miniapp.path])
    assert not os.listdir(folder)


# One process has ended, and so the launcher ends the other one, which is not quite as far.
LATE = """
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>

int MPI_Finalize(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        raise(SIGTERM);
    return PMPI_Finalize();
}
"""


@every_mpi
@pytest.mark.parametrize("code, said, words", [(USAGE, "unknown option", ["--frobnicate"]),
                                               (INPUT, "absent.h5: No such file", ["absent.h5"])])
def test_a_process_that_is_ended_late(ranks, tmp_path, code, said, words):
    """It ends with the code of the failure that it has in common with the others. They have said why.

    Open MPI's launcher sends SIGTERM to the others. MPICH's may kill them, and its own exit code is then that of
    SIGKILL or of SIGHUP, whichever it sees first."""
    compiler = "mpicc.mpich" if ranks.is_mpich else "mpicc.openmpi"
    (tmp_path / "late.c").write_text(LATE)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", tmp_path / "late.so", tmp_path / "late.c"], check=True)
    script = tmp_path / "ended_late"
    executable(script, f"""#!/bin/sh
LD_PRELOAD="{tmp_path / 'late.so'}:{ranks.idling}" "$@"
code=$?
[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" != 1 ] || echo $code >"{tmp_path}/code"
exit $code
""")
    ranks.fails(code, said, 2, *words, program=[script, ranks.miniapp.path],
                or_codes=(signal.SIGKILL, signal.SIGHUP) if ranks.is_mpich else ())
    assert int((tmp_path / "code").read_text()) == code


def assert_disk_is_full(ranks, folder, *words, program=None):
    """Of 4 MB."""
    done = subprocess.run(["unshare", "--mount", "sh", "-c",
                           'mount -t tmpfs -o size=4M tmpfs "$0" || exit 77; "$@"; code=$?; '
                           'ls -A "$0"; exit $code',
                           folder, *ranks.command(2, *words, "-o", folder / "out.nc", program=program)],
                          env=ranks.environment(), capture_output=True, text=True, check=False,
                          timeout=TOGETHER_S)
    if done.returncode in (1, 77) and "mount" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == OUTPUT and not done.stdout, done
    assert len(own_lines(done.stderr)) == 1 and "No space left" in done.stderr, done


@pytest.mark.parametrize("words", [LARGE, (GRID, "--shape", "132x68x20", "--steps", 2, "--every", 1)],
                         ids=["output", "snapshot"])
def test_a_full_disk(ranks, tmp_path, words):
    """A snapshot has more fields after the one that does not fit."""
    assert_disk_is_full(ranks, tmp_path, *words)


# Writes to stderr until a process is gone whose number a file tells, and holds nothing else of its parent.
WRITER = """
import subprocess
subprocess.Popen(["sh", "-c", 'until [ -s "$0" ]; do :; done; read -r other <"$0"; '
                  'while kill -0 "$other" 2>/dev/null; do echo; done >&2', "{}"],
                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
"""


@every_mpi
def test_a_full_disk_whose_output_ends_late(ranks, tmp_path):
    """MPICH's launcher counts the end of a process that it has killed itself, if the output of another one goes
    on until then: it looks for ends whenever there is output."""
    disk, first, other = (tmp_path / name for name in ("disk", "first", "other"))
    for folder in (disk, first, other):
        folder.mkdir()
    (first / "writer.py").write_text(WRITER.format(other / "pid"))
    writes = some_ranks(first, '"$rank" = 0', f'"{sys.executable}" "{first}/writer.py"')
    tells = some_ranks(other, '"$rank" = 1', f'echo $$ >"{other}/pid"')
    assert_disk_is_full(ranks, disk, *LARGE, program=[tells, writes, ranks.miniapp.path])


def test_another_build_on_one_process(ranks, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(ranks.miniapp.path.read_bytes().replace(b"Release", b"Rel..se"))
    other.chmod(0o755)
    script = one_rank(tmp_path, f'shift; exec "{other}" "$@"')
    ranks.fails(USAGE, "process 1 runs another build", 2, *QUICK, "-k", "eos", GRID,
                program=[script, ranks.miniapp.path])


# ---- signals ----

def children(launcher):
    """The processes of the run, by rank."""
    found = {}
    for folder in os.listdir("/proc"):
        if folder.isdigit():
            try:
                words = open(f"/proc/{folder}/environ", "rb").read().split(b"\0")
                command = open(f"/proc/{folder}/cmdline", "rb").read()
            except OSError:
                continue
            names = dict(word.split(b"=", 1) for word in words if b"=" in word)
            rank = names.get(b"OMPI_COMM_WORLD_RANK", names.get(b"PMI_RANK"))
            if rank is not None and b"miniapp" in command and \
                    names.get(b"MINIAPP_TEST_RUN") == str(launcher).encode():
                found[int(rank)] = int(folder)
    return found


@pytest.fixture
def endless(ranks, tmp_path, monkeypatch):
    """Steps on two processes, more than any test waits for; and the processes."""
    monkeypatch.setenv("MINIAPP_TEST_RUN", str(tmp_path))
    with ranks.start(2, "--steps", 10**6, ACC, "--every", 2, "-o", tmp_path / "end.nc", "--format", "json") as run:
        wait_for(lambda: list(tmp_path.glob("end.00*.nc")), run)
        yield run, wait_for(lambda: (found := children(tmp_path)) and len(found) == 2 and found, run)


@every_mpi
@pytest.mark.parametrize("rank", [0, 1])
def test_a_signal_to_one_process_ends_all_in_order(endless, rank):
    run, found = endless
    os.kill(found[rank], signal.SIGUSR1)
    output = run.communicate(timeout=TOGETHER_S)[0]
    assert run.returncode != DONE
    assert json.loads(output)["interrupted"] == "SIGUSR1"
    lines = [line for line in own_lines(run.said()) if "ended by" in line]
    assert len(lines) == 1 and "--restart continues from" in lines[0], run.said()


@every_mpi
def test_a_process_that_is_killed_ends_all(endless, tmp_path):
    run, found = endless
    os.kill(found[1], signal.SIGKILL)
    run.communicate(timeout=TOGETHER_S)
    assert run.returncode != DONE
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in found.values()))
    for path in tmp_path.glob("end*"):
        with h5py.File(path) as snapshot:  # it has its place, so it is whole
            assert "temp" in snapshot and path.name != "end.nc"
