"""Reference of the kernel `triad`."""

import numpy as np

NAME = "triad"
INPUTS = ("salt", "temp")
OPTIONAL = ()
OUTPUTS = (("triad", ("z", "y", "x"), "1", "salt + 3 temp, as numbers"),)


def reference(fields, _settings):
    return {"triad": np.asarray(fields["salt"], np.longdouble) + 3 * np.asarray(fields["temp"])}
