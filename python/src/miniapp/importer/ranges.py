"""Valid ranges of fields and settings, read from the tables that the program is made of."""

import dataclasses
import functools
import re
import sys
from pathlib import Path

TABLES = Path(__file__).resolve().parents[4] / "physics"
NAMED = {"DBL_MIN": sys.float_info.min, "INT32_MAX": 2**31 - 1}


@dataclasses.dataclass
class Range:
    """From least to most; `wet` names the mask of the cells where that holds, if not everywhere."""
    least: float
    most: float
    wet: str = ""
    is_whole: bool = False

    def __str__(self):
        above = {0.0: "0 or more", NAMED["DBL_MIN"]: "more than 0"}.get(self.least)
        numbers = f"{above}, at most {self.most:g}" if above else f"{self.least:g} to {self.most:g}"
        return f"{numbers}, whole" if self.is_whole else numbers

    def holds(self, value):
        """Of a number, or of each of an array."""
        return (value >= self.least) & (value <= self.most) & (not self.is_whole or value % 1 == 0)


def rows(table, macro):
    """The arguments of each row; texts, which may hold commas, are left empty."""
    text = re.sub(r'/\*.*?\*/|"(?:[^"\\]|\\.)*"', "", (TABLES / table).read_text(), flags=re.DOTALL)
    for row in re.findall(rf"^{macro}\(([^()]*)\)", text, re.MULTILINE):
        yield [word.strip() for word in row.split(",")]


def number(word):
    return float(NAMED.get(word, word))


def more(words):
    """What follows the columns, as `.wet = FIELD_maskT`."""
    return dict(re.findall(r"\.(\w+) = (\S+)", " ".join(words)))


@functools.cache
def fields():
    return {name: Range(number(least), number(most),
                        more(rest).get("wet", "").removeprefix("FIELD_"))
            for name, _, _, _, _, least, most, *rest in rows("ocean.fields", "FIELD")}


@functools.cache
def settings():
    return {name: Range(number(least), number(most), is_whole="is_whole" in more(rest))
            for name, _, least, most, *rest in rows("ocean.settings", "SETTING_ROW")}
