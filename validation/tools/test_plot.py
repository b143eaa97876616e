"""run/plot: the same results give the same figures, byte for byte; what it cannot read it says."""

import argparse
import errno
import json
import re
import subprocess
import sys
import types
from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import GRID, HERE, INPUT, OUTPUT, USAGE, assert_failed, assert_one_line
from processes import completed, forked, load_script

for package in ("matplotlib", "xarray", "h5netcdf"):
    pytest.importorskip(package, reason=f"without {package} there is nothing to draw with")

RUN = HERE.parent / "run"
from peers import cuts, results  # noqa: E402  pylint: disable=wrong-import-position
from peers.figures import maps, models, runs  # noqa: E402  pylint: disable=wrong-import-position

FRAMEWORKS = ("miniapp", "numpy", "jax", "taichi", "numba", "pytorch", "tensorflow", "cupy", "aesara")


def rows():
    """Made up, of every kind that run/compare writes."""
    for kernel, inputs, precision, all_cores in (("eos", "pyhpc", "float64", (1, 2)),
                                                 ("matmul", "uniform", "float32", (1,))):
        for cores in all_cores:
            for points in (4096, 1048576):
                for i, framework in enumerate(FRAMEWORKS):
                    side = round(points ** (1 / 3))
                    seconds = 1e-9 * points * (1 + i) / cores
                    yield {
                        **dict.fromkeys(results.COLUMNS), "kernel": kernel, "inputs": inputs,
                        "precision": precision, "device": "cpu", "nx": side, "ny": side,
                        "nz": side, "points": points, "cores": cores, "framework": framework,
                        "version": "1.0", "seconds": seconds, "ns_per_point": 1.0 + i,
                        "speedup_over_numpy": 2 / (1 + i), "bytes": 24.0 * points,
                        "flops": 100.0 * points, "triad_gb_per_s": 10.0 * cores,
                        "fma_gflop_per_s": 60.0 * cores, "largest_difference": 1e-12,
                        "consistent": "yes", "machine": "host, a processor", "date": "2026-11-21"}


@pytest.fixture
def saved(tmp_path):
    """The prefix of made-up results of run/compare."""
    prefix = tmp_path / "saved"
    results.write(prefix, list(rows()), ["cupy: skipped"], {"command_line": "run/compare"})
    return prefix


def script(*arguments):
    return completed([sys.executable, RUN / "plot", *map(str, arguments)])


def plot(*arguments):
    """Runs it in a copy of this process, which has its packages."""
    return forked("plot", *arguments)


def figures(done):
    """The figures by name, with what their files hold."""
    assert done.returncode == 0 and done.stderr == "", done
    return {Path(name).name.split("-", 1)[1]: Path(name).read_bytes() for name in done.stdout.split()}


def fails(code, pattern, *arguments):
    return assert_failed(plot(*arguments), code, pattern, "run/plot: ")


def test_no_folder_for_temporary_files(monkeypatch, capsys):
    def nowhere():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")
    monkeypatch.delenv("MPLCONFIGDIR", raising=False)
    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    script_here = load_script("plot")
    monkeypatch.setattr(sys, "argv", [script_here.__file__, str(GRID)])
    with pytest.raises(SystemExit) as end:
        script_here.main()
    assert_failed(subprocess.CompletedProcess([], end.value.code, *capsys.readouterr()), OUTPUT,
                  "No usable temporary directory found: $TMPDIR or $MPLCONFIGDIR may name", "run/plot: ")


def test_figures_of_every_kind(saved, tmp_path):
    """The same bytes from both files, drawn by two processes, and nothing in them of the machine."""
    expected = {f"{kind}-{group}.{ending}" for kind in ("time", "speedup", "roofline")
                for group in ("pyhpc", "matmul") for ending in ("svg", "png")}
    found = figures(plot(f"{saved}.json"))
    assert set(found) == expected
    for name, data in found.items():
        assert data.startswith(b"\x89PNG" if name.endswith("png") else b"<?xml"), name
        assert b"<dc:date>" not in data and b"Matplotlib v" not in data
    results.write(tmp_path / "again", [row for row in rows() if row["kernel"] == "matmul"], [], {})
    again = figures(script(tmp_path / "again.csv"))
    assert len(again) == 6 and again.items() <= found.items()


