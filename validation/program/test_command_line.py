"""Options: what is refused, how, and what the listings say."""

import json
import math
import os
import re
import resource
import shutil
import subprocess
from pathlib import Path

import h5py
import pytest

from conftest import DEVICE, DONE, INPUT, OUTPUT, QUICK, USAGE, assert_one_line
from processes import completed

# Veros's names: the settings that --set knows
SETTINGS = {"start_time": 0, "enable_wind_mixing": 0, "enable_interior_forcing": 0,
            "eq_of_state_type": 3, "iso_slopec": 1e-3, "iso_dslope": 1e-3, "K_iso_steep": 50,
            "dt_tracer": 1, "dt_mom": 1, "AB_eps": 0.1, "alpha_tke": 1, "c_eps": 0.7,
            "K_h_tke": 2000, "clamp_enthalpy": 1, "tke_mxl_choice": 1, "mxl_min": 1e-12, "c_k": 0.1,
            "kappaM_min": 0, "kappaM_max": 100, "kappaH_min": 0, "enable_kappaH_profile": 0,
            "enable_Prandtl_tke": 1, "Prandtl_tke0": 10, "enable_tke_hor_diffusion": 1,
            "enable_tke_superbee_advection": 1, "enable_tke_upwind_advection": 0, "enable_eke": 0,
            "enable_store_cabbeling_heat": 0, "enable_conserve_energy": 1,
            "pyom_compatibility_mode": 1, "enable_superbee_advection": 0, "t_ice": -1000, "alpha_eke": 1,
            "eke_c_eps": 1, "eke_c_k": 1, "eke_crhin": 1, "eke_cross": 1, "eke_k_max": 10000,
            "eke_lmin": 100, "enable_eke_isopycnal_diffusion": 0, "enable_eke_superbee_advection": 0,
            "enable_eke_upwind_advection": 0, "K_gm_0": 0, "K_iso_0": 0,
            "enable_streamfunction": 1, "enable_implicit_vert_friction": 0, "enable_hor_friction": 0, "A_h": 0,
            "enable_hor_friction_cos_scaling": 0, "hor_friction_cosPower": 3, "enable_noslip_lateral": 0,
            "enable_biharmonic_friction": 0, "A_hbi": 0, "biharmonic_friction_cosPower": 0,
            "enable_tke": 1, "kappaM_0": 0, "kappaH_0": 0, "enable_neutral_diffusion": 1, "enable_skew_diffusion": 1,
            "enable_explicit_vert_friction": 0, "enable_TEM_friction": 0,
            "enable_hor_diffusion": 0, "K_h": 0, "enable_biharmonic_mixing": 0, "K_hbi": 0,
            "enable_ray_friction": 0, "r_ray": 0, "enable_bottom_friction": 0, "r_bot": 0,
            "enable_bottom_friction_var": 0, "enable_quadratic_bottom_friction": 0, "r_quad_bot": 0,
            "enable_idemix": 0, "tau_v": 172800, "tau_h": 1296000, "gamma": 1.57, "jstar": 5, "mu0": 1 / 3,
            "enable_idemix_hor_diffusion": 0, "enable_idemix_superbee_advection": 0,
            "enable_idemix_upwind_advection": 0, "enable_eke_diss_bottom": 0, "enable_eke_diss_surfbot": 0,
            "eke_diss_surfbot_frac": 1, "enable_store_bottom_friction_tke": 0,
            "enable_momentum_sources": 0, "enable_momentum_terms": 0, "enable_eddy_streamfunction": 0,
            "solver_tolerance": 1e-10}


# ---- numbers ----

NO_NUMBERS = ["-1", "12x", "", " ", "nan", "inf", "0x10", "1.5", "1e30", "1e", "1.000.000", "+",
              "99999999999999999999999", "1e-3", "--"]


@pytest.mark.parametrize("option", ["--size", "--repetitions", "--threads"])
@pytest.mark.parametrize("value", ["0", *NO_NUMBERS])
def test_counts(miniapp, small, option, value):
    miniapp.fails(USAGE, f"{option} takes a whole number from 1 to .*, not '{value}'".replace(
        "+", r"\+"), small, f"{option}={value}", quick=False)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_burnin(miniapp, small, value):
    miniapp.fails(USAGE, "--burnin takes a whole number from 0", small, f"--burnin={value}", quick=False)


