"""Conjugate gradients of hypre, preconditioned by PFMG or BoomerAMG, through ctypes (Debian's libhypre-dev)."""

import ctypes
import ctypes.util
import functools
import glob
import os
from ctypes import byref, c_double, c_int, c_void_p

import numpy as np


class Missing(Exception):
    """The library is not there."""


@functools.cache
def load():
    """The library and MPI's world."""
    found = sorted(glob.glob("/usr/lib/*/libHYPRE-*.so")) or [ctypes.util.find_library("HYPRE")]
    if not found[-1]:
        raise Missing("libHYPRE is missing: apt-get install libhypre-dev")
    mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    mpi.MPI_Init(None, None)
    return ctypes.CDLL(found[-1]), c_void_p.in_dll(mpi, "ompi_mpi_comm_world")


class Solver:
    """Begins from a guess of x in A x = b."""

    MOST = 500

    def __init__(self, problem):
        self.library, world = load()
        self.world = ctypes.byref(world)
        self.setup(problem)

    def call(self, name, *arguments):
        self.library[f"HYPRE_{name}"](*arguments)

    def new(self, name, *arguments):
        handle = c_void_p()
        self.call(name, *arguments, byref(handle))
        return handle

    def prepare(self, kind, cycle, *system):
        """Conjugate gradients for a kind of matrices, with one cycle of multigrid as their preconditioner."""
        self.system = system
        self.solver = self.new(f"{kind}PCGCreate", self.world)
        self.call("PCGSetTwoNorm", self.solver, 1)
        self.call("PCGSetMaxIter", self.solver, self.MOST)
        self.call("PCGSetPrecond", self.solver, self.library[f"HYPRE_{cycle}Solve"],
                  self.library[f"HYPRE_{cycle}Setup"], self.cycle)
        self.call("PCGSetup", self.solver, *system)

    def start(self, b, guess):
        self.put(self.b, b)
        self.put(self.x, guess)

    def solve(self, tolerance):
        self.call("PCGSetTol", self.solver, c_double(tolerance))
        self.call("PCGSolve", self.solver, *self.system)


class Structured(Solver):
    """PFMG: red-black Gauss-Seidel, with Galerkin's coarse operators of five points. Land is a row of the unit matrix:
    hypre's structured grids have no holes."""

    def setup(self, problem):
        east, north, diagonal = problem.couplings
        ny, nx = diagonal.shape
        self.is_water = diagonal > 0
        self.low, self.high = (c_int * 2)(0, 0), (c_int * 2)(nx - 1, ny - 1)
        grid = self.new("StructGridCreate", self.world, 2)
        self.call("StructGridSetExtents", grid, self.low, self.high)
        self.call("StructGridSetPeriodic", grid, (c_int * 2)(nx, 0))
        self.call("StructGridAssemble", grid)
        stencil = self.new("StructStencilCreate", 2, 3)
        for place, offset in enumerate(((0, 0), (1, 0), (0, 1))):
            self.call("StructStencilSetElement", stencil, place, (c_int * 2)(*offset))
        self.matrix = self.new("StructMatrixCreate", self.world, grid, stencil)
        self.call("StructMatrixSetSymmetric", self.matrix, 1)
        self.call("StructMatrixInitialize", self.matrix)
        values = np.ascontiguousarray(np.stack([np.where(self.is_water, diagonal, 1), -east, -north], axis=-1))
        self.call("StructMatrixSetBoxValues", self.matrix, self.low, self.high, 3, (c_int * 3)(0, 1, 2),
                  values.ctypes.data_as(c_void_p))
        self.call("StructMatrixAssemble", self.matrix)
        self.b, self.x = (self.new("StructVectorCreate", self.world, grid) for _ in range(2))
        for vector in (self.b, self.x):
            self.call("StructVectorInitialize", vector)
            self.put(vector, 0)
        self.cycle = self.new("StructPFMGCreate", self.world)
        self.call("StructPFMGSetZeroGuess", self.cycle)
        for name, number in (("MaxIter", 1), ("Tol", c_double(0)), ("RelaxType", 2), ("RAPType", 1)):
            self.call(f"StructPFMGSet{name}", self.cycle, number)
        self.prepare("Struct", "StructPFMG", self.matrix, self.b, self.x)

    def put(self, vector, unknowns):
        values = np.zeros(self.is_water.shape)
        values[self.is_water] = unknowns
        self.call("StructVectorSetBoxValues", vector, self.low, self.high, values.ctypes.data_as(c_void_p))
        self.call("StructVectorAssemble", vector)

    def result(self):
        values = np.zeros(self.is_water.shape)
        self.call("StructVectorGetBoxValues", self.x, self.low, self.high, values.ctypes.data_as(c_void_p))
        return values[self.is_water]


class Algebraic(Solver):
    """BoomerAMG: PMIS coarsening, extended interpolation, symmetric Gauss-Seidel."""

    def setup(self, problem):
        matrix, last = problem.matrix, len(problem.b) - 1
        self.rows = np.arange(last + 1, dtype=np.int32)
        self.matrix = self.new("IJMatrixCreate", self.world, 0, last, 0, last)
        self.call("IJMatrixSetObjectType", self.matrix, 5555)
        self.call("IJMatrixInitialize", self.matrix)
        arrays = np.diff(matrix.indptr), self.rows, matrix.indices, matrix.data
        self.call("IJMatrixSetValues", self.matrix, last + 1, *(array.ctypes.data_as(c_void_p) for array in arrays))
        self.call("IJMatrixAssemble", self.matrix)
        self.b, self.x = (self.new("IJVectorCreate", self.world, 0, last) for _ in range(2))
        for vector in (self.b, self.x):
            self.call("IJVectorSetObjectType", vector, 5555)
            self.put(vector, np.zeros(last + 1))
        self.cycle = self.new("BoomerAMGCreate")
        for name, number in (("PrintLevel", 0), ("CoarsenType", 8), ("InterpType", 6), ("PMaxElmts", 4),
                             ("RelaxType", 6), ("NumSweeps", 1), ("MaxIter", 1), ("Tol", c_double(0))):
            self.call(f"BoomerAMGSet{name}", self.cycle, number)
        self.prepare("ParCSR", "BoomerAMG", self.new("IJMatrixGetObject", self.matrix),
                     *(self.new("IJVectorGetObject", vector) for vector in (self.b, self.x)))

    def put(self, vector, values):
        values = np.ascontiguousarray(values)
        self.call("IJVectorInitialize", vector)
        self.call("IJVectorSetValues", vector, values.size, self.rows.ctypes.data_as(c_void_p),
                  values.ctypes.data_as(c_void_p))
        self.call("IJVectorAssemble", vector)

    def result(self):
        values = np.zeros(len(self.rows))
        self.call("IJVectorGetValues", self.x, values.size, self.rows.ctypes.data_as(c_void_p),
                  values.ctypes.data_as(c_void_p))
        return values