def test_whole_steps_of_veros(tmp_path):
    """All setups on one axis, also where JAX or the second core is missing."""
    path, times = tmp_path / "veros.json", {"model, numpy, 1": [2000, 1900], "with plug-in, numpy, 1": [100]}
    path.write_text(json.dumps({"acc": {"shape": "9,8,7", "times": {**times, "model, jax, 1": [1500]}},
                                "shipped": {"shape": "9,8,7", "times": {**times, "model, numpy, 2": [1800],
                                                                       "with plug-in, numpy, 2": [60]}}}))
    assert set(figures(plot(path))) == {"steps.svg", "steps.png"}
    _, times = models.read(path)["shipped"]
    assert list(times.values()) == [(1900, ""), (100, "19.0"), (60, "30.0")]


def test_what_is_read_is_what_was_written(saved):
    assert results.read(f"{saved}.json") == results.read(f"{saved}.csv") == list(rows())


def test_results_of_the_program_itself(miniapp, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(miniapp.passes("-k", "eos", "-s", "1000", "-s", "8000", "--format", "json",
                                   "--roofline", GRID), encoding="utf-8")
    read = results.read(path)
    assert {row["framework"] for row in read} == {"miniapp, cpu"}
    assert all(row["triad_gb_per_s"] > 0 and row["fma_gflop_per_s"] > 0 for row in read)
    done = plot(path)
    assert done.returncode == 0 and len(done.stdout.split()) == 4, done
    assert_one_line(done.stderr)  # without NumPy there are no speedups
    assert "NumPy" in done.stderr


@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize("words", [["--roofline"], ["-k", "triad,fma"]])
def test_each_number_of_threads_has_its_own_ceilings(miniapp, tmp_path, kind, words):
    path = tmp_path / f"run.{kind}"
    path.write_text(miniapp.passes("-k", "eos", *words, "-t", "1,2", "-s", "8000", "--format", kind,
                                   GRID), encoding="utf-8")
    measured = {(row["kernel"], row["threads"]): row for row in results.read_run(path)[0]}
    rows_of_eos = [row for row in results.read(path) if row["kernel"] == "eos"]
    assert [row["cores"] for row in rows_of_eos] == [1, 2]
    for row in rows_of_eos:
        for kernel, column in (("triad", "gb_per_s"), ("fma", "gflop_per_s")):
            ceiling = measured[kernel, row["cores"]][column]
            assert row[f"{kernel}_{column}"] == pytest.approx(ceiling)


@pytest.mark.parametrize("text", [
    pytest.param('{"rows": ' + 100000 * "[", id="deep"),
    '{"rows": [{"kernel": {}, "framework": "f", "points": 8, "seconds": 1, "machine": "m", "date": "d"}]}',
    "", "nonsense", "{", '{"rows": []}', '{"rows": [{"kernel": "eos"}]}', '{"results": 3}',
    "kernel,seconds\neos,1\n", "kernel,framework,points,seconds,machine,date\neos,a,8,x,m,d\n",
    "kernel,framework,points,seconds,machine,date\neos,a,8,-1,m,d\n"])
def test_a_file_of_something_else(tmp_path, text):
    path = tmp_path / "bad"
    path.write_text(text, encoding="utf-8")
    fails(INPUT, str(path), path)


def test_a_document():
    """Errors of Python's own say nothing to a user."""
    done = fails(INPUT, "README.md: is neither run/compare's CSV or JSON nor what miniapp prints",
                 HERE.parent / "README.md")
    assert "Error" not in done.stderr


def test_no_file(tmp_path):
    assert_failed(script(tmp_path / "none.json"), INPUT, "No such file", "run/plot: ")


def test_no_text(tmp_path):
    path = tmp_path / "binary.csv"
    path.write_bytes(b"\x89HDF\xff\xfe")
    fails(INPUT, "no text", path)


def test_a_folder_that_is_not_there(saved, tmp_path):
    fails(OUTPUT, "cannot be written", f"{saved}.json", "-o", tmp_path / "none" / "x")


# ---- runs against each other ----

def run_of(cpu="one", scale=1.0, sizes=(8, 16), **provenance):
    """What miniapp prints by --format json, made up."""
    rows = [{"kernel": kernel, "device": "cpu", "precision": "float64", "nx": n, "ny": n, "nz": n,
             "points": n ** 3, "p25_s": 0.5 * scale * n, "median_s": scale * n,
             "p75_s": 2 * scale * n, "bytes": 8, "flops": 1}
            for kernel in ("eos", "tke") for n in sizes]
    return {"provenance": {"version": "1", "host": "h", "cpu": cpu, "threads": 2, "input": "i.h5",
                           "time": "2026-11-21T", "device": f"cpu: {cpu}", "flags": "-O3",
                           "settings": {"c_eps": 0.7}, **provenance}, "results": rows}


@pytest.fixture
def save(tmp_path):
    def save_run(name, whole):
        (tmp_path / name).write_text(json.dumps(whole), encoding="utf-8")
        return tmp_path / name
    return save_run


def test_ratios_of_medians_and_of_quartiles(save):
    read = [runs.read(save(name, run_of(scale=scale))) for name, scale in (("a", 1), ("b", 3))]
    found = runs.compare(read, pytest.fail)
    assert [runs.describe(key) for key, _ in found] == [
        f"{kernel}, cpu, float64, {n} x {n} x {n}" for kernel in ("eos", "tke") for n in (8, 16)]
    for _, (ratio,) in found:
        assert (ratio.median, ratio.low, ratio.high) == (3, 0.75, 12)


def test_variants_of_a_run(save, tmp_path):
    """Each beside the first one; those of several runs are compared by name."""
    whole = run_of()
    whole["results"] = [row | {"variant": name} for name, scale in (("static", 1), ("dynamic", 3))
                        for row in run_of(scale=scale)["results"]]
    path = save("a.json", whole)
    found = runs.by_variant(path)
    assert [run.label for run in found] == ["static", "dynamic"]
    assert {ratio.median for _, (ratio,) in runs.compare(found, pytest.fail)} == {3}
    plot(path, "-o", tmp_path / "a")
    assert {file.name for file in tmp_path.glob("a-*.svg")} == {"a-time-i.svg", "a-variants.svg"}
    assert runs.by_variant(save("b.json", run_of())) == []
    for_both = runs.compare([runs.read(path), runs.read(path)], pytest.fail)
    assert [runs.describe(key).endswith("dynamic") for key, _ in for_both] == 4 * [False] + 4 * [True]


def test_variants_without_a_row_in_common(save, tmp_path):
    """No figure is left beside the error."""
    whole = run_of()
    for row, name in zip(whole["results"], ("static", "dynamic", "static", "dynamic")):
        row["variant"] = name
    fails(INPUT, "no other run has a row of the same", save("a.json", whole))
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]