@pytest.mark.parametrize("option, expected", [
    ("--size", r"from 1 to 1e\+15, such as 64Ki or 1\.5M, or memory, not 'x'"),
    ("--steps", r"from 1 to 1e\+09, such as 64Ki or 1\.5M, not 'x'"), ("--threads", "from 1 to 4096, not 'x'")])
def test_what_counts_may_be(miniapp, small, option, expected):
    miniapp.fails(USAGE, f"{option} takes a whole number {expected}", small, f"{option}=x", quick=False)


def test_short_options_refuse_too(miniapp, small):
    for option in ("-s", "-r", "-t"):
        miniapp.fails(USAGE, "takes a whole number", small, option, "-5", quick=False)


def test_number_of_calls(miniapp, small):
    for text, calls in (("3", 3), ("1e1", 10), ("007", 7)):
        result = miniapp.json(small, "-r", text, "--burnin", "2")
        assert all(row["calls"] == calls for row in result["results"])


def test_calls_are_chosen_by_the_time_they_take(miniapp, small):
    row, = miniapp.json(small, "-k", "eos", quick=False)["results"]
    assert row["calls"] >= 5


@pytest.mark.parametrize("size", [1, 7, 8])
def test_size_too_small_for_ghosts(miniapp, small, size):
    miniapp.fails(USAGE, f"--size {size} makes .* too few", small, "--size", size)


@pytest.mark.parametrize("size", [16, 125, 343, 1000, 1001, 4096, 16384, 2**15, 2**16])
def test_shape_of_a_size(miniapp, small, size):
    """The formula of pyhpc-benchmarks, in Python as there: a power, not a cube root."""
    row, = miniapp.json(small, "-k", "eos", "--size", size)["results"]
    horizontal = math.ceil(2 * size ** (1 / 3))
    vertical = math.ceil(0.25 * size ** (1 / 3))
    assert (row["nx"], row["ny"], row["nz"]) == (horizontal, horizontal, vertical)
    assert row["points"] == horizontal * horizontal * vertical


# ---- names ----

@pytest.mark.parametrize("option, value, kind, closest", [
    ("--kernel", "eso", "kernel", "eos"), ("-k", "EOS", "kernel", "eos"),
    ("--kernel", "al", "kernel", "all"), ("-k", "ocean_ste", "kernel", "ocean_step"),
    ("--device", "gpus", "device", "gpu"),
    ("--device", "CPU", "device", "cpu"), ("-d", "gpu:", "device", "gpu"),
    ("-d", "gpu:x", "device", "gpu:0"), ("-d", "gpu:-1", "device", "gpu:0"),
    ("-d", "gpu:1x", "device", "gpu:0"), ("-d", "gpu:99999999999999999999", "device", "gpu"),
    ("-d", "aut", "device", "auto"), ("--precision", "float46", "precision", "float64"),
    ("--precision", "float3", "precision", "float32"), ("--format", "jso", "format", "json"),
    ("--format", "tabel", "format", "table"), ("--format", "cvs", "format", "csv"),
    ("--set", "iso_slope=1", "setting", "iso_slopec"), ("--set", "dt_mon=1", "setting", "dt_mom"),
    ("--set", "ceps=1", "setting", "c_eps"),
])
def test_unknown_names_get_the_closest(miniapp, small, option, value, kind, closest):
    message = miniapp.fails(USAGE, f"unknown {kind} '.*'; the closest is '{closest}'", small, option, value)
    assert value.split("=")[0] in message


@pytest.mark.parametrize("option, value, said", [
    ("-k", "foo", "kernel 'foo'; --list-kernels names all"), ("-k", "", "kernel ''; --list-kernels names all"),
    ("--format", "xml", "format 'xml'; expected table, json or csv"),
    ("--transfer", "never", "transfer 'never'; expected once or each-call"),
    ("-d", "", "device ''; expected cpu, auto, gpu, nvidia, amd, emulated or gpu:0"),
    ("--set", "=1", "setting ''; --list-kernels names those of each kernel, docs/input.md names all"),
    ("--set", "x" * 5000 + "=1", "setting '" + "x" * 60),
    ("-k", "triad:b=foo", "field 'foo'"),
])
def test_unknown_names_get_no_name_that_is_far(miniapp, small, option, value, said):
    assert "closest" not in miniapp.fails(USAGE, f"unknown {said}", small, option, value, max_line=10000)


