"""Each step keeps every invariant of Veros's physics, along three oceans that make 250 steps, or 1,000.

The steps are made kernel by kernel, so that what each one changes is seen; in the end they are, bit
for bit, those that `step` makes. A residual is a share of the moduli that it is the sum of. To look at
a step costs ten times as much as to make it: each tenth is looked at. That number shares no factor with the
three time levels, which take turns.
"""

from collections import defaultdict

import numpy as np
import pytest

import fields
import miniapp as package
from conftest import INSIDE, LONG, write
from oceans import SETUPS, Frozen

pytestmark = [pytest.mark.usefixtures("library"), pytest.mark.every_gpu]

STEPS = 1000
LOOKED_AT = 1 if LONG else 10  # of which one
GRAVITY_BY_RHO_0 = 9.81 / 1024
LETTERS = {"temp": "T", "salt": "S"}

# The most that a step may be off by. A tendency is a small difference of large fluxes, whose rounding
# it has; where a tracer is summed, its own is small beside it.
BOUNDS = {
    "advection: content": 1e-13,
    "advection: variance, second order": 1e-13,
    "advection: what both tendencies say": 1e-15,
    "isoneutral: content": 1e-16,
    "isoneutral: variance that diffusion adds": 0,
    "skew: content": 1e-15,
    "isoneutral: dissipation": 2e-16,
    "vertical: content of columns": 2e-15,
    "vertical: new extrema": 1e-16,
    "vertical: dissipation of columns": 2e-15,
    "velocities: transport of columns": 2e-15,
    "velocities: through the surface": 1e-14,
    "tke: advection": 1e-15,
    "tke: budget": 2e-15,
    "tke: negative at the surface": 0,
    "eke: advection": 1e-15,
    "eke: budget": 1e-15,
    "density: derivatives of enthalpy": 1e-6,
}
LACKS = {("acc_basic", "eke: advection"), ("acc_basic", "eke: budget"),
         ("acc_basic", "tke: advection"), ("acc", "tke: advection"),  # which is off in both
         ("global", "tke: negative at the surface"),  # after the surface is clamped, tke is advected
         ("global", "advection: variance, second order")}  # superbee reduces it


def two_levels_at_least(frozen):
    """The file of an ocean without columns of one level, whose losses have no W cell to go to."""
    mask = frozen.before["maskT"].copy()
    mask[-1] *= mask[-2]
    values = frozen.before | fields.faces(mask, frozen.settings["cyclic_x"], halo=2)
    values["kbot"] = values["kbot"] * mask[-1]
    return write(frozen.path.with_suffix(".deep.h5"), values, frozen.settings)


