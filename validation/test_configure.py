"""What configure refuses, in one line."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("compiler,targets,complaint", [
    ("clang-19", "sm_80;sm_90a", "'sm_80;sm_90a' is spelled 'nvidia:sm_80;nvidia:sm_90a'"),
    ("clang-19", "x86_64", "'x86_64' is spelled 'emulated'"),
    ("clang-19", "gfx90a", "'gfx90a' is no target; there are nvidia:sm_90, amd:gfx90a, emulated"),
    ("clang-19", "", "'' has to name targets of one kind"),
    ("clang-19", "nvidia:sm_80;amd:gfx90a", "targets of one kind, since OpenMP does not tell"),
    ("clang-19", "nvidia:sm_9999", "No target region was built for nvidia:sm_9999"),
    ("clang-19", "amd:gfx999", "No ROCm device libraries for gfx999 were found: install rocm-dev"),
    ("gcc-12", "amd:gfx90a", "Offload for amd:gfx90a is built by Clang: install clang-19"),
    ("gcc-12", "nvidia:sm_9999", "install gcc-12-offload-nvptx for GCC 12, and name one target"),
])
def test_configure_refuses(tmp_path, compiler, targets, complaint):
    done = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, f"-DCMAKE_C_COMPILER={compiler}",
                           f"-DMINIAPP_OFFLOAD={targets}"], capture_output=True, text=True,
                          check=False)
    assert done.returncode, done
    assert complaint in " ".join(done.stderr.split()), done.stderr


def test_configure_refuses_a_parallel_hdf5_that_is_not_there(tmp_path):
    """A build without MPI has none."""
    done = subprocess.run(["cmake", "-S", ROOT, "-B", tmp_path, "-DCMAKE_C_COMPILER=clang-19",
                           "-DMINIAPP_PARALLEL_HDF5=ON", "-DMINIAPP_TESTS=OFF"],
                          capture_output=True, text=True, check=False)
    assert done.returncode, done
    assert "No HDF5 that was built with the MPI of this build" in " ".join(done.stderr.split())