def test_labels_are_what_differs(save):
    """In JSON settings may be an object or a text."""
    read = [runs.read(save("a.json", run_of())),
            runs.read(save("b.json", run_of(flags="-O3 -march=native", settings="c_eps=0.8"))),
            runs.read(save("c.json", run_of(compiler="GCC")))]
    runs.label_all(read)
    assert [run.label for run in read] == [
        "a.json: c_eps=0.7", "b.json: -march=native, c_eps=0.8",
        "c.json: compiler GCC, c_eps=0.7"]


def test_runs_of_different_rows(save, tmp_path):
    """What both have is drawn, the rest is named; the same bytes each time."""
    files = [save("a.json", run_of()), save("b.json", run_of(scale=50.0, sizes=(16, 32))),
             save("c.json", run_of("another"))]
    first, second = plot(*files), script(*files, "-o", tmp_path / "again")
    assert first.returncode == second.returncode == 0, first
    assert_one_line(first.stderr)
    assert "b.json: 4 rows are not in both this and" in first.stderr
    for kind in ("svg", "png"):
        drawn_first = (tmp_path / f"a-ratios.{kind}").read_bytes()
        assert drawn_first == (tmp_path / f"again-ratios.{kind}").read_bytes()


def test_runs_that_cannot_be_compared(save, saved, tmp_path):
    ours = save("a.json", run_of())
    fails(INPUT, "no other run has a row of the same kernel, device, precision, nx, ny, nz and threads", ours,
          save("b.json", run_of(sizes=(9,))))
    fails(INPUT, "is not what miniapp prints", ours, f"{saved}.json")
    fails(INPUT, "is not what miniapp prints", ours, f"{saved}.csv")
    fails(INPUT, "p25_s is 0", ours, save("c.json", run_of(scale=0)))
    fails(INPUT, "No such file", ours, tmp_path / "none")
    outside = run_of()
    outside["results"][0]["median_s"] *= 3
    fails(INPUT, "which is not between p25_s and p75_s", ours, save("d.json", outside))


