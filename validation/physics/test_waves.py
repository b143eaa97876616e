"""Waves that the sequence `ocean` makes in a channel follow their exact discrete relations.

The water has one density, there is no friction, and amplitudes are so small that advection does not matter. All
tendencies go by Adams-Bashforth's weights 1.5 + AB_eps and -(0.5 + AB_eps), but the surface pressure's, which is
implicit.
"""

import h5py
import numpy as np
import pytest

from conftest import INSIDE, write

pytestmark = pytest.mark.every_gpu

GRAV, HALO = 9.81, 2
MOST = 1e-9  # of the amplitude
NOW, BEFORE = 1.6, 0.6


class Channel:
    """A channel of square cells between walls in the south and north, cyclic in x, flat at the bottom; with ghosts."""

    def __init__(self, nx, ny, nz=2, dx=1e5, dz=500.0):
        self.nx, self.ny, self.nz, self.dx, self.height = nx, ny, nz, dx, nz * dz
        x, y = nx + 2 * HALO, ny + 2 * HALO
        self.shape = (nz, y, x)
        kbot = np.zeros((y, x), "i4")
        kbot[HALO:-HALO] = 1
        wet = np.broadcast_to(kbot > 0, self.shape).astype("u1")
        north = wet * np.roll(wet, -1, axis=1)
        self.fields = {"dxt": np.full(x, dx), "dxu": np.full(x, dx), "dyt": np.full(y, dx), "dyu": np.full(y, dx),
                       "dzt": np.full(nz, dz), "dzw": np.full(nz, dz), "zt": dz * (np.arange(nz) - nz + 0.5),
                       "zw": dz * (np.arange(nz) - nz + 1.0), "cost": np.ones(y), "cosu": np.ones(y), "kbot": kbot,
                       "maskT": wet, "maskU": wet, "maskV": north, "maskW": wet}
        for name in ("temp", "salt", "u", "v", "w", "tke", "dtke_taum1", "K_diss_v"):
            self.fields[name] = np.zeros(self.shape)
        for name in ("psi", "coriolis_t", "forc_tke_surface"):
            self.fields[name] = np.zeros((y, x))
        self.settings = {"eq_of_state_type": 1, "enable_eke": 0, "enable_conserve_energy": 0, "AB_eps": 0.1,
                         "dt_mom": 1800.0, "dt_tracer": 1800.0, "solver_tolerance": 1e-14}
        self.columns = (np.arange(x) - HALO) % nx  # of T points; corners and U points lie half a cell to the east
        self.rows = np.arange(y) - HALO + 1  # of corners, from the southern wall on

    def steps(self, miniapp, folder, device, count):
        path, output = write(folder / "in.h5", self.fields, self.settings, halo=HALO, cyclic_x=1), folder / "out.h5"
        miniapp.passes(path, "--steps", count, "-k", "ocean", "-d", device, "-o", output, quick=False)
        with h5py.File(output) as file:
            return {name: file[name][...] for name in ("psi", "u", "v")}


def same(found, wanted, size):
    error = np.abs(found - wanted).max() / size
    print(f"off by {error:.1e} of the amplitude")
    assert error <= MOST


@pytest.mark.parametrize("mode, row", [(1, 1), (3, 2)])
def test_a_rossby_wave(miniapp, device, tmp_path, mode, row):
    """A streamfunction sin(l y) exp(i k x) under a rigid lid on a plane where Coriolis's parameter grows with y."""
    c, count, beta, size = Channel(12, 10), 40, 2e-11, 1e-3
    k, l = 2 * np.pi * mode / (c.nx * c.dx), np.pi * row / (c.ny * c.dx)
    squares = 4 / c.dx**2 * (np.sin(k * c.dx / 2)**2 + np.sin(l * c.dx / 2)**2)
    frequency = -beta * np.sin(k * c.dx) / (c.dx * squares)
    pattern = np.sin(l * c.dx * c.rows)[:, None] * np.exp(1j * k * c.dx * c.columns)
    pattern[[0, -2, -1]] = 0
    psi = size * pattern.real
    c.fields["psi"], c.fields["psi_taum1"] = psi, psi
    c.fields["u"] += c.fields["maskU"] * (np.roll(psi, 1, axis=0) - psi) / (c.dx * c.height)
    c.fields["v"] += c.fields["maskV"] * (psi - np.roll(psi, 1, axis=1)) / (c.dx * c.height)
    for name in ("u", "v"):
        c.fields[name][..., :HALO] = c.fields[name][..., -2 * HALO:-HALO]
        c.fields[name][..., -HALO:] = c.fields[name][..., HALO:2 * HALO]
    c.fields["coriolis_t"] += (1e-4 + beta * c.dx * (c.rows - 0.5))[:, None]
    amplitude, before = 1.0, 0.0
    for _ in range(count):
        tendency = -1j * frequency * amplitude
        amplitude, before = amplitude + c.settings["dt_mom"] * (NOW * tendency - BEFORE * before), tendency
    assert abs(amplitude - 1) > 0.05  # it has gone some way
    same(c.steps(miniapp, tmp_path, device, count)["psi"][INSIDE], size * (amplitude * pattern).real[INSIDE], size)


@pytest.mark.parametrize("ratio", [1, 9])
def test_a_gravity_wave(miniapp, device, tmp_path, ratio):
    """A pressure exp(i k x) at a free surface, where there is no rotation; tracers' steps may be longer."""
    c, count, size = Channel(16, 4), 20, 1e-6
    c.settings.update(enable_streamfunction=0, dt_mom=200.0, dt_tracer=200.0 * ratio)
    k = 2 * np.pi / (c.nx * c.dx)
    pattern = np.exp(1j * k * c.dx * c.columns)
    wet = c.fields["kbot"] > 0
    c.fields["psi"] = c.fields["psi_taum1"] = size * pattern.real * wet
    gradient = 2j * np.sin(k * c.dx / 2) / c.dx
    pressure, flow = 1.0, 0.0
    for _ in range(count):
        pressure = (pressure - GRAV * c.height * c.settings["dt_tracer"] * gradient * flow) / (
            1 + GRAV * c.height * c.settings["dt_mom"] * c.settings["dt_tracer"] * abs(gradient)**2)
        flow = flow - c.settings["dt_mom"] * gradient * pressure
    made = c.steps(miniapp, tmp_path, device, count)
    same(made["psi"][INSIDE], (size * (pressure * pattern).real * wet)[INSIDE], size)
    faces = size * (flow * pattern * np.exp(0.5j * k * c.dx)).real * wet
    same(made["u"][INSIDE], np.broadcast_to(faces, c.shape)[INSIDE], size / np.sqrt(GRAV * c.height))


def test_an_inertial_wave(miniapp, device, tmp_path):
    """A flow without a depth mean turns everywhere in the same way, but near walls, which it learns of by a row in
    each step."""
    count, size, f = 12, 1e-6, 1e-4
    c = Channel(4, 2 * count + 8)
    c.fields["coriolis_t"] += f
    c.fields["u"] += size * np.array([-1.0, 1.0])[:, None, None] * c.fields["maskU"]
    flow, before = size, 0.0
    for _ in range(count):
        tendency = -1j * f * flow
        flow, before = flow + c.settings["dt_mom"] * (NOW * tendency - BEFORE * before), tendency
    made = c.steps(miniapp, tmp_path, device, count)
    middle = c.shape[1] // 2
    for name, wanted in (("u", flow.real), ("v", flow.imag)):
        same(made[name][:, middle, HALO:-HALO], wanted * np.array([-1.0, 1.0])[:, None], size)
