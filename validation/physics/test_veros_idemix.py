"""Internal waves are made as Veros's own routines make them (make_veros_idemix.py), and keep their energy."""

from pathlib import Path

import h5py
import pytest

from conftest import datasets
from reference import idemix, idemix_parameters, tke_diffusivities
from test_veros_momentum import check_kernel

pytestmark = pytest.mark.every_gpu

STORED = Path(__file__).parent / "veros" / "idemix.h5"
with h5py.File(STORED) as stored:
    CASES = [case for case in stored["outputs"] if case not in ("parameters", "diffusivities")]


@pytest.fixture(scope="module")
def theirs():
    """The file's settings and fields, with the parameters; by case, the settings and what Veros makes."""
    with h5py.File(STORED) as file:
        made = {case: (dict(group.attrs), datasets(group)) for case, group in file["outputs"].items()}
        return dict(file.attrs), datasets(file) | made["parameters"][1], made


@pytest.mark.parametrize("module, case", [(idemix_parameters, "parameters"), (tke_diffusivities, "diffusivities"),
                                          *((idemix, case) for case in CASES)],
                         ids=lambda value: value if isinstance(value, str) else value.NAME)
def test_veros_makes_the_same(miniapp, theirs, module, case, device, tmp_path):
    settings, fields, made = theirs
    chosen, expected = made[case]
    check_kernel(miniapp, module, settings | chosen, fields, expected, device, tmp_path)