@pytest.mark.parametrize("text", [
    '{"results": [{"kernel": "eos", "p25_s": 1, "median_s": 1, "p75_s": 1}], "provenance": []}',
    '{"results": [{"kernel": {}, "p25_s": 1, "median_s": 1, "p75_s": 1}], "provenance": {}}',
    pytest.param('{"results": ' + 100000 * "[", id="deep")])
def test_runs_of_something_else(tmp_path, text):
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text(text)
    fails(INPUT, "a.json: is not what miniapp prints", tmp_path / "a.json", tmp_path / "b.json")


def test_json_and_csv_of_the_program(miniapp, small, tmp_path):
    """Two runs of it, which are compared whatever their format, threads and load."""
    for kind in ("json", "csv"):
        (tmp_path / f"run.{kind}").write_text(miniapp.passes(
            "-k", "eos,tke", "--format", kind, "--precision", "float64", "--precision", "float32", small))
    read = [runs.read(tmp_path / f"run.{kind}") for kind in ("json", "csv")]
    assert read[0].rows.keys() == read[1].rows.keys() and len(read[0].rows) == 4
    assert read[0].provenance["input_sha256"] == read[1].provenance["input_sha256"]
    done = plot(tmp_path / "run.json", tmp_path / "run.csv")
    assert set(figures(done)) == {"ratios.svg", "ratios.png"}
    assert len(results.read(tmp_path / "run.csv")) == 4


@pytest.mark.parametrize("text", [
    "# version: 1\n", "# version: 1\nkernel,median_s\neos,1\n", "# input: i\nmedian_s\n\x00\n",
    "# threads: 2\nkernel,p25_s,median_s,p75_s\neos,1,x,1\n"])
def test_a_broken_csv_of_the_program(tmp_path, text):
    path = tmp_path / "bad.csv"
    path.write_text(text, encoding="utf-8")
    fails(INPUT, str(path), path)


# ---- maps and sections ----

def ocean_file(path, order="zyx", names=None, packed=False, **datasets):
    """temp = 100 k + 10 j + i on 4 levels, 3 rows and 5 columns, with coordinates."""
    names = names or {axis: axis for axis in "zyx"}
    coordinates = {"z": [-1000.0, -100.0, -10.0, -1.0], "y": [-4.0, 0.0, 4.0], "x": [0.0, 90.0, 180.0, 270.0, 360.0]}
    k, j, i = np.meshgrid(*map(np.arange, (4, 3, 5)), indexing="ij")
    temp = (100 * k + 10 * j + i).astype(float).transpose(["zyx".index(axis) for axis in order])
    with h5py.File(path, "w") as file:
        for axis, values in coordinates.items():
            file[names[axis]] = values
            file[names[axis]].make_scale(names[axis])
        file["temp"] = (temp / 2 - 50).astype("int16") if packed else temp
        if packed:
            file["temp"].attrs.update(scale_factor=2.0, add_offset=100.0)
            file["temp"].attrs["_FillValue"] = np.int16(0 / 2 - 50)  # of k = j = i = 0
        for axis, dimension in zip(order, file["temp"].dims):
            dimension.attach_scale(file[names[axis]])
        for name, values in datasets.items():
            file[name] = values
            for axis, dimension in zip("zyx"[3 - np.ndim(values):], file[name].dims):
                dimension.attach_scale(file[names[axis]])
    return path


def planes(path, level=None, section=None, variable="temp"):
    """What would be drawn: the values of each plane by its title."""
    source = maps.Source(path)
    options = types.SimpleNamespace(level=level, section=section)
    return {title: plane.values for plane, title in maps.prepare(source.field(variable), source.wet(), options)}


def test_a_map_and_two_sections(tmp_path):
    found = planes(ocean_file(tmp_path / "a.h5"))
    assert list(found) == ["temp, z = -1", "temp, y = 0", "temp, x = 180"]
    surface, along_x, along_y = found.values()
    assert surface[2, 4] == 324 and along_x.shape == (4, 5) and along_y.shape == (4, 3)
    assert along_x[0, 3] == 13 and along_y[3, 0] == 302


