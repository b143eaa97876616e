"""The report of a run: its rows, in the three forms in which they are printed."""

import csv
import io
import json
import math
import os
import re

import h5py
import pytest

from conftest import DONE, GRID, INPUT, QUICK, USAGE
from test_verdict import use_default_tolerances

pytestmark = pytest.mark.every_device

# Section 5 of the interface
RESULT = ["kernel", "device", "precision", "nx", "ny", "nz", "points", "calls", "mean_s", "stdev_s",
          "min_s", "p25_s", "median_s", "p75_s", "max_s", "ns_per_point", "gb_per_s", "speedup",
          "threads", "efficiency", "gflop_per_s", "bytes", "flops", "intensity", "bound", "share",
          "ceiling_bytes_per_s", "ceiling_flops_per_s", "device_bytes", "transfer", "marks", "measured_s",
          "best_gb_per_s", "best_gflop_per_s", "best_share", "best_ceiling_bytes_per_s", "best_ceiling_flops_per_s",
          "traffic_bytes", "cache", "variant", "empty_call_s"]
NO_NUMBER = {"best_share", "best_ceiling_bytes_per_s", "best_ceiling_flops_per_s", "bound", "share", "ceiling_bytes_per_s", "ceiling_flops_per_s",  # with --roofline only
             "threads", "efficiency", "transfer", "marks", "cache", "variant", "empty_call_s"}
VALIDATION = {"kernel", "device", "variant", "variable", "max_abs", "max_rel", "max_ref", "rtol", "atol",
              "worst_index", "passed", "compared", "below_atol"}
BUILD = {"version", "git_commit", "build_type", "compiler", "flags", "offload_target", "hdf5_version"}
RUN = {"host", "cpu", "topology", "clock", "smt", "huge_pages", "load", "threads", "binding", "grid", "device", "settings",
       "input", "input_sha256", "command_line", "time"}


# ---- rows ----

def test_a_row_for_each_kernel_device_precision_and_size(miniapp, devices, small):
    words = [word for device in devices for word in ("-d", device)]
    result = miniapp.json(small, *words, "--size", 1000, "--size", 2000,
                          "--precision", "float32", "--precision", "float64")
    rows = [(row["kernel"], row["device"], row["precision"], row["points"]) for row in result["results"]]
    labels = ["cpu", "gpu:0"][:len(devices)]
    assert len(rows) == len(set(rows)) == len(miniapp.ocean) * len(labels) * 4
    assert set(rows) == {(kernel.name, device, precision, points) for kernel in miniapp.ocean
                         for device in labels for precision in ("float32", "float64")
                         for points in (20 * 20 * 3, 26 * 26 * 4)}


def test_speedup_is_over_the_first_device(miniapp, small, gpu):
    rows = miniapp.json(small, "-d", gpu, "-d", "cpu", "-r", 5, "-k", "eos")["results"]
    assert [row["device"] for row in rows] == ["gpu:0", "cpu"]
    assert rows[0]["speedup"] == 1
    assert math.isclose(rows[1]["speedup"], rows[0]["median_s"] / rows[1]["median_s"], rel_tol=1e-6)


def test_kernels_run_once_in_the_order_given(miniapp, small):
    names = [kernel.name for kernel in miniapp.ocean]
    words = [word for name in reversed(names) for word in ("-k", name)]
    rows = miniapp.json(small, *words, "-k", names[0])["results"]
    assert [row["kernel"] for row in rows] == names[::-1]
    assert [row["kernel"] for row in miniapp.json(small)["results"]] == names


def test_times_are_in_order(miniapp, small):
    for row in miniapp.json(small, "-r", 20)["results"]:
        times = [row[name] for name in ("min_s", "p25_s", "median_s", "p75_s", "max_s")]
        assert times == sorted(times) and times[0] > 0 and row["stdev_s"] > 0
        assert row["min_s"] <= row["mean_s"] <= row["max_s"]
        ns_per_point = 1e9 * row["median_s"] / row["points"]
        assert math.isclose(row["ns_per_point"], ns_per_point, rel_tol=1e-6)


# Sources that tke_forcing leaves out with EKE and IDEMIX, without enable_store_bottom_friction_tke.
NOT_READ = {"eke_diss_iw", "K_diss_gm", "K_diss_h", "P_diss_skew", "P_diss_hmix", "P_diss_iso", "K_diss_bot"}


