"""Files as people have them: land, levels, time, axes and names as netCDF stores them. Whatever a
file looks like, its ocean is the same, and so is the result."""

import itertools
import json
import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest

import fields
from conftest import (HERE, INPUT, LONG, MISMATCH, QUICK, TROUBLE, USAGE, checksums_in, read, replace,
                      write)

HALO = 2
FILL = 9.969209968386869e36  # netCDF's own
INSIDE = (..., slice(HALO, -HALO), slice(HALO, -HALO))


# ---- an ocean ----

def axes_of(name, value):
    """"zyx", or a part of it; before it those that number the corners of isoneutral mixing."""
    if value.ndim == 5:
        return "ikzyx" if name in ("Ai_ez", "Ai_bx") else "jkzyx"
    if value.ndim > 1:
        return "zyx"[-value.ndim:]
    return {"dxt": "x", "dxu": "x", "dyt": "y", "dyu": "y", "cost": "y", "cosu": "y"}.get(name, "z")


def water_of(values, name):
    """Where a field means something."""
    if values[name].ndim == 2:
        return values["kbot"] > 0
    return values[{"u": "maskU", "v": "maskV", "K_11": "maskU", "K_22": "maskV"}.get(
        name.removesuffix("_wgrid"), "maskT")] == 1


def zeros_on_land(values):
    """What land becomes when it is missing: zero, but what the water above has in K_iso and K_gm."""
    zeros = {name: masked(values, name, 0) if name in LAND else value
             for name, value in values.items()}
    return zeros | {name: extended(values[name], values["maskT"] == 1) for name in ("K_iso", "K_gm")}


def extended(field, wet):
    """Land has the value of the lowest water above it."""
    field = np.where(wet, field, 0)
    for k in reversed(range(len(field) - 1)):
        field[k] = np.where(wet[k], field[k], field[k + 1])
    return field


def faces(mask, cyclic, halo):
    """The masks of faces, by Veros's rule."""
    east, north, above = np.zeros_like(mask), np.zeros_like(mask), mask.copy()
    east[..., :-1] = mask[..., :-1] & mask[..., 1:]
    if cyclic:
        east[..., -1] = mask[..., -1] & mask[..., 2 * halo]
    north[:, :-1] = mask[:, :-1] & mask[:, 1:]
    above[:-1] = mask[:-1] & mask[1:]
    return {"maskT": mask, "maskU": east, "maskV": north, "maskW": above}


@pytest.fixture(scope="module")
def basin():
    """An ocean without ghosts, whose land holds what missing values become."""
    values, settings = fields.make(12, 9, 6, seed=5)
    values |= faces(values["maskT"], cyclic=False, halo=0)
    return zeros_on_land({name: value for name, value in values.items()
                          if name not in ("sample", "factor_a", "factor_b")}), settings


@pytest.fixture(scope="module")
def original(basin, tmp_path_factory):
    """Its file, with nothing that needs care."""
    return write(tmp_path_factory.mktemp("plain") / "plain.h5", *basin, halo=0)


@pytest.fixture
def plain(tmp_path, original):
    """A copy to change."""
    return shutil.copy(original, tmp_path / "plain.h5")


@pytest.fixture(scope="module")
def expected(miniapp, original):
    """The checksums of what the program makes of it."""
    return miniapp.checksums(original)


@pytest.fixture(scope="module")
def expected_outputs(miniapp, original):
    """The same as numbers."""
    return outputs(miniapp, original)[0]


def readers(miniapp, name):
    """The option that chooses the kernels that read a field."""
    return "-k", ",".join(kernel.name for kernel in miniapp.ocean if kernel.reads(name))


EOS = ("-k", "eos")  # reads temperature, salinity and pressure


def contents(path):
    with h5py.File(path) as file:
        return {name: dataset[...] for name, dataset in file.items()
                if not h5py.h5ds.is_scale(dataset.id)}


def outputs(miniapp, path, *options):
    """The outputs, and what the program says that it did."""
    out = path.with_suffix(".out.h5")
    provenance = miniapp.json("-o", out, *options, path)["provenance"]
    return contents(out), provenance


def results(miniapp, path, *options):
    """The same, but of the outputs their checksums."""
    report = miniapp.json("--checksums", *options, path)
    return checksums_in(report), report["provenance"]


def assert_same(found, expected):
    """Outputs or checksums; `expected` may have those of more kernels."""
    assert found and set(found) <= set(expected)
    for name, value in found.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=str(name))


def masked(values, name, fill):
    """A field with a fill value on its land."""
    return np.where(water_of(values, name), values[name], fill)


LAND = ["temp", "salt", "K_iso", "u_wgrid", "v_wgrid", "w_wgrid", "kappaM", "mxl", "forc",
        "forc_tke_surface", "tke", "tke_taup1", "dtke_taum1",
        "u", "v", "Nsqr", "K_diss_v", *fields.SOURCES_OF_TKE,
        "K_gm", "K_11", "K_22", "K_33", "tracer", "tracer_taup1", "dtracer_skew", "temp_taup1",
        "salt_taup1", "kappaH", "forc_temp_surface", "forc_salt_surface", "w", "dtracer_taum1",
        "dtemp", "dsalt", "rho", "Hd", "eke", "eke_len", "eke_taup1",
        "deke_taum1", "t_star", "t_rest", "t_flux", "s_star", "s_rest", "s_flux", "temp_source",
        "salt_source", "forc_tracer_surface"]
EVERYWHERE = {"coriolis_t", "beta", "Ai_ez", "Ai_nz", "Ai_bx", "Ai_by", "int_drhodT",
              "int_drhodS"}  # they mean something


# ---- ghosts ----

def test_outer_water_is_not_eaten(miniapp, basin, expected, tmp_path):
    """Without the attribute halo, water in the outer rings says that they are cells."""
    path = write(tmp_path / "bare.h5", *basin)
    found, provenance = results(miniapp, path)
    assert_same(found, expected)
    assert provenance["grid"] == "12 x 9 x 6 points, no ghosts: the outer cells are water"


def closed(values):
    """With two rings of land around."""
    result = {}
    for name, value in values.items():
        along = axes_of(name, value)
        width = [(HALO, HALO) if axis in "xy" else (0, 0) for axis in along]
        is_zero = name in ("kbot", "u", "v", "w") or name.startswith("mask") or name.endswith("_wgrid")
        result[name] = np.pad(value, width, "constant" if is_zero else "edge")
    return result


def test_outer_land_is_taken_for_ghosts(miniapp, basin, expected_outputs, tmp_path):
    values, settings = closed(basin[0]), basin[1]
    path = write(tmp_path / "bare.h5", values, settings)
    found, provenance = outputs(miniapp, path)
    assert provenance["grid"] == ("16 x 13 x 6 points, two ghosts on each side: the outer cells "
                                  "are land")
    with h5py.File(path, "a") as file:
        file.attrs["halo"] = 2
    told, provenance = outputs(miniapp, path)
    assert provenance["grid"].endswith("attribute halo is 2")
    assert_same(found, told)
    assert_same({name: value[INSIDE] for name, value in found.items()}, expected_outputs)


def channel():
    """A cyclic ocean between two walls, with its ghosts."""
    values, settings = fields.make(14, 11, 5, seed=9)
    for name in ("maskT", "maskU", "maskV", "maskW", "kbot"):
        values[name][..., :HALO, :] = values[name][..., -HALO:, :] = 0
    for name, value in values.items():
        if value.ndim > 1 or name in ("dxt", "dxu"):
            value[..., :HALO] = value[..., -2 * HALO:-HALO]
            value[..., -HALO:] = value[..., HALO:2 * HALO]
    values |= {name: mask for name, mask in faces(values["maskT"], True, HALO).items()}
    return {name: value for name, value in values.items() if name[:6] not in ("sample", "factor")
            }, settings


def test_outer_copies_are_taken_for_ghosts(miniapp, tmp_path):
    values, settings = channel()
    path = write(tmp_path / "bare.h5", values, settings, cyclic_x=1)
    found, provenance = results(miniapp, path)
    assert provenance["grid"] == ("14 x 11 x 5 points, two ghosts on each side, cyclic in x: the "
                                  "outer rows are land, the outer columns copies")
    told, _ = results(miniapp, write(tmp_path / "told.h5", values, settings, 2, 1))
    assert_same(found, told)
    values["salt"][0, 5, 0] += 0.5  # no copy any more
    water = np.argwhere(values["maskT"][:, 3:-3, 0])[-1] + (0, 3)
    values["salt"][tuple(water) + (0,)] += 0.5
    values |= faces(values["maskT"], cyclic=True, halo=0)
    path = write(tmp_path / "cells.h5", values, settings, cyclic_x=1)
    _, provenance = results(miniapp, path)
    assert provenance["grid"].endswith("no ghosts, cyclic in x: the outer cells are water")


def test_outer_copies_of_an_ocean_that_may_be_cyclic(miniapp, tmp_path):
    path = write(tmp_path / "bare.h5", *channel())
    miniapp.fails(INPUT, r"bare\.h5: attribute 'halo' is missing.*copies.*cyclic_x = 1", path)


def test_no_room_for_ghosts(miniapp, basin, tmp_path):
    """Four rows cannot have any, whether or not something tells."""
    values = {name: basin[0][name][:, :4] for name in ("salt", "temp")} | {"p": basin[0]["p"]}
    _, provenance = results(miniapp, write(tmp_path / "bare.h5", values), "-k", "eos")
    assert provenance["grid"] == "12 x 4 x 6 points, no ghosts: too few cells for them"


def test_no_room_for_ghosts_and_another_fault(miniapp, basin, tmp_path):
    """Both are said, and no column is looked for that there cannot be."""
    values = {name: basin[0][name][..., :2] for name in ("salt", "temp", "maskT")} | {"p": basin[0]["p"]}
    values["salt"] = values["salt"][0]
    path = write(tmp_path / "narrow.h5", values, halo=2, cyclic_x=1)
    done = miniapp.run(*QUICK, *EOS, path)
    assert done.returncode == INPUT and not TROUBLE.search(done.stderr)
    assert "'salt' has 2 axes" in done.stderr and "2 cells along x are too few" in done.stderr


