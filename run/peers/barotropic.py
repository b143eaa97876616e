"""A barotropic ocean under synoptic wind: the elliptic problems that a run meets, with a start as warm as there.

The bottom is that of inputs/grid.h5, interpolated to any size, with ridges and islands that grow smaller with the
cells. miniapp's own kernels step the ocean. Arrays are (y, x) without ghosts, but for those of corners in the form of
the streamfunction, which begin with the southern wall.
"""

from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import scipy.sparse
from scipy import ndimage

GRID = Path(__file__).resolve().parents[2] / "inputs" / "grid.h5"
LEVELS, OMEGA, GRAVITY, AB_EPS = 30, 7.2921e-5, 9.81, 0.1
DEGREE = 6370e3 * np.pi / 180
SOUTH, NORTH = -80.0, 80.0
DEEPEST, SHALLOWEST, LEAST_CELLS = 6000.0, 120.0, 30
WIND, EDDIES, DRAG = 1e-4, 5e-5, 3e-6  # in m2 s-2 and s-1


def bottom(nx, ny, seed=11):
    """Depth in m, 0 on land, without islands and lakes of less than LEAST_CELLS cells."""
    with h5py.File(GRID) as file:
        kbot, heights = file["kbot"][...], file["dzt"][...]
    above = np.append(np.cumsum(heights[::-1])[::-1], 0)
    coarse = np.where(kbot > 0, above[np.maximum(kbot - 1, 0)], -600)
    depth = resampled(coarse, nx, ny)
    rng = np.random.default_rng(seed)
    cells, height = coarse.shape[1], 350.0
    while cells <= nx // 2:
        depth += height * resampled(rng.standard_normal((max(2, ny * cells // nx), cells)), nx, ny)
        cells, height = 2 * cells, 0.6 * height
    depth = np.where(depth > 60, np.clip(depth, SHALLOWEST, DEEPEST), 0)
    depth = np.where(is_small(depth == 0, np.ones((3, 3))), 300, depth)
    return np.where(is_small(depth > 0), 0, depth)


def resampled(coarse, nx, ny, margin=3):
    wide = np.pad(coarse, ((0, 0), (margin, margin)), mode="wrap")
    y, x = np.meshgrid((np.arange(ny) + 0.5) * coarse.shape[0] / ny - 0.5,
                       (np.arange(nx) + 0.5) * coarse.shape[1] / nx - 0.5 + margin, indexing="ij")
    return ndimage.map_coordinates(wide, [y, x], order=1, mode="nearest")


def is_small(mask, structure=None):
    labels, _ = ndimage.label(mask, structure)
    return mask & (np.bincount(labels.ravel())[labels] < LEAST_CELLS)


class Problem(NamedTuple):
    """A x = b for unknowns in water, and a first guess."""
    matrix: scipy.sparse.csr_matrix
    b: np.ndarray
    size: float  # the largest b over the diagonal, without what the values of coasts add
    guess: np.ndarray
    couplings: tuple  # on the whole grid: to the east and north, and the diagonal, 0 where there is no unknown

    def residual(self, x):
        """The largest over the diagonal, relative to that of the right-hand side."""
        return np.abs((self.b - self.matrix @ x) / self.matrix.diagonal()).max() / self.size


class Ocean:
    """The flow's depth means, on faces."""

    def __init__(self, form, nx, ny, dt):
        self.form, self.nx, self.ny, self.dt = form, nx, ny, dt
        depth = bottom(nx, ny)
        self.dzt = np.diff(np.append(0, np.geomspace(40, DEEPEST, LEVELS)))[::-1]
        above = np.append(np.cumsum(self.dzt[::-1])[::-1], 0)
        levels = np.searchsorted(-above, -depth, side="right") - 1
        self.kbot = np.where(depth > 0, np.clip(levels + 1, 1, LEVELS), 0).astype(np.int32)
        latitude = np.radians(SOUTH + (np.arange(2 * ny) + 1) / 2 * (NORTH - SOUTH) / ny)
        self.latitude, self.longitude = latitude[::2, None], 2 * np.pi * np.arange(nx) / nx
        self.cost, self.cosu = np.cos(latitude[::2, None]), np.cos(latitude[1::2, None])
        self.coriolis = 2 * OMEGA * np.sin(self.latitude)
        self.dx, self.dy = 360 / nx * DEGREE, (NORTH - SOUTH) / ny * DEGREE
        self.hu, self.hv = (above[np.where((self.kbot > 0) & (beside > 0), np.maximum(self.kbot, beside) - 1, LEVELS)]
                            for beside in (east(self.kbot), north(self.kbot)))
        self.u, self.v = np.zeros((2, ny, nx))
        self.psi = np.zeros((2, ny + (form == "stream"), nx))
        self.dpsi, self.rates, self.steps = np.zeros_like(self.psi), None, 0
        self.predict()

    # ---- the model ----

    def tendencies(self):
        """Wind, rotation and drag."""
        wind = -WIND * np.cos(3 * self.latitude) + EDDIES * np.sin(
            4 * self.longitude + 3 * self.latitude - 2 * np.pi * self.steps * self.dt / 432000)
        u, v = self.u * self.hu, self.v * self.hv
        v_sum = v + south(v)
        u_sum = self.coriolis * (u + west(u))
        return (over(0.25 * self.coriolis * (v_sum + east(v_sum)) + wind, self.hu) - DRAG * self.u,
                over(-0.25 * (u_sum + north(u_sum)), self.hv) - DRAG * self.v)

    def predict(self):
        """The flow, or its tendency, before the external mode acts."""
        old, self.rates = self.rates, self.tendencies()
        if self.form == "pressure":
            self.u, self.v = (flow + self.dt * ((1.5 + AB_EPS) * new - (0.5 + AB_EPS) * before) for flow, new, before
                              in zip((self.u, self.v), self.rates, old or self.rates))

    def advance(self, psi, dpsi=None):
        """With the new external mode."""
        self.psi = np.stack([psi, self.psi[0]])
        if self.form == "pressure":
            self.u = self.u - self.dt * (self.hu > 0) * (east(psi) - psi) / (self.cost * self.dx)
            self.v = self.v - self.dt * (self.hv > 0) * (north(psi) - psi) / self.dy
        else:
            self.dpsi = np.stack([dpsi, self.dpsi[0]])
            self.u = over(-(psi[1:] - psi[:-1]) / self.dy, self.hu)
            self.v = over((psi - west(psi))[1:] / (self.cosu * self.dx), self.hv)
        self.steps += 1
        self.predict()

    # ---- what a kernel reads ----

    def settings(self):
        return {"dt_mom": self.dt, "dt_tracer": self.dt, "AB_eps": AB_EPS}

    def padded(self, values):
        """With ghosts; an array of corners has its southern wall already."""
        return np.pad(np.pad(values, ((0, 0), (2, 2)), mode="wrap"), ((2 - len(values) + self.ny, 2), (0, 0)))

    def grid(self):
        def line(value, cells):
            return np.pad(np.full(cells, value) if np.ndim(value) == 0 else value.ravel(), 2, mode="edge")
        return {"dxt": line(self.dx, self.nx), "dxu": line(self.dx, self.nx), "dyt": line(self.dy, self.ny),
                "dyu": line(self.dy, self.ny), "dzt": self.dzt, "cost": line(self.cost, self.ny),
                "cosu": line(self.cosu, self.ny), "kbot": self.padded(self.kbot)}

    def fields(self):
        if self.form == "pressure":
            return {"u_mean": self.padded(self.u), "v_mean": self.padded(self.v), "psi": self.padded(self.psi[0]),
                    "psi_taum1": self.padded(self.psi[1])}
        return {"du_mean": self.padded(self.rates[0]), "dv_mean": self.padded(self.rates[1]),
                "psi": self.padded(self.psi[0]), "dpsi": self.padded(self.dpsi[0]), "dpsi_taum1": self.padded(self.dpsi[1])}

    def store(self, path):
        with h5py.File(path, "w", libver=("v110", "v110")) as file:
            file.attrs.update(halo=2, cyclic_x=1, **self.settings())
            for field, values in {**self.grid(), **self.fields()}.items():
                file[field] = values

    def interior(self, values):
        """An output without ghosts, but with the southern wall where values are at corners."""
        return np.array(values)[(2 if self.form == "pressure" else 1):-2, 2:-2]

    # ---- the problem, for others ----

    def problem(self, solution):
        """For the streamfunction with the values of coasts that a solution has."""
        return self.pressure_problem() if self.form == "pressure" else self.stream_problem(solution)

    def pressure_problem(self):
        water = self.kbot > 0
        to_east = self.hu * self.dy / (self.dx * self.cost)
        to_north = self.hv * self.cosu * self.dx / self.dy
        excess = water * self.dx * self.dy * self.cost / (GRAVITY * self.dt**2)
        out = self.hu * self.u * self.dy, self.hv * self.v * self.cosu * self.dx
        lost = out[0] - west(out[0]) + out[1] - south(out[1])
        b = excess * self.psi[0] - lost / self.dt
        return assembled(water, to_east, to_north, excess, b, 2 * self.psi[0] - self.psi[1])

    def stream_problem(self, solution):
        """On corners to the north-east of cells."""
        cells = np.stack([self.kbot, east(self.kbot), north(self.kbot), east(north(self.kbot))])
        water = (cells > 0).all(axis=0)
        to_east = over(self.dy / (self.dx * self.cosu), east(self.hv))
        to_north = over(self.dx * north(self.cost) / self.dy, north(self.hu))
        from_south = over(self.dx * self.cost / self.dy, self.hu)
        du, dv = self.rates
        b = self.dy * (dv - east(dv)) + self.dx * (north(self.cost * du) - self.cost * du)
        coast = np.where(water, 0, solution[1:])
        known = to_east * east(coast) + west(to_east) * west(coast) + to_north * north(coast) + from_south * np.vstack(
            [solution[:1], coast[:-1]])
        full = to_east + west(to_east) + to_north + from_south
        inner = [to_east * east(water), west(to_east) * west(water), to_north * north(water), from_south * south(water)]
        return assembled(water, to_east * east(water), to_north * north(water), full - sum(inner), b,
                         (2 * self.dpsi[0] - self.dpsi[1])[1:], known)


def assembled(water, to_east, to_north, excess, b, guess, known=0):
    number = np.where(water, np.cumsum(water).reshape(water.shape) - 1, -1)
    to_east, to_north = to_east * water * east(water), to_north * water * north(water)
    diagonal = to_east + west(to_east) + to_north + south(to_north) + excess
    rows, columns, values = [number[water]], [number[water]], [diagonal[water]]
    for other, coupling in ((east(number), to_east), (np.vstack([number[1:], -np.ones_like(number[:1])]), to_north)):
        both = coupling > 0
        rows += [number[both], other[both]]
        columns += [other[both], number[both]]
        values += [-coupling[both]] * 2
    matrix = scipy.sparse.csr_matrix(tuple([np.concatenate(values), tuple(map(np.concatenate, (rows, columns)))]))
    size = np.abs(b[water] / diagonal[water]).max()
    return Problem(matrix, (b + known)[water], size, guess[water], (to_east, to_north, np.where(water, diagonal, 0)))


def over(value, height):
    return np.where(height > 0, value / np.where(height > 0, height, 1), 0)


def east(values):
    return np.roll(values, -1, axis=1)


def west(values):
    return np.roll(values, 1, axis=1)


def north(values):
    return np.vstack([values[1:], np.zeros_like(values[:1])])


def south(values):
    return np.vstack([np.zeros_like(values[:1]), values[:-1]])
