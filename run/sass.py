"""The instructions of NVIDIA's GPUs by class, as nvdisasm prints them, and the least time that a GPU needs
to issue them."""

import re
from collections import Counter

FUNCTION = re.compile(r"^\.text\.(\w+):$(.*?)(?=^\.text\.|\Z)", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)\s*([^;]*);", re.MULTILINE)

# An instruction belongs to the first class whose expression fits its opcode. The last two are rough: int64 are
# products that have 64 bits, shifts of 64, and the second halves of sums and comparisons; all other integers
# and what has no class of its own are other.
CLASSES = {
    "nothing": r"NOP",
    "fp64": r"D(ADD|MUL|FMA|SETP|MNMX)",
    "fp32": r"F(ADD|MUL|FMA|SETP|MNMX|CHK|SWZADD)",
    "special": r"MUFU",
    "convert": r"(I2F|F2I|F2F|I2I|FRND)",
    "moves": r"(U?MOV|IMAD\.MOV|[UF]?SEL|CS2U?R|S2U?R|R2UR|U?PRMT|P2R|R2P)\b",
    "constants": r"U?LDC\b",
    "loads": r"LDG?\b",
    "stores": r"STG?\b",
    "on chip": r"(LD|ST)[LS]\b",  # local and shared memory
    "atomics": r"(RED|ATOM)",
    "control": r"(BRA|BRX|BSSY|BSYNC|BREAK|BMOV|EXIT|CALL|RET|BAR|WARPSYNC|YIELD)",
    "int64": r"\w+\..*(WIDE|\bE?X\b|64)",
    "other": r"",
}
COLUMNS = tuple(CLASSES)[1:]
# Constants are made by an addition to zero or a product with it, too.
OF_ZERO = re.compile(r"(?:HFMA2\S*|IMAD\.U32|IADD3) R\d+, (?:-?U?RZ, ){2}")

# An A100, and an H100 or H200: multiprocessors, GHz, and for how many cycles one of a multiprocessor's four
# parts is busy with a warp's instruction of float64, by the vendor's documents.
GPUS = {"sm_80": (108, 1.41, 4), "sm_90": (132, 1.98, 2)}
PARTS, WARP = 4, 32


def class_of(opcode, operands):
    if OF_ZERO.match(f"{opcode} {operands}"):
        return "moves"
    return next(name for name, pattern in CLASSES.items() if re.match(pattern, opcode))


def functions(listing):
    """{function: how many instructions of each class it has}; those that do nothing do not count."""
    counts = {name: Counter(class_of(*found) for found in INSTRUCTION.findall(body))
              for name, body in FUNCTION.findall(listing)}
    for count in counts.values():
        del count["nothing"]
    return counts


def least_times(count, arch):
    """The ns a point to issue all instructions, and those of float64, if a thread computes a point and takes
    each instruction once: one instruction a cycle and part."""
    multiprocessors, clock, cycles = GPUS[arch]
    rate = multiprocessors * PARTS * WARP * clock
    return sum(count.values()) / rate, cycles * count["fp64"] / rate