class Watched:
    """An ocean whose kernels run one by one, each followed by what it has to keep."""

    def __init__(self, frozen, device):
        self.frozen, self.device, self.worst = frozen, device, defaultdict(float)
        self.state = package.load(frozen.path, frozen.sequence, device)
        library, settings = self.state.library, self.state.call(self.state.library.c.state_settings)
        self.steps, self.levels = library.steps(frozen.sequence, settings), library.levels(frozen.sequence)
        self.moving = {name for levels in self.levels for name in levels}.union(*(step.writes() for step in self.steps))
        self.plans = {}
        self.aside = package.load(two_levels_at_least(frozen), frozen.sequence, device)
        self.state.add("alone", "tracer_taup1")
        self.area, self.volume, self.volume_w = frozen.area, frozen.volume, frozen.volume_w
        self.is_deep = self.volume[-2] > 0
        self.heat, self.mom = (frozen.settings[name] for name in ("dt_tracer", "dt_mom"))

    def run(self, kernel, bindings=""):
        if (kernel, bindings) not in self.plans:
            self.plans[kernel, bindings] = self.state.plan(kernel, bindings)
        self.plans[kernel, bindings].run()

    def __getitem__(self, name):
        return self.state.read(name)[INSIDE].astype(float)

    def note(self, invariant, residual, scale):
        """Of one step, or an array of what its columns or cells have."""
        if np.max(scale) != 0:
            self.worst[invariant] = np.maximum(self.worst[invariant], np.max(np.abs(residual)) / np.max(scale))

    def step(self, is_looked_at):
        """Looks before and after each kernel."""
        for step in self.steps:
            if not is_looked_at:
                self.run(step.text)
                continue
            fields = {argument.name: field for argument, field in step.fields.items()}
            before = getattr(self, f"before_{step.kernel.name}", lambda: None)()
            self.run(step.text)
            getattr(self, f"after_{step.kernel.name}", lambda *_: None)(before, fields)
        for levels in self.levels:
            self.state.rotate(*levels)

    # -- advection --

    def after_tracer_advection(self, _before, fields):
        tracer, now, older, made = (self[fields[name]] for name in (
            "tracer", "dtracer", "dtracer_taum1", "tracer_taup1"))
        self.note("advection: content", (self.volume * now).sum(), abs(self.volume * now).sum())
        if not self.frozen.settings["enable_superbee_advection"]:
            terms = self.volume * tracer * now
            self.note("advection: variance, second order", terms.sum(), abs(terms).sum())
        ab_eps = self.frozen.settings["AB_eps"]
        said = tracer + self.heat * ((1.5 + ab_eps) * now - (0.5 + ab_eps) * older) * (self.volume > 0)
        self.note("advection: what both tendencies say", made - said, abs(made))

    # -- isoneutral mixing --

    def before_isoneutral_mixing(self):
        self.run("isoneutral")
        for name in LETTERS:
            self.run("isoneutral_skew", f"tracer={name}")
            change = self.volume * self["dtracer_skew"]
            self.note("skew: content", change.sum(), abs(change).sum())
            self.state["alone"] = self.state.read(name)
            self.state["dtracer_skew"] = np.zeros(self.state.shape("dtracer_skew"))
            self.run("isoneutral_diffusion", f"tracer={name}, tracer_taup1=alone")
            terms = self.volume * self[name] * (self["alone"] - self[name])
            self.note("isoneutral: variance that diffusion adds", max(terms.sum(), 0), abs(terms).sum())
        return {name: self.state[f"{name}_taup1"] for name in LETTERS}

    def after_isoneutral_mixing(self, before, _fields):
        for name in LETTERS:
            gain = self.volume * (self[f"{name}_taup1"] - before[name][INSIDE])
            self.note("isoneutral: content", gain.sum(), abs(self.volume * self[name]).sum())
        self.watch_its_dissipation(before)

    def watch_its_dissipation(self, before):
        """In the same ocean, but for columns of one level."""
        for name in set(self.aside.library.reads("isoneutral_mixing")) & self.moving:
            self.aside[name] = self.state.read(name)
        for name, values in before.items():
            self.aside[f"{name}_taup1"] = values
        self.aside.run("isoneutral_mixing")
        work = scale = 0
        for name, letter in LETTERS.items():
            enthalpy = self.volume * self.is_deep * self[f"int_drhod{letter}"]
            gain = self.aside.read(f"{name}_taup1") - before[name]
            work += (enthalpy * gain[INSIDE]).sum()
            scale += abs(enthalpy * self[name]).sum()
        lost = sum((self.aside.read(name)[INSIDE] * self.volume_w * self.is_deep).sum()
                   for name in ("P_diss_iso", "P_diss_skew"))
        self.note("isoneutral: dissipation", lost * self.heat / GRAVITY_BY_RHO_0 + work, scale)

    # -- vertical mixing --

    def before_vertical_mixing(self):
        return {name: self[f"{name}_taup1"] for name in LETTERS}

    def after_vertical_mixing(self, before, _fields):
        fixed, self.unmixed = self.frozen.before, before
        water = self.volume > 0
        for name in LETTERS:
            after, taken_in = self[f"{name}_taup1"], self.heat * fixed[f"forc_{name}_surface"][INSIDE]
            gain = (self.volume * (after - before[name])).sum(axis=0) - self.area * taken_in * water[-1]
            self.note("vertical: content of columns", gain, abs(self.volume * after).sum(axis=0))
            forced = before[name].copy()
            forced[-1] += taken_in / fixed["dzt"][-1]
            beyond = np.where(water, np.maximum(
                after - np.where(water, forced, -np.inf).max(axis=0),
                np.where(water, forced, np.inf).min(axis=0) - after), 0)
            self.note("vertical: new extrema", np.maximum(beyond, 0), abs(forced))

    def after_vertical_dissipation(self, _before, _fields):
        work = scale = 0
        for name, letter in LETTERS.items():
            after, enthalpy = self[f"{name}_taup1"], self[f"int_drhod{letter}"]
            work = work + (self.volume * enthalpy * (after - self.unmixed[name])).sum(axis=0)
            scale = scale + abs(self.volume * enthalpy * after).sum(axis=0)
        lost = sum((self[name] * self.volume_w).sum(axis=0) for name in ("P_diss_v", "P_diss_nonlin"))
        self.note("vertical: dissipation of columns", lost * self.heat / GRAVITY_BY_RHO_0 + work, scale)

    # -- the flow --

    def after_velocities_on_wgrid(self, _before, _fields):
        fixed = self.frozen.before
        for name in ("u", "v"):
            given = fixed[name][INSIDE] * fixed[f"mask{name.upper()}"][INSIDE] * fixed["dzt"][:, None, None]
            made = self[f"{name}_wgrid"] * fixed["dzw"][:, None, None]
            self.note("velocities: transport of columns", given.sum(axis=0) - made.sum(axis=0), abs(given).sum(axis=0))
        self.note("velocities: through the surface", self["w_wgrid"][-1], abs(fixed["w"]))

    # -- turbulence and eddies --

    def budget(self, name, seconds, rates, surface):
        change = self.volume_w * (self[f"{name}_taup1"] - self[name])
        terms = [change, *(-seconds * self.volume_w * self[rate] * factor for rate, factor in rates.items()),
                 *(-seconds * self.area * self.frozen.before["maskW"][-1][INSIDE] * self[rate]
                   for rate in surface)]
        moduli = sum(abs(term).sum() for term in terms) + abs(self.volume_w * self[name]).sum()
        self.note(f"{name}: budget", sum(term.sum() for term in terms), moduli)
        advected = self.volume_w * self[f"d{name}"]
        self.note(f"{name}: advection", advected.sum(), abs(advected).sum())

    def after_tke(self, _before, _fields):
        self.budget("tke", self.mom, {"forc": 1, "tke_diss": -1}, ("forc_tke_surface", "tke_surf_corr"))
        if not self.frozen.settings["enable_tke_superbee_advection"]:
            self.note("tke: negative at the surface", np.minimum(self["tke_taup1"][-1], 0), 1)

    def after_eke(self, _before, _fields):
        self.budget("eke", self.heat, {"K_diss_gm": 1, "K_diss_h": 1, "P_diss_hmix": -1, "P_diss_iso": -1,
                                       "P_diss_skew": -1, "eke_diss_iw": -1}, ())

    # -- the equation of state --

    def after_density(self, _before, fields):
        """Of equation 3, as Veros has it, dynamic enthalpy and its derivative by temperature do not fit."""
        water = {name: self.state[fields[name]] for name in LETTERS}
        for name, letter in LETTERS.items():
            if name == "temp" and self.frozen.settings["eq_of_state_type"] == 3:
                continue
            difference = self.enthalpy(water, name, 1e-3) - self.enthalpy(water, name, -1e-3)
            expected = -GRAVITY_BY_RHO_0 * self[f"int_drhod{letter}"]
            self.note("density: derivatives of enthalpy",
                      ((difference / 2e-3 - expected) * self.is_deep)[self.volume > 0], abs(expected))

    def enthalpy(self, water, changed, by):
        for name, values in water.items():
            self.aside[name] = values + (by if name == changed else 0)
        self.aside.run("density")
        return self.aside.get("Hd")[INSIDE]


