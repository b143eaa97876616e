"""Eddy kinetic energy: what its diffusivities are without it."""

import numpy as np
import pytest

import fields
from conftest import read, write
from test_kernels import OCEANS


@pytest.mark.parametrize("eddies, constant", [
    (0, {"K_gm": 700, "K_iso": 900}), (1, {"K_iso": 900})])
def test_what_is_constant(miniapp, eddies, constant, tmp_path):
    values, settings = fields.make(**OCEANS["odd"])
    path, out = tmp_path / "ocean.h5", tmp_path / "out.h5"
    write(path, values, settings | {"enable_eke": eddies}, halo=2)
    miniapp.passes("-k", "eke_diffusivities", "-o", out, path)
    for name, value in constant.items():
        assert (read(out, name) == value).all()
    for name in ("L_rossby", "L_rhines", "eke_len", "sqrteke"):
        assert read(out, name).any() == bool(eddies)
    assert not eddies or len(np.unique(read(out, "K_gm"))) > 100
