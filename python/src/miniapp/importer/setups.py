"""The months by which Veros's setups with data are forced. They become records of the input if the snapshot has those
variables of the setup and if, at its record's time, our kernels make of them what the record has."""

import numpy as np

from . import closures, table
from .forcing import DAY, HEAT
from .problem import note

MONTHS, YEAR = 12, 360 * DAY  # of Veros
ICE = -1.8  # degC, below which there is ice in all of them
IN_A_MONTH = 30 * DAY  # salinity is restored in the top level where the setup gives no rate


class Setup:
    """The setup's variables, beside a record and its time."""

    def __init__(self, g, snapshot, settings, cyclic):
        self.snapshot, self.cyclic = snapshot, cyclic
        self.settings = settings | {"t_ice": ICE}
        self.g = g | {name: snapshot[name] for name in ("temp", "salt")}
        self.time = snapshot.begin(settings)

    def months(self, *names, axes=("yt", "xt")):
        """The records of the first of these that has some on such axes."""
        for name in names:
            if self.snapshot.has(name) and self.snapshot.dataset[name].dims[-len(axes) - 1:] == ("nmonths", *axes):
                return self.snapshot.filled(name)
        return None

    def now(self, records):
        """Those of months are at their middles."""
        place = self.time * MONTHS / YEAR - 0.5
        before, weight = int(np.floor(place)), place % 1
        return (1 - weight) * records[before % MONTHS] + weight * records[(before + 1) % MONTHS]

    def difference(self, made, name):
        """Where both are there, as a fraction of the largest value; 0 elsewhere."""
        given = self.snapshot.raw(name)
        return np.where(np.isfinite(given), np.abs(made - given), 0) / max(np.nanmax(np.abs(given)), 1e-300)

    def make(self, kernel, fields, *names):
        now = {name: self.now(values) if is_monthly(name, values) else values for name, values in fields.items()}
        return closures.made_by(self.snapshot.path, kernel, self.g | now, self.cyclic, self.settings, *names)

    def makes(self, kernel, fields, *names):
        """Whether the kernel makes of these what the record has."""
        made = self.make(kernel, fields, *names)
        if wrong := [name for name in names if self.difference(made[name], name).max() > 1e-12]:
            note(f"{', '.join(fields)}: the setup's are not taken, since they do not make {', '.join(wrong)}")
        return not wrong

    def wind(self):
        """At the faces, or one cell farther east and north, as two of the setups have it."""
        fields, months = {}, {theirs: self.months(theirs) for theirs in ("taux", "tauy")}
        if missing := [theirs for theirs, records in months.items() if records is None]:
            if len(missing) == 1:
                note(f"surface_taux, surface_tauy: the setup's months are not taken, since {missing[0]} is missing")
            return {}
        for name, theirs, axis in (("surface_taux", "taux", 2), ("surface_tauy", "tauy", 1)):
            records = months[theirs]
            farther = np.roll(records, -1, axis)
            if axis == 1 or not self.cyclic:
                np.moveaxis(farther, axis, 0)[-1] = 0
            known = [(self.difference(self.now(values), name), values) for values in (records, farther)]
            off, fields[name] = min(known, key=lambda pair: pair[0][:, :-1].max())
            if off[:, :-1].max() > 1e-12:
                note(f"{name}: the setup's {theirs} is not taken, since it does not make it")
                return {}
            if off.max() > 1e-12:
                note(f"note: {name}: in the last column it is another than the record's, for which the setup takes its "
                     "ghosts as they are")
        return fields

    def mixes(self, wind):
        """Whether it makes the record's flux of TKE, but for what ghosts of the wind decide."""
        if "forc_tke_surface" not in self.g:
            return False
        made = self.make("wind_forcing", wind, "forc_tke_surface")["forc_tke_surface"]
        off = self.difference(made, "forc_tke_surface") > 1e-12
        if off[1:, 1:-1].any():
            note(f"warning: forc_tke_surface: stays that of the record, which the wind does not make in {np.sum(off)} "
                 "cells: is it in the snapshot on land, too?")
        elif off.any():
            note(f"note: forc_tke_surface: in {np.sum(off)} cells at the edge the wind makes another than in Veros, "
                 "where the setup's ghosts of the wind decide")
        return not off[1:, 1:-1].any()

    def surface(self):
        """Heat and salt."""
        fields = {"t_flux": over_heat(self.months("qnet")), "t_rest": over_heat(self.months("qnec", "sst_rest")),
                  "t_star": self.months("t_star", "sst_clim"), "s_rest": self.months("sss_rest"),
                  "s_star": self.months("s_star", "sss_clim")}
        if fields["s_rest"] is None:
            fields["s_rest"] = np.full(self.g["kbot"].shape, self.g["dzt"][-1] / IN_A_MONTH)
        return self.known("surface_forcing", fields, ("t_rest", "t_star", "s_star"),
                          "forc_temp_surface", "forc_salt_surface")

    def interior(self):
        """Sunlight, or a sponge."""
        has = self.snapshot.has
        sun = {"q_solar": over_heat(self.months("qsol")),
               "divpen_shortwave": self.snapshot["divpen_shortwave"] if has("divpen_shortwave") else None}
        sponge = {"rest_tscl": self.snapshot["rest_tscl"] if has("rest_tscl") else None,
                  "temp_star": self.months("t_star", axes=("zt", "yt", "xt")),
                  "salt_star": self.months("s_star", axes=("zt", "yt", "xt"))}
        fields = sun if sponge["rest_tscl"] is None else sponge
        return self.known("interior_forcing", fields, tuple(fields), "temp_source", "salt_source")

    def known(self, kernel, fields, needed, *names):
        """The fields that are there, if they are all that is needed, and enough."""
        fields = {name: values for name, values in fields.items() if values is not None}
        monthly = [name for name, values in fields.items() if is_monthly(name, values)]
        missing = [name for name in needed if name not in fields]
        if missing and monthly:
            note(f"{', '.join(monthly)}: the setup's months are not taken, since {', '.join(missing)} cannot be made")
        return fields if not missing and self.makes(kernel, fields, *names) else {}


def over_heat(records):
    return None if records is None else records / HEAT


def is_monthly(name, values):
    return values.ndim > len(table.axes_of(name))


def add(g, snapshot, settings, cyclic):
    """Adds the months to the fields, and the switches that they need; says which fields it has added."""
    if snapshot.dataset.sizes.get("nmonths") != MONTHS:
        return set()
    setup = Setup(g, snapshot, settings, cyclic)
    wind, surface = setup.wind(), setup.surface()
    interior = setup.interior() if settings["enable_tempsalt_sources"] else {}
    added = wind | surface | interior
    g.update(added)
    g.update({f"{name}.period": YEAR for name, values in added.items() if is_monthly(name, values)})
    switches = {"t_ice": ICE} if surface else {}
    if wind and setup.mixes(wind):
        switches["enable_wind_mixing"] = 1.0
    if interior:
        switches["enable_interior_forcing"] = 1.0
    if added:
        note("; ".join([f"{', '.join(added)}: the setup's months, which make what the record has",
                        *(f"{name} {value:g}" for name, value in switches.items())]))
    settings.update(switches)
    return set(added)
