"""expsum and matmul in each framework, as its users write them.

expsum is A = x^2 + 2 x, B = exp(A) and the sum of B; matmul is C = A B. A function of `MAKERS`
puts the arrays where the framework wants them, and returns a call that waits for its result.
"""

from .frameworks import Skip


def numpy_maker(kernel, arrays, device):
    import numpy
    if kernel == "matmul":
        return lambda: arrays["a"] @ arrays["b"]
    x = arrays["x"]
    return lambda: numpy.exp(x * x + 2 * x).sum()


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

    x = arrays["x"].ravel()
    return lambda: expsum(x)


def jax_maker(kernel, arrays, device):
    import jax
    import jax.numpy
    if kernel == "matmul":
        function = jax.jit(jax.numpy.matmul)
    else:
        function = jax.jit(lambda x: jax.numpy.exp(x * x + 2 * x).sum())
    values = [jax.numpy.array(value) for value in arrays.values()]
    return lambda: function(*values).block_until_ready()


def pytorch_maker(kernel, arrays, device):
    import torch
    function = torch.matmul
    if kernel == "expsum":
        def function(x):
            return torch.exp(x * x + 2 * x).sum()
    on_gpu = device == "gpu"
    values = [torch.as_tensor(value, device="cuda" if on_gpu else "cpu")
              for value in arrays.values()]

    def call():
        with torch.no_grad():
            result = function(*values)
        if on_gpu:
            torch.cuda.synchronize()
        return result

    return call


def cupy_maker(kernel, arrays, device):
    import cupy
    values = [cupy.asarray(value) for value in arrays.values()]

    def call():
        if kernel == "matmul":
            result = values[0] @ values[1]
        else:
            result = cupy.exp(values[0] * values[0] + 2 * values[0]).sum()
        cupy.cuda.get_current_stream().synchronize()
        return result

    return call


MAKERS = {"numpy": numpy_maker, "numba": numba_maker, "jax": jax_maker,
          "pytorch": pytorch_maker, "cupy": cupy_maker}
