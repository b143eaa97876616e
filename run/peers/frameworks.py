"""How each framework is started on so many cores of a device, waited for, and read.

A setup imports its framework and returns the version. If the framework cannot be used here, it
raises `Skip`.
"""

import importlib
import os
import re

import numpy as np

REFERENCE_BLAS = "the reference BLAS"
HOST_ONLY = ("numpy", "numba")  # pyhpc-benchmarks' kernels of these know no GPU
MODULES = {"pytorch": "torch"}  # where the name of the Python module differs


class Skip(Exception):
    """A framework cannot run something here; the text says why."""


def environment(cores, build):
    """Variables of a framework's process. Compiled code is kept in the folder `build`, not in
    the checkout of pyhpc-benchmarks or at home. Its threads may spin a moment after a call: when
    they were told to sleep at once (OMP_WAIT_POLICY), small calls of PyTorch and Numba took twice
    as long."""
    threads = {name: str(cores) for name in (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")}
    return {
        **os.environ, **threads,
        # Makes the C library keep freed memory. It otherwise returns arrays of 32 MB or more to
        # the system at once: PyTorch's eos of 4 M points took 2.6 times as long then, because of
        # page faults.
        "MALLOC_MMAP_THRESHOLD_": str(1 << 34),
        "MALLOC_TRIM_THRESHOLD_": str(1 << 34),
        "NUMBA_CACHE_DIR": f"{build}/numba-cache",
        "PYTHONDONTWRITEBYTECODE": "1",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # several frameworks share the GPU
    }


def blas_of(files):
    """The BLAS of a process that maps these files. Debian's libblas.so.3 may be part of OpenBLAS:
    the name of another BLAS goes first."""
    names = sorted({os.path.basename(file) for file in files})
    known = [name for name in names if re.search("openblas|mkl_rt|blis|atlas|nvpl_blas", name)]
    if known:
        return known[0]
    plain = [name for name in names if re.match("lib(c|ref)?blas[.]", name)]
    return f"{REFERENCE_BLAS} {plain[0]}" if plain else "an unknown BLAS"


def setup_numpy(cores, device):
    """NumPy's own configuration names what it was built with; what counts is what is loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        files = [line.split(maxsplit=5)[5].strip() for line in maps if "/" in line]
    return f"{np.__version__} with {blas_of(files)}"


def setup_numba(cores, device):
    import numba
    numba.set_num_threads(cores)
    return numba.__version__


def setup_jax(cores, device):  # its threads are as many as the cores that the process may use
    os.environ["JAX_PLATFORMS"] = "cuda" if device == "gpu" else "cpu"
    import jax
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")
    try:
        jax.devices()
    except RuntimeError as error:
        raise Skip("it finds no GPU here") from error
    return jax.__version__


def setup_pytorch(cores, device):
    import torch
    if device == "gpu" and not torch.cuda.is_available():
        raise Skip("it finds no GPU here")
    torch.set_num_threads(cores)
    torch.set_default_dtype(torch.float64)  # otherwise tke's surface correction is in float32
    torch.backends.cuda.matmul.allow_tf32 = False
    return torch.__version__


def setup_cupy(cores, device):
    if device == "cpu":
        raise Skip("it runs on GPUs only")
    import cupy
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise Skip("it finds no GPU here") from error
    return cupy.__version__


def setup(name, cores, device):
    """Starts a framework; returns its version."""
    try:
        importlib.import_module(MODULES.get(name, name))
    except ImportError as error:
        raise Skip(f"not installed ({error})") from error
    return globals()[f"setup_{name}"](cores, device)


def to_numpy(value):
    """A framework's array, or several, as NumPy's."""
    if isinstance(value, (list, tuple)):
        return [to_numpy(part) for part in value]
    for method in ("get", "cpu"):  # CuPy, PyTorch
        if hasattr(value, method):
            value = getattr(value, method)()
    return np.asarray(value)
