"""Devices: which there are, what happens where one cannot be used, and memory that is short.

Of the tests of the program's outside these alone depend on the offload of a build."""

import json
import os
import re
import resource
import shutil
import signal
from pathlib import Path

import pytest

from conftest import DEVICE, DONE, QUICK
from processes import completed


def test_list_of_devices(miniapp):
    listing = miniapp.passes("--list-devices", quick=False)
    assert listing.startswith("cpu ")
    if miniapp.offload == "emulated":
        assert "emulated on the CPU" in listing
    if miniapp.offload == "no":
        assert "gpu    none: this build has no offload" in listing


def test_gpu_that_is_not_built_in(miniapp, small, reference):
    if miniapp.offload != "no":
        pytest.skip("this build has offload")
    for device in ("gpu", "gpu:0", "gpu:7"):
        miniapp.fails(DEVICE, f"device '{device}' cannot be used: this build has no offload", small, "--device", device)
    rows = auto(miniapp, small, reference, "no offload", {})
    assert {row["device"] for row in rows} == {"cpu"}


def auto(miniapp, small, reference, why, env):
    """--device auto takes the cpu, and says so and why."""
    text = miniapp.passes(small, "--device", "auto", "--validate", reference, "--format", "json",
                          warning=f"device 'auto' is the cpu: .*{why}", env=env)
    return json.loads(text)["results"]


def test_offload_that_is_switched_off(miniapp, small, reference):
    if miniapp.offload == "no":
        pytest.skip("this build has no offload")
    env = {"OMP_TARGET_OFFLOAD": "DISABLED"}
    for device in ("gpu", "gpu:0"):
        miniapp.fails(DEVICE, f"device '{device}' cannot be used", small, "--device", device, env=env)
    rows = auto(miniapp, small, reference, "", env)
    assert {row["device"] for row in rows} == {"cpu"}


def test_gpu_that_is_not_there(miniapp, small):
    if miniapp.offload == "no":
        pytest.skip("this build has no offload")
    miniapp.fails(DEVICE, "device 'gpu:99' cannot be used: the runtime finds [0-9]+ device", small,
                  "--device", "gpu:99")
    if "gpu" not in miniapp.devices:
        miniapp.fails(DEVICE, "device 'gpu' cannot be used", small, "--device", "gpu")


def test_nothing_runs_before_all_devices_are_there(miniapp, small, tmp_path):
    output = tmp_path / "output.h5"
    miniapp.fails(DEVICE, "gpu:99", small, "-d", "cpu", "-d", "gpu:99")
    miniapp.fails(DEVICE, "gpu:99", small, "-d", "gpu:99", "-o", output)
    assert not output.exists()


def test_one_device_by_two_names(miniapp, installed, small):
    """A row of its own for each would be counted twice. The copy has no device but the cpu."""
    done = run_copy(installed, miniapp, *QUICK, small, "-d", "cpu,auto", "-d", "cpu", "--format", "json")
    assert done.returncode == DONE, done
    first, second = done.stderr.splitlines()
    assert "device 'auto' is the cpu" in first
    assert second == "miniapp: warning: device 'auto' is 'cpu', which is given already: it runs once"
    rows = json.loads(done.stdout)["results"]
    assert len(rows) == len({row["kernel"] for row in rows}) and rows[0]["device"] == "cpu"
    if "gpu" in miniapp.devices:
        text = miniapp.passes(small, "-d", "gpu,gpu:0,gpu", "--format", "json",
                              warning="device 'gpu:0' is 'gpu:0', which is given already")
        assert len(json.loads(text)["results"]) == len(rows)


@pytest.fixture
def installed(miniapp, tmp_path):
    """A copy of the program alone, without its offload module."""
    (tmp_path / "bin").mkdir()
    return shutil.copy(miniapp.path, tmp_path / "bin" / "miniapp")


def run_copy(program, miniapp, *arguments):
    return completed([program, "-r1", *map(str, arguments)], env=miniapp.environment())


def test_starts_without_the_offload_module(miniapp, installed, small):
    assert run_copy(installed, miniapp, small).returncode == DONE
    done = run_copy(installed, miniapp, small, "--device", "gpu")
    assert done.returncode == DEVICE and done.stderr.count("\n") == 1


@pytest.mark.parametrize("content", [b"", b"no module", b"\x7fELF" + bytes(200)])
def test_broken_offload_module(miniapp, installed, small, tmp_path, content):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "miniapp-offload.so").write_bytes(content)
    assert run_copy(installed, miniapp, small).returncode == DONE
    done = run_copy(installed, miniapp, small, "--device", "gpu")
    assert done.returncode == DEVICE and done.stderr.count("\n") == 1
    assert done.stderr.startswith("miniapp: device 'gpu' cannot be used: ")


