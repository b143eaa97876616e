"""momentum, what acts after it, and barotropic_correction make what Veros's own routines make (make_veros_momentum.py)."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import INSIDE, datasets
from reference import (barotropic_correction, biharmonic_friction, explicit_vertical_friction, flow_laplacian,
                       isoneutral_friction, momentum)

pytestmark = pytest.mark.every_gpu

STORED = Path(__file__).parent / "veros" / "momentum.h5"
CASES = ("acc", "free slip", "no slip", "drag", "sources")
BIHARMONIC = (momentum, flow_laplacian, biharmonic_friction)
EXPLICIT = (momentum, explicit_vertical_friction)
FURTHER = {"explicit": EXPLICIT, "explicit and implicit": EXPLICIT, "eddies": (momentum, isoneutral_friction),
           "eddies alone": (momentum, isoneutral_friction), "biharmonic": BIHARMONIC,
           "biharmonic without slip": BIHARMONIC}  # kernels, the last of which is tested
AFTER = ("pressure", "stream")  # the external mode of "acc"
MOST = 1e-12  # of a field's largest value


@pytest.fixture(scope="module")
def theirs():
    """The file's settings and fields; by case, the settings and what Veros makes."""
    with h5py.File(STORED) as file:
        made, results = {}, {}
        for case in (*CASES[:1], *AFTER, *CASES[1:], *FURTHER):
            group = file["outputs"][case]
            kept = datasets(group)
            if case not in AFTER:
                made |= kept
                kept = dict(made)
            results[case] = dict(group.attrs), kept
        return dict(file.attrs), datasets(file), results


def cyclic(values):
    values = np.array(values, float)
    values[..., :2], values[..., -2:] = values[..., -4:-2], values[..., 2:4]
    return values


def before(theirs, case):
    """The fields that the correction reads of momentum, by its reference."""
    settings, fields, results = theirs
    return made_before(momentum, settings | results["acc"][0], fields) | {"psi_taup1": results[case][1]["psi_taup1"]}


def made_before(module, settings, fields):
    """The fields, with those that a kernel makes of them by its reference."""
    return fields | {name: cyclic(values) for name, values in module.reference(fields, settings).items()}


def check(expected, found):
    for name, values in expected.items():
        scale = np.abs(values[INSIDE]).max()
        error = np.abs(found(name)[INSIDE] - values[INSIDE]).max()
        print(f"{name} differs by {float(error / (scale or 1)):.1e} of its largest value")
        assert error <= MOST * scale, name


def check_kernel(miniapp, module, settings, fields, expected, device, folder):
    """The kernel's reference, and then the kernel."""
    check(expected, module.reference(fields, settings).get)
    check(expected, miniapp.made_by(module.NAME, folder, fields, settings, "-d", device).get)


@pytest.mark.parametrize("case, modules", [*((case, (momentum,)) for case in CASES), *FURTHER.items()],
                         ids=(*CASES, *FURTHER))
def test_momentum_and_further_friction(miniapp, theirs, case, modules, device, tmp_path):
    settings, fields, results = theirs
    switches, expected = results[case]
    settings, (*before_it, last) = settings | switches, modules
    for module in before_it:
        fields = made_before(module, settings, fields)
    expected = {name: expected[name] for name, *_ in last.OUTPUTS if name in expected}
    check_kernel(miniapp, last, settings, fields, expected, device, tmp_path)


@pytest.mark.parametrize("case", AFTER)
def test_correction(miniapp, theirs, case, device, tmp_path):
    settings, _, results = theirs
    switches, expected = results[case]
    settings, fields = settings | switches, before(theirs, case)
    expected = {name: values for name, values in expected.items() if name != "psi_taup1"}
    check_kernel(miniapp, barotropic_correction, settings, fields, expected, device, tmp_path)