def test_nothing_tells_of_ghosts(miniapp, basin, tmp_path):
    values = {name: basin[0][name] + 1 for name in ("salt", "temp")} | {"p": basin[0]["p"]}
    path = write(tmp_path / "bare.h5", values)
    miniapp.fails(INPUT, r"bare\.h5: attribute 'halo' is missing: give 0 .* 2 .*missing values "
                         "tell", "-k", "eos", path)
    values["salt"][0, 4, 4] = np.nan
    path = write(tmp_path / "land.h5", values)
    _, provenance = results(miniapp, path, "-k", "eos")
    assert "no ghosts: the outer cells are water" in provenance["grid"]


# ---- levels ----

def surface_first(values):
    """Turned round, as most of the world stores it."""
    result = {}
    for name, value in values.items():
        has_z = value.ndim >= 3 or name in ("zt", "zw", "p", "dzt", "dzw")
        result[name] = np.flip(value, -min(value.ndim, 3)) if has_z else value
    nz = len(values["zt"])
    result["kbot"] = np.where(values["kbot"] > 0, nz + 1 - values["kbot"], 0).astype(np.int32)
    return result


def turned(values):
    return {name: value[..., ::-1, :, :] if value.ndim >= 3 else value
            for name, value in values.items()}


def test_surface_first(miniapp, basin, expected_outputs, tmp_path):
    path = write(tmp_path / "turned.h5", surface_first(basin[0]), basin[1], halo=0)
    found, provenance = outputs(miniapp, path)
    assert_same(found, turned(expected_outputs))
    assert "levels from the surface down, turned round" in provenance["input_read_as"]
    # a reference is in the order of the file
    miniapp.passes("-k", "eos,isoneutral,tke", "--validate", path.with_suffix(".out.h5"), path)


def test_surface_first_by_its_coordinate(miniapp, basin, expected_outputs, tmp_path):
    """Where there is neither zt nor zw, the coordinate of z tells if it says which way it counts."""
    values = surface_first(basin[0])
    depth = -values.pop("zt")
    del values["zw"]
    for attributes, is_turned in (({"positive": "down"}, True), ({"standard_name": "depth"}, True),
                                  ({"axis": "Z"}, False)):
        path = write(tmp_path / "tke.h5", values, basin[1], halo=0)
        with h5py.File(path, "a") as file:
            file["z"] = depth
            file["z"].make_scale("z")
            file["z"].attrs.update(attributes)
            for name, value in values.items():
                if value.ndim == 3:
                    file[name].dims[0].attach_scale(file["z"])
        if not is_turned:
            miniapp.fails(INPUT, "maskU.* is land, but .* below it is not", "-k", "tke", path)
            continue
        assert_same(outputs(miniapp, path, "-k", "tke")[0], turned(expected_outputs))


@pytest.mark.parametrize("name, attributes, sign, is_turned", [
    ("depth", {}, 1, True), ("depth", {}, -1, True), ("axes/depth", {}, 1, True), ("z", {"positive": "down"}, -1, True),
    ("z", {"standard_name": "height"}, -1, True), ("z", {}, 1, False)])
def test_depths_below_0_are_heights(miniapp, basin, tmp_path, name, attributes, sign, is_turned):
    values = surface_first(basin[0])
    path = write(tmp_path / "turned.h5", {"temp": values["temp"], "salt": values["salt"],
                                          "p": values["p"]}, halo=0)
    with h5py.File(path, "a") as file:
        file[name] = -sign * values["zt"]
        file[name].make_scale(name)
        file[name].attrs.update(attributes)
        file["temp"].dims[0].attach_scale(file[name])
    _, provenance = results(miniapp, path, "-k", "eos")
    assert ("turned round" in provenance.get("input_read_as", "")) == is_turned


def test_surface_first_by_its_upper_faces(miniapp, basin, expected_outputs, tmp_path):
    """Where there is no zt, and nothing says which axis is which."""
    values = surface_first(basin[0])
    del values["zt"]
    path = write(tmp_path / "turned.h5", values, basin[1], halo=0)
    for kernel in ("tke_diffusivities", "tke"):  # which does not need them
        assert_same(outputs(miniapp, path, "-k", kernel)[0], turned(expected_outputs))
    values["zw"] = values["zw"].copy()
    values["zw"][[2, 3]] = values["zw"][[3, 2]]
    path = write(tmp_path / "mixed.h5", values, basin[1], halo=0)
    miniapp.fails(INPUT, r"zw\[3\] is .* after .*, but heights rise", "-k", "tke_diffusivities", path)


@pytest.mark.parametrize("zt, pattern", [
    ([-400, -300, -350, -100, -50, -5], r"zt\[2\] is -350 after -300, but heights rise"),
    ([-400, -300, -300, -100, -50, -5], r"zt\[2\] is -300 after -300, but heights rise"),
    ([400, 300, 200, 100, 50, 5], r"zt\[0\] is 400, but heights are negative below the surface"),
    ([5, 50, 100, 200, 300, 400], r"zt\[0\] is 5, but heights are negative below the surface"),
])
def test_levels_that_cannot_be(miniapp, plain, zt, pattern):
    with h5py.File(plain, "a") as file:
        file["zt"][...] = zt
    for kernel in ("eos", "isoneutral", "tke"):
        miniapp.fails(INPUT, rf"plain\.h5: {pattern}", "-k", kernel, plain)


def test_rows_from_the_north(miniapp, basin, plain, tmp_path):
    """Their northern faces would be taken for southern ones; points alone do not mind."""
    with_coordinates(plain, basin[0])
    with h5py.File(plain, "a") as file:
        file["lat"][...] = file["lat"][...][::-1]
    miniapp.passes("-k", "eos", plain)
    miniapp.fails(INPUT, r"plain\.h5: rows go from north to south, 'lat' from 4 to -4", plain)
    miniapp.passes("--check", "--allow-invalid", plain)


def test_columns_from_the_east(miniapp, basin, plain):
    """So would their eastern faces, also where longitudes go through 0."""
    with_coordinates(plain, basin[0])
    with h5py.File(plain, "a") as file:
        file["lon"][...] = (4 - file["lon"][...]) % 360
    miniapp.passes("-k", "eos", plain)
    miniapp.fails(INPUT, r"plain\.h5: columns go from east to west, 'lon' from 4 to \d+, but must", plain)
    miniapp.passes("--check", "--allow-invalid", plain)


@pytest.mark.parametrize("span", [330, 360])
def test_columns_that_repeat(miniapp, basin, plain, span):
    """A cyclic ocean has each column once."""
    with_coordinates(plain, basin[0])
    with h5py.File(plain, "a") as file:
        file["lon"][...] = np.linspace(10, 10 + span, file["lon"].size) % 360
    miniapp.passes("-k", "eos", plain)
    with h5py.File(plain, "a") as file:
        file.attrs["cyclic_x"] = 1
    if span == 360:
        miniapp.fails(INPUT, "columns repeat, 'lon' goes from 10 to 10, but a cyclic ocean", "-k", "eos", plain)
    else:
        miniapp.passes("-k", "eos", plain)


def shifted(line):
    """Half a cell on, as on faces."""
    return line + np.append(np.diff(line), line[-1] - line[-2]) / 2


@pytest.mark.parametrize("place, change, fault", [
    (2, shifted, None), (2, lambda lon: lon - 360, None), (1, shifted, None), (0, np.copy, None),
    (2, lambda lon: lon - 180, r"lies on 'other', where \[0\] is at -180, but by 'lon' at 0, more than a cell away"),
    (2, lambda lon: lon + 2, r"\[0\] is at 2, but by 'lon' at 0"),
    (1, lambda lat: lat[::-1], r"\[0\] is at 4, but by 'lat' at -4"),
    (0, lambda depth: depth[::-1], r"\[0\] is at a depth of \d+, but by 'zt' at \d"),
    (0, lambda depth: -depth[::-1], r"\[0\] is at a depth of \d+, but by 'zt' at \d"),
    (0, lambda depth: depth / 1000, r"\[0\] is at a depth of 0\.\d+, but by 'zt' at \d")])
def test_coordinates_that_contradict(miniapp, basin, plain, place, change, fault):
    """Datasets of one file lie on the same cells, or on their faces."""
    with_coordinates(plain, basin[0])
    scale = ("depth", "lat", "lon")[place]
    with h5py.File(plain, "a") as file:
        file["other"] = change(file[scale][...])
        file["other"].attrs.update({name: value for name, value in file[scale].attrs.items()
                                    if name in ("units", "axis", "positive")})
        file["other"].make_scale("other")
        file["temp"].dims[place].detach_scale(file[scale])
        file["temp"].dims[place].attach_scale(file["other"])
    if fault:
        miniapp.fails(INPUT, rf"plain\.h5: 'temp' .*{fault}", "-k", "eos", plain)
        miniapp.passes("--allow-invalid", "-k", "eos", plain)
    else:
        miniapp.passes("-k", "eos", plain)


def test_coordinates_in_a_group(miniapp, basin, plain):
    """They say as much there, and outputs get them."""
    with_coordinates(plain, basin[0])
    with h5py.File(plain, "a") as file:
        file.create_group("axes")
        file.move("lat", "axes/lat")
    outputs(miniapp, plain, *EOS)
    with h5py.File(plain.with_suffix(".out.h5")) as output, h5py.File(plain, "a") as file:
        lat = file["axes/lat"][...]
        np.testing.assert_array_equal(output["lat"][...], lat)
        assert [scale.name for scale in output["dHdT"].dims[1].values()] == ["/lat"]
        file["axes/lat"][...] = lat[::-1]
    miniapp.fails(INPUT, r"plain\.h5: rows go from north to south, 'axes/lat' from 4 to -4", plain)


@pytest.mark.parametrize("name", ["dzt", "dzw"])
@pytest.mark.parametrize("factor", [100, 0.01])
def test_spacings_that_contradict_the_levels(miniapp, plain, name, factor):
    with h5py.File(plain, "a") as file:
        file[name][...] *= factor
    miniapp.fails(INPUT, rf"plain\.h5: {name}\[0\] is .*, but 'zt' goes from", plain)
    miniapp.passes("--check", "--allow-invalid", plain)


