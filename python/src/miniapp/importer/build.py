"""From the options to the input file and its picture."""

import contextlib
import datetime
import hashlib
import shlex
import sys

import gsw
import numpy as np
import xarray

from .. import ghosts
from ..inputs import opened
from ..library import default
from ..whole import printable, replacing
from . import closures, complete, fields, figure, forcing, ocean, plausible, store, table, veros
from .problem import Unusable, Unwritable, Usage, note, program
from .source import Source

METRES = {"x": {"units": "m", "standard_name": "projection_x_coordinate",
                "long_name": "x of T points"},
          "y": {"units": "m", "standard_name": "projection_y_coordinate",
                "long_name": "y of T points"}}

WALL = "southern_wall"  # of a streamfunction without ghosts
MADE = {"maskU", "maskV", "maskW", "kbot", "Nsqr"}


def check_options(chosen, source):
    """Refuses options that would do nothing, since whoever gives one expects something else."""
    given = {*chosen.variable, *chosen.default}
    made = [name for name in sorted(given) if name in MADE or len(table.axes_of(name)) not in (2, 3)]
    if made and not source.is_own:
        raise Usage(f"--variable, --default {', '.join(made)}: cannot be given, since it is made of other fields")
    if source.is_veros:
        idle = [name for name, given in (
            ("--temperature", chosen.temperature), ("--salinity", chosen.salinity),
            ("--holes", chosen.holes != "refuse"), ("--cyclic-x", chosen.cyclic_x is not None),
            ("--variable temp, salt, maskT, u or v",
             {"temp", "salt", "maskT", "u", "v"} & set(chosen.variable)),
            ("--default temp or salt", {"temp", "salt"} & set(chosen.default)),
            ("--default u or v", {"u", "v"} & set(chosen.default))) if given]
        if idle:
            raise Usage(f"{', '.join(idle)}: of no use, since a snapshot of Veros says all that")
    elif source.is_own:
        idle = [f"--{name}" for name in ("temperature", "salinity", "restart") if getattr(chosen, name)]
        if idle or chosen.holes != "refuse":
            raise Usage(f"{', '.join(idle or ['--holes'])}: of no use, since the file has the program's own fields")
    elif chosen.restart:
        raise Unusable(f"{source.name}: is no snapshot of Veros, expected one beside --restart: a "
                       "restart holds no grid and no settings")


def check_settings(settings, source):
    for name, setting in table.settings().items():
        if name in settings and not setting.range.holds(settings[name]):
            raise Unusable(f"{source.name}: setting {name} is {settings[name]:g}, expected {setting.range}")


def checksum(path):
    """In pieces: a file may be larger than the memory, if one record is not."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.hexdigest()


def dates_of(source, settings):
    """The attributes by which snapshots have dates: at start_time, that of the record, to a second."""
    if source.date:
        start = datetime.timedelta(seconds=settings.get("start_time", 0.0) - 0.5)
        origin = (source.date - start).replace(microsecond=0)
        note(f"time_origin: {origin}, calendar {origin.calendar}")
        return {"time_origin": str(origin), "calendar": origin.calendar}
    return {name: printable(dataset.attrs[name]) for _, dataset in source.datasets if source.is_own
            for name in ("time_origin", "calendar") if isinstance(dataset.attrs.get(name), str)}


def root_attributes(chosen, settings, cyclic, halo):
    """Settings for the kernels, and where all of it comes from; no time, so that the same inputs give the same file."""
    files = [*chosen.files, *chosen.forcing, *([chosen.restart] if chosen.restart else [])]
    names = [path.name for path in files]
    kept = {name: (int if setting.is_whole else float)(settings[name])
            for name, setting in table.settings().items() if name in settings}
    return {
        "Conventions": "CF-1.8",
        "title": printable(f"Input of miniapp, made of {', '.join(names)}"),
        "source": printable(", ".join(f"{name} sha256:{checksum(path)}" for name, path in zip(names, files))),
        "history": printable(f"{program()} {shlex.join(sys.argv[1:])}"),
        # Debian's xarray gives its version as 999
        "references": ", ".join(f"{one.__name__} {one.__version__}".removesuffix(" 999") for one in (gsw, xarray, np)),
        "halo": halo, "cyclic_x": int(cyclic), **kept}


def stored(g):
    """The fields that go into the file, in its types."""
    return {name: np.ascontiguousarray(g[name], table.type_of(name))
            for name in (*table.COORDINATES, *table.fields()) if name in g}


def axes_of(g):
    """Fields with as many records share an axis of them."""
    return lambda name: (*((f"record_{len(g[name])}",) if f"{name}.period" in g else ()), *table.axes_of(name))


def attributes_of(g, is_degrees):
    def attributes(name):
        own = {} if is_degrees else METRES.get(name, {})
        kept = {key: g[f"{name}.{key}"] for key in (WALL, "period") if f"{name}.{key}" in g}
        surface = table.surface_of(name) if f"{name}.is_pressure" in g else {}
        return {**table.attributes_of(name), **own, **surface, **kept}
    return attributes


@contextlib.contextmanager
def blaming(path):
    """Blames that output for a failure in the block."""
    try:
        yield
    except Unusable:  # a ValueError, too
        raise
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Unwritable(f"{path}: cannot be written: {reason}") from error


@contextlib.contextmanager
def writing(path):
    """A name to write to; the file takes the place of the path if all goes well."""
    with blaming(path), replacing(path) as name:
        yield name


def check_accepted(path, g, source):
    """The program's reader takes it; if not, its line is about the file that it was made of."""
    library = default()
    wanted = [field.handle for field in table.fields().values() if {field.name, field.partner} & set(g)]
    try:
        with opened(library, path, wanted) as file:
            library.c.input_check_pairs(file, library.defaults)
    except Unusable as error:
        raise Unusable(str(error).replace(printable(path), source.name)) from error


