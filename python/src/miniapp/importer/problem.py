"""What ends a run, and how anything is said."""

import sys

import safely


class Problem(Exception):
    """A reason to stop: one line that says what is wrong and what was expected."""
    code = 3


class Usage(Problem):
    """The command line is wrong."""
    code = 2


class Unusable(Problem):
    """An input cannot be used."""
    code = 3


class Elsewhere(Unusable):
    """A variable lies on other points than temperature."""


class Unwritable(Problem):
    """An output cannot be written."""
    code = 5


NOTES = {}


def note(text):
    """Keeps a line about what was done. It is printed at the end, so that a failure prints its own
    line only."""
    NOTES[" ".join(str(text).split())] = None  # a repeated note is kept once


def say(text):
    print("run/make-input:", safely.printable(" ".join(str(text).split())), file=sys.stderr)
