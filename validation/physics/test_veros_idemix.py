"""Internal waves are made as Veros's own routines make them (make_veros_idemix.py), and keep their energy."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import read, write
from reference import idemix, idemix_parameters, tke_diffusivities

pytestmark = [pytest.mark.every_compiler, pytest.mark.every_device]

STORED = Path(__file__).parent / "veros" / "idemix.h5"
INSIDE = (..., slice(2, -2), slice(2, -2))
with h5py.File(STORED) as stored:
    CASES = [case for case in stored["outputs"] if case not in ("parameters", "diffusivities")]
MOST = 1e-12  # of a field's largest value


@pytest.fixture(scope="module")
def theirs():
    """The file's settings and fields, with the parameters; by case, the settings and what Veros makes."""
    with h5py.File(STORED) as file:
        fields = {name: values[...] for name, values in file.items() if name != "outputs"}
        made = {case: (dict(group.attrs), {name: values[...] for name, values in group.items()})
                for case, group in file["outputs"].items()}
        return dict(file.attrs), fields | made["parameters"][1], made


def check(expected, found):
    for name, values in expected.items():
        scale = np.abs(values[INSIDE]).max()
        error = np.abs(found(name)[INSIDE] - values[INSIDE]).max()
        print(f"{name} differs by {float(error / (scale or 1)):.1e} of its largest value")
        assert error <= MOST * scale, name


def run(miniapp, kernel, settings, fields, device, folder):
    place = {name: settings[name] for name in ("halo", "cyclic_x")}
    others = {name: value for name, value in settings.items() if name not in place}
    out = folder / "out.h5"
    miniapp.passes("-k", kernel, "-d", device, "-o", out, write(folder / "in.h5", fields, others, **place))
    return lambda name: read(out, name)


@pytest.mark.parametrize("module, case", [(idemix_parameters, "parameters"), (tke_diffusivities, "diffusivities"),
                                          *((idemix, case) for case in CASES)],
                         ids=lambda value: value if isinstance(value, str) else value.NAME)
def test_veros_makes_the_same(miniapp, theirs, module, case, device, tmp_path):
    """The kernel's reference, and then the kernel."""
    settings, fields, made = theirs
    chosen, expected = made[case]
    check(expected, lambda name: np.array(module.reference(fields, settings | chosen)[name], float))
    check(expected, run(miniapp, module.NAME, settings | chosen, fields, device, tmp_path))