@pytest.mark.parametrize("name", ["maskT", "maskU", "maskV", "maskW"])
def test_masks_that_float(miniapp, plain, name):
    mask = read(plain, name)
    k, y, x = np.argwhere((mask[1:] == 1) & (mask[:-1] == 1))[0] + (1, 0, 0)
    with h5py.File(plain, "a") as file:
        file[name][k, y, x] = 0
    miniapp.fails(INPUT, rf"{name}\[{k}, {y}, {x}\] is land, but {name}\[{k - 1}, {y}, {x}\] below",
                  plain)
    miniapp.passes("--check", "--allow-invalid", plain)


@pytest.mark.parametrize("mask", ["maskT", "maskW"])
def test_kbot_that_contradicts_a_mask(miniapp, plain, mask):
    y, x = np.argwhere(read(plain, "kbot") > 1)[3]
    with h5py.File(plain, "a") as file:
        for other in {"maskT", "maskW"} - {mask}:
            del file[other]
        file["kbot"][y, x] -= 1
    miniapp.fails(INPUT, rf"plain\.h5: 'kbot' contradicts '{mask}' in the column \[{y}, {x}\]",
                  plain)
    # where kbot says water, land has the mixing length 0, by which tke divides
    miniapp.fails(MISMATCH, rf"though the inputs are: tke_taup1\[\d, {y}, {x}\] is (nan|-?inf) in tke",
                  "--allow-invalid", plain)
    miniapp.passes("--allow-invalid", "--allow-nonfinite", plain)


def test_index_is_that_of_the_file(miniapp, basin, tmp_path):
    """In a file from the surface down, too."""
    values = surface_first(basin[0])
    k, y, x = np.argwhere(values["maskT"] == 1)[7]
    values["salt"] = values["salt"].copy()
    values["salt"][k, y, x] = 60
    path = write(tmp_path / "turned.h5", values, basin[1], halo=0)
    miniapp.fails(INPUT, rf"salt\[{k}, {y}, {x}\] is 60", "-k", "eos", path)


# ---- land ----

def put_fill(path, name, values, fill, attribute="_FillValue", dtype=None):
    """A dataset with missing values; the fill is of the type that is stored."""
    with h5py.File(path, "a") as file:
        del file[name]
        values = np.asarray(values, dtype)
        file[name] = values
        if attribute:
            file[name].attrs[attribute] = values.dtype.type(fill)


# What stands for a missing value, and whether an attribute says so
FILLS = [(fill, attribute) for fill in (FILL, 1e20, np.nan, -1e34) for attribute in (None, "_FillValue")]


@pytest.mark.parametrize("fill, attribute", [*FILLS, (-1e34, "missing_value")])
def test_no_value_on_land_reaches_the_water(miniapp, basin, plain, expected, fill, attribute):
    """Each by its own mask. K_iso's land enters averages: it gets the value of the water above."""
    for name in LAND:
        put_fill(plain, name, masked(basin[0], name, fill), fill, attribute)
    found, provenance = results(miniapp, plain)
    assert_same(found, expected)
    replaced = re.search(r"([\w, ]+): what is missing or out of range on land was replaced",
                         provenance["input_read_as"])[1]
    if (fill, attribute) != (1e20, None):  # which some fields may hold
        assert set(replaced.strip().split(", ")) == set(LAND)


def test_every_field_that_has_land_is_tested_for_it(miniapp):
    """All but the masks themselves; those of one axis mean something everywhere."""
    assert set(LAND) | EVERYWHERE == {dataset.name for kernel in miniapp.ocean for dataset in kernel.reals()
                         + [optional for optional in kernel.inputs if optional.optional]
                         if dataset.axes[-2:] == ("y", "x") and not dataset.is_mask
                         and dataset.name != "kbot"}


# How a field is read is the same code for all of one shape: the sanitizers see some.
FIELDS = pytest.mark.parametrize("name", [
    *LAND[:2 * len(FILLS)],
    *(pytest.param(name, marks=pytest.mark.unsanitized("other presets look at this field"))
      for name in LAND[2 * len(FILLS):])])


@FIELDS
def test_no_value_on_the_land_of_one_field_reaches_the_water(miniapp, basin, plain, expected, name):
    """What all kernels that read it write."""
    fill, attribute = FILLS[LAND.index(name) % len(FILLS)]
    put_fill(plain, name, masked(basin[0], name, fill), fill, attribute)
    assert_same(results(miniapp, plain, *readers(miniapp, name))[0], expected)


def test_fill_of_another_type(miniapp, basin, plain, expected):
    """A missing_value of type double, as it is stored in a dataset of type float."""
    values = basin[0]["K_iso"].astype(np.float32)
    with h5py.File(plain, "a") as file:
        file["K_iso"][...] = values
    clean, _ = results(miniapp, plain, "-k", "isoneutral")
    put_fill(plain, "K_iso", masked({**basin[0], "K_iso": values}, "K_iso", np.float32(1e20)), 0,
             None, np.float32)
    with h5py.File(plain, "a") as file:
        file["K_iso"].attrs["missing_value"] = np.array([1e20, -7.0])
    found, _ = results(miniapp, plain, "-k", "isoneutral")
    assert_same(found, clean)


@pytest.mark.parametrize("value", [3, -1, 1e30])
def test_values_on_land_that_are_not_missing(miniapp, basin, plain, expected, value):
    """They stay as they are, unless they are out of range."""
    values = masked(basin[0], "kappaM", value)
    with h5py.File(plain, "a") as file:
        file["kappaM"][...] = values
        file["salt"][...] = masked(basin[0], "salt", 60)
    found, provenance = results(miniapp, plain)
    assert ("kappaM" in provenance["input_read_as"]) == (not 0 <= value <= 1000)
    assert "salt: what is missing or out of range" in provenance["input_read_as"].replace(
        ", kappaM", "")
    assert_same(found, expected)


@FIELDS
def test_missing_on_water(miniapp, basin, plain, name):
    mask = masked({**basin[0], name: np.ones_like(basin[0][name])}, name, 0)
    index = tuple(np.argwhere(mask == 1)[5])
    place = ", ".join(map(str, index))
    put_fill(plain, name, masked(basin[0], name, FILL), FILL)
    with h5py.File(plain, "a") as file:
        file[name][index] = FILL
    miniapp.fails(INPUT, rf"plain\.h5: {name}\[{place}\] is missing on water", plain,
                  *readers(miniapp, name))


def test_bad_fill(miniapp, plain):
    with h5py.File(plain, "a") as file:
        file["temp"].attrs["missing_value"] = "none"
    miniapp.fails(INPUT, r"plain\.h5: attribute 'missing_value' of dataset 'temp' must be a number",
                  plain)


MASKS = ["maskT", "maskU", "maskV", "maskW", "kbot"]


def without(path, names):
    with h5py.File(path, "a") as file:
        for name in names:
            del file[name]


@pytest.mark.parametrize("gone", [MASKS[1:4], MASKS[:4], MASKS[1:], MASKS[:3] + ["kbot"], ["kbot"],
                                  ["maskT"]], ids=str)
def test_masks_are_made_of_each_other(miniapp, plain, expected, gone):
    without(plain, gone)
    found, provenance = results(miniapp, plain)
    assert_same(found, expected)
    assert re.search(rf"{', '.join(gone)}: made of '(kbot|mask[TW])'", provenance["input_read_as"])


@pytest.mark.parametrize("halo, cyclic", [(0, 0), (0, 1), (2, 0), (2, 1)])
def test_masks_are_made_as_veros_does(miniapp, tmp_path, halo, cyclic):
    """In the ghosts of a cyclic ocean, too."""
    values, settings = channel()
    if halo == 0:
        values = {name: value[..., HALO:-HALO] if "x" in axes_of(name, value) else value
                  for name, value in values.items()}
    values |= faces(values["maskT"], cyclic, halo)
    if not (halo or cyclic):
        for name in ("u", "u_wgrid"):
            values[name][..., -1] = 0  # nothing flows through a wall
    path = write(tmp_path / "in.h5", values, settings, halo, cyclic)
    whole, _ = results(miniapp, path)
    without(path, MASKS[1:])
    found, _ = results(miniapp, path)
    assert_same(found, whole)


@pytest.mark.parametrize("source", ["salt", "temp"])
def test_masks_are_made_of_missing_values(miniapp, basin, plain, expected, source):
    without(plain, MASKS)
    for name in LAND if source == "salt" else [name for name in LAND if name != "salt"]:
        put_fill(plain, name, masked(basin[0], name, np.nan), np.nan)
    found, provenance = results(miniapp, plain)
    assert_same(found, expected)
    assert (f"maskT, maskU, maskV, maskW, kbot: made of the missing values of '{source}'"
            in provenance["input_read_as"])
    with h5py.File(plain, "a") as file:  # halo is found by them, too
        del file.attrs["halo"]
    assert_same(results(miniapp, plain)[0], expected)


def test_masks_of_a_field_without_salt(miniapp, basin, plain, expected):
    """The tke kernel reads no tracer: its own fields tell."""
    without(plain, [*MASKS, "salt", "temp", "K_iso"])
    put_fill(plain, "tke", masked(basin[0], "tke", np.nan), np.nan)
    assert_same(results(miniapp, plain, "-k", "tke")[0], expected)


def test_one_field_lacks_what_another_has(miniapp, basin, plain):
    without(plain, MASKS)
    put_fill(plain, "salt", masked(basin[0], "salt", np.nan), np.nan)
    k, y, x = np.argwhere(basin[0]["maskT"] == 1)[9]
    put_fill(plain, "temp", basin[0]["temp"], np.nan)
    with h5py.File(plain, "a") as file:
        file["temp"][k, y, x] = np.nan
    miniapp.fails(INPUT, rf"temp\[{k}, {y}, {x}\] is missing on water", plain)