def test_cpu_does_not_load_the_offload_runtime(miniapp, small):
    """As the dynamic linker tells it."""
    def loaded(device):
        env = {"LD_DEBUG": "files"}
        return miniapp.run("-r1", small, "--device", device, env=env).stderr
    assert "libhdf5" in loaded("cpu")
    assert "omptarget" not in loaded("cpu")
    if "gpu" in miniapp.devices:
        assert "omptarget" in loaded("gpu")


@pytest.mark.unsanitized("the sanitizer ends a program that asks for that much")
@pytest.mark.parametrize("size", ["1e12", "1e15"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_size_beyond_all_memory(miniapp, small, device, size, precision):
    miniapp.fails(DEVICE, "out of memory", small, "--size", size, "-d", device, "--precision", precision)


@pytest.mark.unsanitized("the sanitizer itself reserves terabytes of addresses")
def test_memory_runs_out(miniapp, small, device):
    """Under a limit of 400 MB above what the program starts with, at different allocations."""
    limit = address_space(miniapp, small, device) + 400_000_000
    for size in ("2.2e7", "2.4e7", "2.6e7", "3e7", "6e7"):
        done = miniapp.run("-r1", "--burnin=0", small, "-s", size, "-d", device, "-k", "eos",
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        assert done.returncode == DEVICE, done
        assert re.search("^miniapp: .*out of memory.* GB$", done.stderr, re.MULTILINE), done
        assert done.stderr.count("\n") == 1, done


def address_space(miniapp, small, device):
    """Bytes of addresses that a run on few points needs: found by halving."""
    low, high = 0, 1 << 36
    while high - low > 1 << 24:
        middle = (low + high) // 2
        done = miniapp.run("-r1", "--burnin=0", small, "-d", device, "-k", "eos", preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_AS, (middle, middle))))
        low, high = (low, middle) if done.returncode == DONE else (middle, high)
    return high


def test_each_device_runs_its_own(miniapp, small):
    """With several devices in one run, each kernel runs on the device of its row: the first call of
    each row, then one of each in random order."""
    if miniapp.offload != "emulated":
        pytest.skip("needs a build with emulated offload, which has four devices")
    done = miniapp.run(*QUICK, "-k", "eos", "-d", "gpu:1", "-d", "gpu:0", small, env={"LIBOMPTARGET_INFO": "16"})
    launches = re.findall(r"device (\d) info: Launching kernel \S*eos", done.stderr)
    assert launches[:2] == ["1", "0"] and sorted(launches[2:]) == ["0", "1"], launches


@pytest.mark.parametrize("text, other", [
    (rb"-fopenmp-targets=", rb"-fopenmp-targetz="), (rb", kernels [0-9a-f]{12}, ", b", kernels of_another_1, ")])
def test_module_of_another_build(miniapp, small, tmp_path, text, other):
    """Its tables and calls may differ: it is refused."""
    if miniapp.offload != "emulated":
        pytest.skip("this build has no offload")
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    program = shutil.copy(miniapp.path, tmp_path / "bin")
    module = miniapp.path.parent.parent / "lib" / "miniapp-offload.so"
    changed, number = re.subn(text, other, module.read_bytes())
    assert number
    (tmp_path / "lib" / "miniapp-offload.so").write_bytes(changed)
    done = completed([program, *QUICK, "-d", "gpu", small], env=miniapp.environment())
    assert done.returncode == DEVICE and "another build" in done.stderr, done


def test_runtime_that_gives_up(miniapp, small, tmp_path):
    """libomptarget aborts when a kernel does not start on its device: exit 4, and no output."""
    if miniapp.offload != "emulated":
        pytest.skip("this build has no offload that runs here")
    with miniapp.start("-d", "gpu", "-r", 10**8, "-o", tmp_path / "out.h5", small) as process:
        process.wait_for("first turn")
        assert list(tmp_path.glob(".miniapp-*"))
        process.send_signal(signal.SIGABRT)
        _, message = process.finish()
    assert process.returncode == DEVICE
    assert message == "miniapp: the offload runtime gave up on the device\n"
    assert os.listdir(tmp_path) == [small.name]


def test_device_code_is_not_left_in_tmp(miniapp, small):
    """LLVM's plug-in for the CPU copies it there, and loads the copy."""
    if miniapp.offload != "emulated":
        pytest.skip("this build has no offload that runs here")
    with miniapp.start("-d", "gpu", "-r", 10**8, small) as process:
        process.wait_for("first call")
        maps = Path(f"/proc/{process.pid}/maps").read_text()
    copies = {line.split(maxsplit=5)[5] for line in maps.splitlines() if "/tmp/tmpfile_" in line}
    assert copies and all(copy.endswith(" (deleted)") for copy in copies)