def test_bandwidth_counts_each_array_once(miniapp, small, ocean, device):
    """Bytes by TEOS-10 with IDEMIX, where all other kernels touch all arguments, but surface_forcing a level of three."""
    sizes = {"x": ocean[0]["salt"].shape[2], "y": ocean[0]["salt"].shape[1], "z": ocean[0]["salt"].shape[0]}
    for precision, width in (("float64", 8), ("float32", 4)):
        result = miniapp.json(small, "--precision", precision, "-d", device, "--set", "eq_of_state_type=5",
                              "--set", "enable_idemix=1")
        for kernel, row, moved in zip(miniapp.ocean, result["results"], result["transfers"]):
            assert row["kernel"] == moved["kernel"] == kernel.name

            def size_of(datasets, **other):
                return sum(math.prod({**sizes, **other}.get(axis, 2) for axis in dataset.axes)
                           * (1 if dataset.is_mask else 4 if dataset.name == "kbot" else width) for dataset in datasets)
            levels = {"z": 1} if kernel.name == "surface_forcing" else {}
            left_out = NOT_READ if kernel.name == "tke_forcing" else ()
            read = [dataset for dataset in kernel.inputs if dataset.name not in left_out]
            total = size_of(read, **levels) + size_of(kernel.outputs)
            assert math.isclose(row["gb_per_s"], 1e-9 * total / row["median_s"], rel_tol=1e-6)
            assert moved["to_device_bytes"] == (0 if device == "cpu" else size_of(read))


# ---- JSON, CSV, table ----

def test_entries_say_their_threads_where_these_vary(miniapp, small, reference):
    words = (small, "-k", "eos,mixing", "-t", "1,2", "--roofline", "--checksums", "--validate", reference)
    json_form, table = (miniapp.run("-r", 1, *words, "--format", form).stdout for form in ("json", "table"))
    result = json.loads(json_form)
    for name in ("transfers", "validation", "checksums"):
        entries = [entry["threads"] for entry in result[name] if entry["kernel"] == "eos"]
        assert sorted(set(entries)) == [1, 2], name
    assert [entry["threads"] for entry in result["transfers"]] == [row["threads"] for row in result["results"]]
    for line in (r"eos +(\d) .* G\S+/s .* (?:\d+%|above)$", r"eos +(\d) .* points: .* held",
                 r"mixing +(\d) .* points: eos \d+ %", r"mixing +(\d) .* points: eos (?:\d+%|above)",
                 r"eos +(\d) .* passed +\[.*\]$"):
        assert re.findall(f"^{line}", table, re.MULTILINE) == ["1", "2"], line


def test_warnings_are_kept(miniapp, small, tmp_path):
    """Not all that a batch job writes to stderr is read."""
    said = "--set kappaH_min: none of the kernels reads it"
    output, saved = tmp_path / "out.h5", tmp_path / "saved.json"
    words = (small, "-k", "eos", *QUICK, "--set", "kappaH_min=1e-5")
    for target in (("-o", output), ("--resume", saved)):
        done = miniapp.run(*words, "--format", "json", *target)
        assert done.returncode == DONE and done.stderr == f"miniapp: warning: {said}\n", done
        assert json.loads(done.stdout)["warnings"] == [said]
    assert json.loads(saved.read_text())["warnings"] == [said]
    with h5py.File(output) as file:
        assert file.attrs["warnings"] == f"{said}\n".encode()
    miniapp.passes(small, "-k", "eos", *QUICK, "-o", output)
    with h5py.File(output) as file:
        assert "warnings" not in file.attrs


def test_json(miniapp, small, reference, device):
    use_default_tolerances(reference)  # another device need not agree to the bit
    result = miniapp.json(small, "--validate", reference, "-d", device)
    assert set(result) == {"provenance", "seed", "clock", "warnings", "interrupted", "read_s", "write_s",
                           "results", "transfers", "validation", "checksums", "settings", "threads"}
    assert set(result["provenance"]) == BUILD | RUN
    assert all(isinstance(text, str) and text for text in result["provenance"].values())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["provenance"]["time"])
    assert all(list(row) == RESULT for row in result["results"])
    assert all(set(check) - {"precision"} == VALIDATION for check in result["validation"])
    assert len(result["transfers"]) == len(result["results"]) == len(miniapp.ocean)
    assert result["validation"]
    assert all(check["passed"] is True for check in result["validation"])
    for row in result["results"]:
        for name in RESULT[3:8]:
            assert isinstance(row[name], int)


def test_json_without_validation(miniapp, small):
    assert miniapp.json(small)["validation"] == []


def test_csv(miniapp, small):
    text = miniapp.passes(small, "--format", "csv", "--precision", "float64", "--precision", "float32", "-r", 3)
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert {line[2:].split(":")[0] for line in comments} == BUILD | RUN
    rows = list(csv.DictReader(io.StringIO(text[text.index("\nkernel,") + 1:])))
    assert len(rows) == 2 * len(miniapp.ocean)
    for row in rows:
        assert list(row) == RESULT and None not in row.values()
        assert all(math.isfinite(float(row[name])) for name in RESULT[3:] if name not in NO_NUMBER)