@pytest.mark.parametrize("option, closest", [
    ("--kernels", "kernel"), ("--devise", "device"), ("--outptu", "output"),
    ("--validte", "validate"), ("--threds=2", "threads"), ("--burn-in=1", "burnin"),
    ("--help-me", "help"), ("--s", "set"),
])
def test_unknown_options_get_the_closest(miniapp, small, option, closest):
    """Wherever it stands."""
    for words in ([option, small], [small, option], ["-k", "eos", option, small]):
        miniapp.fails(USAGE, f"unknown option '{option}'; the closest is '--{closest}'\n", *words)


@pytest.mark.parametrize("option", ["-z", "-zr", "--foo"])
def test_unknown_options_that_are_far_from_all(miniapp, small, option):
    miniapp.fails(USAGE, f"unknown option '{option}'; --help lists all\n", small, option)


@pytest.mark.parametrize("says, count", [
    ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0", "SLURM_STEP_NUM_TASKS": "3"}, 2),
    ({"PMI_SIZE": "4", "PMI_RANK": "0"}, 4),
    ({"SLURM_STEP_NUM_TASKS": "3", "SLURM_PROCID": "0"}, 3),
    ({"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1", "SLURM_STEP_NUM_TASKS": "3"}, None),
    ({"SLURM_STEP_NUM_TASKS": "3", "SLURM_PROCID": "2"}, None),
    ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, None),
    ({"SLURM_NTASKS": "8", "SLURM_PROCID": "0"}, None),  # a job's script, without srun
])
def test_several_processes_of_a_build_without_mpi(miniapp, small, says, count):
    if "libmpi" in subprocess.run(["ldd", miniapp.path], capture_output=True, text=True, check=True).stdout:
        pytest.skip("the program is built with MPI")
    miniapp.passes("-k", "eos", small, env=says,
                   warning=count and f"{count} processes were started, but the program is built without MPI")


def test_help_names_all_devices_and_exit_codes(miniapp):
    text = " ".join(miniapp.passes("--help", quick=False).split())
    devices = text.partition("--device=NAME")[2].partition("--")[0]
    codes = text.partition("Exit status:")[2]
    assert all(re.search(rf"\b{name}\b", devices) for name in ("cpu", "auto", "gpu:N", "nvidia", "amd", "emulated"))
    assert all(re.search(rf"\b{code}\b", codes) for code in (0, 1, 2, 3, 4, 5, 130, 143))
    assert "netCDF-4" in text.partition("--output=FILE")[2].partition("--")[0]


@pytest.mark.parametrize("option", ["--kernel", "--device", "--output", "--validate", "--size",
                                    "--repetitions", "--burnin", "--threads", "--precision",
                                    "--set", "--format", "-k", "-d", "-o", "-s", "-r", "-t"])
def test_option_without_a_value(miniapp, small, option):
    miniapp.fails(USAGE, "--[a-z]+ takes a value", small, option, quick=False)


@pytest.mark.parametrize("option", ["--list-kernels=x", "--allow-nonfinite=1", "--help=x"])
def test_value_without_need(miniapp, small, option):
    miniapp.fails(USAGE, f"{option.split('=')[0]} takes no value", small, option)


def test_one_input_is_needed(miniapp, small):
    miniapp.fails(USAGE, "an input file is needed")
    miniapp.fails(USAGE, "one input is read, but .*small", small, small)
    miniapp.fails(USAGE, "one input is read", small, "--", "other.h5")


def test_empty_input_path(miniapp):
    miniapp.fails(INPUT, "No such file", "")


@pytest.mark.parametrize("text", ["c_eps", "c_eps=", "c_eps=x", "c_eps=1x", "", "c_eps=1 ", "c_eps=,"])
def test_set_takes_name_and_number(miniapp, small, text):
    miniapp.fails(USAGE, "--set takes NAME=VALUE", small, "--set", text)


@pytest.mark.parametrize("text", ["eq_of_state_type=0", "eq_of_state_type=6", "dt_mom=0",
                                  "eq_of_state_type=2.5", "dt_tracer=-1", "c_eps=nan",
                                  "c_eps=inf", "K_h_tke=1e999", "iso_dslope=0",
                                  "alpha_tke=1e38", "AB_eps=-11", "iso_slopec=101"])
