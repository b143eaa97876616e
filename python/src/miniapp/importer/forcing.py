"""Wind, fluxes and targets of the surface from other files, on grids of their own, with all of their records."""

import numpy as np

from . import axes, table, units
from .problem import Unusable, Usage, note
from .source import Source, arrange

HEAT = table.RHO_0 * 3991.86795711963  # J m-3 K-1, by TEOS-10's cp0
DAY = 86400.0
# our field: CF's names, and the units that divide by rho_0 cp to ours
FIELDS = {
    "surface_taux": (("surface_downward_eastward_stress", "surface_downward_x_stress"), None),
    "surface_tauy": (("surface_downward_northward_stress", "surface_downward_y_stress"), None),
    "t_flux": (("surface_downward_heat_flux_in_sea_water",), "W m-2"),
    "t_rest": ((), "W m-2 K-1"),
    "q_solar": (("net_downward_shortwave_flux_at_sea_water_surface",), "W m-2"),
    "t_star": (("sea_surface_temperature",), None),
    "s_star": (("sea_surface_salinity",), None),
    "s_rest": ((), None),
    "s_flux": ((), None),
}


def along(values, axis, points, wanted):
    """Linear between the points of an axis; those beyond its ends have the end."""
    return np.apply_along_axis(lambda line: np.interp(wanted, points, line), axis, values)


def spread(values):
    """Where values are missing, those of the nearest cells beside them, step by step."""
    rows, columns = values.shape
    while np.isnan(values).any():
        for row, column in ((0, 1), (2, 1), (1, 0), (1, 2)):
            around = np.pad(np.pad(values, ((0, 0), (1, 1)), "wrap"), ((1, 1), (0, 0)), constant_values=np.nan)
            values = np.where(np.isnan(values), around[row:row + rows, column:column + columns], values)
    return values


