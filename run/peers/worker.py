"""A process with one framework on some cores, which waits on a pipe while others have their turn.

It reads one request a line from standard input and answers it by a line of JSON on what was its
standard output. Whatever else a framework prints goes to standard error.
"""

import ctypes
import functools
import gc
import json
import os
import sys
import time

import h5py
import numpy as np

from . import calibration, cases, frameworks, pyhpc


class Worker:
    def __init__(self, framework, cores, device, checkout):
        self.framework, self.cores, self.device = framework, cores, device
        self.checkout = checkout
        os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[:cores]))
        self.version = frameworks.setup(framework, cores, device)
        self.call = None

    def load(self, kernel, arguments, ours):
        """Puts the arguments where the framework wants them. Returns the times of the first calls
        and the largest difference of the first call's result from ours."""
        self.drop()
        call = self.make_call(kernel, arguments)
        first, result = timed(call)
        difference = None
        if ours:
            theirs = self.outputs(kernel, result)
            with h5py.File(ours) as file:
                difference = cases.largest_difference(kernel, theirs, file)
            del theirs
        del result
        self.call = call
        second = timed(call)[0]  # PyTorch settles only after this call, which counts if it is slow
        call_s = second if second > 1 else timed(call)[0]
        return {"first_s": first, "call_s": call_s, "difference": difference}

    def drop(self):
        self.call = None
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)  # others need the memory that this process keeps
        return {}

    def make_call(self, kernel, path):
        if kernel in cases.CALIBRATION:
            return calibration.MAKERS[self.framework](kernel, list(np.load(path).values()), self.device)
        module = pyhpc.implementation(self.checkout, kernel, self.framework)
        if module is None:
            raise frameworks.Skip(f"pyhpc-benchmarks has no {kernel} for it")
        arrays = read_arguments(kernel, path)
        if hasattr(module, "prepare_inputs"):
            arrays = module.prepare_inputs(*arrays, device=self.device)
        return functools.partial(module.run, *arrays, device=self.device)  # they wait themselves

    def outputs(self, kernel, result):
        result = frameworks.to_numpy(result)
        if kernel in cases.CALIBRATION:
            return {kernel: result}
        return pyhpc.our_outputs(kernel, result)

    def time(self, calls):
        return {"seconds": [timed(self.call)[0] for _ in range(calls)]}


def read_arguments(kernel, path):
    """In their function's order. Slopes are outputs that start as zeros, and are not stored."""
    arrays = dict(np.load(path))
    return [arrays[name] if name in arrays else np.zeros(arrays["K_11"].shape + (2, 2))
            for name in pyhpc.ARGUMENTS[kernel]]


def write_arguments(arguments, path):
    np.savez(path, **{name: value for name, value in arguments.items() if name[:2] != "Ai"})


def write_input(path, fields):
    """A file that miniapp reads."""
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = 2
        for name, value in fields.items():
            file[name] = value


def timed(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def attempt(call, what):
    """What the call returns; a failure of the framework is an answer, too."""
    try:
        return call()
    except frameworks.Skip as reason:
        return {"skip": str(reason)}
    except Exception as error:  # whatever a framework may raise
        text = (str(error).strip() or "no text").splitlines()[0]
        return {"skip": f"{what}: {type(error).__name__}: {text[:200]}"}


def main(framework, cores, device, checkout):
    requests, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def reply(value):
        print(json.dumps(value), file=answers, flush=True)

    worker = attempt(lambda: Worker(framework, int(cores), device, checkout), "it does not start")
    if isinstance(worker, dict):
        return reply(worker)
    reply({"version": worker.version})
    for line in requests:
        request = json.loads(line)
        reply(attempt(lambda: getattr(worker, request.pop("do"))(**request), "it failed"))


if __name__ == "__main__":
    main(*sys.argv[1:])
