"""Invariants of momentum: the work of each of its terms, in a rough closed basin with a random flow.

Further frictions run after it (AFTER). A term's tendency is the difference of two runs, with its cause and without. Work is the sum over water of the flow
before the step times the tendency times the volume of a face's cell; a residual is a share of the sum of moduli.
"""

import numpy as np
import pytest

import fields

pytestmark = pytest.mark.every_gpu

GRAVITY, RHO_0 = 9.81, 1024
FORCES = ("coriolis_t", "tantr", "rho", "surface_taux", "surface_tauy", "u_source", "v_source")
FRICTION = ("enable_implicit_vert_friction", "enable_hor_friction", "enable_hor_friction_cos_scaling",
            "enable_noslip_lateral", "enable_ray_friction", "enable_bottom_friction", "enable_bottom_friction_var",
            "enable_quadratic_bottom_friction", "enable_momentum_sources")
# the kernels of a friction that is not momentum's own
AFTER = {"enable_explicit_vert_friction": ("explicit_vertical_friction",),
         "enable_TEM_friction": ("isoneutral_friction",),
         "enable_biharmonic_friction": ("flow_laplacian", "biharmonic_friction")}


class Basin:
    """A flow without divergence, whose depth mean is 0; w by continuity."""

    def __init__(self, miniapp, folder, device):
        self.miniapp, self.folder, self.device = miniapp, folder, device
        f, self.settings = fields.make(nx=17, ny=15, nz=7, seed=3, dx=5e4)
        wet = f["maskT"].copy()
        wet[:, [0, 1, -2, -1]] = wet[:, :, [0, 1, -2, -1]] = 0
        wet[-1] *= wet[-2]  # a column of one level has no W cell below it, to which half of its losses would go
        f |= fields.faces(wet, False, fields.HALO)
        f["kbot"] = np.where(wet.any(axis=0), wet.argmax(axis=0) + 1, 0).astype("i4")
        f["dzt"] = (f["dzw"] + np.append(f["dzw"][0], f["dzw"][:-1])) / 2  # as on Veros's grids
        self.height = {"u": f["dzt"][:, None, None] * f["maskU"], "v": f["dzt"][:, None, None] * f["maskV"]}
        for name, height in self.height.items():
            depth = height.sum(axis=0)
            mean = (f[name] * height).sum(axis=0) / np.where(depth, depth, 1)
            f[name] = (f[name] - mean) * (height > 0)
        dy_u, dx_v = f["dyt"][:, None], f["dxt"] * f["cosu"][:, None]
        self.area = {"u": f["dxu"] * dy_u * f["cost"][:, None], "v": dx_v * f["dyu"][:, None],
                     "t": f["dxt"] * dy_u * f["cost"][:, None]}
        out = f["u"] * self.height["u"] * dy_u
        north = f["v"] * self.height["v"] * dx_v
        out[:, :, 1:] -= out[:, :, :-1].copy()
        north[:, 1:] -= north[:, :-1].copy()
        f["w"] = -np.cumsum(out + north, axis=0) / self.area["t"] * f["maskW"]
        f["rho"] = np.random.default_rng(4).uniform(-5, 5, wet.shape) * wet
        self.fields = f

    def run(self, *forces, **settings):
        """The tendencies and losses with these forces and switches, and no others."""
        kernels = ["momentum", *(kernel for switch in AFTER if settings.pop(switch, 0) for kernel in AFTER[switch])]
        values = {name: 0 * value if name in FORCES and name not in forces else value
                  for name, value in self.fields.items()}
        chosen = {**self.settings, **dict.fromkeys(FRICTION, 0), **settings, "enable_conserve_energy": 1}
        made = {}
        for kernel in kernels:
            made |= self.miniapp.made_by(kernel, self.folder, values | made, chosen, "-d", self.device, cyclic_x=0)
        weights = 1.5 + chosen["AB_eps"], 0.5 + chosen["AB_eps"]
        for name in ("u", "v"):
            stepped = (made[f"{name}_taup1"] - values[name]) / chosen["dt_mom"]
            made[f"d{name}_mix"] = stepped - weights[0] * made[f"d{name}"] + weights[1] * values[f"d{name}_taum1"]
        return made

    def work(self, tendency, kind="{}", without=None):
        """The work of tendencies d`kind`, and the sum of its moduli."""
        terms = []
        for name in ("u", "v"):
            key = "d" + kind.format(name)
            change = tendency[key] - (without[key] if without else 0)
            terms.append(self.fields[name] * change * self.area[name] * self.height[name])
        return sum(term.sum() for term in terms), sum(abs(term).sum() for term in terms)

    def loss(self, made):
        """All dissipation. Half of the uppermost W cell is above the surface."""
        heights = self.fields["dzw"] * np.append(np.ones(len(self.fields["dzw"]) - 1), 0.5)
        loss = made["K_diss_v"] + made["K_diss_h"] + made["K_diss_bot"] + made.get("K_diss_gm", 0)
        return (loss * self.fields["maskW"] * self.area["t"] * heights[:, None, None]).sum()

    def buoyancy(self):
        """The work of what is heavy and sinks."""
        f = self.fields
        weight = (GRAVITY / RHO_0) * f["dzw"][:-1, None, None] * (f["rho"][:-1] + f["rho"][1:]) / 2
        return -(self.area["t"] * f["maskW"][:-1] * weight * f["w"][:-1]).sum()


