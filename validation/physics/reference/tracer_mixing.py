"""Reference of the kernel `tracer_mixing`: that of `vertical_mixing`, of any tracer."""

from . import vertical_mixing

NAME = "tracer_mixing"
INPUTS = (*vertical_mixing.COLUMNS, "temp")
OPTIONAL = ("kappaH", "tracer_taup1", "forc_tracer_surface")
SETTINGS = vertical_mixing.SETTINGS
OUTPUTS = (("tracer_taup1", ("z", "y", "x"), "1", "the tracer at time level taup1"),)
TOLERANCES = {"tracer_taup1": vertical_mixing.TOLERANCES["temp_taup1"]}


def reference(fields, settings):
    return vertical_mixing.mix(fields, settings, {"tracer": "temp"})
