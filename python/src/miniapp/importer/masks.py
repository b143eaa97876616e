"""The masks by Veros's rule, and where a field has a meaning."""

import numpy as np


def cells_of(kbot, nz):
    """The cells of water of so many levels."""
    return (kbot > 0) & (np.arange(nz)[:, None, None] >= kbot - 1)


def masks_of(mask, cyclic_x):
    """A face is wet where both of its cells are, the surface too."""
    masks = {"maskT": mask, "maskU": mask & np.roll(mask, -1, axis=2), "maskW": mask.copy()}
    if not cyclic_x:  # else the last column's neighbour is the first
        masks["maskU"][:, :, -1] = False
    masks["maskV"] = np.zeros_like(mask)  # the last row stays 0: the north is closed
    masks["maskV"][:, :-1] = mask[:, :-1] & mask[:, 1:]
    masks["maskW"][:-1] = mask[:-1] & mask[1:]
    return masks


def kbot_of(wet):
    """1 + the index of the deepest wet level of each column, 0 on land."""
    return np.where(wet.any(axis=0), 1 + wet.argmax(axis=0), 0)


def where(g, field):
    """The elements of a field that have a meaning: all, or those in water."""
    shape = g[field.name].shape[-len(field.axes):]  # without records in time
    if field.wet not in g:
        return np.ones(shape, bool)
    if field.wet == "kbot":
        return cells_of(g["kbot"], shape[0]) if len(shape) > 2 else g["kbot"] > 0
    wet = g[field.wet].astype(bool)
    return wet if len(shape) > 2 else wet[-1]
