"""The reference of dHdT against itself, the published check values, and other arithmetic."""

import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import h5py
import mpmath as mp
import numpy as np
import pytest

import make_reference
import make_rough
import pairs
import reference
from miniapp.library import default
from reference import density, eos, teos10

HERE = Path(__file__).resolve().parents[1]
INPUTS = HERE.parent / "inputs"
GRID = INPUTS / "grid.h5"
GRID_REFERENCE = HERE / "stored" / "grid"
STORES_TIMES = 0x20  # a flag of an object header of HDF5, version 2

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

# Check values of GSW-C 3.03.0 (gsw_check_functions.c) for its 48-term functions, with the
# differences that it accepts. They were computed in double precision. There is none for the
# derivative of enthalpy by CT: that version of GSW-C has no such function.
CHECK_SA, CHECK_CT, CHECK_P = "35.7", "20", "300"
RHO_CHECKS = (  # p, density
    ("300", "1026.4562376198473", 2.945625965367071e-10),
    ("0", "1025.165674636323047", 2.933120413217694e-10),
    ("1000", "1029.434338510752923", 2.999058779096231e-10),
    ("2000", "1033.609842926904093", 3.060449671465904e-10),
    ("3000", "1037.695147569371784", 3.119566827081144e-10),
    ("4000", "1041.693064726656303", 3.180957719450817e-10),
)
ALPHA_CHECK = ("2.62460550806784356e-4", 8.264713918662917e-15)
DRHO_DCT_CHECK = ("-0.269404269504765", 8.315403920988729e-12)
DYNAMIC_ENTHALPY_CHECK = ("2924.5137975399025", 2.288754734930485e-7)
ENTHALPY_CHECK = ("82761.872939932495", 2.499356924090534e-6)
HEAT_CAPACITY = "3991.86795711963"

# dHdT at the same point. Not published: made from the dynamic enthalpy that is, by differences in
# 150-digit arithmetic, and kept here against a change of all our evaluations at once.
DHDT_AT_CHECK_POINT = "0.76143607017777522209"

BOX = ((0, 42), (-2, 40), (0, 8000))
PYHPC = ((0.01, 10), (-12, 20), (0, 1000))


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(teos10.DIGITS):
        yield


def random_points(extents, number, seed=1):
    generator = random.Random(seed)
    return [tuple(generator.uniform(*x) for x in extents) for _ in range(number)]


def near(value, published, accepted):
    return abs(value - mp.mpf(published)) < accepted


def published_checks_hold(**tables):
    point = CHECK_SA, CHECK_CT, CHECK_P
    rho = [near(teos10.rho(CHECK_SA, CHECK_CT, p, **tables), value, accepted) for p, value, accepted in RHO_CHECKS]
    return all(rho) and near(teos10.alpha(*point, **tables), *ALPHA_CHECK)


def test_density_and_expansion_are_the_published_ones():
    assert published_checks_hold()


def test_density_gradient_is_the_published_one():
    point = CHECK_SA, CHECK_CT, CHECK_P
    assert near(-teos10.rho(*point) * teos10.alpha(*point), *DRHO_DCT_CHECK)


def test_dynamic_enthalpy_is_the_published_one():
    enthalpy = teos10.dynamic_enthalpy(CHECK_SA, CHECK_CT, CHECK_P)
    assert near(enthalpy, *DYNAMIC_ENTHALPY_CHECK)
    assert near(enthalpy + mp.mpf(HEAT_CAPACITY) * mp.mpf(CHECK_CT), *ENTHALPY_CHECK)


@pytest.mark.parametrize("table", ["numerator", "denominator"])
def test_a_wrong_coefficient_fails_the_published_checks(table):
    terms = getattr(teos10, table.upper())
    for index, (i, j, k, coefficient) in enumerate(terms):
        wrong = (i, j, k, mp.mpf(coefficient) * (1 + mp.mpf("1e-6")))
        spoilt = terms[:index] + (wrong,) + terms[index + 1:]
        assert not published_checks_hold(**{table: spoilt}), coefficient


def test_there_are_48_distinct_coefficients():
    terms = teos10.NUMERATOR + teos10.DENOMINATOR
    assert len({coefficient for *_, coefficient in terms}) == 48


