"""Where a field is cut: z=-500, y=0 and x=180 are coordinates, k=0, j=20 and i=45 indices."""

import argparse
import dataclasses
import math

AXES = {"i": "x", "j": "y", "k": "z"}  # the axis of an index
LETTERS = {axis: letter for letter, axis in AXES.items()}


class WrongUse(Exception):
    """The options ask for what the file lacks; the text is one line that says what it has."""


@dataclasses.dataclass
class Cut:
    axis: str
    value: float
    by_index: bool


def on(axes):
    """A type of argparse for cuts on these axes, each of which may be given by index too."""
    letters = axes + "".join(map(LETTERS.get, axes))

    def parse(text):
        letter, _, number = text.partition("=")
        if letter not in tuple(letters):
            raise argparse.ArgumentTypeError(f"'{text}' begins with none of "
                                             + ", ".join(f"{letter}=" for letter in letters))
        by_index = letter in AXES
        try:
            value = (int if by_index else float)(number)
            if not math.isfinite(value):
                raise ValueError
            return Cut(AXES.get(letter, letter), value, by_index)
        except (ValueError, OverflowError) as error:
            kind = "an index" if by_index else "a number"
            raise argparse.ArgumentTypeError(f"'{text}': '{number}' is not {kind}") from error

    return parse
