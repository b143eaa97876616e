"""A plug-in of Veros 1.7 that makes Veros's steps by miniapp.

    import miniapp.veros

    class MySetup(ACCSetup):
        __veros_plugins__ = (miniapp.veros,)

Forcing, what a setup does after a step, diagnostics and files stay Veros's. The fields that the kernels need stay
in a state; each step takes in those arrays that somebody has replaced since the last one, and Veros gets what the
kernels made when somebody reads it.

In set_parameter a setup may say `settings.miniapp_device = "gpu"`, `settings.miniapp_threads = 4`, and
`settings.miniapp_check = N`: each part of every N-th step is made both ways from the same fields, and the log
says how far each field differs. MINIAPP_DEVICE, MINIAPP_THREADS and MINIAPP_CHECK in the environment are the defaults.
"""

from __future__ import annotations

import os
import weakref

import numpy as np

from ..extras import needing

with needing("veros", "veros==1.7.0"):
    import veros
# None of these imports Veros's core, which would settle the backend.
from veros import logger, runtime_settings, runtime_state, veros_routine
from veros.diagnostics.base import VerosDiagnostic
from veros.settings import Setting
from veros.state import VerosState
from veros.variables import T_GRID, T_HOR, TIMESTEPS, Variable
from veros.veros import VerosSetup

from .. import library
from ..library import Error, LibraryError, UsageError
from ..state import State

TESTED = "1.7.0"
CONSTANTS = {"rho_0": 1024.0, "grav": 9.81, "pi": np.pi}  # of the kernels
FRICTION = ("enable_hor_friction", "enable_biharmonic_friction", "enable_ray_friction", "enable_bottom_friction",
            "enable_quadratic_bottom_friction", "enable_momentum_sources")
OCEANS: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # of the states that were set up with the plug-in


class Refusal(UsageError, SystemExit):
    """Ends a run of Veros without a traceback; the log has said why."""
    code = 2


# ---- what cannot be done ----

def obstacles(state):
    """Why the plug-in cannot be used, a line for each reason."""
    settings = state.settings
    if veros.__version__ != TESTED:
        yield f"Veros {veros.__version__} was not tested with it, only {TESTED}: install veros=={TESTED}"
    if runtime_state.proc_num > 1 and runtime_settings.backend != "numpy":
        yield f"in several processes it takes Veros's backend numpy, not {runtime_settings.backend}"
    if runtime_settings.pyom_compatibility_mode:
        yield "it does not cover Veros's pyom_compatibility_mode: switch that off"
    yield from other_constants(settings)
    if any(getattr(settings, name) for name in FRICTION) and not (
            settings.enable_implicit_vert_friction or settings.enable_explicit_vert_friction):
        yield ("without vertical friction, Veros adds friction to that of the steps before: "
               "switch on enable_implicit_vert_friction")
    try:
        library.default().c.join(runtime_state.proc_num)
    except LibraryError as error:  # there is none, to ask about the rest
        yield f"{error}: $MINIAPP_LIBRARY names another library"
        return
    except Error as error:
        yield f"{error}: $MINIAPP_LIBRARY names another library"
    yield from declare_tracers(state)
    try:
        library.default().check_device(settings.miniapp_device)
        library.default().set_threads(settings.miniapp_threads)
        yield from out_of_range(settings)
    except Error as error:
        yield f"{error}: choose another by MINIAPP_DEVICE, MINIAPP_THREADS or in set_parameter"


def out_of_range(settings):
    """A line for each setting that the library does not take, such as a time step of 0."""
    state = State((1, 5, 5))
    for name in state.library.settings:
        try:
            state.set_setting(name, settings.get(name, state.setting(name)))
        except Error as error:
            yield str(error).removeprefix("the call: ")


def tracers_of(settings) -> list[str]:
    return settings.miniapp_tracers.replace(",", " ").split()


