"""A wave that grows in the shear of a channel, as Eady's theory has it."""

import h5py
import numpy as np
import pytest

from conftest import LONG, write
from test_waves import HALO, Channel

GRAV, EXPANSION = 9.81, 1.67e-4  # K-1, of Veros's linear equation of state
F, STABILITY, SPEED = 1e-4, 0.004, 0.5  # s-1, s-1, m s-1 from the bottom to the surface
DAY = 86400.0
VEROS = (0.0007638218127952731, 0.0017434411044488084)  # m s-1: v after 15 and 20 days, by veros_eady.py


def growth_of(wavenumber, width, height):
    """The rate of Eady's problem between walls: c = U/2 + i U d/h sqrt(h/d coth(h/d) - 1 - (h/d)^2/4), d = f/(N K)."""
    share = STABILITY * np.hypot(wavenumber, np.pi / width) / F * height
    return wavenumber * SPEED / share * np.sqrt(share / np.tanh(share) - 1 - share**2 / 4)


@pytest.mark.skipif(not LONG, reason="1,800 steps: MINIAPP_TEST_LONG=1 runs it")
def test_an_eady_wave_grows(miniapp, tmp_path):
    """As in Veros's own run, and within 15 % of Eady's rate: two waves in 640 km, seven days to grow by a factor of e. A
    channel of 32 x 32 x 20 cells of 20 km by 100 m, without friction and mixing."""
    c = Channel(32, 32, nz=20, dx=2e4, dz=100.0)
    height, width = c.height, c.ny * c.dx
    z = c.fields["zt"][:, None, None]
    y, x = (c.rows - 0.5)[:, None] * c.dx, c.columns * c.dx
    k = 2 * 2 * np.pi / (c.nx * c.dx)
    buoyancy = STABILITY**2 * z - F * SPEED / height * (y - width / 2)
    wave = 1e-3 * np.sin(k * x) * np.sin(np.pi * y / width)
    c.fields["temp"] += 30 + buoyancy / (GRAV * EXPANSION) + wave
    c.fields["salt"] += 35
    c.fields["u"] += c.fields["maskU"] * SPEED * (1 + z / height)
    south = np.clip(c.ny - c.rows, 0, c.ny)[:, None] * c.dx
    c.fields["psi"] = c.fields["psi_taum1"] = 0.5 * SPEED * height * south * np.ones(c.shape[2])
    c.fields["coriolis_t"] += F
    c.settings |= {"dt_mom": 1200.0, "dt_tracer": 1200.0, "K_iso_steep": 0.0, "kappaH_min": 0.0,
                   "enable_tke_superbee_advection": 0, "enable_tke_hor_diffusion": 0, "solver_tolerance": 1e-10}
    path, output = write(tmp_path / "in.h5", c.fields, c.settings, halo=HALO, cyclic_x=1), tmp_path / "end.h5"
    miniapp.passes(path, "--steps", 25 * 72, "--every", 5 * 72, "-k", "ocean", "-o", output, quick=False)
    speeds = []
    for day in (15, 20):
        with h5py.File(tmp_path / f"end.{day * 72:06}.h5") as file:
            v = file["v"][...]
            speeds.append(np.sqrt(np.mean(np.where(v < -1e17, 0, v)**2)))
    rate, theory = np.log(speeds[1] / speeds[0]) / (5 * DAY), growth_of(k, width, height)
    print(f"growth {rate:.3g} s-1, {rate / theory:.3f} of Eady's; v {speeds[0]:.2g} to {speeds[1]:.2g} m s-1")
    assert speeds == pytest.approx(VEROS, rel=1e-9)
    assert abs(theory - 1.87e-6) < 0.03e-6
    assert abs(rate / theory - 1) <= 0.15
