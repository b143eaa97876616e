"""The kernels of the external mode, and its cost on a GPU, on paper: physics/README.md counts launches and bytes."""

FORMS = {"pressure": "surface_pressure", "stream": "streamfunction"}
KERNELS = tuple(FORMS.values())
ITERATIONS = 8
LAUNCHES_BESIDE = 8  # of a step, whatever its iterations
LAUNCHES_A_LEVEL, LAUNCHES_AN_ITERATION = 7, 3
ALONE = 8192  # cells of a level that shares its launches with those that are smaller
# Bytes a cell: of each level in an iteration, of the finest beside those, and of a residual in double
BYTES_A_LEVEL, BYTES_OF_A_STEP, BYTES_OF_A_RESIDUAL = 134, 52, 48
RESIDUALS = 3  # at first, and after rounds of at most 6 iterations


def launches_of_solver(cells):
    """At most so many: each coarser level has a quarter of the cells."""
    levels = sum(cells / 4**level > ALONE for level in range(20))
    return LAUNCHES_BESIDE + ITERATIONS * (LAUNCHES_A_LEVEL * levels + LAUNCHES_AN_ITERATION)


def bytes_of_solver(cells):
    """The coarser levels have a third of the finest's cells in all."""
    an_iteration = BYTES_A_LEVEL * 4 / 3 + BYTES_OF_A_STEP
    return cells * (ITERATIONS * an_iteration + RESIDUALS * BYTES_OF_A_RESIDUAL)


def expected_seconds(cells, launch, bandwidth):
    """With seconds a launch and bytes a second."""
    return launch * launches_of_solver(cells) + bytes_of_solver(cells) / bandwidth
