"""Veros's step, with the parts that kernels make in the place of Veros's routines."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
from veros import diagnostics, distributed, logger, restart, signals
from veros.core import numerics

from ..library import UsageError


@contextlib.contextmanager
def explained():
    """Says what to do where somebody writes into an array that the kernels have made."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise UsageError("miniapp.veros gives Veros arrays that cannot be changed in place, because it would not "
                         "notice: set the variable to a new array, as by vs.temp = update(vs.temp, at[...], values)"
                         ) from error


def step(setup, state, ocean) -> None:
    """Does as VerosSetup.step does, in its order."""
    setup._ensure_setup_done()  # pylint: disable=protected-access
    vs, settings, timers = state.variables, state.settings, state.timers
    with timers["diagnostics"]:
        restart.write_restart(state)
    with timers["main"]:
        with timers["forcing"]:
            with explained():
                setup.set_forcing(state)
        with timers["miniapp"]:
            undisturbed(make)(state, ocean)
    with timers["plugins"]:
        for plugin in setup._plugin_interfaces:  # pylint: disable=protected-access
            with timers[plugin.name]:
                plugin.run_entrypoint(state)
    vs.itt, vs.time = vs.itt + 1, vs.time + settings.dt_tracer
    with explained():
        setup.after_timestep(state)
    with timers["diagnostics"], explained():
        if not is_sane(state, ocean):
            raise RuntimeError(f"solution diverged at iteration {vs.itt}")
        diagnostics.diagnose(state)
        diagnostics.output(state)
    logger.debug(" Time step took {:.2f}s", timers["main"].last_time)
    vs.taum1, vs.tau, vs.taup1 = vs.tau, vs.taup1, vs.taum1


def undisturbed(function):
    """Makes a signal wait, as when Veros writes a file: nobody can use half a step."""
    if threading.current_thread() is threading.main_thread():
        return signals.do_not_disturb(function)
    return function


def make(state, ocean) -> None:
    every, number = state.settings.miniapp_check, int(state.variables.itt) + 1
    ocean.begin()
    ocean.is_checked = every > 0 and number % every == 0
    ocean.differences = {} if ocean.is_checked else ocean.differences
    for part in ocean.parts:
        with state.timers[part.timer]:
            ocean.make(part, state)
    ocean.end()
    if ocean.is_checked:
        logger.info("miniapp: step {} by Veros's own routines differs by, and has at most: {}", number,
                    ", ".join(f"{name} {difference:.1e} {most:.1e}"
                              for name, (difference, most) in ocean.differences.items()))


def is_sane(state, ocean) -> bool:
    """Veros's check, without making it a copy of the velocity."""
    if "u" in ocean.pending:
        return bool(distributed.global_and(np.isfinite(ocean.state.read("u_taup1")).all()))
    return numerics.sanity_check(state)