def test_set_checks_ranges(miniapp, small, text):
    name = text.split("=")[0]
    miniapp.fails(USAGE, f"--set: setting '{name}' is .*, but must be ", small, "--set", text)


def test_every_setting_can_be_set(miniapp, small):
    """Those that only choose steps of a sequence are set where it runs, as test_ocean.py does."""
    read = {name for kernel in miniapp.kernels for name in kernel.settings}  # any other is a warning
    words = [word for name, value in SETTINGS.items() if name in read for word in ("--set", f"{name}={value}")]
    kernels = ",".join(kernel.name for kernel in miniapp.kernels)
    assert miniapp.json(small, "-k", kernels, *words)["settings"] == pytest.approx(SETTINGS)


def test_settings_of_kernels_are_known_with_their_defaults(miniapp):
    listing = miniapp.passes("--list-kernels")
    for kernel in miniapp.kernels:
        for name in kernel.settings:
            assert float(re.search(rf"setting {name} +\[([^]]+)\]", listing)[1]) == SETTINGS[name]


@pytest.mark.parametrize("option", ["kernel", "device", "size"])
def test_many_repeats(miniapp, small, option):
    value = {"kernel": "eos", "device": "cpu", "size": "1000"}[option]
    words = [f"--{option}={value}"] * 65  # named again, it is still one
    assert len(miniapp.json(small, "-k", "eos", *words)["results"]) == 1


def test_many_sizes(miniapp, small):
    words = [f"--size={edge**3}" for edge in range(8, 73)]
    miniapp.fails(USAGE, "more than 64 times", small, *words)


def test_options_that_exclude_each_other(miniapp, small, reference, tmp_path):
    output = tmp_path / "output.h5"
    miniapp.fails(USAGE, "--validate", small, "--validate", reference, "--size", "1000")
    for pair in (["--size=1000", "--size=2000"], ["--precision=float32", "--precision=float64"],
                 ["--threads=1", "--threads=2"], ["--size=memory", "-k", "eos,tke"]):
        miniapp.fails(USAGE, "--output holds one run", small, "--output", output, *pair)
    assert not output.exists()


# ---- listings ----

@pytest.mark.parametrize("option", ["--version", "-V", "--help", "-?", "--list-kernels",
                                    "--list-devices", "--list-variants"])
def test_listings(miniapp, option):
    assert len(miniapp.passes(option, quick=False).splitlines()) >= 2


@pytest.mark.parametrize("option", ["--version", "--help", "--list-kernels", "--list-devices", "--list-variants"])
def test_listings_that_nobody_gets(miniapp, option):
    with open("/dev/full", "w") as full:
        miniapp.fails(OUTPUT, "No space left", option, quick=False, stdout=full)


def test_help_names_every_option(miniapp):
    text = miniapp.passes("--help", quick=False)
    for option in ("kernel", "device", "output", "validate", "size", "repetitions", "burnin",
                   "threads", "precision", "set", "format", "list-kernels", "list-devices",
                   "variant", "list-variants",
                   "version", "help", "allow-nonfinite", "allow-invalid"):
        assert f"--{option}" in text
    for code in range(6):
        assert f"{code} " in text


def test_version_names_the_build(miniapp):
    lines = miniapp.passes("--version", quick=False).splitlines()
    assert lines[0].startswith("miniapp ")
    names = [line.split()[0] for line in lines[1:]]
    assert names == ["git_commit", "build_type", "compiler", "flags", "offload_target", "hdf5_version"]


def test_list_of_kernels_is_complete(miniapp, ocean):
    """Every dataset and setting that it names is one of the interface's, and eos is there."""
    assert "eos" in [kernel.name for kernel in miniapp.kernels]
    for kernel in miniapp.kernels:
        assert kernel.inputs and kernel.outputs
        for dataset in kernel.inputs:
            assert dataset.name in ocean[0], f"fields.py does not know {dataset.name}"
            assert len(dataset.axes) == ocean[0][dataset.name].ndim
    eos = next(kernel for kernel in miniapp.kernels if kernel.name == "eos")
    assert [(d.name, d.axes, d.units, d.optional) for d in eos.inputs] == [
        ("salt", ("z", "y", "x"), "g kg-1", False), ("temp", ("z", "y", "x"), "degC", False),
        ("p", ("z",), "dbar", True)]
    assert [(d.name, d.units) for d in eos.outputs] == [("dHdT", "J kg-1 K-1")]