def test_table(miniapp, small, device):
    lines = miniapp.passes(small, "-d", device, "-k", "eos").splitlines()
    provenance = {line.split()[1] for line in lines if re.match(r"# \S", line)}
    assert provenance == BUILD | RUN | {"seed"}
    name = {"gpu": "gpu:0"}.get(device, device)
    assert f"times of calls on {name} in float64" in lines
    head, rates = (line.split() for line in lines if line.startswith("kernel "))
    assert head == "kernel nx x ny x nz calls min 25% median 75%".split()
    assert rates == "kernel points ns/point GB/s: best median GFLOP/s: best median".split()
    assert any(re.match(r"Not timed: file read [\d.]+ .?s$", line) for line in lines)
    if device == "gpu" and miniapp.offload == "emulated":
        assert any("emulated on the CPU" in line for line in lines if line.startswith("# device"))


def test_the_table_fits_a_page(miniapp, small, reference, devices):
    """A hundred columns, but for the names of files and for marks, with what can vary in columns of its own."""
    every = ("--roofline", "-k", "all,mixing", "--precision", "float64,float32")
    device = ("-d", ",".join(devices))
    for options in (every, (*device, "--validate", reference, "-k", "all,mixing"), ("--steps", 2, "-d", devices[-1]),
                    (*device, "-t", "1,2", "-s", "10k,20k")):
        words = (GRID,) if "--steps" in options else (small, "-r", 1)
        table = miniapp.run(*words, *options).stdout
        lines = re.sub(r"  +(short|noisy|disturbed|above|cut)( (noisy|disturbed|above|cut))*$", "", table, flags=re.MULTILINE).splitlines()
        wide = [line for line in lines if len(line) > 100 and ".h5" not in line]
        assert "Not timed: " in table and not wide, options
    varying = " +device +threads" if len(devices) > 1 else " +threads"
    assert re.search(rf"^kernel{varying} +nx x ny x nz .* speedup  eff.$", table, re.MULTILINE)


def test_an_absurd_efficiency_keeps_to_its_column(miniapp, small, tmp_path):
    """A call that others held up a thousandfold, from a file of --resume."""
    saved = tmp_path / "saved.json"
    words = (small, "-k", "eos", "-t", "1,2", "-s", "1k", "-r", 1, "--resume", saved)
    miniapp.passes(*words)
    results = json.loads(saved.read_text())
    results["results"][0]["median_s"] = 1000 * results["results"][1]["median_s"]
    saved.write_text(json.dumps(results))
    assert re.search(r"^eos +2 .* 1000.00 >999%", miniapp.passes(*words), re.MULTILINE)


def test_columns_are_as_wide_as_their_widest_entry(miniapp, small, tmp_path):
    """Nine digits of points, and of calls, in a file of --resume."""
    saved = tmp_path / "saved.json"
    words = (small, "-k", "matmul", "-s", "1k,100M", "-r", 1, "--resume", saved)
    miniapp.passes(*words)
    results = json.loads(saved.read_text())
    results["results"][0]["calls"] = 123456789
    saved.write_text(json.dumps(results))
    table = miniapp.passes(*words)
    for rows, pattern in ((3, r"^(?:kernel +nx x ny x nz|matmul +\d+ x \d+ x \d+) +(?:calls|\d+)"),
                          (5, r"^(?:kernel +points|matmul +\d+)(?= (?!x))")):
        lengths = [len(beginning) for beginning in re.findall(pattern, table, re.MULTILINE)]
        assert len(lengths) == rows and len(set(lengths)) == 1, table


def test_the_machine_and_the_cache_that_holds_a_row(miniapp, small):
    """They are hwloc's, and what Linux says itself; a row on as many points as its largest cache has KiB times 100 is in
    none."""
    result = miniapp.json(small, "-k", "triad", "-s", "1k", "-t", 1)
    topology = re.fullmatch(r"packages \d+, cores (\d+), CPUs (\d+), NUMA nodes \d+((, L\d \d+ x \d+ KiB)*)",
                            result["provenance"]["topology"])
    assert 1 <= int(topology[1]) <= int(topology[2])
    caches = re.findall(r"(L\d) \d+ x (\d+) KiB", topology[3])
    size = 100 * max((int(kib) for _, kib in caches), default=1)
    few, many = result["results"] + miniapp.json(small, "-k", "triad", "-s", size, "-t", 1)["results"]
    fitting = [name for name, kib in caches if 1024 * int(kib) >= 24 * few["points"]]
    assert few["cache"] == (fitting or [""])[0] and many["cache"] == ""
    assert result["provenance"]["huge_pages"] in ("always", "madvise", "never")
    assert float(result["provenance"]["load"]) >= 0
    assert result["provenance"]["smt"] in ("on", "off", "forceoff", "notsupported", "notimplemented")
    assert re.fullmatch(r"governor \w+, \d+ to \d+ MHz|not known: .*", result["provenance"]["clock"])


