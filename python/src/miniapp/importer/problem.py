"""Problems that end a run, and how lines are printed. Each problem is one line that says what is wrong and what was
expected."""

import os
import sys
from pathlib import Path

from ..library import Error as Problem
from ..library import InputError as Unusable
from ..library import OutputError as Unwritable
from ..library import UsageError as Usage  # noqa: F401  pylint: disable=unused-import
from ..whole import printable


class Elsewhere(Unusable):
    """A variable lies on other points than temperature."""


NOTES = {}


def note(text):
    """Keeps a line about what was done. It is printed at the end, so that a failure prints its own line only."""
    NOTES[" ".join(str(text).split())] = None  # a repeated note is kept once


def program():
    name = Path(sys.argv[0]).name
    return name if name.startswith("miniapp") else f"run/{name}"


def say(text):
    print(f"{program()}:", printable(" ".join(str(text).split())), file=sys.stderr)


def run(make):
    """A script's exit code. `make` returns the names of the files that it has written, which are printed."""
    NOTES.clear()
    try:
        written = make()
    except Problem as problem:
        say(problem)
        return problem.status or Unusable.status
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    for line in NOTES:
        say(line)
    try:
        print(*map(printable, written), sep="\n", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes once more at its end
        say(f"standard output: cannot be written: {error.strerror}")
        return Unwritable.status
    return 0