@pytest.fixture
def basin(miniapp, tmp_path, device):
    return Basin(miniapp, tmp_path, device)


def test_advection_does_no_work(basin):
    work, moduli = basin.work(basin.run())
    assert abs(work) <= 1e-14 * moduli


@pytest.mark.parametrize("force", ["coriolis_t", "tantr"])
def test_what_turns_the_flow_does_no_work(basin, force):
    work, moduli = basin.work(basin.run(force), without=basin.run())
    assert abs(work) <= 1e-14 * moduli


def test_pressure_exchanges_energy_with_the_density(basin):
    work, moduli = basin.work(basin.run("rho"), without=basin.run())
    assert abs(work - basin.buoyancy()) <= 1e-14 * moduli


FRICTIONS = {
    "vertical": {"enable_implicit_vert_friction": 1},
    "vertical, explicit": {"enable_explicit_vert_friction": 1},
    "by eddies": {"enable_TEM_friction": 1},
    "vertical and by eddies": {"enable_implicit_vert_friction": 1, "enable_TEM_friction": 1},
    "lateral": {"enable_hor_friction": 1},
    "lateral, by latitude": {"enable_hor_friction": 1, "enable_hor_friction_cos_scaling": 1},
    "biharmonic": {"enable_biharmonic_friction": 1},
    "biharmonic, by latitude": {"enable_biharmonic_friction": 1, "biharmonic_friction_cosPower": 3},
    "Rayleigh": {"enable_ray_friction": 1, "r_ray": 2e-5},
    "bottom": {"enable_bottom_friction": 1},
    "bottom, variable": {"enable_bottom_friction": 1, "enable_bottom_friction_var": 1},
    "bottom, quadratic": {"enable_quadratic_bottom_friction": 1, "r_quad_bot": 0.5},
}


@pytest.mark.parametrize("kind", FRICTIONS)
def test_friction_dissipates_what_it_takes(basin, kind):
    made = basin.run("coriolis_t", **FRICTIONS[kind])  # on which the friction by eddies depends
    work, moduli = basin.work(made, kind="{}_mix")
    assert work < 0
    assert abs(work + basin.loss(made)) <= 1e-13 * moduli


def test_a_wall_without_slip_loses_half_of_its_friction(basin):
    """As in Veros: the half on land is lost."""
    made = basin.run(enable_hor_friction=1, enable_noslip_lateral=1)
    work, _ = basin.work(made, kind="{}_mix")
    assert 0.5 < basin.loss(made) / -work < 0.99


def test_the_work_of_all_forces(basin):
    """Wind puts in what buoyancy, friction and sources do not take, which count as negative dissipation."""
    every = {name: int(name != "enable_noslip_lateral") for name in FRICTION}
    made = basin.run(*FORCES, **every, r_ray=2e-5, r_quad_bot=0.5)
    work, moduli = basin.work(made)
    mixing, more = basin.work(made, kind="{}_mix")
    f = basin.fields
    wind = sum((f[name][-1] * basin.area[name] * (basin.height[name][-1] > 0) * f[f"surface_tau{axis}"]).sum() / RHO_0
               for name, axis in (("u", "x"), ("v", "y")))
    assert abs(work + mixing - (wind + basin.buoyancy() - basin.loss(made))) <= 1e-13 * (moduli + more)