def test_a_hole_in_the_water(miniapp, basin, plain):
    without(plain, MASKS)
    salt = masked(basin[0], "salt", np.nan)
    wet = basin[0]["maskT"] == 1
    k, y, x = np.argwhere(wet[1:] & wet[:-1])[0] + (1, 0, 0)
    salt[k, y, x] = np.nan
    put_fill(plain, "salt", salt, np.nan)
    miniapp.fails(INPUT, rf"salt\[{k}, {y}, {x}\] is missing, but salt\[{k - 1}, {y}, {x}\] below",
                  plain)


def test_land_of_a_mask_may_be_missing(miniapp, basin, plain, expected):
    """As xarray stores a mask and kbot that were cut out with where()."""
    for name in MASKS:
        values = basin[0][name].astype(float)
        put_fill(plain, name, np.where(values == 0, np.nan, values), np.nan)
    found, _ = results(miniapp, plain)
    assert_same(found, expected)


def test_eos_alone_has_land_too(miniapp, basin, plain, expected):
    """It reads no mask; one that is there counts, else what is missing is land."""
    for name in ("salt", "temp"):
        put_fill(plain, name, masked(basin[0], name, FILL), FILL)
    assert_same(results(miniapp, plain, *EOS)[0], expected)
    without(plain, MASKS)
    found, provenance = results(miniapp, plain, *EOS)
    assert_same(found, expected)
    assert "missing values of 'salt'" in provenance["input_read_as"]


def test_what_is_missing_everywhere_tells_nothing(miniapp, basin, plain, expected):
    """It does not make an ocean of land; what tells is the next."""
    without(plain, MASKS)
    put_fill(plain, "tke", np.full(basin[0]["tke"].shape, np.nan), np.nan)
    put_fill(plain, "kappaM", masked(basin[0], "kappaM", np.nan), np.nan)
    assert_same(results(miniapp, plain, *EOS)[0], expected)
    for name in ("salt", "temp", "kappaM"):
        put_fill(plain, name, np.full(basin[0][name].shape, np.nan), np.nan)
    miniapp.fails(INPUT, r"plain\.h5: salt\[0, 0, 0\] is missing", "-k", "triad:c=salt", plain)
    miniapp.fails(INPUT, r"plain\.h5: 2 datasets are missing: 'maskW'.*'kbot'", "-k", "tke_diffusivities",
                  plain)


def test_axes_without_names_in_another_order(miniapp, basin, tmp_path):
    """Nothing tells that they are, but the message says where to look."""
    values = {"temp": basin[0]["temp"].T, "salt": basin[0]["salt"].T, "zt": basin[0]["zt"], "p": basin[0]["p"]}
    path = write(tmp_path / "turned.h5", values, halo=0)
    miniapp.fails(INPUT, r"cells along z, but '\w+' has \d+; the axes of '(temp|salt)' have no names that say "
                         r"which they are: they must be \(z, y, x\)", "-k", "eos", path)


# ---- packed data ----

@pytest.mark.parametrize("attributes, offset, fill", [
    ({}, 10.0, -32768), ({"_Unsigned": "true"}, -300.0, -1), ({"_Unsigned": "false"}, 10.0, -32768)],
    ids=repr)
def test_packed(miniapp, basin, plain, tmp_path, attributes, offset, fill):
    """Unpacked, as netCDF does; the fill value is compared with what is stored. Of unsigned integers
    most lie above those that the signed type of their size holds."""
    values = dict(basin[0])
    packed = np.round((values["temp"] - offset) / 0.01)
    values["temp"] = np.where(values["maskT"] == 1, packed * 0.01 + offset, 0)
    expected, _ = results(miniapp, write(tmp_path / "exact.h5", values, basin[1], halo=0), *EOS)
    packed = np.where(values["maskT"] == 1, packed.astype(int).astype(np.int16), fill).astype(np.int16)
    put_fill(plain, "temp", packed, fill)
    with h5py.File(plain, "a") as file:
        file["temp"].attrs.update(scale_factor=0.01, add_offset=offset, **attributes)
    found, provenance = results(miniapp, plain, *EOS)
    assert_same(found, expected)
    assert "temp: unpacked" in provenance["input_read_as"]


def test_range_of_packed(miniapp, plain):
    with h5py.File(plain, "a") as file:
        file["temp"].attrs["add_offset"] = 273.15
    miniapp.fails(INPUT, r"temp\[\d, \d, \d+\] is 2\d\d.*, but must be from -20 to 80", plain)
    with h5py.File(plain, "a") as file:
        file["temp"].attrs["add_offset"] = "much"
    miniapp.fails(INPUT, r"plain\.h5: dataset 'temp': attribute 'add_offset' must be a number",
                  plain)


@pytest.mark.parametrize("attributes", [{"add_offset": np.nan}, {"add_offset": np.inf},
                                        {"scale_factor": 0.0}, {"scale_factor": np.nan}], ids=repr)
def test_packing_that_says_nothing(miniapp, plain, attributes):
    """Not a number would make land of all."""
    with h5py.File(plain, "a") as file:
        file["temp"].attrs.update(attributes)
    miniapp.fails(INPUT, r"plain\.h5: dataset 'temp': scale_factor is \S+ and add_offset \S+, but must "
                         "be finite", plain)


# ---- time ----

def with_time(path, name, records, named=True):
    """Records in front; the fields of `records` in turn."""
    with h5py.File(path, "a") as file:
        del file[name]
        file[name] = np.stack(records)
        if named:
            if "time" not in file:
                file["time"] = np.arange(len(records), dtype=float)
                file["time"].make_scale("time")
                file["time"].attrs["units"] = "days since 2000-01-01"
            file[name].dims[0].attach_scale(file["time"])


@pytest.mark.parametrize("named", [True, False])
def test_one_record(miniapp, basin, plain, expected, named):
    for name in ("temp", "salt"):
        with_time(plain, name, [basin[0][name]], named)
    found, provenance = results(miniapp, plain, *EOS)
    assert_same(found, expected)
    assert "record 0 in time" in provenance["input_read_as"]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("index", [1, -2])
def test_records(miniapp, basin, plain, expected, index, named):
    for name in ("temp", "salt"):
        with_time(plain, name, [basin[0][name] + 1, basin[0][name], basin[0][name] + 2], named)
    found, provenance = results(miniapp, plain, *EOS, "--time", index)
    assert_same(found, expected)
    assert "record 1 in time" in provenance["input_read_as"]
    if named:
        miniapp.fails(INPUT, r"plain\.h5: dataset 'salt' has 3 records in time: choose one by "
                             r"--time INDEX, from 0 to 2", plain)
    else:
        miniapp.fails(INPUT, r"dataset 'salt' has 4 axes, but must have 3: \(z, y, x\); if the "
                             r"first is time, --time INDEX chooses", plain)
    for wrong in (3, -4):
        miniapp.fails(INPUT, rf"'salt' has 3 records in time, but --time chooses {wrong}", *EOS,
                      "--time", wrong, plain)


@pytest.mark.parametrize("index", [1, 5, -2])
def test_time_beyond_the_only_record(miniapp, plain, index):
    temp = read(plain, "temp")
    replace(plain, "temp", temp[None])
    miniapp.fails(INPUT, rf"plain\.h5: there is one record in time, but --time chooses {index}", "--time",
                  index, plain)
    miniapp.passes(*EOS, "--time", -1, plain)
    replace(plain, "salt", np.stack([read(plain, "salt")] * 6))
    miniapp.passes(*EOS, "--time", index, plain)  # temp does not change in time


def test_time_without_a_time_axis(miniapp, plain):
    miniapp.passes(*EOS, "--time", 0, plain, warning=r"plain\.h5: --time chooses a record, but nothing")


def with_clock(path, name, times, *, records=3, dtype=float, **attributes):
    """So many records of a field, on a time axis of its own."""
    with h5py.File(path, "a") as file:
        value, clock = file[name][...], f"{name}_time"
        del file[name]
        file[name] = np.stack([value] * records)
        file[clock] = np.asarray(times, dtype)
        file[clock].make_scale(clock)
        file[clock].attrs.update({"units": "days since 2000-01-01", **attributes})
        file[name].dims[0].attach_scale(file[clock])


def other_times(text, other="2000-02-01 00:00:00"):
    """What is said of the records 1 of salt, on the time axis that is tried, and of temp."""
    return rf"'temp' is of {other} by 'temp_time', but 'salt' of {text} by 'salt_time'"


MONTHS = [0.0, 31.0, 60.0]  # of 2000
DAYS_SINCE_1900 = 36524
SAME_MOMENTS = {
    "the same": {},
    "hours": {"times": [0, 744, 1440], "units": "hours since 2000-01-01 00:00:00"},
    "another epoch": {"times": [11322, 11353, 11382], "units": "days since 1969-01-01T00:00:00Z"},
    "minutes": {"times": [-1440, 43200, 84960], "units": "Minutes since 2000-1-2 0:0:0.0 UTC"},
    "seconds": {"times": [0, 2678400, 5184000], "units": "secs since 2000- 1- 1", "dtype": "i4"},
    "from the year 1": {"times": [730121, 730152, 730181], "units": "days since 0001-01-01"},
    "from the year 0": {"times": [730485, 730516, 730545], "units": "days since 0000-01-01",
                        "calendar": "proleptic_gregorian"},
    "before the reform": {"times": [152385, 152416, 152445], "units": "days since 1582-10-14",
                          "calendar": "Proleptic_Gregorian"},
    "after it": {"times": [152385, 152416, 152445], "units": "days since 1582-10-04",
                 "calendar": "gregorian"},
    "noleap": {"calendar": "noleap"},
    "360 days": {"times": [0, 30, 60], "calendar": "360_day"},
    "all leap": {"times": [366, 397, 426], "units": "days since 1999-01-01", "calendar": "all_leap"},
    "julian": {"times": [0, 31, 60], "calendar": "julian"},
    "rounded": {"times": np.add(MONTHS, DAYS_SINCE_1900) + 1e-3, "units": "days since 1900-01-01",
                "dtype": "f4"},
    "within a second": {"times": np.add(MONTHS, 0.4 / 86400)},
}