@pytest.mark.unsanitized("valgrind cannot run a sanitized program")
def test_processor_that_lacks_a_feature(miniapp, small):
    """valgrind's processor has no AVX-512; -march=native may have asked for it."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is missing")
    done = completed(["valgrind", "-q", *miniapp.command(*QUICK, "-k", "eos", small)], env=miniapp.environment())
    if " avx512f " not in Path("/proc/cpuinfo").read_text():
        assert done.returncode == DONE, done
        return
    assert done.returncode == DEVICE and not done.stdout, done
    assert re.search("^miniapp: device 'cpu' cannot be used: this build is for a processor with "
                     "avx512f, which this one lacks", done.stderr)


# ---- threads ----

def threads_of(result):
    return int(result["provenance"]["threads"])


def test_threads(miniapp, small):
    cpus = len(os.sched_getaffinity(0))
    environment = {"OMP_NUM_THREADS": None}
    assert threads_of(miniapp.json(small, "--threads", "1")) == 1
    assert threads_of(miniapp.json(small, env=environment)) == cpus


def test_affinity(miniapp, small):
    """taskset, Slurm and others grant CPUs by a mask."""
    result = miniapp.json(small, env={"OMP_NUM_THREADS": None},
                          preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    assert threads_of(result) == 1


@pytest.fixture
def one_cpu_group():
    """A control group that grants one CPU's worth of time, of version 2 or 1; where root may."""
    for root, files in (("/sys/fs/cgroup", {"cpu.max": "100000 100000"}),
                        ("/sys/fs/cgroup/cpu", {"cpu.cfs_period_us": "100000",
                                                "cpu.cfs_quota_us": "100000"})):
        group = Path(root) / f"miniapp-test-{os.getpid()}"
        if not (Path(root) / "cgroup.procs").exists():
            continue  # no such hierarchy is mounted there
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            for name, text in files.items():
                (group / name).write_text(text)
            yield group
            return
        except OSError:
            continue
        finally:
            group.rmdir()
    pytest.skip("no control group with a quota of CPU time can be made here")


def test_quota_of_cpu_time(miniapp, small, one_cpu_group):
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("there is one CPU only")

    def enter():
        (one_cpu_group / "cgroup.procs").write_text(str(os.getpid()))

    assert threads_of(miniapp.json(small, env={"OMP_NUM_THREADS": None}, preexec_fn=enter)) == 1
    done = miniapp.run(*QUICK, small, "-t", "2", preexec_fn=enter)
    assert re.search("warning: 2 threads share the 1 CPU", done.stderr)


@pytest.mark.parametrize("value, code", [
    ("", DONE), ("1", DONE), (" 1 , 2", DONE), ("abc", USAGE), ("0", USAGE), ("-1", USAGE),
    ("4,", USAGE), ("4 2", USAGE), ("1,0", USAGE), ("4097", USAGE),
    ("4294967297", USAGE), ("99999999999", USAGE), ("9" * 40, USAGE)])
def test_threads_of_the_environment_are_wrong(miniapp, small, value, code):
    """The OpenMP runtime may have said something before main: the last line is ours."""
    done = miniapp.run(*QUICK, small, env={"OMP_NUM_THREADS": value})
    assert done.returncode == code, done
    if code:
        assert re.match("miniapp: .*OMP_NUM_THREADS", done.stderr.splitlines()[-1]), done


@pytest.mark.parametrize("kilobytes", [64, 128, 255])
def test_small_stack(miniapp, small, kilobytes):
    """A line in the place of a crash."""
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, kilobytes << 10))
    for words in ((small,), ("--version",), ("--list-kernels",)):
        miniapp.fails(DEVICE, f"limit of the stack is {kilobytes} KiB, but must be 256", *words, preexec_fn=limit)


@pytest.mark.parametrize("size", ["0", "1", "255", "64k", "255K", "262143B", "0M", "1 k", " 64 "])
def test_small_stack_of_threads(miniapp, small, size):
    """The runtime would take 16 KiB, and threads would crash."""
    done = miniapp.run(*QUICK, small, "-t", 2, env={"OMP_STACKSIZE": size})
    assert done.returncode == USAGE, done
    assert done.stderr.splitlines()[-1] == (f"miniapp: OMP_STACKSIZE is '{size}', but must be 256K or more")