def interpolated(placed, lon, lat):
    """Bilinear between the values that are there."""
    values, points = placed.values[0], placed.lon
    there = np.isfinite(values)
    if not there.any():
        return None
    if len(points) > 1 and points[-1] - points[0] + 1.5 * np.diff(points).max() > 360:  # round the globe
        values, there = (np.append(field, field[:, :1], 1) for field in (values, there))
        points = np.append(points, points[0] + 360)
    west = 0.5 * (points[0] + points[-1]) - 180  # wherever their longitudes begin
    total, share = (along(along(field, 0, placed.lat, lat), 1, points, (lon - west) % 360 + west)
                    for field in (np.where(there, values, 0.0), there.astype(float)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return spread(np.where(share > 0, total / share, np.nan))


def in_our_units(name, path, variable, values, source):
    ours, other = table.fields()[name].units, FIELDS[name][1]
    theirs = source.units_of(name, variable)
    if other and theirs and not units.line_between(theirs, ours):
        note(f"{name}: over rho_0 cp")
        return units.convert(path, variable.name, values, theirs, other) / HEAT
    return source.in_units(name, path, variable, values)


def time_axis(path, dataset, variable):
    found = [dimension for dimension in variable.dims if axes.is_time(dataset, dimension)]
    if len(found) > 1:
        raise Unusable(f"{path}: '{variable.name}' has the times {', '.join(map(str, found))}, expected one")
    return found[0] if found else None


def period_of(path, dataset, variable, dimension, chosen):
    """In seconds: that of --period, or of so many records as far apart as theirs."""
    if chosen.period:
        return chosen.period
    times = dataset[dimension] if dimension in dataset.variables else None
    step = {"days": DAY, "hours": DAY / 24, "seconds": 1.0}.get(axes.text_of(times, "units").split(" ")[0] if
                                                               times is not None else "")
    count = variable.sizes[dimension]
    if not step or count < 2:
        raise Unusable(f"{path}: the times of '{variable.name}' tell no period, expected --period SECONDS")
    apart = np.diff(axes.values_of(path, times)) * step
    if not 0 < apart.max() < 1.25 * apart.min():  # as months are
        raise Unusable(f"{path}: the times of '{variable.name}' are {apart.min() / DAY:g} to {apart.max() / DAY:g} days "
                       "apart, expected evenly rising times, or --period SECONDS")
    return float(np.mean(apart) * count)


def read(name, path, variable, source, g, chosen):
    dataset = source.dataset_of(path)
    dimension = time_axis(path, dataset, variable)
    count = variable.sizes[dimension] if dimension else 1
    x, y = g["x"], g["y"]
    if name == "surface_taux":
        x = x + 0.5 * np.diff(x, append=2 * x[-1] - x[-2])
    if name == "surface_tauy":
        y = y + 0.5 * np.diff(y, append=2 * y[-1] - y[-2])
    records = []
    for i in range(count):
        record = variable.isel({dimension: i}) if dimension else variable
        lines = axes.horizontal(path, variable.name, axes.coordinates_of(path, dataset, record))
        if set(map(str, record.dims)) != {str(line) for line, _ in lines.values()} or len(lines) != 2:
            raise Unusable(f"{path}: '{variable.name}' for {name} must lie on longitude and latitude, not on "
                           f"{', '.join(map(str, variable.dims))}")
        values = interpolated(arrange(path, record, lines), x, y)
        if values is None:
            raise Unusable(f"{path}: record {i} of '{variable.name}' has no value")
        records.append(values)
    values = in_our_units(name, path, variable, np.stack(records), source)
    field = table.fields()[name]
    if not field.range.holds(values).all():
        raise Unusable(f"{path}: '{variable.name}' for {name} has values from {values.min():g} to {values.max():g}, "
                       f"expected {field.range}")
    said = f"{name}: from '{variable.name}' of {path}, interpolated, {count} record{'s' if count > 1 else ''}"
    if count == 1:
        note(said)
        return values[0], None
    period = period_of(path, dataset, variable, dimension, chosen)
    note(f"{said}, again after {period / DAY:g} days")
    return values, period


def replace(g, found):
    """Leaves out what a run of Veros had: the fields of these names, and all that forces the same tracer at the
    surface, sunlight included."""
    tracers = {name[:2] for name in found} & {"t_", "s_"}
    left_out = [name for name in FIELDS if name in g and (
        name in found or name[:2] in tracers or (name == "q_solar" and "t_" in tracers))]
    for name in left_out:
        del g[name]
        g.pop(f"{name}.period", None)
    if left_out:
        note(f"{', '.join(left_out)}: not those of the run, but of --forcing alone")


def add(g, settings, chosen, is_degrees, ocean):
    """Adds the fields of --forcing; the periods of those with records lie beside them."""
    if not chosen.forcing:
        return
    if ocean.is_own or not is_degrees:
        raise Usage("--forcing: needs longitudes and latitudes, which a file with the program's own fields lacks")
    source = Source(chosen, chosen.forcing)
    found = {name: place for name, (standard_names, _) in FIELDS.items()
             if (place := source.find(name) or source.find(name, standard_names))}
    if not found:
        raise Unusable(f"{source.name}: there is none of {', '.join(FIELDS)}, by name or CF's standard name; choose by "
                       "--variable NAME=THEIRS")
    replace(g, found)
    for name, place in found.items():
        g[name], period = read(name, *place, source, g, chosen)
        if period:
            g[f"{name}.period"] = period
    for name in [name for name in chosen.default if name in FIELDS and name not in found]:
        note(f"{name}: {chosen.default[name]:g}, by --default")
        g[name] = np.full(g["kbot"].shape, chosen.default[name])
    if not (g["u"].any() or g["v"].any()):
        del g["u"], g["v"]
        note("u, v: left out, so that the ocean starts from rest")
    if "surface_taux" in found and "enable_wind_mixing" not in chosen.set:
        settings["enable_wind_mixing"] = 1
        note("enable_wind_mixing: 1, so that in steps the wind replaces forc_tke_surface; --set changes it")