@pytest.mark.parametrize("clock", SAME_MOMENTS.values(), ids=SAME_MOMENTS)
def test_one_moment_in_other_words(miniapp, plain, expected, clock):
    with_clock(plain, "temp", MONTHS)
    with_clock(plain, "salt", **{"times": MONTHS, **clock})
    assert_same(results(miniapp, plain, *EOS, "--time", 1)[0], expected)


OTHER_MOMENTS = {
    "another day": ({"times": [0, 15, 60]}, "2000-01-16 00:00:00"),
    "another epoch": ({"units": "days since 1990-01-01"}, "1990-02-01 00:00:00"),
    "other units": ({"units": "hours since 2000-01-01"}, "2000-01-02 07:00:00"),
    "another hour": ({"units": "days since 2000-01-01 13:30:15.5"}, "2000-02-01 13:30:16"),
    "a leap day": ({"times": [0, 59, 60], "calendar": "all_leap", "units": "days since 2001-01-01"},
                   "2001-02-29 00:00:00"),
    "a year without": ({"times": [0, 59, 60], "calendar": "noleap"}, "2000-03-01 00:00:00"),
    "360 days": ({"calendar": "360_day"}, "2000-02-02 00:00:00"),
    "the reform": ({"times": [0, 1, 2], "units": "days since 1582-10-04"}, "1582-10-15 00:00:00"),
    "without it": ({"times": [0, 1, 2], "units": "days since 1582-10-04", "calendar": "julian"},
                   "1582-10-05 00:00:00"),
    "two seconds": ({"times": np.add(MONTHS, 2 / 86400)}, "2000-02-01 00:00:02"),
}


@pytest.mark.parametrize("clock, text", OTHER_MOMENTS.values(), ids=OTHER_MOMENTS)
def test_records_of_other_times(miniapp, plain, clock, text):
    """The index does not choose the same moment on both time axes, unless one is a climatology."""
    with_clock(plain, "temp", MONTHS)
    with_clock(plain, "salt", **{"times": MONTHS, **clock})
    said = rf"plain\.h5: --time -2 chooses records of different times: {other_times(text)}"
    miniapp.fails(INPUT, said, *EOS, "--time", -2, plain)
    miniapp.passes(*EOS, "--time", -2, "--allow-invalid", plain)
    with h5py.File(plain, "a") as file:
        file["salt_time"].attrs["climatology"] = "bounds"
    miniapp.passes(*EOS, "--time", -2, plain,
                   warning=rf"plain\.h5: not all of one time: {other_times(text)}")


def test_dates_are_those_of_cftime(miniapp, plain):
    """Any number of days in any calendar."""
    cftime = pytest.importorskip("cftime")
    generator = np.random.default_rng(7)
    with_clock(plain, "temp", [0.0, 1.0, 2.0], units="seconds since 9999-01-01")
    with_clock(plain, "salt", MONTHS)
    for calendar in ("standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"):
        for _ in range(12 if LONG else 3):
            unit, most = [("days", 1e6), ("hours", 2e7), ("seconds", 6e10)][generator.integers(3)]
            epoch = [f"{year:04d}-02-28 06:30" for year in (4, 1500, 1900, 2000)][generator.integers(4)]
            number, units = float(np.floor(generator.uniform(0, most))), f"{unit} since {epoch}"
            date = cftime.num2date(number, units, calendar)
            with h5py.File(plain, "a") as file:
                file["salt_time"][1] = number
                file["salt_time"].attrs.update(units=units, calendar=calendar)
            miniapp.fails(INPUT, other_times(date.strftime("%Y-%m-%d %H:%M:%S").strip().zfill(19),
                                             "9999-01-01 00:00:01"), *EOS, "--time", 1, plain)


@pytest.mark.parametrize("units, calendar", [
    ("months since 2000-01-01", "standard"), ("days since 2000-01-01", "none"), ("month", "standard"),
    ("days since 2000-02-30", "standard"), ("days since 1582-10-10", "gregorian"),
    ("days since 0000-01-01", "standard"), ("days since 2000-01-01 24:00", "standard"),
    ("days since 2000-01-01 00:00 +2", "standard"), ("days since 2000-13-01", "360_day"),
    ("days since launch", "standard"), ("days since 2000-01-011", "standard"), ("fortnights since 2000-01-01", "standard")])
def test_times_that_are_no_dates(miniapp, plain, units, calendar):
    """Numbers contradict each other only in the same units."""
    with_clock(plain, "temp", [1.0, 2.0, 3.0], units=units, calendar=calendar)
    with_clock(plain, "salt", [1.0, 3.0, 5.0], units=units, calendar=calendar)
    told = re.escape(units)
    miniapp.fails(INPUT, other_times(f"3 {told}", f"2 {told}"), *EOS, "--time", 1, plain)
    miniapp.passes(*EOS, "--time", 0, plain)
    with h5py.File(plain, "a") as file:
        file["salt_time"].attrs["units"] = "days since 1990-01-01"
    miniapp.passes(*EOS, "--time", 1, plain)


@pytest.mark.parametrize("clock", [
    {"units": ""}, {"units": np.array([1.0])}, {"units": "days since 0001-01-01", "_FillValue": 31.0},
    {"times": [0, np.nan, 60]}, {"times": [0, 1e30, 60]}, {"times": [0, -1e6, 60]}, {"dtype": "S3"},
    {"times": [0, 31]}, {"times": [[0, 31, 60]]}])
def test_times_that_say_nothing(miniapp, plain, clock):
    with_clock(plain, "temp", [5.0, 6.0, 7.0])
    with_clock(plain, "salt", **{"times": MONTHS, "axis": "T", **clock})
    miniapp.passes(*EOS, "--time", 1, plain)


def test_times_that_nobody_wrote(miniapp, plain):
    with_clock(plain, "temp", [5.0, 6.0, 7.0])
    with_clock(plain, "salt", MONTHS)
    with h5py.File(plain, "a") as file:
        del file["salt_time"]
        file.create_dataset("salt_time", (3,), chunks=(1,))
        file["salt_time"].make_scale("salt_time")
        file["salt_time"].attrs["units"] = "days since 2000-01-01"
        file["salt"].dims[0].attach_scale(file["salt_time"])
    miniapp.passes(*EOS, "--time", 1, plain)
    with h5py.File(plain, "a") as file:
        file["salt_time"][0] = 0
    miniapp.fails(INPUT, r"plain\.h5: salt_time\[1\] is missing: it was never written", *EOS, "--time", 1, plain)


@pytest.mark.parametrize("attribute, value", [("_FillValue", "none"), ("scale_factor", 0.0)])
def test_times_that_cannot_be_read(miniapp, plain, attribute, value):
    with_clock(plain, "temp", MONTHS)
    with_clock(plain, "salt", MONTHS, **{attribute: value})
    miniapp.fails(INPUT, rf"plain\.h5: .*'salt_time'.*: {attribute}|'{attribute}' of dataset 'salt_time'", *EOS,
                  "--time", 1, plain)


@pytest.mark.parametrize("records, units, times", [
    (1, "days since 1990-01-01", [0]), (3, "days since 0001-01-01", [15, 45, 74])])
def test_times_that_are_only_a_warning(miniapp, plain, expected, records, units, times):
    """A single record is the same at all times, and the years 0 and 1 are those of climatologies; but
    a mask is of no time."""
    with_clock(plain, "temp", MONTHS)
    with_clock(plain, "salt", times, records=records, units=units)
    text = f"{1990 if records == 1 else '0001'}-0"
    miniapp.passes(*EOS, "--time", 1, plain, warning=rf"not all of one time: {other_times(text + '.*')}")
    with_clock(plain, "maskT", [0], records=1, units="days since 1980-01-01")
    done = miniapp.run(*QUICK, "-k", "density", "--checksums", "--format", "json", "--time", 1, plain)
    assert done.returncode == 0 and done.stderr.count("not all of one time") == 1
    assert_same(checksums_in(json.loads(done.stdout)), expected)


@pytest.mark.parametrize("text", ["", "first", "1.5", "1x", " 1", "99999999999999999999"])
def test_time_is_a_number(miniapp, plain, text):
    miniapp.fails(USAGE, "--time takes a whole number", "--time", text, plain)


# ---- axes ----

SCALES = {"zyx": "zyx", "depth lat lon": "zyx", "zt yt xt": "zyx", "lev latitude longitude": "zyx",
          "deptht nav_lat nav_lon": "zyx"}


def with_scales(path, values, names, order="zyx"):
    """Datasets in another order, with scales of those names."""
    names = {"i": "ip", "j": "jp", "k": "kr", **dict(zip("zyx", names))}
    with h5py.File(path, "a") as file:
        for name, value in values.items():
            axes = axes_of(name, value)
            stored = "".join(axis for axis in "ijk" + order if axis in axes)
            del file[name]
            file[name] = value.transpose([axes.index(axis) for axis in stored])
            for place, axis in enumerate(stored):
                if names[axis] == name:
                    continue
                if names[axis] not in file:
                    file[names[axis]] = np.zeros(value.shape[axes.index(axis)])
                if not h5py.h5ds.is_scale(file[names[axis]].id):
                    file[names[axis]].make_scale(names[axis])
                file[name].dims[place].attach_scale(file[names[axis]])


# Each way to name axes has two orders, one of them not ours; in a long run, all.
ORDERS = ["xyz", "zyx", "yzx", "xzy"]
STORED = list(itertools.product(SCALES, ORDERS) if LONG else zip(2 * [*SCALES], itertools.cycle(ORDERS)))


@pytest.mark.parametrize("names, order", STORED)
def test_order_of_axes(miniapp, basin, plain, expected, names, order):
    with_scales(plain, basin[0], names.split() if " " in names else names, order)
    found, provenance = results(miniapp, plain)
    assert_same(found, expected)
    assert ("axes transposed" in provenance.get("input_read_as", "")) == (order != "zyx")


def test_order_on_a_square_grid(miniapp, tmp_path):
    """Where no length tells."""
    values, settings = fields.make(9, 9, 9, seed=2)
    values = {name: value for name, value in values.items() if name[:6] not in ("sample", "factor")}
    path = write(tmp_path / "square.h5", values, settings, halo=2)
    expected, _ = results(miniapp, path)
    with_scales(path, values, "zyx", "zxy")
    assert_same(results(miniapp, path)[0], expected)


