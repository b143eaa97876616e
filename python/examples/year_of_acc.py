# A year of the Southern Ocean, on this computer: from a file to a figure. Editors that know "# %%" run it
# part by part, as a notebook.
#
#     PYTHONPATH=python/src python3 python/examples/year_of_acc.py build/year_of_acc.png

# %% An ocean: Veros's setup `acc` after ten years, in a state that stays on its device.
import sys
import time
from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

import miniapp  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SEQUENCE, STEPS_A_MONTH, MONTHS = "ocean_step_forced", 61, 12

state = miniapp.load(ROOT / "inputs" / "acc.h5", SEQUENCE, device="cpu")
print(f"{state.grid.nx} x {state.grid.ny} x {state.grid.nz} points on {state.device}, "
      f"{state.bytes / 1e6:.0f} MB")

# %% What is where: the interior, without the two ghosts on each side.
INSIDE = (..., slice(2, -2), slice(2, -2))
water = state["maskT"][INSIDE] == 1
height = state["zt"]
volume = (state["dzt"][:, None, None] * (state["dyt"] * state["cost"])[2:-2, None] * state["dxt"][2:-2]) * water


def mean(values, axis=None):
    """Over water, by volume; NaN where there is none."""
    with np.errstate(invalid="ignore"):
        return (values[INSIDE] * volume).sum(axis) / volume.sum(axis)


# %% A year, month by month. Only what is looked at is copied from the device.
begin, profiles, start = state["temp"], [], time.perf_counter()
for _ in range(MONTHS):
    state.step(STEPS_A_MONTH, SEQUENCE)
    profiles.append(mean(state["temp"], (1, 2)))
print(f"{MONTHS * STEPS_A_MONTH} steps in {time.perf_counter() - start:.2f} s")

# %% Where it grew warmer.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
change = mean(state["temp"], 2) - mean(begin, 2)
most = np.nanmax(np.abs(change))
image = left.pcolormesh(np.arange(change.shape[1]), height, change, cmap="RdBu_r", vmin=-most, vmax=most)
left.set(title="change of the zonal mean in a year", xlabel="row, from south to north", ylabel="height in m")
figure.colorbar(image, ax=left, label="K")
for month in (0, 5, 11):
    right.plot(profiles[month] - mean(begin, (1, 2)), height, label=f"after month {month + 1}")
right.set(title="change of the mean profile", xlabel="K", ylabel="height in m")
right.legend()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "year_of_acc.png", dpi=120)
