"""Steps of `ocean` with switches at random, beside those that Veros makes while the test runs (veros_random.py).

    MINIAPP_TEST_LONG=1 VEROS_PYTHON=venv/bin/python python3 -m pytest --miniapp=build/host/bin/miniapp \
        validation/physics/test_veros_random.py
"""

import numpy as np
import pytest

from conftest import HERE, INSIDE, LONG, read
from oceans import Stepped
from test_veros_plugin import run

SEEDS = 20


@pytest.mark.skipif(not LONG, reason="Veros makes 20 oceans: MINIAPP_TEST_LONG=1 runs it")
def test_switches_at_random(miniapp, tmp_path):
    """The bar is that of test_ocean.py for its first step, and budgets are kept."""
    source = tmp_path / "random.h5"
    done = run(miniapp, HERE / "physics/veros_random.py", source, *map(str, range(SEEDS)))
    assert done.returncode == 0, done.stderr
    for seed in map(str, range(SEEDS)):
        ocean = Stepped(source, seed, "ocean", tmp_path, solver_tolerance=1e-13)
        output = ocean.step(miniapp, tmp_path / "out.h5", 1)
        for name, (wanted, spread) in ocean.after[1].items():
            made, water = read(output, name)[INSIDE], ocean.water if wanted.ndim == 3 else 1
            scale, error = np.abs(wanted).max(), (np.abs(made - wanted) * water).max()
            print(f"{seed}: {name} off by {error / scale:.1e}, spread {spread / scale:.1e}")
            assert error <= 5 * spread + 1e-12 * scale, (seed, name)
