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


def taichi_maker(kernel, arrays, device):
    import taichi
    if kernel == "matmul":
        raise Skip("it has no matrix product for large matrices")
    x = arrays["x"].ravel()
    real = taichi.f64 if x.dtype == "float64" else taichi.f32
    values, total = taichi.field(real, x.shape), taichi.field(real, ())
    values.from_numpy(x)

    @taichi.kernel
    def expsum():
        total[None] = 0
        for i in values:
            total[None] += taichi.exp(values[i] * values[i] + 2 * values[i])

    def call():
        expsum()
        taichi.sync()
        return total

    return call


def tensorflow_maker(kernel, arrays, device):
    import tensorflow
    if kernel == "matmul":
        function = tensorflow.function(tensorflow.matmul)
    else:
        function = tensorflow.function(
            lambda x: tensorflow.reduce_sum(tensorflow.exp(x * x + 2 * x)), jit_compile=True)
    with tensorflow.device("/GPU:0" if device == "gpu" else "/CPU:0"):
        values = [tensorflow.convert_to_tensor(value) for value in arrays.values()]
    return lambda: function(*values)


def aesara_maker(kernel, arrays, device):
    import aesara
    import aesara.tensor
    if kernel == "matmul":
        raise Skip("its matrix product is NumPy's BLAS again")
    x = aesara.tensor.tensor(arrays["x"].dtype, shape=(None,) * 3)
    function = aesara.function([x], aesara.tensor.exp(x * x + 2 * x).sum())
    return lambda: function(arrays["x"])


MAKERS = {"numpy": numpy_maker, "numba": numba_maker, "jax": jax_maker,
          "pytorch": pytorch_maker, "cupy": cupy_maker, "taichi": taichi_maker,
          "tensorflow": tensorflow_maker, "aesara": aesara_maker}
