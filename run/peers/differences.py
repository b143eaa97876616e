"""How each output of a build differs from that of the first: for run/compilers."""

import h5py
import numpy as np


def ulps(first, second):
    """The distance of each pair of values in units in the last place: how many steps it takes to go
    from the one to the other, each to the next number of the type. Two NaNs are 0 apart; a NaN is
    as far as possible from any number; 0 and -0 are the same."""
    integer = {4: np.int32, 8: np.int64}[first.dtype.itemsize]
    unsigned = {4: np.uint32, 8: np.uint64}[first.dtype.itemsize]

    def steps(values):  # from 0, in the order of the numbers
        bits = np.ascontiguousarray(values).view(integer)
        return np.where(bits < 0, np.iinfo(integer).min - bits, bits)

    a, b = steps(first), steps(second)
    high, low = np.maximum(a, b), np.minimum(a, b)
    distance = high.view(unsigned) - low.view(unsigned)  # modulo 2^n: cannot overflow
    lost = np.isnan(first) != np.isnan(second)
    both = np.isnan(first) & np.isnan(second)
    distance = np.where(lost, np.iinfo(unsigned).max, distance)
    return np.where(both, unsigned(0), distance)


def index_of(values):
    return [int(i) for i in np.unravel_index(np.argmax(values), values.shape)]


def compare(first, second):
    """How the second array differs from the first."""
    distance = ulps(first, second)
    with np.errstate(all="ignore"):
        a, b = first.astype(np.float64), second.astype(np.float64)
        gap = np.where(distance == 0, 0, np.abs(b - a))
        gap = np.where(np.isnan(gap), np.inf, gap)
        relative = np.where(gap == 0, 0, gap / np.abs(a))
        relative = np.where(np.isnan(relative), np.inf, relative)
        finite = np.abs(a[np.isfinite(a)])
        largest = finite.max() if finite.size else 0
        share = gap.max() / largest if largest else (np.inf if gap.max() else 0)
    return {"moved": int((distance != 0).sum()), "values": first.size,
            "max_ulp": int(distance.max()), "ulp_at": index_of(distance),
            "max_rel": float(relative.max()), "rel_at": index_of(relative),
            "of_max": float(share)}


def verdict_of(name, outputs, verdicts):
    """A field of several kernels is KERNEL.FIELD of all but the first."""
    passed = next((verdicts[key] for key in verdicts
                   if key == name or key not in outputs and key.endswith(f".{name}")), None)
    return {True: "passed", False: "FAILED", None: "-"}[passed]


def rows_of(build_of_it, first, output, verdicts):
    """A row for each output of the build."""
    with h5py.File(first) as one, h5py.File(output) as other:
        for variable in (key for key in one if "units" in one[key].attrs):
            yield {**build_of_it, "variable": variable,
                   **compare(one[variable][...], other[variable][...]), "verdict": verdict_of(variable, one, verdicts)}
