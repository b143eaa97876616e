"""The oceans of make_veros_ocean.py, what whole steps of Veros make of them, and what exact ones do, by
make_veros_exact.py."""

from pathlib import Path

import h5py

from conftest import write

OCEANS = Path(__file__).parent / "veros" / "ocean.h5"
INSIDE = (..., slice(2, -2), slice(2, -2))
CASES = ("acc", "acc_basic", "islands", "basin", "surface", "drag", "waves", "rough benchmark", "acc_benchmark", "eddies",
         "without TKE", "rest")


class Whole:
    """One of them, as a file of its own."""

    def __init__(self, name, folder):
        with h5py.File(OCEANS) as file:
            group = file[name]
            self.before = {key: data[...] for key, data in group.items() if isinstance(data, h5py.Dataset)}
            self.settings = dict(group.attrs) | {"solver_tolerance": 1e-13}
            self.after = {int(key): {field: (data[...], data.attrs["spread"]) for field, data in part.items()}
                          for key, part in group.items() if key.isdigit()}
            self.exact = {key: data[...] for key, data in group.get("exact", {}).items()}
        with h5py.File(OCEANS.with_name("exact.h5")) as file:
            self.exact_less_veros = {field: (data[...], data.attrs["farthest"]) for field, data in file[name].items()}
        place = {key: self.settings.pop(key) for key in ("halo", "cyclic_x")}
        self.name, self.cyclic_x = name, place["cyclic_x"]
        self.water = self.before["maskT"][INSIDE] == 1
        self.path = write(folder / f"{name}.h5", self.before, self.settings, **place)

    def write_without_ghosts(self, path):
        """A file of the same fields, the streamfunction's corners on the southern wall in attributes."""
        lines = ("dxt", "dxu", "dyt", "dyu", "cost", "cosu", "tantr")
        values = {name: value[INSIDE] if value.ndim > 1 else value[2:-2] if name in lines else value
                  for name, value in self.before.items()}
        write(path, values, self.settings, halo=0, cyclic_x=self.cyclic_x)
        with h5py.File(path, "a") as file:
            for name in ("psi", "psi_taum1", "dpsi", "dpsi_taum1"):
                if name in file:
                    file[name].attrs["southern_wall"] = self.before[name][1, 2:-2]
        return path

    def step(self, miniapp, output, steps, *arguments, path=None):
        """The output of some steps, of another file where one is named."""
        miniapp.passes(path or self.path, "--steps", steps, "-k", "ocean", "-o", output, *arguments, quick=False)
        return output
