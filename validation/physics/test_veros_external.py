"""The kernels of the external mode make what Veros's own routines make (make_veros_external.py)."""

from pathlib import Path

import h5py
import numpy as np
import pytest

from conftest import datasets
from reference import streamfunction, surface_pressure

pytestmark = pytest.mark.every_gpu

STORED = Path(__file__).parent / "veros" / "external.h5"
KERNELS = {"stream": streamfunction, "pressure": surface_pressure}
MOST = 1e-12  # of a field's largest value


@pytest.mark.parametrize("form", KERNELS)
def test_external(miniapp, form, device, tmp_path):
    with h5py.File(STORED) as file:
        settings = {**file[form].attrs, "solver_tolerance": 1e-13}
        fields, expected = datasets(file[form]), datasets(file[form]["outputs"])
    reference = KERNELS[form].reference(fields, settings)
    made = miniapp.made_by(KERNELS[form].NAME, tmp_path, fields, settings, "-d", device)
    # corners begin with the southern wall, which is land of its own; on land Veros keeps the guess of the pressure
    counts = np.zeros(fields["kbot"].shape, bool)
    counts[1:-2, 2:-2] = True if form == "stream" else fields["kbot"][1:-2, 2:-2] > 0
    for name, values in expected.items():
        for found in (reference[name], made[name]):
            error = np.abs(found[counts] - values[counts]).max() / np.abs(values[counts]).max()
            print(f"{name} differs by {float(error):.1e} of its largest value")
            assert error <= MOST