def test_the_first_of_other_axes(tmp_path):
    """By its coordinate, such as the time of a snapshot, else by its index."""
    path = ocean_file(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        file["Time"] = [2.5, 3.0]
        file["Time"].make_scale("Time")
        file["Time"].attrs["units"] = "days"
        file["late"] = np.stack([file["temp"][...], file["temp"][...] + 1])
        file["pair"] = file["late"][...]
        file["ip"] = np.zeros(2)
        file["ip"].make_scale(f"This is a netCDF dimension but not a netCDF variable.{2:10}")
        for name, first in (("late", "Time"), ("pair", "ip")):
            for axis, dimension in zip((first, *"zyx"), file[name].dims):
                dimension.attach_scale(file[axis])
    assert list(planes(path, section=[], variable="late")) == ["late, Time = 2.5 days, z = -1"]
    assert list(planes(path, section=[], variable="pair")) == ["pair, ip = 0, z = -1"]


@pytest.mark.parametrize("order", ["xyz", "yxz", "zyx"])
@pytest.mark.parametrize("names", [None, {"z": "depth", "y": "lat", "x": "longitude"}])
def test_axes_in_another_order_and_by_other_names(order, names, tmp_path):
    expected = planes(ocean_file(tmp_path / "a.h5"))
    found = planes(ocean_file(tmp_path / "b.h5", order, names))
    assert list(found) == list(expected)
    assert all(np.array_equal(found[title], expected[title]) for title in expected)


def test_packed_values_and_missing_ones(tmp_path):
    packed = planes(ocean_file(tmp_path / "a.h5", packed=True), cuts.on("z")("k=0"))
    bottom = packed["temp, z = -1000"]
    assert np.isnan(bottom[0, 0]) and bottom[1, 2] == 12


def test_cuts(tmp_path):
    path = ocean_file(tmp_path / "a.h5")
    found = planes(path, cuts.on("z")("z=-120"), [cuts.on("xy")(text) for text in ("x=100", "j=-1")])
    assert list(found) == ["temp, z = -100", "temp, x = 90", "temp, y = 4"]
    assert list(planes(path, section=[])) == ["temp, z = -1"]
    with pytest.raises(cuts.WrongUse, match="k=4: there are k=0 to k=3"):
        planes(path, cuts.on("z")("k=4"))


@pytest.mark.parametrize("land", ["maskT", "kbot", "columns of 0"])
def test_land(land, tmp_path):
    """Column j = 1, i = 2 is land. At j = 1, i = 3 so is what lies below k = 2, of which zeros tell
    nothing."""
    mask = np.ones((4, 3, 5), np.uint8)
    mask[:, 1, 2] = mask[:2, 1, 3] = 0
    if land == "maskT":
        path = ocean_file(tmp_path / "a.h5", maskT=mask)
    elif land == "kbot":
        path = ocean_file(tmp_path / "a.h5", kbot=np.where(mask.any(0), 5 - mask.sum(0), 0))
    else:
        path = ocean_file(tmp_path / "a.h5", salt=mask.astype(float))
    found = planes(path, variable="salt" if land == "columns of 0" else "temp")
    surface, along_x = list(found.values())[:2]
    assert np.argwhere(np.isnan(surface)).tolist() == [[1, 2]]
    below = [] if land == "columns of 0" else [[0, 3], [1, 3]]
    assert np.argwhere(np.isnan(along_x)).tolist() == sorted([[k, 2] for k in range(4)] + below)


def test_the_level_is_the_uppermost_with_values(tmp_path):
    """As of K_33, which is 0 at the surface."""
    salt = np.ones((4, 3, 5))
    salt[3] = 0
    assert list(planes(ocean_file(tmp_path / "a.h5", salt=salt), variable="salt"))[0] == ("salt, z = -10")


def test_files_of_the_program(miniapp, small, tmp_path):
    """An input without dimension scales, what comes of it, and an output with its input's axes."""
    out = tmp_path / "out.h5"
    miniapp.passes("-k", "tke", small, "-o", out)
    with h5py.File(out, "a") as file:
        del file["tke_taup1"], file["tke_diss"]  # one of three axes and one of two are enough
    found = figures(plot(out, "-o", tmp_path / "a"))
    assert set(found) == {f"{name}.{kind}" for kind in ("svg", "png") for name in ("dtke", "tke_surf_corr")}
    again = figures(script(out, "-o", tmp_path / "b", "--variable", "tke_surf_corr", "--variable", "dtke"))
    assert again == found
    with_axes = figures(plot(out, "--variable", "dtke", "--grid", small, "--level", "z=-50"))
    assert set(with_axes) == {"dtke.svg", "dtke.png"}
    assert with_axes["dtke.png"] != found["dtke.png"]


def test_every_field_of_the_stored_input():
    source = maps.Source(GRID)
    assert {"temp", "salt", "kbot", "forc_tke_surface"} <= set(source.names())
    assert not {"maskT", "zt", "cost"} & set(source.names())


def test_slopes(miniapp, small, tmp_path):
    """Of two more axes, the first cells are drawn; without coordinates places are indices."""
    miniapp.passes("-k", "isoneutral", small, "-o", tmp_path / "out.h5")
    assert list(planes(tmp_path / "out.h5", variable="Ai_ez"))[1:] == [
        "Ai_ez, ip = 0, kr = 0, j = 4 of 9", "Ai_ez, ip = 0, kr = 0, i = 5 of 11"]


def test_grids_of_single_cells(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["temp"] = np.ones((1, 1, 1))
        file["salt"] = np.full((1, 1, 1), np.nan)
    assert len(figures(plot(tmp_path / "a.h5", "-o", tmp_path / "x"))) == 4


@pytest.mark.parametrize("axes, text", [
    ("z", "y=1"), ("z", "k=1.5"), ("z", "z=deep"), ("z", "z=nan"), ("xy", "x=-inf"),
    ("z", "500"), ("xy", "k=0"), ("xy", "=3")])
def test_a_cut_of_something_else(axes, text):
    with pytest.raises(argparse.ArgumentTypeError, match=re.escape(f"'{text}'")):
        cuts.on(axes)(text)


def test_options_that_do_not_fit_the_file(tmp_path):
    path = ocean_file(tmp_path / "a.h5")
    without = tmp_path / "without.h5"
    with h5py.File(without, "w") as file:
        file["temp"] = np.ones((4, 3, 5))
    for reason, file, variable, level, grid in (
            ("has no field 'salt'; it has temp", path, ["salt"], None, None),
            ("k=-5: there are k=0 to k=3", path, None, "k=-5", None),
            ("no coordinate z; choose by index, k=0 to k=3", without, None, "z=-5", None),
            ("has no field of 4 x 3 x 5 cells, as temp has", path, None, None, GRID)):
        options = types.SimpleNamespace(variable=variable, level=level and cuts.on("z")(level), section=None, grid=grid)
        with pytest.raises(cuts.WrongUse, match=reason):
            maps.draw(file, options, str(tmp_path / "x"))
    assert sorted(tmp_path.iterdir()) == [path, without]


def test_what_cannot_be_drawn(tmp_path, saved):
    path = ocean_file(tmp_path / "a.h5")
    fails(USAGE, "one HDF5 file at a time", path, path)
    fails(USAGE, "one HDF5 file at a time", f"{saved}.json", path)
    fails(USAGE, "are for HDF5", f"{saved}.json", "--level", "k=0")
    fails(USAGE, "i=9: there are i=0 to i=4", path, "--section", "i=9")
    fails(OUTPUT, "x-temp.svg: cannot be written", path, "-o", "/dev/full/x")
    assert plot(path, "--level", "500").returncode == USAGE
    path.write_bytes(path.read_bytes()[:600])
    fails(INPUT, "cannot be read", path)


def test_a_file_without_fields(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["zt"] = np.ones(3)
    with pytest.raises(results.Unusable, match="holds no field on x and y"):
        maps.draw(tmp_path / "a.h5", types.SimpleNamespace(grid=None), "x")


def test_a_python_without_xarray(tmp_path, monkeypatch):
    (tmp_path / "xarray.py").write_text("raise ModuleNotFoundError('no', name='xarray')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert_failed(script(ocean_file(tmp_path / "a.h5")), INPUT, "install python3-xarray", "run/plot: ")
