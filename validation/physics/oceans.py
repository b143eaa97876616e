"""Oceans that Veros has stepped, and what it makes of them: those of make_veros_steps.py, whose flow is given, and
those of make_veros_ocean.py, with what exact steps make of them by make_veros_exact.py."""

from pathlib import Path

import h5py

from conftest import INSIDE, datasets, write

VEROS = Path(__file__).parent / "veros"
LINES = ("dxt", "dxu", "dyt", "dyu", "cost", "cosu", "tantr")  # along x or y
SETUPS = {"acc_basic": "ocean_step", "acc": "ocean_step_eke", "global": "ocean_step_eke"}
CASES = ("acc", "acc_basic", "islands", "basin", "surface", "drag", "waves", "rough benchmark", "acc_benchmark",
         "eddies", "without TKE", "rest")


class Stepped:
    """One of a file, as a file of its own."""

    def __init__(self, source, name, sequence, folder, **settings):
        with h5py.File(VEROS / source) as file:
            group = file[name]
            self.before, self.settings = datasets(group), {**group.attrs, **settings}
            self.after = {int(key): {field: (data[...], data.attrs["spread"]) for field, data in part.items()}
                          for key, part in group.items() if key.isdigit()}
        self.name, self.sequence = name, sequence
        self.water = self.before["maskT"][INSIDE] == 1
        self.path = write(folder / f"{name}.h5", self.before, self.settings)

    def write_without_ghosts(self, path):
        """This ocean in a file that has the cells inside alone, corners on the southern wall in attributes."""
        values = {name: value[INSIDE] if value.ndim > 1 else value[2:-2] if name in LINES else value
                  for name, value in self.before.items()}
        write(path, values, self.settings, halo=0)
        with h5py.File(path, "a") as file:
            for name in {"psi", "psi_taum1", "dpsi", "dpsi_taum1"} & set(file):
                file[name].attrs["southern_wall"] = self.before[name][1, 2:-2]
        return path

    def step(self, miniapp, output, steps, *arguments, path=None):
        """The output of some steps, of another file where one is named."""
        miniapp.passes(path or self.path, "--steps", steps, "-k", self.sequence, "-o", output, *arguments, quick=False)
        return output


class Frozen(Stepped):
    """An ocean in a given flow, with the volumes of its cells."""

    def __init__(self, name, folder):
        super().__init__("steps.h5", name, SETUPS[name], folder)
        f = self.before
        self.area = ((f["dyt"] * f["cost"])[:, None] * f["dxt"])[INSIDE]
        self.volume = f["maskT"][INSIDE] * f["dzt"][:, None, None] * self.area
        heights = f["dzw"].copy()
        heights[-1] /= 2  # a W cell at the surface is half of one
        self.volume_w = f["maskW"][INSIDE] * heights[:, None, None] * self.area


class Whole(Stepped):
    """An ocean with all that a step makes."""

    def __init__(self, name, folder):
        super().__init__("ocean.h5", name, "ocean", folder, solver_tolerance=1e-13)
        with h5py.File(VEROS / "ocean.h5") as file:
            self.exact = datasets(file[name].get("exact", {}))
        with h5py.File(VEROS / "exact.h5") as file:
            self.exact_less_veros = {field: (data[...], data.attrs["farthest"]) for field, data in file[name].items()}