@pytest.mark.parametrize("size", ["256", "256k", "262144B", "1M", "1 m", "1G", "nonsense", "-1", ""])
def test_stack_of_threads(miniapp, small, size):
    done = miniapp.run(*QUICK, small, "-k", "all,calibration", "-t", 2, env={"OMP_STACKSIZE": size})
    assert done.returncode == DONE, done


def test_small_stack_by_the_variable_of_the_runtime(miniapp, small):
    if miniapp.is_gcc:
        pytest.skip("GCC's runtime does not know it")
    miniapp.fails(USAGE, "KMP_STACKSIZE is '32k', but must be 256K or more", *QUICK, small, "-t", 2,
                  env={"KMP_STACKSIZE": "32k"})


def may_have(gigabytes):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30),) * 2)


def is_root_then_nobody():
    """Who has a process already, and may have no other."""
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


@pytest.mark.unsanitized("the sanitizer takes all addresses")
@pytest.mark.parametrize("env, limit", [
    ({"OMP_NUM_THREADS": "8", "OMP_STACKSIZE": "2G"}, may_have(8)),
    ({"OMP_NUM_THREADS": "64"}, may_have(0.6)),
    ({"OMP_NUM_THREADS": "2", "OMP_STACKSIZE": "9999999999G"}, None),
    ({"OMP_NUM_THREADS": "2"}, is_root_then_nobody)], ids=["stacks", "many", "endless", "ulimit -u"])
def test_threads_that_cannot_be_started(miniapp, small, env, limit, tmp_path):
    """A line, and the code of a device, in the place of the runtime's abort."""
    if limit is is_root_then_nobody and os.getuid() != 0:
        pytest.skip("only root can be another user")
    for folder in (tmp_path, *tmp_path.parents[:2], small.parent):
        folder.chmod(0o755)
    done = miniapp.run(*QUICK, "-k", "eos", small, env=env, preexec_fn=limit)
    if env.get("OMP_STACKSIZE") == "9999999999G" and done.returncode == DONE:
        return  # GCC's runtime takes no such number, and its own size
    assert done.returncode == DEVICE, done
    assert re.match(r"miniapp: \d+ threads with stacks of [0-9.e+]+ MB cannot be started \(.*\): take fewer "
                    "threads, a smaller OMP_STACKSIZE, or higher limits", done.stderr.splitlines()[-1])


def test_display_of_affinity(miniapp, small):
    """LLVM's runtime prints it among the results."""
    done = miniapp.run(*QUICK, "-k", "eos", "--format", "json", small, env={"OMP_DISPLAY_AFFINITY": "TRUE"})
    assert done.returncode == DONE and json.loads(done.stdout)["results"]
    if not miniapp.is_gcc:
        assert_one_line(done.stderr)
        assert "warning: OMP_DISPLAY_AFFINITY is ignored" in done.stderr


@pytest.mark.unsanitized("the sanitizer needs more")
def test_least_stack(miniapp, small, reference, tmp_path):
    """What is allowed is enough."""
    def limit():
        resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))
    for words in ((small, "--validate", reference, "-o", tmp_path / "out.h5"),
                  (small, "-k", "all,calibration,mixing", "--roofline", "--resume", tmp_path / "saved.json"),
                  ("--version",), ("--list-kernels",), ("--list-devices",)):
        done = miniapp.run(*QUICK, *words, preexec_fn=limit)
        assert done.returncode == DONE, done


def test_thread_limit_of_the_environment(miniapp, small):
    """What is reported is what runs."""
    done = miniapp.run(*QUICK, "-t2", "--format", "json", small, env={"OMP_THREAD_LIMIT": "1"})
    assert threads_of(json.loads(done.stdout)) == 1
    assert re.search("miniapp: warning: 2 threads", done.stderr)


@pytest.mark.parametrize("text", ["dt_mom=1e-60", "c_eps=1e-40", "iso_dslope=1e-39"])
def test_setting_that_float32_cannot_hold(miniapp, small, text):
    """It becomes 0 there, or lacks digits: refused as such, on the command line or in the file."""
    name, value = text.split("=")
    message = f"setting '{name}' is {float(value):g}, which float32 cannot hold"
    for precisions in ("float32", "float64,float32"):
        for words in (["--set", text, "--precision", precisions], ["--precision", precisions, "--set", text]):
            miniapp.fails(USAGE, f"--set: {message}", *words, small)
    readers = ("-k", "isoneutral,tke")
    miniapp.passes("--set", text, *readers, small)
    with h5py.File(small, "a") as file:
        file.attrs[name] = float(value)
    miniapp.passes(*readers, small)
    miniapp.fails(INPUT, rf"small\.h5: {message}", *readers, "--precision", "float32", small)
    other = "eos"  # reads none of them
    miniapp.passes("-k", other, "--precision", "float32", small)


