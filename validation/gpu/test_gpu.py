"""GPUs that are not there: a driver that we made up, and offload runtimes that fail."""

import re

import pytest

from conftest import DEVICE, QUICK
from processes import library

# The functions of libcuda.so.1 that miniapp calls, for one GPU; 0 is success, 101 no such device.
DRIVER = """
#include <stddef.h>
#include <string.h>
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGet(int *device, int number) { *device = 7; return number == 0 ? 0 : 101; }
int cuDeviceGetName(char *name, int length, int device)
{ strncpy(name, "Imaginary GPU", (size_t)length); return device != 7; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{ *value = attribute == 75 ? MAJOR : attribute == 76 ? MINOR : -1; return device != 7; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = 16000000000; return device != 7; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{ *flags = 0; *active = 0; return device != 7; }
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { return device != 7 || flags != 1; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = context; return device != 7; }
int cuDevicePrimaryCtxRelease_v2(int device) { return device != 7; }
int cuCtxPushCurrent_v2(void *context) { return context == NULL; }
int cuCtxPopCurrent_v2(void **context) { *context = NULL; return 0; }
int cuMemGetInfo_v2(size_t *free_bytes, size_t *bytes)
{ *free_bytes = 15500000000; *bytes = 16000000000; return 0; }
"""

# Kernels that do not start: LLVM's runtime aborts, GCC's exits. Both say why before.
RUNTIME = """
#include <stdio.h>
#include <stdlib.h>
int __tgt_target_kernel(void) { fputs("runtime: no room for the kernel\\n", stderr); END; }
"""


@pytest.fixture
def no_gpu(miniapp):
    if " nvidia:" not in miniapp.run("--version").stdout or "gpu" in miniapp.devices:
        pytest.skip("needs a build for NVIDIA's GPUs, and none of them here")


@pytest.mark.parametrize("major,minor,fits", [(8, 0, True), (8, 6, True), (7, 5, False)])
def test_driver_says_what_is_there(no_gpu, miniapp, small, tmp_path, major, minor, fits):
    library(tmp_path / "libcuda.so.1", DRIVER, MAJOR=major, MINOR=minor)
    env = {"LD_LIBRARY_PATH": str(tmp_path)}
    listing = miniapp.run("--list-devices", env=env).stdout
    gpu, = re.findall("^gpu.*", listing, re.MULTILINE)
    assert gpu.startswith(f"gpu:0  cannot be used: Imaginary GPU, nvidia:sm_{major}{minor}, "
                          "16.0 GB, 15.5 GB of them free; this build's nvidia:sm_80"), listing
    assert ("code fits:" if fits else "code DOES NOT FIT:") in gpu
    done = miniapp.run(*QUICK, small, "--device", "gpu", env=env)
    assert done.returncode == DEVICE and not done.stdout
    assert done.stderr.endswith(f"GPU 0 is Imaginary GPU, nvidia:sm_{major}{minor}\n")


def test_broken_driver(no_gpu, miniapp, tmp_path):
    library(tmp_path / "libcuda.so.1", "int cuInit(unsigned flags) { return 100; }")
    listing = miniapp.run("--list-devices", env={"LD_LIBRARY_PATH": str(tmp_path)}).stdout
    assert "gpu    none: the offload runtime finds no device" in listing


@pytest.mark.parametrize("end", ["abort()", "exit(1)"])
def test_kernel_that_does_not_start(miniapp, small, tmp_path, end):
    if miniapp.offload != "emulated":
        pytest.skip("needs a build with emulated offload")
    path = library(tmp_path / "runtime.so", RUNTIME, END=end)
    output = tmp_path / "out.h5"
    done = miniapp.run(*QUICK, small, "--device", "gpu", "--output", output, env={"LD_PRELOAD": str(path)})
    assert done.returncode == DEVICE and not done.stdout, done
    assert done.stderr == ("runtime: no room for the kernel\n"
                           "miniapp: the offload runtime gave up on the device\n")
    assert not output.exists()


def test_devices_with_memory_and_launch_time(miniapp):
    if "gpu" not in miniapp.devices:
        pytest.skip("there is no gpu in this build, or here")
    listing = miniapp.run("--list-devices").stdout
    assert re.search(r"^gpu:0 .* GB.*; an empty kernel takes [0-9.e+]+ us$", listing, re.MULTILINE)
