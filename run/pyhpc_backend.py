#!/usr/bin/env python3
"""Runs pyhpc-benchmarks' own run.py with miniapp's library as one more backend.

    run/pyhpc_backend.py DIR/run.py DIR/benchmarks/equation_of_state -b numpy -b miniapp -s 65536

Everything from DIR/run.py on is theirs, except that `-b miniapp` is known too: their table shows it
and their check of consistency judges it. Their checkout is only read. Needs what their run.py needs
(numpy, click, and scipy for their tke), and a built lib/libminiapp.so; for their `--device gpu` one
of a build with offload, such as --library build/nvptx/lib/libminiapp.so.

Only the kernel is timed, on fields of ours: their inputs are put into a state, as (z, y, x), in
their untimed `prepare_inputs`, where the outputs are allocated too, as in their Taichi backend. The
inputs go to a GPU with the first call, which their burn-in leaves out. Results are converted back
after the time is taken, as those of GPU backends are. Then the ghost cells, which our kernels do
not write, get what theirs have. Their check calls tke inconsistent, as its result depends on the
sign that a negative spacing of their random inputs gives to the Courant number; a line says so when
their check runs.

Exit codes: those of their run.py; 2 wrong usage, 3 the library, the checkout or a Python package
that their run.py imports cannot be used.
"""

import argparse
import functools
import os
import runpy
import sys
import types
from pathlib import Path

import safely
from safely import ROOT, fail

sys.path.insert(1, str(ROOT / "python" / "src"))
from miniapp import Library, LibraryError, State  # noqa: E402  pylint: disable=wrong-import-position
from peers import pyhpc  # noqa: E402  pylint: disable=wrong-import-position


@functools.cache
def explain_tke():
    """Says once why their check will call our tke inconsistent."""
    print(f"\nrun/pyhpc_backend.py: their check may call tke inconsistent; {pyhpc.TKE_IS_MEANINGLESS}; "
          "run/compare compares it on inputs that mean something", file=sys.stderr)


def arguments():
    parser = safely.parser_of(__doc__)
    parser.add_argument("--library", type=Path, default=ROOT / "build/host/lib/libminiapp.so",
                        help="[build/host/lib/libminiapp.so]")
    parser.add_argument("--threads", type=safely.whole_number(), default=1,
                        help="of miniapp; their CPU backends have one [1]")
    parser.add_argument("run", type=Path, help="their run.py")
    parser.add_argument("theirs", nargs=argparse.REMAINDER, help="its arguments")
    return parser.parse_args()


class Result:
    """The result of a call, in our order; converted to theirs only when their check asks for it."""

    def __init__(self, kernel, arguments, state):
        self.kernel, self.arguments, self.state = kernel, arguments, state

    def as_theirs(self):
        outputs = {name: self.state.read(name) for name in pyhpc.OUTPUTS[self.kernel]}
        return CONVERT[self.kernel](self.arguments, outputs)


# Where each output of theirs is defined in x and y: one cell beyond the interior along its face.
FACES = {"K_11": (slice(1, -2), slice(2, -2)), "K_22": (slice(2, -2), slice(1, -2)),
         "Ai_ez": (slice(1, -2), slice(2, -2)), "Ai_nz": (slice(2, -2), slice(1, -2))}
INTERIOR = (slice(2, -2), slice(2, -2))


def isoneutral_as_theirs(arguments, outputs):
    results = []
    for name in pyhpc.OUTPUTS["isoneutral"]:
        ours = outputs[name]
        ours = ours.transpose(4, 3, 2, 0, 1) if ours.ndim == 5 else ours.T
        theirs, where = arguments[name].copy(), FACES.get(name, INTERIOR)
        theirs[where] = ours[where]
        results.append(theirs)
    return results


def tke_as_theirs(arguments, outputs):
    """Their kernels step the ghost cells of tke, too, by the tendencies in these cells."""
    if arguments["dxt"].min() < 0:
        explain_tke()
    tke, dtke = arguments["tke"].copy(), arguments["dtke"].copy()
    tke[..., pyhpc.TAUP1] += 1.6 * dtke[..., pyhpc.TAU] - 0.6 * dtke[..., pyhpc.TAUM1]
    tke[INTERIOR + (slice(None), pyhpc.TAUP1)] = outputs["tke_taup1"].T[INTERIOR]
    dtke[INTERIOR + (slice(None), pyhpc.TAU)] = outputs["dtke"].T[INTERIOR]
    return [tke, dtke, outputs["tke_surf_corr"].T]


CONVERT = {"eos": lambda _arguments, outputs: outputs["dHdT"].T, "isoneutral": isoneutral_as_theirs,
           "tke": tke_as_theirs}


def make_module(name, kernel, library):
    """A module as theirs are: prepare_inputs, untimed, and run, timed."""

    def prepare_inputs(*values, device):
        given = dict(zip(pyhpc.ARGUMENTS[kernel], values))
        fields = pyhpc.our_fields(kernel, given)
        shape = next(value.shape for value in fields.values() if value.ndim == 3)
        state = State(shape, device, check=False, library=library)
        for name, value in fields.items():
            state.write(name)[...] = value
        return given, state, state.plan(kernel)

    def run(given, state, plan, device):
        plan.run()
        return Result(kernel, given, state)

    module = types.ModuleType(name)
    module.prepare_inputs, module.run = prepare_inputs, run
    return module


def register(folder, library, version):
    """Makes `miniapp` a backend of the checkout, in this process only."""
    import backends
    convert = backends.convert_to_numpy

    def convert_to_numpy(value, backend, device="cpu"):
        value = value.as_theirs() if isinstance(value, Result) else value
        return convert(value, backend, device)

    @backends.SetupContext
    def setup_miniapp(device="cpu"):
        library.check_device(device)
        yield types.SimpleNamespace(__version__=version)

    backends.convert_to_numpy = convert_to_numpy
    backends.__backends__["miniapp"] = setup_miniapp
    for kernel in pyhpc.PACKAGES:
        package = pyhpc.package(folder, kernel)
        name = f"{package.__name__}.{kernel}_miniapp"
        sys.modules[name] = make_module(name, kernel, library)
        package.__implementations__ += ("miniapp",)


def main():
    options = arguments()
    folder = options.run.resolve().parent
    if not options.run.is_file() or not (folder / "backends.py").is_file():
        fail(3, f"{options.run}: is not the run.py of a checkout of pyhpc-benchmarks")
    os.environ["NUMBA_CACHE_DIR"] = str(ROOT / "build/numba-cache")  # not in the checkout
    try:
        library = Library(options.library.resolve())
    except LibraryError as error:
        fail(3, f"{options.library}: {error}; build it by: cmake --build --preset host")
    library.set_threads(options.threads)
    sys.path.insert(0, str(folder))
    try:
        register(folder, library, f"{options.library.resolve().name}, "
                 f"threads: {options.threads}")
    except ImportError as error:
        fail(3, f"{folder}: {error}")
    sys.argv = [str(options.run), *options.theirs]
    try:
        runpy.run_path(str(options.run), run_name="__main__")
    except ModuleNotFoundError as missing:
        sys.argv[0] = __file__
        fail(3, f"{options.run} needs the Python package {missing.name}, which {sys.executable} "
             f"lacks: install python3-{missing.name}, or by pip {missing.name}")


if __name__ == "__main__":
    main()
