"""The oceans of make_veros_steps.py, whose flow is given, and what Veros makes of them."""

from pathlib import Path

import h5py

from conftest import write

STEPS = Path(__file__).parent / "veros" / "steps.h5"
INSIDE = (..., slice(2, -2), slice(2, -2))
SETUPS = {"acc_basic": "ocean_step", "acc": "ocean_step_eke", "global": "ocean_step_eke"}


class Frozen:
    """One of them, as a file of its own."""

    def __init__(self, name, folder):
        with h5py.File(STEPS) as file:
            group = file[name]
            values = {key: data[...] for key, data in group.items() if isinstance(data, h5py.Dataset)}
            settings = dict(group.attrs)
            self.after = {int(key): {field: (data[...], data.attrs["spread"])
                                     for field, data in part.items()}
                          for key, part in group.items() if isinstance(part, h5py.Group)}
        place = {key: settings.pop(key) for key in ("halo", "cyclic_x")}
        self.name, self.sequence, self.cyclic_x = name, SETUPS[name], place["cyclic_x"]
        self.before = values
        self.settings = settings
        self.water = values["maskT"][INSIDE] == 1
        self.area = ((values["dyt"] * values["cost"])[:, None] * values["dxt"])[INSIDE]
        self.volume = values["maskT"][INSIDE] * values["dzt"][:, None, None] * self.area
        heights = values["dzw"].copy()
        heights[-1] /= 2  # a W cell at the surface is half of one
        self.volume_w = values["maskW"][INSIDE] * heights[:, None, None] * self.area
        self.path = write(folder / f"{name}.h5", values, settings, **place)

    def write_without_ghosts(self, path):
        """The same in a file that has the cells inside alone."""
        lines = ("dxt", "dxu", "dyt", "dyu", "cost", "cosu")
        values = {name: value[INSIDE] if value.ndim > 1 else value[2:-2] if name in lines else value
                  for name, value in self.before.items()}
        return write(path, values, self.settings, halo=0, cyclic_x=self.cyclic_x)

    def step(self, miniapp, output, steps, *arguments, path=None):
        """The output of some steps, of another file where one is named."""
        miniapp.passes(path or self.path, "--steps", steps, "-k", self.sequence, "-o", output, *arguments,
                       quick=False)
        return output