def write(chosen, g, root, is_degrees, source):
    """Both or none. The picture comes first: its name may ask for a format that cannot be drawn."""
    with blaming(chosen.figure):
        matplotlib = figure.find_matplotlib(chosen.figure.parent) if figure.DRAWN <= set(g) else None
    with contextlib.ExitStack() as stack:
        output = stack.enter_context(writing(chosen.output))
        if matplotlib:
            picture = stack.enter_context(writing(chosen.figure))
            figure.draw(matplotlib, g, picture, "degrees" if is_degrees else "m", root["title"])
        with blaming(chosen.output):
            store.write(output, stored(g), axes_of(g), attributes_of(g, is_degrees), root)
        check_accepted(output, g, source)
    if matplotlib:
        return chosen.output, chosen.figure
    note(f"no picture: it needs matplotlib, {', '.join(sorted(figure.DRAWN))}")
    return (chosen.output,)


def compare_inputs(source, chosen):
    """A snapshot of miniapp knows the input of its run: another may be another ocean with as many points. A
    snapshot of chosen fields lacks others of its time."""
    for path, dataset in source.datasets:
        if "chosen_fields" in dataset.attrs:
            note(f"warning: {path}: a snapshot of chosen fields alone: END.state.nc beside it holds all of a step")
        own = dataset.attrs.get("input_sha256")
        if own and own not in map(checksum, chosen.files):
            note(f"warning: {path}: a snapshot of a run from another input, {dataset.attrs.get('input')}")


def walls_of(source, g, halo):
    """The values of the file's own fields on the southern wall, where no ghosts say so."""
    found = {}
    for _, dataset in source.datasets:
        for name in set(g) & set(dataset):
            field = table.fields().get(name)
            if field and field.has_wall and not halo and WALL in dataset[name].attrs:
                try:
                    found[f"{name}.{WALL}"] = ghosts.row_of_wall(field, dataset[name].attrs[WALL], g[name].shape[-1])
                except Unusable as error:
                    raise Unusable(f"{source.name}: {error}") from error
    return found


def make(source, chosen):
    """Fields, settings, whether x is cyclic, and ghosts."""
    source.is_veros = veros.is_snapshot(source) and not source.is_own
    check_options(chosen, source)
    if source.is_own:
        g, settings, cyclic, halo = complete.make(source, chosen)
        g.update(walls_of(source, g, halo))
        compare_inputs(source, chosen)
        return g, settings | chosen.set, cyclic, halo
    g, settings, cyclic = (veros.rebuild if source.is_veros else ocean.make)(source, chosen)
    settings.update(chosen.set)
    fields.complete(g, settings, source, chosen, cyclic)
    return g, settings, cyclic, 0


def check(source, g, settings, cyclic, halo):
    """One line ends the run; of fields that contradict each other, it names all."""
    closures.check_finite(source.name, g)
    check_settings(settings, source)
    complete.check_ranges(source.name, g)
    if faults := plausible.faults_of(g, cyclic, halo):
        raise Unusable(f"{source.name}: {'; '.join(faults)}")


def build(chosen):
    source = Source(chosen, chosen.files)
    source.is_own = chosen.halo is not None or any(complete.is_own(dataset) for _, dataset in source.datasets)
    g, settings, cyclic, halo = make(source, chosen)
    if chosen.time is not None and not source.has_time:
        raise Unusable(f"{source.name}: no variable has a time axis, expected no --time")
    source.compare_times()
    check(source, g, settings, cyclic, halo)
    is_degrees = bool(settings.get("coord_degree", True))
    forcing.add(g, settings, chosen, is_degrees, source)
    if source.is_veros and not is_degrees:
        g["x"], g["y"] = veros.METRES_A_KM * g["x"], veros.METRES_A_KM * g["y"]
    root = root_attributes(chosen, settings, cyclic, halo) | dates_of(source, settings)
    written = write(chosen, g, root, is_degrees, source)
    wet = [f"{np.sum(g[name] > 0)} of {g[name].size} {what}"
           for name, what in (("maskT", "cells"), ("kbot", "columns")) if name in g]
    if wet:
        note(f"{' and '.join(wet)} are wet; halo {halo}, cyclic_x {int(cyclic)}")
    return written