@pytest.mark.parametrize("sa, ct, p", [
    (0, -2, 8000), (0, 40, 1), (42, 38.8, 11000), (35, 10, 1e-3), (35, 10, 0),
    (0, -15.45, 900), (5, -15.45, 900), (0, -20, 500), *random_points(BOX, 10),
    *random_points(PYHPC, 5),
])
def test_three_evaluations_agree(sa, ct, p):
    closed = teos10.dhdt_closed_form(sa, ct, p)
    assert abs(teos10.dhdt_quadrature(sa, ct, p) - closed) < 1e-45
    assert abs(teos10.dhdt_difference(sa, ct, p) - closed) < 1e-45


def test_dhdt_at_the_check_point():
    value = teos10.dhdt_difference(CHECK_SA, CHECK_CT, CHECK_P)
    assert abs(value - mp.mpf(DHDT_AT_CHECK_POINT)) < 1e-19


@pytest.mark.parametrize("extents", [BOX, PYHPC, ((0, 42), (-20, 40), (8000, 12000))])
def test_extended_precision_matches_50_digits(extents):
    points = random_points(extents, 60)
    exact = [teos10.dhdt_closed_form(*point) for point in points]
    extended = [teos10.dhdt_level(*point) for point in points]
    errors = [abs(to_mpf(x) - y) for x, y in zip(extended, exact)]
    assert max(errors) < 1e-17 * max(map(abs, exact))


def to_mpf(x):
    """Of a longdouble, exactly."""
    high = np.float64(x)
    return mp.mpf(float(high)) + mp.mpf(float(x - high))


def test_closed_form_in_double_precision_is_bad_and_quadrature_is_good():
    """Why neither the reference nor the kernel uses the published kind of formula."""
    sa, ct, p = np.array(random_points(PYHPC, 300)).T
    exact = np.array([teos10.dhdt_level(*point) for point in zip(sa, ct, p)])
    volume = teos10.specific_volume(sa, ct, teos10.DOUBLE)
    nodes, weights = (x.astype(np.float64) for x in teos10.gauss_legendre(8))
    quadrature = 1e4 * p * sum(w * teos10._dv_dct(volume, x * p) for x, w in zip(nodes, weights))
    closed_form = teos10.partial_fractions(volume, p, teos10.DOUBLE)
    largest = abs(exact).max()
    assert abs(closed_form - exact).max() > 1e-11 * largest
    assert (abs(closed_form - exact) / abs(exact)).max() > 1e-10
    assert abs(quadrature - exact).max() < 1e-13 * largest


def test_the_75_term_equation_is_close():
    """GSW's later equation, fitted to the same ocean by others: a check on the physics."""
    gsw = pytest.importorskip("gsw")
    sa, ct, p = np.array(random_points(((33, 37), (0, 28), (0, 5000)), 200)).T
    ours = np.array([teos10.dhdt_level(*point) for point in zip(sa, ct, p)], np.float64)
    theirs = gsw.enthalpy_first_derivatives(sa, ct, p)[1] - float(HEAT_CAPACITY)
    assert abs(ours - theirs).max() < 2e-3 * abs(ours).max()


def test_salinity_zero_is_the_limit_and_not_clamped():
    at_zero = teos10.dhdt_closed_form(0, 10, 1000)
    assert abs(teos10.dhdt_closed_form("1e-30", 10, 1000) - at_zero) < 1e-28
    assert abs(teos10.dhdt_closed_form("0.1", 10, 1000) - at_zero) > 1e-4


@pytest.mark.parametrize("extents", [BOX, PYHPC, ((0, 42), (-20, 40), (8000, 12000))])
def test_extended_precision_of_density(extents):
    """Seawater in 80 bits beside 50 digits: the derivative by salinity has two evaluations, at the least root, too."""
    points, water = [(0, 20, extents[2][1]), *random_points(extents, 4)], density.Teos10(clamps=False)
    by_enthalpy = -mp.mpf(1024) / mp.mpf("9.81")
    exact = {"rho": [teos10.rho(*point) - 1024 for point in points],
             "enthalpy": [enthalpy_without_reference(*point) for point in points],
             "int_drhodT": [by_enthalpy * teos10.dhdt_closed_form(*point) for point in points],
             "int_drhodS": [by_enthalpy * teos10.dhds_difference(*point) for point in points]}
    for name, values in exact.items():
        errors = [abs(to_mpf(getattr(water, name)(*point)) - value) for point, value in zip(points, values)]
        assert max(errors) < 1e-16 * max(map(abs, values)), name
    for point in points:
        assert abs(teos10.dhds_quadrature(*point) - teos10.dhds_difference(*point)) < 1e-40