def square(path):
    """A file with a transposed dataset, whose scales alone say so; and its values."""
    values, settings = fields.make(9, 9, 9, seed=2)
    values = {name: value for name, value in values.items() if name[:6] not in ("sample", "factor")}
    write(path, values, settings, halo=2)
    with_scales(path, {"temp": values["temp"]}, ["lev", "lat", "lon"], "zxy")
    return values


SCALES_OF_TEMP = r"square\.h5: the dimension scales of dataset 'temp' cannot be read "


def test_scales_that_do_not_list_it(miniapp, tmp_path):
    path = tmp_path / "square.h5"
    square(path)
    with h5py.File(path, "a") as file:
        for name in ("lev", "lat", "lon"):
            del file[name].attrs["REFERENCE_LIST"]
    miniapp.fails(INPUT, SCALES_OF_TEMP + r"\(none of them lists it\)", path)


def test_scales_with_long_paths(miniapp, tmp_path):
    path = tmp_path / "square.h5"
    square(path)
    with h5py.File(path, "a") as file:
        for name in ("lev", "lat", "lon"):
            file.move(name, 2 * ("g" * 130 + "/") + name)
    miniapp.fails(INPUT, SCALES_OF_TEMP + r"\(the path of one is too long\)", path)


def test_scales_in_another_file(miniapp, tmp_path):
    path = tmp_path / "square.h5"
    square(path)
    shutil.copy(path, tmp_path / "other.h5")
    with h5py.File(path, "a") as file:
        del file["temp"], file["lev"], file["lat"], file["lon"]
        file["temp"] = h5py.ExternalLink("other.h5", "temp")
    miniapp.fails(INPUT, SCALES_OF_TEMP + r"\(they lie in another file\)", "--allow-external", path)


def test_scales_of_this_file_at_the_same_address(miniapp, tmp_path):
    """A reference is an address in one file, at which another file may have another dataset."""
    path, other = tmp_path / "square.h5", tmp_path / "other.h5"
    values = square(path)
    with h5py.File(other, "w") as file:
        file["temp"] = values["temp"]
        address = h5py.h5o.get_info(file["temp"].id).addr
    with h5py.File(tmp_path / "same.h5", "w") as file:
        file["salt"] = values["salt"].transpose(0, 2, 1)
        assert h5py.h5o.get_info(file["salt"].id).addr == address
        file["p"], file.attrs["halo"] = values["p"], 2
        for place, (name, axis) in enumerate(zip(("lev", "lon", "lat"), "zxy")):
            file[name] = np.zeros(9)
            file[name].make_scale(name)
            file["salt"].dims[place].attach_scale(file[name])
        file["temp"] = h5py.ExternalLink("other.h5", "temp")
    found, _ = results(miniapp, tmp_path / "same.h5", *EOS, "--allow-external")
    write(path, {name: values[name] for name in ("temp", "salt", "p")}, halo=2)
    assert_same(found, results(miniapp, path, *EOS)[0])


def test_labels_that_cannot_be_read(miniapp, tmp_path):
    """One text for each axis names them, but not other labels."""
    path = tmp_path / "square.h5"
    values = square(path)
    expected, _ = results(miniapp, write(path, values, {}, halo=2), *EOS)
    replace(path, "temp", values["temp"].transpose(0, 2, 1))
    with h5py.File(path, "a") as file:
        for dim, label in zip(file["temp"].dims, "zxy"):
            dim.label = label
    assert_same(results(miniapp, path, *EOS)[0], expected)
    for labels in (np.array([b"z", b"x", b"y"]), np.arange(3)):
        with h5py.File(path, "a") as file:
            file["temp"].attrs["DIMENSION_LABELS"] = labels
        miniapp.fails(INPUT, r"square\.h5: the dimension labels of dataset 'temp' cannot be read",
                      *EOS, path)


@pytest.mark.parametrize("attributes", [{"axis": "{}"}, {"standard_name": "{}"}])
def test_scales_that_say_what_they_are(miniapp, basin, plain, expected, attributes):
    with_scales(plain, basin[0], ["c", "b", "a"], "xyz")
    said = {"axis": "ZYX", "standard_name": ["depth", "latitude", "longitude"]}
    key, = attributes
    with h5py.File(plain, "a") as file:
        for name, word in zip("cba", said[key]):
            file[name].attrs[key] = word
    assert_same(results(miniapp, plain)[0], expected)


def test_names_that_are_no_axes_of_the_field(miniapp, basin, plain):
    with_scales(plain, {"temp": basin[0]["temp"]}, ["z", "lat", "y"])
    miniapp.fails(INPUT, r"plain\.h5: dataset 'temp' has the axes \(z, lat, y\), but must have "
                         r"\(z, y, x\)", plain)


def test_time_and_order(miniapp, basin, plain, expected):
    """Time may lie anywhere."""
    with_scales(plain, basin[0], ["depth", "lat", "lon"], "xyz")
    with h5py.File(plain, "a") as file:
        file["time"] = [0.0, 1.0]
        file["time"].make_scale("time")
        temp = file["temp"][...]
        del file["temp"]
        file["temp"] = np.stack([temp, temp + 1], axis=3)
        for place, scale in enumerate(("lon", "lat", "depth", "time")):
            file["temp"].dims[place].attach_scale(file[scale])
    assert_same(results(miniapp, plain, "--time", 0)[0], expected)


# ---- names ----

def rename(path, **names):
    with h5py.File(path, "a") as file:
        for old, new in names.items():
            file.move(old, new)


def test_variables_by_option(miniapp, plain, expected):
    rename(plain, temp="thetao", salt="group/so", zt="heights", maskT="tmask")
    options = ["--variable", "temp=thetao", "--variable", "salt=group/so", "--variable",
               "zt=heights", "--variable", "maskT=tmask"]
    found, provenance = results(miniapp, plain, *options)
    assert_same(found, expected)
    assert "salt is 'group/so'; temp is 'thetao'" in provenance["input_read_as"]


def test_messages_name_the_dataset_of_the_file(miniapp, plain):
    rename(plain, temp="thetao")
    y, x = np.argwhere(read(plain, "kbot") > 0)[0]
    with h5py.File(plain, "a") as file:
        file["thetao"][-1, y, x] = 99
    miniapp.fails(INPUT, rf"plain\.h5: thetao\[5, {y}, {x}\] is 99", "--variable", "temp=thetao",
                  plain)


@pytest.mark.parametrize("text, pattern", [
    ("temp", "--variable takes NAME=THEIRS"), ("=thetao", "--variable takes"),
    ("temp=", "--variable takes"), ("tempp=x", "unknown field 'tempp'; the closest is 'temp'")])
def test_variables_that_are_none(miniapp, plain, text, pattern):
    miniapp.fails(USAGE, pattern, "--variable", text, plain)


def test_variable_given_twice(miniapp, plain):
    miniapp.fails(USAGE, "--variable is given twice for 'temp'", "--variable", "temp=a",
                  "--variable", "temp=b", plain)


@pytest.mark.parametrize("theirs", ["thetao", "absent/thetao"])
def test_variable_that_is_not_there(miniapp, plain, theirs):
    miniapp.fails(INPUT, rf"plain\.h5: dataset '{theirs}' is missing, which --variable names for "
                         "'temp'", "--variable", f"temp={theirs}", plain)


def test_variable_with_a_long_path(miniapp, plain, expected):
    path = "/".join(["g" * 200] * 7)
    with h5py.File(plain, "a") as file:
        file.move("temp", f"{path}/theirs")
    assert_same(results(miniapp, plain, "--variable", f"temp={path}/theirs")[0], expected)


def test_variables_by_standard_name(miniapp, plain, expected):
    rename(plain, temp="bigthetao", salt="absso")
    with h5py.File(plain, "a") as file:
        file["bigthetao"].attrs["standard_name"] = "sea_water_conservative_temperature"
        file["absso"].attrs["standard_name"] = np.bytes_("sea_water_absolute_salinity")
    found, provenance = results(miniapp, plain, *EOS)
    assert_same(found, expected)
    assert "salt is 'absso'; temp is 'bigthetao'" in provenance["input_read_as"]
    with h5py.File(plain, "a") as file:
        file["other"] = file["bigthetao"][...]
        file["other"].attrs["standard_name"] = "sea_water_conservative_temperature"
    miniapp.fails(INPUT, r"plain\.h5: datasets '(bigthetao|other)' and '(bigthetao|other)' both "
                         "are sea_water_conservative_temperature: choose one by --variable temp=NAME", plain)
    found, _ = results(miniapp, plain, *EOS, "--variable", "temp=bigthetao")
    assert_same(found, expected)


def test_standard_names_of_what_only_tells(miniapp, basin, expected_outputs, tmp_path):
    """No kernel reads zt here; it still says that levels go from the surface down."""
    path = write(tmp_path / "turned.h5", surface_first(basin[0]), basin[1], halo=0)
    rename(path, zt="heights")
    with h5py.File(path, "a") as file:
        file["heights"].attrs["standard_name"] = "height_above_mean_sea_level"
    assert_same(outputs(miniapp, path, "-k", "tke")[0], turned(expected_outputs))


@pytest.mark.parametrize("field, standard_name, quantity", [
    ("temp", "sea_water_potential_temperature", "potential temperature"),
    ("temp", "sea_water_temperature", "in-situ temperature"),
    ("salt", "sea_water_practical_salinity", "practical salinity"),
    ("salt", "sea_water_salinity", "practical salinity")])
def test_other_quantities(miniapp, plain, expected, field, standard_name, quantity):
    with h5py.File(plain, "a") as file:
        file[field].attrs["standard_name"] = standard_name
    miniapp.fails(INPUT, rf"dataset '{field}' is {quantity}, but must be .*: run/make-input "
                         "converts", plain)
    rename(plain, **{field: "theirs"})
    miniapp.fails(INPUT, rf"dataset '{field}' is missing .*'theirs' is {quantity}, which run/make-input "
                         "converts", plain)
    report = miniapp.json("--checksums", *EOS, "--variable", f"{field}=theirs", plain,
                          warning=f"dataset 'theirs' is {quantity}, but --variable takes it as it is for ")
    assert_same(checksums_in(report), expected)