def test_no_plugin_of_hwloc_is_loaded(miniapp, small):
    """There is none for what is reported, and to load them took a seventh of a short run."""
    done = miniapp.run(*QUICK, small, "-k", "eos", env={"LD_DEBUG": "files"})
    assert done.returncode == DONE and "libhwloc.so" in done.stderr and "/hwloc/" not in done.stderr


def test_an_empty_kernel_beside_each_row_on_a_gpu(miniapp, small, gpu, tmp_path):
    """Its time is in the table and in the rows of a GPU alone, and a resumed run keeps it."""
    words = (small, "-d", f"cpu,{gpu}", "-k", "eos,isoneutral_mixing", "-s", "10k", "-r", 10, "--resume", tmp_path / "a.json")
    measured, resumed = ([(row["kernel"], row["device"], row["empty_call_s"]) for row in miniapp.json(*words)["results"]]
                         for _ in range(2))
    assert resumed == measured and len(measured) == 4
    assert all(time is None if device == "cpu" else time > 0 for _, device, time in measured)
    assert miniapp.passes(*words).count(", an empty call ") == 2


def in_caches(text):
    """A machine that hwloc is told of."""
    return {"HWLOC_SYNTHETIC": text}


TWO_CACHES = in_caches("pack:2 l3:1(size=1048576) core:2 pu:1")


@pytest.mark.parametrize("words, caches", [
    (["-t", 1], 1), (["-t", 2], 2), pytest.param(["-t", "1,2", "--precision", "float32"], 2, marks=[
        pytest.mark.unsanitized("takes seconds; float64 has the same code")])])
def test_size_beyond_the_caches(miniapp, small, words, caches):
    """Each kernel moves at least four times the bytes of the caches that its threads have, and hardly more."""
    result = miniapp.json(small, "-k", "triad,eos,expansion,matmul", "-s", "memory", *words, env=TWO_CACHES)
    assert len({row["points"] for row in result["results"]}) > 1
    for row in result["results"]:
        assert 4 <= row["bytes"] / (caches << 20) < 4.5 and row["cache"] == ""


def test_size_beyond_caches_that_are_not_known(miniapp, small):
    miniapp.fails(USAGE, "--size memory: the caches of 'cpu' are not known", small, "-s", "memory",
                  env=in_caches("pack:1 core:2 pu:1"))


def test_emulation_is_named_in_every_form(miniapp, small, gpu, tmp_path):
    if miniapp.offload != "emulated":
        pytest.skip("this is no build for emulated offload")
    output = tmp_path / "output.h5"
    for form in ("table", "json", "csv"):
        text = miniapp.passes(small, "-d", gpu, "--format", form, "-o", output)
        assert "emulated on the CPU" in re.search(r"device\"?:? .*", text)[0]
    with h5py.File(output) as file:
        assert b"emulated on the CPU" in file.attrs["device"]


@pytest.mark.parametrize("name", ["blanks in it.h5", "käse.h5", 'quo"te.h5', "back\\slash.h5",
                                  b"no\xffutf8.h5", "percent%s%n.h5", "-dash.h5"], ids=repr)
def test_odd_file_names(miniapp, small, name):
    """They come back in JSON; what is no UTF-8 comes back in some form."""
    path = os.path.join(os.fsencode(small.parent), os.fsencode(name))
    os.rename(small, path)
    words = ("-k", "eos", "--", os.fsdecode(path))
    result = json.loads(miniapp.passes("--format", "json", *words))
    provenance = result["provenance"]
    assert set(provenance) == BUILD | RUN
    if b"\xff" not in path:
        assert provenance["input"] == os.fsdecode(path)
    printed = path.replace(b"\xff", rb"\xff")
    for form in ("table", "csv"):
        assert printed in os.fsencode(miniapp.passes("--format", form, *words))


def test_line_break_in_a_file_name(miniapp, small):
    """An error stays one line."""
    miniapp.fails(INPUT, "absent", f"{small.parent}/ab\nsent\nabsent.h5")


def test_long_command_line(miniapp, small):
    """Longer than provenance has room for: it is cut."""
    words = ["--set", "c_eps=0.7"] * 500
    provenance = miniapp.json(small, "-k", "tke", *words)["provenance"]
    assert provenance["command_line"].startswith(str(miniapp.path))
    assert set(provenance) == BUILD | RUN