def enthalpy_without_reference(sa, ct, p):
    """Less the part of the reference density, 1024."""
    return teos10.dynamic_enthalpy(sa, ct, p) - teos10.PA_PER_DBAR * mp.mpf(p) / 1024


@pytest.fixture
def input_file(tmp_path):
    path = tmp_path / "input.h5"
    with h5py.File(path, "w") as file:
        generator = np.random.default_rng(2)
        file["salt"] = generator.uniform(0, 40, (3, 4, 5))
        file["temp"] = generator.uniform(-2, 30, (3, 4, 5)).astype(np.float32)
        file["zt"] = [-4000.0, -300.0, -5.0]
        file["x"] = np.arange(5.0)
        file["x"].make_scale("x")
        file["x"].attrs["units"] = "m"
        file.attrs["halo"] = 0
    return path


def make(source, output, *options):
    return make_reference.main([str(source), "-o", str(output), *options])


def test_reference_file(input_file, tmp_path):
    path = tmp_path / "reference.h5"
    assert make(input_file, path) == make_reference.DONE
    with h5py.File(path) as file, h5py.File(input_file) as source:
        dhdt = file["dHdT"]
        assert dhdt.dtype == np.float64 and dhdt.shape == (3, 4, 5)
        assert dhdt.fletcher32 and dhdt.shuffle and dhdt.compression == "gzip"
        assert [dimension[0].name for dimension in dhdt.dims] == ["/z", "/y", "/x"]
        assert file["x"].attrs["units"] == "m"
        tolerances = eos.TOLERANCES["dHdT"]
        largest = abs(dhdt[...]).max()
        assert dhdt.attrs["atol"] == tolerances["float64"].atol_rel * largest
        assert dhdt.attrs["atol_float32"] == tolerances["float32"].atol_rel * largest
        exact = teos10.dhdt_closed_form(float(source["salt"][1, 2, 3]), float(source["temp"][1, 2, 3]), 300)
        assert dhdt[1, 2, 3] == float(exact)


def test_folder_of_references(input_file, tmp_path, capsys):
    """A file for each kernel; what no kernel makes any more is removed, and a check finds it."""
    folder = tmp_path / "references"
    assert make(input_file, folder) == make_reference.DONE
    assert {"eos.h5", "expansion.h5"} <= {path.name for path in folder.iterdir()}
    with h5py.File(folder / "eos.h5") as file:
        assert "dHdT" in file and "drhodT" not in file
    shutil.copy(folder / "eos.h5", folder / "gone.h5")
    (folder / "expansion.h5").unlink()
    assert make(input_file, folder, "--check") == make_reference.FAILED
    message = capsys.readouterr().err
    assert "gone.h5: no kernel makes it" in message and "expansion.h5: is missing" in message
    assert make(input_file, folder) == make_reference.DONE and not (folder / "gone.h5").exists()


def test_pressure_takes_precedence_over_depth(input_file):
    with h5py.File(input_file, "a") as file:
        assert list(eos.sea_pressure(file)) == [4000, 300, 5]
        file["p"] = [4050.0, 303.0, 5.0]
        assert list(eos.sea_pressure(file)) == [4050, 303, 5]


def test_reference_file_is_reproducible(input_file, tmp_path):
    """In another process, so that no state of the library is shared."""
    copy = tmp_path / "elsewhere.h5"
    shutil.copy(input_file, copy)
    outputs = tmp_path / "a.h5", tmp_path / "b.h5"
    assert make(input_file, outputs[0]) == make_reference.DONE
    subprocess.run([sys.executable, HERE / "physics/make_reference.py", copy, "-o", outputs[1]], check=True)
    content = outputs[0].read_bytes()
    assert content == outputs[1].read_bytes()
    # they may have been made in the same second, so that times would be equal: there are none
    flags = re.findall(rb"OHDR\x02(.)", content, re.DOTALL)
    assert flags and not any(ord(flag) & STORES_TIMES for flag in flags)


