"""A kernel's reference on the grid of an input file."""

import numpy as np

from . import Field
from .samples import missing

HALO = 2
ALONG_X = ("dxt", "dxu", "factor_b")  # which end in x or y only; others in (y, x)
ALONG_Y = ("dyt", "dyu", "cost", "cosu", "tantr", "factor_a")
ALONG_Z = ("p", "zt", "zw", "dzt", "dzw", "divpen_shortwave")
# Walls have neither flow nor stress.
VELOCITIES = ("u", "v", "u_wgrid", "v_wgrid", "w_wgrid", "u_taup1", "v_taup1", "surface_taux", "surface_tauy")


def is_computable(kernel, file):
    """Whether the file holds what the kernel's reference reads."""
    return all(name in file for name in kernel.INPUTS)


def compute(kernel, file, **settings):
    """{variable: Field} of what the settings have the kernel make, with ghost cells where the file has them; settings
    override the file's."""
    if "halo" not in file.attrs:
        raise ValueError("attribute halo is missing: give 0 or 2")
    has_ghosts = file.attrs["halo"] == HALO
    cyclic = file.attrs.get("cyclic_x", 0) == 1
    fields = {name: file[name][...] for name in (*kernel.INPUTS, *kernel.OPTIONAL) if name in file}
    fields |= missing(fields, getattr(kernel, "SAMPLED", {}))
    if not has_ghosts:
        fields = {name: add_ghosts(name, values, cyclic) for name, values in fields.items()}
        if {"cost", "cosu"} <= set(fields) and len(fields["cosu"]) > 2 * HALO + 1:
            fields["cosu"][HALO - 1] = cosine_of_wall(fields["cost"][HALO:], fields["cosu"][HALO])
    computed = kernel.reference(fields, {**file.attrs, **settings})
    return {name: field(kernel, name, values if has_ghosts or not axes else strip_ghosts(values),
                        axes, *texts)
            for (name, axes, *texts), values in
            ((output, computed[output[0]]) for output in kernel.OUTPUTS if output[0] in computed)}


def field(kernel, name, values, axes, units, long_name):
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"{name} of {kernel.NAME} is not finite everywhere")
    return Field(values, axes, units, long_name)


def add_ghosts(name, values, cyclic):
    """Along x cyclic or closed, along y closed. A closed side is land, on which velocities and stresses
    are 0 and other values repeat."""
    if name in ALONG_Z:
        return values
    if name in ALONG_X:
        return pad(values, values.ndim - 1, cyclic)
    if name in ALONG_Y:
        return pad(values, values.ndim - 1, False)
    zero = name in VELOCITIES
    return pad(pad(values, values.ndim - 2, False, zero), values.ndim - 1, cyclic, zero)


def cosine_of_wall(points, face):
    """On the southern wall: points lie midway between faces, and the first face midway between two points."""
    return np.clip(points[0] * (points[0] + points[1]) / face - face, 0, 1)


def pad(values, axis, cyclic, zero=False):
    widths = [(HALO, HALO) if i == axis else (0, 0) for i in range(values.ndim)]
    if cyclic:
        return np.pad(values, widths, mode="wrap")
    if zero or np.issubdtype(values.dtype, np.integer):  # masks and kbot
        return np.pad(values, widths)
    return np.pad(values, widths, mode="edge")


def strip_ghosts(values):
    return values[..., HALO:-HALO, HALO:-HALO]
