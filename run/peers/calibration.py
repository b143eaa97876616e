"""expsum and matmul in each framework, as its users write them.

expsum is A = x^2 + 2 x, B = exp(A) and the sum of B; matmul is C = A B. A function of `MAKERS`
puts the arrays where the framework wants them, and returns a call that waits for its result.
"""

from .frameworks import Skip


def function_of(kernel, exp):
    """The kernel by operators, which NumPy, JAX, PyTorch and CuPy share, and the framework's exponential function."""
    return (lambda a, b: a @ b) if kernel == "matmul" else lambda x: exp(x * x + 2 * x).sum()


def numpy_maker(kernel, arrays, device):
    import numpy
    function = function_of(kernel, numpy.exp)
    return lambda: function(*arrays)


def numba_maker(kernel, arrays, device):
    import math
    import numba
    if kernel == "matmul":
        raise Skip("its matrix product is NumPy's BLAS again")

    @numba.njit(parallel=True, fastmath=True)
    def expsum(x):
        total = x.dtype.type(0)
        for i in numba.prange(x.size):
            total += math.exp(x[i] * x[i] + 2 * x[i])
        return total

    x = arrays[0].ravel()
    return lambda: expsum(x)


def jax_maker(kernel, arrays, device):
    import jax
    import jax.numpy
    function = jax.jit(function_of(kernel, jax.numpy.exp))
    values = list(map(jax.numpy.array, arrays))
    return lambda: function(*values).block_until_ready()


def pytorch_maker(kernel, arrays, device):
    import torch
    function, on_gpu = function_of(kernel, torch.exp), device == "gpu"
    values = [torch.as_tensor(value, device="cuda" if on_gpu else "cpu") for value in arrays]

    def call():
        with torch.no_grad():
            result = function(*values)
        if on_gpu:
            torch.cuda.synchronize()
        return result

    return call


def cupy_maker(kernel, arrays, device):
    import cupy
    function, values = function_of(kernel, cupy.exp), list(map(cupy.asarray, arrays))

    def call():
        result = function(*values)
        cupy.cuda.get_current_stream().synchronize()
        return result

    return call


MAKERS = {"numpy": numpy_maker, "numba": numba_maker, "jax": jax_maker,
          "pytorch": pytorch_maker, "cupy": cupy_maker}