def test_check_finds_a_changed_value_and_attribute(input_file, tmp_path, capsys):
    path = tmp_path / "reference.h5"
    make(input_file, path)
    assert make(input_file, path, "--check") == make_reference.DONE
    with h5py.File(path, "a") as file:
        file["dHdT"][0, 0, 0] = np.nextafter(file["dHdT"][0, 0, 0], 0)
        file["dHdT"].attrs["atol"] = 1.0
    assert make(input_file, path, "--check") == make_reference.FAILED
    message = capsys.readouterr().err
    assert "dHdT: values differ" in message and "attribute atol differs" in message


def test_unusable_inputs(input_file, tmp_path, capsys):
    path = tmp_path / "reference.h5"
    with h5py.File(input_file, "a") as file:
        file["salt"][0, 0, 0] = np.nan
    assert make(input_file, path) == make_reference.BAD_INPUT
    assert "not finite" in capsys.readouterr().err
    with h5py.File(input_file, "a") as file:
        del file["salt"], file["temp"]  # no kernel is left that could be computed
    assert make(input_file, path) == make_reference.BAD_INPUT
    assert make(tmp_path / "absent.h5", path) == make_reference.BAD_INPUT
    assert sorted(tmp_path.iterdir()) == [input_file]


def test_every_kernel_has_a_reference():
    described = sorted(path.stem for path in (HERE.parent / "physics").glob("*/*.kernel"))
    assert [kernel.NAME for kernel in reference.kernels()] == described


def test_every_tolerance_has_a_reason():
    for kernel in reference.kernels():
        assert set(kernel.TOLERANCES) == {name for name, *_ in kernel.OUTPUTS}
        for precisions in kernel.TOLERANCES.values():
            assert set(precisions) == {"float64", "float32"}
            for tolerance in precisions.values():
                assert tolerance.why and tolerance.rtol >= 0 and tolerance.atol_rel > 0


@pytest.mark.parametrize("pair", {pair.reference: pair for pair in pairs.ROUGH}.values(), ids=lambda pair: pair.name)
def test_stored_references_of_rough_oceans(pair):
    """They are what the references make of these inputs today."""
    same_folder = [other for other in pairs.ROUGH if other.reference == pair.reference]
    assert make_reference.make(pair.reference, same_folder, True) == make_reference.DONE


def test_rough_oceans_are_reproducible(monkeypatch, capsys):
    """In all bytes, but by another HDF5 than the one that wrote them in their content."""
    monkeypatch.setattr(sys, "argv", ["make_rough.py", "--check"])
    with pytest.raises(SystemExit) as end:
        make_rough.main()
    said = capsys.readouterr().out
    assert end.value.code == 0 or (h5py.version.hdf5_version != "1.10.8" and "same content in other bytes" in said), said


def test_rough_oceans_leave_nothing_even():
    """What the stored grid hides: spacings that are alike, and fields that are absent."""
    described = default()
    for ocean in ("rough", "switched"):
        with h5py.File(INPUTS / f"{ocean}.h5") as file:
            assert file["dzt"][-1] != file["dzw"][-1]
            for name in ("dxt", "dxu", "dyt", "dyu", "dzt", "dzw", "cost", "cosu"):
                inside = slice(None) if "z" in name else slice(file.attrs["halo"], -file.attrs["halo"] or None)
                assert np.diff(file[name][inside]).all(), name
            for kernel in reference.kernels():
                for name in set(described.reads(kernel.NAME)) - {"sample", "factor_a", "factor_b"}:
                    assert file[name][...].any(), name


def test_arguments(capsys):
    for words in ([], ["a.h5"], ["-o", "b.h5"], ["--stored", "a.h5", "-o", "b.h5"]):
        with pytest.raises(SystemExit):
            make_reference.main(words)
    assert "expected either INPUT and -o PATH, or --stored" in capsys.readouterr().err


@pytest.mark.skipif(not (GRID.exists() and GRID_REFERENCE.exists()), reason="not made yet")
def test_stored_reference_belongs_to_the_stored_grid():
    with h5py.File(GRID) as grid, h5py.File(GRID_REFERENCE / "eos.h5") as stored:
        assert stored.attrs["input_sha256"].decode() == make_reference.sha256(GRID)
        assert stored["dHdT"].shape == grid["salt"].shape
        pressure = eos.sea_pressure(grid)
        for level in range(0, len(pressure), 7):
            expected = teos10.dhdt_level(grid["salt"][level, ::9], grid["temp"][level, ::9], pressure[level])
            assert np.array_equal(stored["dHdT"][level, ::9], expected.astype(np.float64))
