"""The overturning of Veros's diagnostic: cells are sorted by density once, where Veros goes through all of them for each
of its levels of density, which took longer than ten steps."""

from __future__ import annotations

import numpy as np
from veros.core import density
from veros.core.operators import at, update_add
from veros.diagnostics.overturning import Overturning, zonal_sum

from . import OCEANS
from .ocean import in_order


def along_x(sums):
    """Sums of rows over all processes; MPI takes memory as it lies, whatever the order of an array is."""
    return zonal_sum(np.ascontiguousarray(sums))


class Rows:
    """Sums over those cells of each row whose northern face is denser than a level, in the order (y, level)."""

    def __init__(self, levels, sigma):
        self.shape = sigma.shape[1], len(levels) + 1
        lighter = np.searchsorted(levels, sigma)  # how many levels are
        self.place = (lighter + self.shape[1] * np.arange(self.shape[0])[:, None]).ravel()

    def sums(self, values):
        found = np.bincount(self.place, values.ravel(), self.shape[0] * self.shape[1]).reshape(self.shape)
        return along_x(np.cumsum(found[:, :0:-1], axis=1)[:, ::-1])


def at_depths(area_below, sums, areas):
    """Sums of each row at depths: those of the level of density that has as much area below it."""
    return np.array([np.interp(-wanted, -there, values) for wanted, there, values in zip(areas, area_below, sums)])


def diagnose(self, state, plain=Overturning.diagnose):
    """Does as Veros's Overturning.diagnose does."""
    if state not in OCEANS:
        plain(self, state)
        return
    vs, own, ocean = state.variables, self.variables, OCEANS[state]
    salt, temp = (ocean.now(name)[:, 2:-1, 2:-2] for name in ("salt", "temp"))
    sigma = np.asarray(density.get_rho(state, salt, temp, self.p_ref))
    rows = Rows(np.asarray(own.sigma), 0.5 * (sigma[:, :-1] + sigma[:, 1:]))
    cosu, dxt, heights, depths = (np.asarray(array) for array in (vs.cosu, vs.dxt, vs.dzt, own.zarea))
    inside, dzt = np.s_[:, 2:-2, 2:-2], heights[:, None, None]
    lengths = cosu[2:-2, None] * dxt[2:-2]
    open_lengths = lengths * in_order(vs.maskV)[inside]
    areas, through = rows.sums(open_lengths * dzt), open_lengths * ocean.now("v")[inside]
    sums = {"vsf_iso": rows.sums(through * dzt)}
    made = {"trans": sums["vsf_iso"], "vsf_depth": np.cumsum(along_x(through.sum(2).T) * heights, axis=1)}
    if state.settings.enable_neutral_diffusion and state.settings.enable_skew_diffusion:
        eddies = ocean.now("B1_gm")[inside]
        sums["bolus_iso"] = rows.sums(open_lengths * np.diff(eddies, axis=0, prepend=0))
        made["bolus_depth"] = along_x((lengths * eddies).sum(2).T)
    made |= {name: at_depths(areas, values, depths[2:-2]) for name, values in sums.items()}
    for name, values in made.items():
        setattr(own, name, update_add(getattr(own, name), at[2:-2], values))
    own.nitts = own.nitts + 1


Overturning.diagnose = diagnose
