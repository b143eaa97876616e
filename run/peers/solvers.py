"""The solvers of the external mode that run/compare-external compares, and their turns."""

import inspect
import statistics
import tempfile
import time

import miniapp
import numpy as np
import safely
import scipy.sparse
import scipy.sparse.linalg

from . import barotropic, external_mode, hypre

ENOUGH = 1e-10
TOLERANCES = [10.0**(-power / 2) for power in range(14, 31)]
SHORTEST = 2e-2  # of a turn, in s
LONGEST_STEP = 600.0
# The relative tolerance, which SciPy 1.12 renamed.
RELATIVE = "rtol" if "rtol" in inspect.signature(scipy.sparse.linalg.bicgstab).parameters else "tol"


# ---- the solvers ----

class Ours:
    """A plan of miniapp's kernel."""

    def __init__(self, ocean):
        self.ocean, self.kernel = ocean, external_mode.FORMS[ocean.form]
        with tempfile.NamedTemporaryFile(suffix=".h5") as file:
            ocean.store(file.name)
            self.state = miniapp.load(file.name, self.kernel, "cpu")
        self.plan = self.state.plan(self.kernel)

    def outputs(self):
        names = ("psi_taup1",) if self.ocean.form == "pressure" else ("psi_taup1", "dpsi_taup1")
        return [self.ocean.interior(self.state[name]) for name in names]

    def advance(self):
        self.plan.run()
        self.ocean.advance(*self.outputs())
        for field, values in self.ocean.fields().items():
            self.state[field] = values

    def start(self, _b, _guess):
        pass

    def solve(self, _tolerance):
        self.plan.run()

    def result(self):
        found = self.outputs()[-1]
        return (found if self.ocean.form == "pressure" else found[1:])[self.ocean.problem(found).couplings[2] > 0]


class Ready(Ours):
    """Without iterations: the guess, an extrapolation in time, is the solution."""

    def __init__(self, ocean, solution):
        super().__init__(ocean)
        name, now = ("psi", ocean.psi[0]) if ocean.form == "pressure" else ("dpsi", ocean.dpsi[0])
        self.state[f"{name}_taum1"] = ocean.padded(2 * now - solution)


class Lu:
    def __init__(self, problem):
        self.factors = scipy.sparse.linalg.splu(problem.matrix.tocsc())

    def start(self, b, _guess):
        self.b = b

    def solve(self, _tolerance):
        self.x = self.factors.solve(self.b)

    def result(self):
        return self.x


class BiCgStab:
    """On the matrix with a diagonal of 1."""

    def __init__(self, problem, has_ilu):
        self.inverse = 1 / problem.matrix.diagonal()
        self.matrix = (scipy.sparse.diags(self.inverse) @ problem.matrix).tocsr()
        self.inner = None
        if has_ilu:
            factors = scipy.sparse.linalg.spilu(self.matrix.tocsc(), drop_tol=1e-6, fill_factor=100)
            self.inner = scipy.sparse.linalg.LinearOperator(self.matrix.shape, factors.solve)

    def start(self, b, guess):
        self.b, self.guess = self.inverse * b, guess
        self.size = np.linalg.norm(self.b)

    def solve(self, tolerance):
        self.x, _ = scipy.sparse.linalg.bicgstab(self.matrix, self.b, x0=self.guess, atol=tolerance * self.size,
                                                 maxiter=10000, M=self.inner, **{RELATIVE: 0})

    def result(self):
        return self.x


SOLVERS = {"LU": Lu, "ILU": lambda problem: BiCgStab(problem, True), "Jacobi": lambda problem: BiCgStab(problem, False),
           "PFMG": hypre.Structured, "BoomerAMG": hypre.Algebraic}


# ---- turns ----

def cpu(call):
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def tolerance_for(solver, problem):
    """The largest that does; None without."""
    for tolerance in TOLERANCES:
        solver.start(problem.b, problem.guess)
        solver.solve(tolerance)
        if problem.residual(solver.result()) <= ENOUGH:
            return tolerance
    return None


def turn(solver, problem, tolerance):
    """Seconds of a solution, of as many as make the turn long enough."""
    seconds = []
    while sum(seconds) < SHORTEST:
        solver.start(problem.b, problem.guess)
        seconds.append(cpu(lambda: solver.solve(tolerance))[0])
    return min(seconds)


def after_steps(form, nx, ny, steps):
    """Ours, on a problem with a guess as warm as in a run."""
    ours = Ours(barotropic.Ocean(form, nx, ny, min(LONGEST_STEP * 1440 / nx, 4800.0)))
    for _ in range(steps):
        ours.advance()
    return ours


def compare(form, nx, ny, options):
    ours = after_steps(form, nx, ny, options.steps)
    ocean = ours.ocean
    if options.keep:
        safely.save_by(ocean.store, options.keep)
    ours.solve(None)
    problem = ocean.problem(ours.outputs()[-1])
    solvers, prepared, tolerances, failed = {"miniapp": ours, "ready": Ready(ocean, ours.outputs()[-1])}, {}, {}, 0
    for name, make in SOLVERS.items():
        if name not in options.without:
            try:
                prepared[name], solvers[name] = cpu(lambda make=make: make(problem))
            except hypre.Missing as missing:
                safely.say(missing)
    for name, solver in list(solvers.items()):
        tolerances[name] = tolerance_for(solver, problem)
        if tolerances[name] is None:
            safely.say(f"{name} does not reach {ENOUGH} on {nx} x {ny}, {form}")
            failed = 1
            del solvers[name]
    if not {"miniapp", "ready"} <= {*solvers}:  # the others are compared with these
        return failed
    times = {name: [] for name in solvers}
    for _ in range(options.rounds):
        for name, solver in solvers.items():
            times[name].append(turn(solver, problem, tolerances[name]))
    show(form, nx, ny, times, prepared, {name: problem.residual(solver.result()) for name, solver in solvers.items()})
    return failed


def show(form, nx, ny, times, prepared, residuals):
    print(f"{form}, {nx} x {ny}: least ms, median of the ratios to miniapp in each round, and to what it takes longer "
          "than ready, residual, preparation in ms")
    for name, seconds in times.items():
        ratio, bare = (statistics.median(theirs / ours for theirs, ours in zip(seconds, base)) for base in (
            times["miniapp"], [ours - ready for ours, ready in zip(times["miniapp"], times["ready"])]))
        print(f"  {name:10} {1e3 * min(seconds):9.3f} {ratio:7.2f} {bare:7.2f} {residuals[name]:9.1e} "
              f"{1e3 * prepared.get(name, float('nan')):10.1f}", flush=True)
