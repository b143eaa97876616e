"""The loop nests of PTX."""

import re

MODES = {1: "generic", 2: "SPMD", 3: "generic made SPMD"}
# A NaN written as a constant: no formula holds one, so the compiler has lost a value.
NAN = r"0d7FF8000000000000|0f7FC00000|0f7FFFFFFF"


def width(instruction):
    """The bytes that a load or store moves."""
    lanes = re.search(r"\.v(\d)\.", instruction)
    return int(re.search(r"\.[bfsu](\d+)", instruction)[1]) // 8 * int(lanes[1] if lanes else 1)


def nests(text):
    """Reads each loop nest in PTX, by the name of its entry."""
    entries = re.findall(r"\.entry (\w+)\((.*?)\n}", text, re.DOTALL)
    for name, body in sorted(entries, key=lambda entry: int(entry[0].rsplit("_l", 1)[1])):
        state = re.search(rf"{name}_kernel_environment\[\d+\] = {{(\d+)(?:, (\d+), (\d+))?", text)
        words = f".u64 {name}_kernel" in text
        yield name, {
            "mode": MODES.get(int(state[1]) >> 16 & 0xff if words else int(state[3]), "?"),
            "nans": len(re.findall(NAN, body)),
            "div64": len(re.findall(r"\b(?:div|rem)\.[su]64", body)),
            "calls": len(re.findall(r"\bcall\b", body)),
            "loads": sum(map(width, re.findall(r"\bld\.global\S*", body))),
            "stores": sum(map(width, re.findall(r"\bst\.global\S*", body))),
        }
