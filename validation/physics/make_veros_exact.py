#!/usr/bin/env python3
"""Write validation/physics/veros/exact.h5: how far the oceans of ocean.h5 are from exact steps, after 100.

    python3 -m venv venv && venv/bin/pip install veros==1.7.0 jax==0.8.3
    venv/bin/python validation/physics/make_veros_exact.py [-o validation/physics/veros/exact.h5] [CASE ...]

Exact are the steps of Veros in 80 bits. Each group is named after a case of make_veros_ocean.py, and holds the exact
fields less those of ocean.h5, by Veros with NumPy. Attributes of a field have largest distances on water: `error` of
NumPy from exact; `moved` and `jax` from NumPy, where each value of the initial state moves by one unit in the last
place, at random, the largest of some tries, and where JAX makes the steps; `farthest` from exact, of NumPy's steps and
those tries.
"""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

from make_veros_ocean import INSIDE, OCEANS, STEPS, TRIES, run, start, write_cases  # it starts Veros, too
from veros_acc import store

AGAIN = Path(__file__).resolve().with_name("veros_again.py")
LAST = max(STEPS)


def by_numpy(case):
    with h5py.File(OCEANS) as file:
        water = file[case]["maskT"][INSIDE] == 1
        return {name: data[...] for name, data in file[case][str(LAST)].items()}, water


def again(how, case):
    """The end by veros_again.py, of the start in the current folder."""
    subprocess.run([sys.executable, AGAIN, how, case, "start.npz", "end.npz"], check=True)
    with np.load("end.npz") as end:
        return dict(end)


def write(group, case):
    made, water = by_numpy(case)
    np.savez("start.npz", **{name: np.array(value) for name, value in start(case).state.variables.items()
                             if value is not None})
    exact, jax = again("80-bits", case), again("jax", case)
    tries = [run(case, seed, nudged=1)[2][LAST] for seed in range(TRIES)]
    store(group, {name: (exact[name] - made[name]).astype(np.float32) for name in made})
    for name, values in made.items():
        wet = water if values.ndim == 3 else True

        def farthest(others, origin):
            return max(float(np.abs((each[name] - origin[name]) * wet).max()) for each in others)

        group[name].attrs.update(error=farthest([made], exact), moved=farthest(tries, made), jax=farthest([jax], made),
                                 farthest=farthest([made, *tries], exact))
        print(f"{case}: {name}", *(f"{key} {value / np.abs(values).max():.1e}"
                                   for key, value in group[name].attrs.items()), flush=True)


if __name__ == "__main__":
    write_cases(__doc__, OCEANS.with_name("exact.h5"), write)