def variables_of(tracer):
    """The variables of a passive tracer: itself, its tendency by advection, and what the surface takes in."""
    levels = T_GRID + TIMESTEPS
    return {name: Variable(name, dims, write_to_restart=dims == levels) for name, dims in (
        (tracer, levels), (f"d{tracer}", levels), (f"forc_{tracer}_surface", T_HOR))}


def declare_tracers(state):
    """Gives Veros the variables of the passive tracers that it lacks; tells why some cannot be."""
    tracers = tracers_of(state.settings)
    if not tracers:
        return
    try:
        library.default().find_sequence("+".join(("ocean", *tracers)))
    except Error as error:
        yield str(error)
    for name, wanted in (pair for tracer in tracers for pair in variables_of(tracer).items()):
        if (dims := state.var_meta.setdefault(name, wanted).dims) != wanted.dims:
            yield f"its variable '{name}' needs the dimensions {wanted.dims}, not {dims}"


def other_constants(settings):
    for name, value in CONSTANTS.items():
        if getattr(settings, name) != value:
            yield f"its kernels have {name} = {value}, not {getattr(settings, name)}"


def refuse(reasons) -> None:
    message = "miniapp.veros cannot be used: " + "; ".join(reasons)
    logger.error("{}", message)
    raise Refusal(message)


def initialize_variables(self, plain=VerosState.initialize_variables) -> None:
    """The check of settings, which comes before Veros makes anything of them, and after its own check."""
    if "miniapp_device" in self.settings and (reasons := list(obstacles(self))):
        refuse(reasons)
    plain(self)


# ---- in the place of Veros's own ----

@veros_routine
def make_step(self, state, plain=VerosSetup.__dict__["step"].function):
    if state in OCEANS:
        from .step import step as by_miniapp  # pylint: disable=import-outside-toplevel
        by_miniapp(self, state, OCEANS[state])
    else:
        plain(self, state)


class Names(dict):
    """The values of names in the name of a file, read when they are needed."""

    def __init__(self, state):
        super().__init__(state.settings.items())
        self.variables = state.variables

    def __missing__(self, name):
        if name not in self.variables:
            raise KeyError(name)
        return getattr(self.variables, name)


def get_output_file_name(self, state):
    return self.output_path.format_map(Names(state))


VerosState.initialize_variables = initialize_variables
VerosSetup.step = make_step
VerosDiagnostic.get_output_file_name = get_output_file_name


# ---- the plug-in ----

def set_up(state) -> None:
    from veros.core.external.solvers import get_linear_solver  # pylint: disable=import-outside-toplevel
    from . import files, means, overturning  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    from .ocean import Ocean  # pylint: disable=import-outside-toplevel
    if runtime_settings.backend == "jax":
        from . import compiled  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    OCEANS[state] = ocean = Ocean(state)
    get_linear_solver.cache.pop((state,), None)  # Veros would keep the state with its solver until the process ends
    with state.settings.unlock():
        state.settings.miniapp_version = ocean.description
    logger.info("{}", ocean.description)


def run(_state) -> None:
    """Does nothing: the step has been made."""


def number(name) -> int:
    """A number from the environment."""
    text = os.environ.get(name, "0")
    if not text.isdecimal():
        refuse([f"${name} takes a whole number, not {text!r}"])
    return int(text)


__VEROS_INTERFACE__ = {
    "name": "miniapp", "setup_entrypoint": set_up, "run_entrypoint": run,
    "settings": {
        "miniapp_device": Setting(os.environ.get("MINIAPP_DEVICE", "cpu"), str,
                                  "where miniapp's kernels run: cpu, gpu, gpu:N"),
        "miniapp_threads": Setting(number("MINIAPP_THREADS"), int,
                                   "threads of the host that run them; 0: as OMP_NUM_THREADS says"),
        "miniapp_check": Setting(number("MINIAPP_CHECK"), int,
                                 "every N-th step is made by Veros, too, and compared; 0: none"),
        "miniapp_tracers": Setting("", str, "passive tracers that are stepped, too: names, with a comma between them"),
        "miniapp_version": Setting("", str, "what has made the steps; it is set by the plug-in"),
    }}