@pytest.fixture(scope="module", params=SETUPS)
def watched(request, miniapp, devices, library, tmp_path_factory):
    """An ocean after all steps. It is so small that threads would only wait for each other."""
    package.set_threads(1)
    frozen = Frozen(request.param, tmp_path_factory.mktemp("frozen"))
    ocean = Watched(frozen, devices[-1])
    ocean.run("density")  # which a step finds as the one before has left it
    ocean.made = miniapp.steps(STEPS)
    for number in range(ocean.made):
        ocean.step(is_looked_at=number % LOOKED_AT == 0)
    yield ocean
    package.set_threads(0)


def test_the_steps_are_those_of_the_program(watched):
    """Bit for bit."""
    frozen = watched.frozen
    with package.load(frozen.path, frozen.sequence, watched.device) as state:
        state.step(watched.made, frozen.sequence)
        for name in (*frozen.after[1], "P_diss_v"):
            np.testing.assert_array_equal(watched.state[name], state[name])


@pytest.mark.parametrize("invariant", BOUNDS)
def test_each_step_keeps(watched, invariant):
    if (watched.frozen.name, invariant) in LACKS:
        pytest.skip("this ocean has nothing of it")
    print(f"{watched.frozen.name}: {invariant}: {watched.worst[invariant]:.1e}")
    assert invariant in watched.worst and watched.worst[invariant] <= BOUNDS[invariant]