def test_setting_that_nothing_reads(miniapp, small):
    miniapp.passes("-k", "eos", "--set", "dt_mom=5", small, warning="dt_mom: none")


def test_environment_sets_the_threads(miniapp, small):
    assert threads_of(miniapp.json(small, env={"OMP_NUM_THREADS": "1"})) == 1
    assert threads_of(miniapp.json(small, "-t1", env={"OMP_NUM_THREADS": "3"})) == 1
    cpus = len(os.sched_getaffinity(0))
    text = miniapp.passes(small, "--format", "json", env={"OMP_NUM_THREADS": f"{cpus + 1},2"},
                          warning=f"{cpus + 1} threads share the {cpus} CPU")
    assert threads_of(json.loads(text)) == cpus + 1


def test_more_threads_than_cpus_are_warned_of(miniapp, small):
    cpu = min(os.sched_getaffinity(0))
    text = miniapp.passes(small, "--threads", "2", "--format", "csv",
                          warning="2 threads share the 1 CPU",
                          preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    assert "# threads: 2" in text


def test_all_granted_cpus_are_used_and_no_more(miniapp, small):
    cpu = min(os.sched_getaffinity(0))
    result = miniapp.json(small, env={"OMP_NUM_THREADS": None}, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
    assert threads_of(result) == 1


@pytest.mark.parametrize("environment, cpus, expected", [
    ({}, 2, "none, on 2 CPUs$"),
    ({}, 1, "none, on 1 CPU$"),
    ({"OMP_PROC_BIND": "false", "OMP_PLACES": "threads"}, 2,
     "none, on 2 CPUs; OMP_PROC_BIND=false; OMP_PLACES=threads$"),
    ({"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"}, 2, "spread, with 2 places of 1 CPU; "),
    ({"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"}, 1, "spread, with 1 place of 1 CPU; "),
    ({"OMP_PROC_BIND": "close", "OMP_PLACES": "{A,B}"}, 2, "close, with 1 place of 2 CPUs; "),
    ({"OMP_PROC_BIND": "close", "OMP_PLACES": "{A},{A,B}"}, 2, "close, with 2 places of 1 to 2 CPUs; "),
    ({"OMP_PROC_BIND": "master", "OMP_PLACES": "threads"}, 2, "primary, with 2 places of 1 CPU; "),
    ({"OMP_PLACES": "threads"}, 2, "(bound|spread), with 2 places of 1 CPU; OMP_PLACES=threads$"),
    ({"GOMP_CPU_AFFINITY": "A B"}, 2, "bound, with 2 places of 1 CPU$")])
def test_binding(miniapp, small, environment, cpus, expected):
    """Both runtimes say the same of the same environment; A and B are CPUs that the process may use."""
    may_use = sorted(os.sched_getaffinity(0))[:cpus]
    if len(may_use) < cpus:
        pytest.skip(f"there are fewer than {cpus} CPUs")
    own = {"OMP_PROC_BIND": None, "OMP_PLACES": None, **environment}
    for letter, cpu in zip("AB", may_use):
        own = {name: value and re.sub(rf"\b{letter}\b", str(cpu), value) for name, value in own.items()}
    result = miniapp.json(small, "-t", "1", env=own, preexec_fn=lambda: os.sched_setaffinity(0, may_use))
    assert re.match(expected, result["provenance"]["binding"])


def test_most_threads(miniapp, small):
    miniapp.fails(USAGE, "--threads takes a whole number from 1 to 4096", small, "-t", "4097")


def test_unreadable_reference_fails_before_results(miniapp, small, tmp_path):
    miniapp.fails(INPUT, "absent", small, "--validate", tmp_path / "absent.h5")


def test_abbreviated_options(miniapp, small, tmp_path):
    output = tmp_path / "out.h5"
    miniapp.passes(small, "--prec", "float32", "--out", output)
    assert output.exists()
