"""AMD's GPUs gfx90a and gfx942: what LLVM's assembly says of each loop nest, and its instructions by
class."""

import math
import re
from collections import Counter

FUNCTION = re.compile(r"^(\w+):\n(.*?)^\.Lfunc_end", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\t(?!s_nop|s_waitcnt)([a-z]\w+)", re.MULTILINE)  # those two do nothing

# An instruction belongs to the first class whose expression fits it. The classes are those of sass.py, and
# as rough, with one more: scalar instructions compute what all lanes of a wave share.
CLASSES = {
    "control": r"s_(c?branch|endpgm|setpc|swappc|call|barrier|\w+_saveexec)|buffer_(wb|inv)",
    "constants": r"s_load",
    "scalar": r"s_",
    "special": r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_",
    "convert": r"v_(cvt|rndne|floor|ceil|trunc|fract)_",
    "fp64": r"v_\w+_f64",
    "fp32": r"v_\w+_f32",
    "moves": r"v_(mov|pk_mov|swap|cndmask|perm|accvgpr|readlane|writelane|readfirstlane)",
    "loads": r"(flat|global)_load",
    "stores": r"(flat|global)_store",
    "on chip": r"(ds|scratch|buffer_load|buffer_store)_",  # LDS, and scratch
    "atomics": r"(flat|global|buffer)_atomic",
    "int64": r"v_(\w+_[iub]64|addc|subb)",
    "other": r"",
}
# A compute unit issues these, of other waves, in the same cycle as an instruction for vectors.
BESIDE = ("control", "constants", "scalar", "loads", "stores", "on chip", "atomics")

# Keys of a kernel's metadata. Vector registers include AGPRs, which are of the same file; of spilled
# scalar registers most go to lanes of vector registers, and the rest counts as stack.
METADATA = {"registers": "vgpr_count", "AGPRs": "agpr_count", "SGPRs": "sgpr_count",
            "SGPR spills": "sgpr_spill_count", "stack": "private_segment_fixed_size",
            "spilled": "vgpr_spill_count"}

# A quiet NaN's upper half, or one of float32; and the constant by which LLVM begins each division of 64 bits.
NAN, DIVISION = r"\b0x(?:7ff80000|7fc00000)\b", r"\b0x5f7ffffc\b"
WIDTHS = {"byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2, "dword": 4, "dwordx2": 8,
          "dwordx3": 12, "dwordx4": 16}

# Limits of one of a compute unit's four SIMDs: waves, and registers a lane, which a wave gets in units of
# eight. Blocks have 256 threads, four waves, of which each part takes one.
MOST_WAVES, REGISTERS_OF_LANE = 8, 512


def class_of(instruction):
    return next(name for name, pattern in CLASSES.items() if re.match(pattern, instruction))


def issued(count):
    """How many instructions take turns."""
    return sum(number for name, number in count.items() if name not in BESIDE)


def occupancy(registers):
    """The share of a compute unit's waves that vector registers leave room for. Scalar ones leave room for
    seven of eight or more."""
    waves = REGISTERS_OF_LANE // (8 * math.ceil(registers / 8))
    return min(waves, MOST_WAVES) / MOST_WAVES


def moved(body, what):
    """The bytes of all loads or stores of memory, each counted once."""
    found = re.findall(rf"^\t(?:flat|global)_{what}_(\w+?)(?:_d16(?:_hi)?)?\s", body, re.MULTILINE)
    return sum(WIDTHS[width] for width in found)


def metadata(assembly):
    """Each kernel and its columns."""
    for text in re.split(r"^  - (?=\.)", assembly, flags=re.MULTILINE)[1:]:
        values = dict(re.findall(r"^ *\.(\w+): +(\S+)$", text, re.MULTILINE))
        yield values["name"], {column: int(values[key]) for column, key in METADATA.items()}


def nests(assembly):
    """Reads each loop nest in assembly: its name, its columns, the mode as a number, and how many
    instructions of each class it has."""
    bodies = dict(FUNCTION.findall(assembly))
    for name, numbers in sorted(metadata(assembly), key=lambda nest: int(nest[0].rsplit("_l", 1)[1])):
        body = bodies[name]
        mode = re.search(rf"^{name}_kernel_environment:\n(?:\s+\.byte\s+\d+\n){{2}}\s+\.byte\s+(\d+)",
                         assembly, re.MULTILINE)
        yield name, {
            "mode": int(mode[1]) if mode else 0,
            "nans": len(re.findall(NAN, body)),
            "div64": len(re.findall(DIVISION, body)),
            "flat": len(re.findall(r"^\tflat_", body, re.MULTILINE)),
            "calls": len(re.findall(r"^\ts_(?:swappc|call)_b64", body, re.MULTILINE)),
            "loads": moved(body, "load"),
            "stores": moved(body, "store"),
            **numbers,
        }, Counter(map(class_of, INSTRUCTION.findall(body)))