@pytest.mark.parametrize("units", ["degC", "deg C", "degrees_Celsius", "celsius", "Celsius",
                                   "degree_C", "degrees Celsius"])
def test_units_of_temperature(miniapp, plain, units):
    with h5py.File(plain, "a") as file:
        file["temp"].attrs["units"] = units
    miniapp.passes("-k", "eos", plain)


@pytest.mark.parametrize("field, units", [
    ("temp", "m"), ("temp", "much"), ("salt", "psu"), ("salt", "PSU"), ("salt", "1"),
    ("salt", "1e-3"), ("salt", "0.001"), ("salt", "degC"), ("dxt", "degrees_east"), ("dxt", "1/m"),
    ("cost", "degrees_north"), ("kappaM", "m s-1"), ("p", "m")])
def test_units_that_cannot_be_converted(miniapp, plain, field, units):
    with h5py.File(plain, "a") as file:
        file[field].attrs["units"] = units
    miniapp.fails(INPUT, rf"plain\.h5: dataset '{field}' is in '{units}', but must be in ", plain,
                  *readers(miniapp, field))


@pytest.mark.parametrize("field, units, factor, offset", [
    ("dxt", "km", 1e-3, 0), ("dzt", "cm", 100, 0), ("p", "Pa", 1e4, 0), ("p", "MPa", 0.01, 0),
    ("salt", "kg/kg", 1e-3, 0), ("temp", "K", 1, 273.15), ("temp", "degree_Kelvin", 1, 273.15),
    ("u_wgrid", "cm s-1", 100, 0), ("kappaM", "cm2/s", 1e4, 0), ("zt", "km", 1e-3, 0)])
def test_units_that_are_converted(miniapp, plain, expected_outputs, field, units, factor, offset):
    """What the ocean has on its land, too; what is missing stays so."""
    with h5py.File(plain, "a") as file:
        values = factor * file[field][...] + offset
        if field in ("temp", "salt"):
            values[file["maskT"][...] == 0] = FILL
            file[field].attrs["_FillValue"] = FILL
        file[field][...] = values
        file[field].attrs["units"] = units
    found, provenance = outputs(miniapp, plain, *readers(miniapp, field))
    assert f"{field} converted from '{units}'" in provenance["input_read_as"]
    for name, value in found.items():
        wanted = expected_outputs[name if name in expected_outputs else name.split(".")[1]]
        np.testing.assert_allclose(value, wanted, rtol=1e-6, atol=1e-6 * abs(wanted).max())


@pytest.mark.parametrize("field, units", [
    ("salt", "g/kg"), ("salt", "g kg**-1"), ("salt", "ppt"), ("dxt", " "), ("dxt", "meters"), ("kappaM", "m^2/s"),
    ("forc", "W kg-1"), ("cost", "none"), ("p", "decibar"), ("maskU", "flag")])
def test_units_that_are_the_same(miniapp, plain, field, units):
    with h5py.File(plain, "a") as file:
        file[field].attrs["units"] = units
    assert "input_read_as" not in results(miniapp, plain, *readers(miniapp, field))[1]


def wide_integers(path, name):
    """Of 16 bytes, which h5py has no type for."""
    values = read(path, name)
    wide = h5py.h5t.STD_I64LE.copy()
    wide.set_size(16)
    wide.set_precision(128)
    with h5py.File(path, "a") as file:
        del file[name]
        dataset = h5py.h5d.create(file.id, name.encode(), wide, h5py.h5s.create_simple(values.shape))
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values.astype(np.int64))


def test_integers_of_16_bytes(miniapp, plain):
    replace(plain, "temp", read(plain, "temp").round())
    expected, _ = results(miniapp, plain, *EOS)
    wide_integers(plain, "temp")
    assert_same(results(miniapp, plain, *EOS)[0], expected)
    with h5py.File(plain, "a") as file:
        file["temp"].attrs["_Unsigned"] = "true"
    miniapp.fails(INPUT, r"plain\.h5: dataset 'temp' has integers of more than 8 bytes, for which "
                         "_Unsigned is not supported", *EOS, plain)


NO_TEXTS = {"number": 5, "texts": np.array([b"degF", b""]), "long": b"degF".ljust(300), "none": h5py.Empty("f8")}


@pytest.mark.parametrize("value", NO_TEXTS)
@pytest.mark.parametrize("name", ["units", "standard_name", "_Unsigned"])
def test_attributes_that_are_no_text(miniapp, plain, name, value):
    """They may say what the values are."""
    replace(plain, "temp", read(plain, "temp").round().astype("i2"))
    with h5py.File(plain, "a") as file:
        file["temp"].attrs[name] = NO_TEXTS[value]
    miniapp.fails(INPUT, rf"plain\.h5: attribute '{name}' of dataset 'temp' must be a single text of at "
                         "most 255 bytes", *EOS, plain)


def test_texts_without_letters(miniapp, plain, expected):
    """netCDF-4 writes a text of no letters without any data."""
    with h5py.File(plain, "a") as file:
        for name in ("units", "standard_name", "_Unsigned"):
            file["temp"].attrs[name] = h5py.Empty("S1")
            file["salt"].attrs[name] = ""
    assert_same(results(miniapp, plain)[0], expected)


def test_texts_that_are_damaged(miniapp, tmp_path, basin):
    """Those of variable length have no checksum."""
    path = tmp_path / "damaged.h5"
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = 0
        for name in ("temp", "salt", "p"):
            file[name] = basin[0][name]
        file["temp"].attrs["units"] = "degF"
    content = path.read_bytes()
    assert content.count(b"GCOL") == 1
    path.write_bytes(content.replace(b"GCOL", b"gCOL"))
    miniapp.fails(INPUT, r"damaged\.h5: attribute 'units' of dataset 'temp' cannot be read \(", *EOS, path)


def test_scales_whose_attributes_are_no_texts(miniapp, tmp_path):
    path = tmp_path / "square.h5"
    square(path)
    with h5py.File(path, "a") as file:
        for old, new in (("lev", "c"), ("lat", "b"), ("lon", "a")):
            file.move(old, new)
            file[new].attrs["axis"] = np.array([b"Z", b""])
    miniapp.fails(INPUT, SCALES_OF_TEMP + r"\(an attribute of one cannot be read\)", path)


@pytest.mark.parametrize("attribute", ["positive", "standard_name"])
def test_coordinate_that_may_count_downwards(miniapp, basin, tmp_path, attribute):
    values = {name: basin[0][name] for name in ("temp", "salt", "p")}
    path = write(tmp_path / "down.h5", values, halo=0)
    with h5py.File(path, "a") as file:
        for place, (name, coordinate) in enumerate({"lev": -basin[0]["zt"], "lat": np.zeros(9)}.items()):
            file[name] = coordinate
            file[name].make_scale(name)
            file["temp"].dims[place].attach_scale(file[name])
        file["lev"].attrs[attribute] = np.array([b"down", b""])
    miniapp.fails(INPUT, rf"down\.h5: attribute '{attribute}' of dataset 'lev' must be a single text", *EOS, path)


def test_salinity_that_says_what_it_is(miniapp, plain, expected):
    """A plain number may be practical salinity: not where its standard name, or the user, denies it."""
    with h5py.File(plain, "a") as file:
        file["salt"].attrs.update(units="1e-3", standard_name="sea_water_absolute_salinity")
    assert_same(results(miniapp, plain, *EOS)[0], expected)
    with h5py.File(plain, "a") as file:
        del file["salt"].attrs["standard_name"]
    assert_same(results(miniapp, plain, *EOS, "--variable", "salt=salt")[0], expected)


# ---- what is missing ----

def test_all_that_is_missing(miniapp, plain):
    """In one line, with what could stand in."""
    without(plain, [*MASKS, "temp", "p", "dxt", "mxl"])
    message = miniapp.fails(INPUT, r"plain\.h5: 8 datasets are missing", plain)
    for name in [*MASKS, "temp", "dxt", "mxl"]:
        assert f"'{name}' (" in message
    assert "missing values in 'salt' or 'temp'" in message and "--variable NAME=THEIRS" in message
    assert "run/make-input" in message


# ---- what is no such file ----

@pytest.mark.parametrize("version", [b"\1", b"\2", b"\5"])
def test_netcdf_classic(miniapp, tmp_path, version):
    path = tmp_path / "old.nc"
    path.write_bytes(b"CDF" + version + bytes(100))
    miniapp.fails(INPUT, rf"old\.nc: a netCDF classic file: convert it by 'nccopy -k nc4 {path} "
                         "NEW", path)


def make_virtual(path, name, sources, shape):
    layout = h5py.VirtualLayout(shape, "f8")
    for k, (file, dataset) in enumerate(sources):
        layout[k] = h5py.VirtualSource(file, dataset, shape[1:])
    with h5py.File(path, "a") as file:
        del file[name]
        file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize("where", ["beside", "absolute", "here"])
def test_virtual_datasets(miniapp, basin, plain, expected, where):
    salt = basin[0]["salt"]
    with h5py.File(plain.parent / "levels.h5", "w") as file:
        for k, level in enumerate(salt):
            file[f"level{k}"] = level
    source = {"beside": "levels.h5", "absolute": str(plain.parent / "levels.h5"),
              "here": "."}[where]
    if where == "here":
        with h5py.File(plain, "a") as file:
            for k, level in enumerate(salt):
                file[f"level{k}"] = level
    make_virtual(plain, "salt", [(source, f"level{k}") for k in range(len(salt))], salt.shape)
    allow = () if where == "here" else ("--allow-external",)
    assert_same(results(miniapp, plain, *EOS, *allow)[0], expected)
    if where == "here":
        without(plain, ["level3"])
        miniapp.fails(INPUT, r"plain\.h5: dataset 'level3' is missing, which a virtual", plain)
        return
    (plain.parent / "levels.h5").rename(plain.parent / "elsewhere.h5")
    miniapp.fails(INPUT, rf"plain\.h5: dataset 'salt' is virtual, but its source '{source}' is "
                         "missing", *allow, plain)
    (plain.parent / "levels.h5").write_bytes(b"no HDF5")
    miniapp.fails(INPUT, r"dataset 'salt' is virtual, but its source '.*' cannot be opened", *allow,
                  plain)


