"""Turns temperature and salinity, a state of Veros, or a file that has all fields into an input of miniapp.

    run/make-input FILE.nc -o grid.h5
    run/make-input temperature.nc salinity.nc --time 0 -o grid.h5
    run/make-input run.snapshot.nc --restart run.restart.h5 -o grid.h5

Temperature and salinity lie on latitude, longitude and depth, as in WOA, EN4, NEMO's or a regional
model's output. They are found by their CF standard names, which also say what they are (in-situ,
potential or Conservative Temperature; practical or Absolute Salinity), by common names, or by
--variable temp=THEIRS. Grid, masks, kbot and pressure follow from them. All else that the kernels read
is taken from the files if it is there, and otherwise has a default that is stated. A file with the
grid's own fields, such as dxt and dzt, keeps those. Every step is reported on stderr, and a picture
shows what was made, if matplotlib is there. docs/your-data.md has the details.

Exit codes: 0 done, 2 wrong usage, 3 an input cannot be used, 5 an output cannot be written,
130 stopped by the user or SIGTERM. Wheels have this as miniapp-make-input.
"""

import os
import signal
import sys
import warnings

from . import options
from .problem import Unusable, run


def make():
    chosen = options.parse(__doc__)
    try:
        from . import build  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        if not error.name or error.name.startswith("miniapp"):
            raise
        raise Unusable(f"{sys.executable} lacks the module {error.name}: install "
                       f"python3-{error.name.lower()}, or the package's extra make-input") from error
    with warnings.catch_warnings():  # such as of two fill values: both count as missing
        warnings.simplefilter("ignore")
        try:
            return build.build(chosen)
        except MemoryError as error:
            raise Unusable(f"{chosen.files[0]}: is too large for this machine's memory"
                           + f": {error}" * bool(str(error))) from error


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it in order, as Ctrl-C does
    os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")  # inputs are only read, where some systems have no locks
    return run(make)
