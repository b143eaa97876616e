"""A step in time, made of the references of its kernels in the order of its sequence."""

import itertools
import re
from pathlib import Path

from . import Field, Tolerance, files, kernels

PHYSICS = Path(__file__).resolve().parents[3] / "physics"
STEP = re.compile(r'(START|STEP)\((\w+),\s*"(.*?)"\)')
LEVELS = re.compile(r"LEVELS\((\w+), (\w+)\)")
NEEDED = ("temp", "salt", "tke", "tke_taup1", "eke", "eke_taup1", "dtemp_taum1", "dsalt_taum1", "dtke_taum1",
          "deke_taum1")
TOLERANCE = {  # none for float32: its steps are too far off
    "float64": Tolerance(
        1e-12, "Some fifteen kernels a step, each of which rounds what it gets; a wrong order, time level or "
        "ghost shows in the third digit.", rtol=1e-9),
}


class Ocean(dict):
    """Fields without ghosts by name, and the settings, as kernels' references take them from a file."""

    def __init__(self, file):
        super().__init__({name: data[...] for name, data in file.items()})
        self.attrs = dict(file.attrs)

    def run(self, kernel, bindings):
        """Fields stand in for a kernel's arguments; an absent one leaves the argument absent."""
        theirs = dict(pair.split("=") for pair in re.findall(r"\w+=\w+", bindings))
        seen = Ocean.__new__(Ocean)
        seen.update({name: values for name, values in self.items() if name not in theirs},
                    **{name: self[field] for name, field in theirs.items() if field in self})
        seen.attrs = self.attrs
        for name, field in files.compute(kernel, seen).items():
            self[theirs.get(name, name)] = field.values


def compute(sequence, file, steps):
    """{field: Field} of what the next step needs, after so many steps."""
    modules = {kernel.NAME: kernel for kernel in kernels()}
    path, = PHYSICS.glob(f"*/{sequence}.sequence")
    text = path.read_text(encoding="utf-8")
    ocean = Ocean(file)
    for name in {*itertools.chain(*LEVELS.findall(text))} & ocean.keys():  # in these, land is 0
        ocean[name] = ocean[name] * ocean["maskW" if "ke" in name else "maskT"]
    for number in range(steps):
        for when, kernel, bindings in STEP.findall(text):
            if when == "STEP" or number == 0:
                ocean.run(modules[kernel], bindings)
        for now, then in LEVELS.findall(text):
            ocean[now], ocean[then] = ocean[then], ocean[now]
    return {name: Field(ocean[name], ("z", "y", "x"), file[name].attrs["units"].decode(),
                        f"{file[name].attrs['long_name'].decode()}, after {steps} steps")
            for name in NEEDED}