def test_virtual_dataset_of_a_virtual_one(miniapp, basin, plain, expected):
    salt = basin[0]["salt"]
    inner, outer = plain.parent / "inner.h5", plain.parent / "outer.h5"
    with h5py.File(inner, "w") as file:
        file["salt"] = salt
    with h5py.File(outer, "w") as file:
        layout = h5py.VirtualLayout(salt.shape, "f8")
        layout[...] = h5py.VirtualSource("inner.h5", "salt", salt.shape)
        file.create_virtual_dataset("salt", layout)
    with h5py.File(plain, "a") as file:
        del file["salt"]
        layout = h5py.VirtualLayout(salt.shape, "f8")
        layout[...] = h5py.VirtualSource("outer.h5", "salt", salt.shape)
        file.create_virtual_dataset("salt", layout)
    assert_same(results(miniapp, plain, *EOS, "--allow-external")[0], expected)
    inner.unlink()
    miniapp.fails(INPUT, r"outer\.h5: dataset 'salt' is virtual, but its source 'inner.h5' is "
                         "missing", "--allow-external", plain)


# ---- coordinates of outputs ----

def with_coordinates(path, values, turn=False):
    with h5py.File(path, "a") as file:
        nz, ny, nx = values["temp"].shape
        for name, numbers, attributes in (
                ("lon", np.arange(nx) * 2.0, {"units": "degrees_east", "axis": "X"}),
                ("lat", np.arange(ny) - 4.0, {"units": "degrees_north"}),
                ("depth", np.round(-values["zt"]), {"units": "m", "positive": "down"})):
            file[name] = numbers
            file[name].make_scale(name)
            file[name].attrs.update(attributes)
        for name in ("temp", "salt"):
            for place, scale in enumerate(("depth", "lat", "lon")):
                file[name].dims[place].attach_scale(file[scale])
    return path


def test_outputs_have_the_coordinates(miniapp, basin, plain, expected_outputs, tmp_path):
    xarray = pytest.importorskip("xarray")
    with_coordinates(plain, basin[0])
    out = tmp_path / "out.h5"
    miniapp.passes("-o", out, plain)
    with xarray.open_dataset(out, engine="h5netcdf") as data:
        assert data.K_11.dims == ("depth", "lat", "lon")
        assert data.Ai_ez.dims == ("ip", "kr", "depth", "lat", "lon")
        assert data.lon.attrs["units"] == "degrees_east" and data.lat.values[0] == -4
        np.testing.assert_array_equal(data.depth, np.round(-basin[0]["zt"]))
        assert data.depth.attrs["positive"] == "down"
        picked = data.K_11.sel(depth=data.depth[3], lat=1, lon=6)
        assert picked == expected_outputs["K_11"][3, 5, 3]
    ncdump = shutil.which("ncdump")
    if ncdump:
        done = subprocess.run([ncdump, out], capture_output=True, text=True, check=True)
        assert "double K_11(depth, lat, lon)" in done.stdout and not done.stderr
    miniapp.passes("-k", "eos,isoneutral,tke", "--validate", out, plain)


def test_coordinates_of_files_of_netcdf4(miniapp, basin, plain, tmp_path):
    """xarray and the netCDF library write attributes of their own."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    with_coordinates(plain, basin[0])
    again, out = tmp_path / "again.nc", tmp_path / "out.h5"
    with xarray.open_dataset(plain, engine="h5netcdf", phony_dims="sort") as data:
        data.attrs["halo"] = 0
        data.load().to_netcdf(again, engine="netcdf4")
    miniapp.passes("-o", out, again)
    with xarray.open_dataset(out, engine="netcdf4") as data:
        assert data.K_33.sel(depth=data.depth[0], lat=0, lon=0).shape == ()


@pytest.mark.parametrize("axis, name, expected", [
    (0, "x", ["z", "lat", "lon"]), (1, "K_11", ["depth", "y", "lon"]), (2, "mxl", ["depth", "lat", "x"]),
    (0, "zt", ["zt", "lat", "lon"])])
def test_names_of_axes_that_are_taken(miniapp, basin, plain, axis, name, expected):
    """By default for another axis, or by a field that is no coordinate of the axis."""
    with h5py.File(plain, "a") as file:
        if name in file:
            del file[name]
    with_coordinates(plain, basin[0])
    with h5py.File(plain, "a") as file:
        old = ("depth", "lat", "lon")[axis]
        file.move(old, name)
        file[name].attrs["axis"] = "ZYX"[axis]
        if old == "depth":
            file[name][...] = basin[0]["zt"]
            del file[name].attrs["positive"]
    out = plain.with_suffix(".out.h5")
    miniapp.passes("-o", out, *EOS, plain)
    with h5py.File(out) as file:
        assert [dim[0].name for dim in file["dHdT"].dims] == [f"/{name}" for name in expected]


def test_a_coordinate_that_is_damaged(miniapp, basin, tmp_path):
    """It is the input that cannot be used, not the output."""
    path, out = tmp_path / "damaged.h5", tmp_path / "out.h5"
    with h5py.File(path, "w") as file:
        file.attrs["halo"] = 0
        for name in ("temp", "salt", "p"):
            file[name] = basin[0][name]
        file["lon"] = np.arange(12.0)
        file["lon"].make_scale("lon")
        file["lon"].attrs["long_name"] = "longitude"
        file["temp"].dims[2].attach_scale(file["lon"])
    path.write_bytes(path.read_bytes().replace(b"GCOL", b"gCOL"))
    miniapp.passes(*EOS, path)
    miniapp.fails(INPUT, r"damaged\.h5: the coordinate 'lon' cannot be copied \(", *EOS, "-o", out, path)
    assert not out.exists()


def test_resized_outputs_have_plain_axes(miniapp, basin, plain, tmp_path):
    with_coordinates(plain, basin[0])
    out = tmp_path / "out.h5"
    miniapp.passes("-o", out, "-k", "eos", "--size", 4096, plain)
    with h5py.File(out) as file:
        assert [dim[0].name for dim in file["dHdT"].dims] == ["/z", "/y", "/x"]


def test_ghosts_keep_their_coordinates(miniapp, tmp_path):
    """A file with ghosts has coordinates for them."""
    values, settings = fields.make(11, 9, 6, seed=3)
    path = with_coordinates(write(tmp_path / "in.h5", values, settings, halo=2), values)
    out = tmp_path / "out.h5"
    miniapp.passes("-o", out, "-k", "eos", path)
    assert read(out, "lon").size == 11 and read(out, "dHdT").shape == (6, 9, 11)


# ---- files of xarray ----

def test_a_file_that_xarray_wrote(miniapp, basin, expected_outputs, tmp_path):
    """All at once: surface first, missing values, time, other names, neither masks nor halo."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    values = surface_first(basin[0])
    axes = {"i": "ip", "j": "jp", "k": "kr", "z": "depth", "y": "lat", "x": "lon"}
    data = xarray.Dataset(attrs=basin[1])
    for name, value in values.items():
        if name in MASKS:
            continue
        own = axes_of(name, value)
        if name in LAND:
            value = masked(values, name, np.nan)
        data[name] = tuple(axes[axis] for axis in own), value
    data = data.rename(temp="ct", salt="sa").assign_coords(depth=-values["zt"])
    data["ct"].attrs["standard_name"] = "sea_water_conservative_temperature"
    data["sa"].attrs["standard_name"] = "sea_water_absolute_salinity"
    data["sa"] = data["sa"].expand_dims(time=[0.0]).transpose("time", "lon", "lat", "depth")
    path = tmp_path / "xarray.nc"
    data.to_netcdf(path, engine="netcdf4")
    found, provenance = outputs(miniapp, path)
    assert_same(found, turned(expected_outputs))
    assert provenance["grid"].endswith("no ghosts: the outer cells are water")


# ---- docs/input.md ----

def tables():
    """The rows of its tables, as lists of cells."""
    text = (HERE.parent / "docs" / "input.md").read_text(encoding="utf-8")
    return [[cell.strip() for cell in line.strip("|").split("|")]
            for line in text.splitlines() if line.startswith("| `")]


def ranges(miniapp):
    """Of fields and settings, as --list-kernels has them."""
    listing = miniapp.run("--list-kernels").stdout
    return dict(re.findall(rf"^  (?:reads|updates|setting) +(\w+) .*, ({RANGE})", listing, re.MULTILINE))


RANGE = r"(?:from \S+ to|positive and at most) [^\s,;]+"


def test_documented_datasets(miniapp):
    documented = {re.match(r"`(\w+)`", row[0])[1]: row for row in tables() if len(row) == 6}
    wanted = ranges(miniapp)
    for name, row in documented.items():
        if name != "kbot" and not name.startswith("mask"):
            assert re.findall(RANGE, row[0]) == [wanted[name]], name
    read_by = {}
    for kernel in miniapp.ocean:
        for dataset in kernel.inputs:
            read_by.setdefault(dataset.name, (dataset, []))[1].append(kernel.name)
    assert set(documented) == set(read_by)
    for name, (dataset, kernels) in read_by.items():
        _, axes, units, readers, *_ = documented[name]
        assert (tuple(axes.split()), units) == (dataset.axes, dataset.units), name
        assert readers.split(", ") == kernels, name


def test_documented_settings(miniapp):
    documented = {row[0].strip("`"): (float(row[1]), row[2]) for row in tables() if len(row) == 4}
    listing = miniapp.run("--list-kernels").stdout
    listed = {name: (float(value), units) for name, value, units in
              re.findall(r"^  setting (\w+) +\[(\S+)\] ([^:]+):", listing, re.MULTILINE)}
    assert documented == listed
    wanted = ranges(miniapp)
    for row in tables():
        if len(row) == 4:
            assert re.findall(RANGE, row[3]) == [wanted[row[0].strip("`")]], row
