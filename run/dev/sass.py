"""NVIDIA's GPUs sm_80 and sm_90: their instructions by class, as nvdisasm prints them, and how many threads
registers leave room for."""

import math
import re
from collections import Counter

FUNCTION = re.compile(r"^\.text\.(\w+):$(.*?)(?=^\.text\.|\Z)", re.MULTILINE | re.DOTALL)
INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(?!NOP)([A-Z][\w.]*)\s*([^;]*);", re.MULTILINE)

# An instruction belongs to the first class whose expression fits its opcode. The last two are rough: int64 are
# products that have 64 bits, shifts of 64, and the second halves of sums and comparisons; all other integers
# and what has no class of its own are other.
CLASSES = {
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
# Constants are made by an addition to zero or a product with it, too.
OF_ZERO = re.compile(r"(?:HFMA2\S*|IMAD\.U32|IADD3) R\d+, (?:-?U?RZ, ){2}")

# Limits of a multiprocessor: blocks of 128 threads, and the registers of each of its four parts. A part
# takes one of a block's four warps, and gives it registers in units of eight a thread.
MOST_BLOCKS, REGISTERS_OF_PART, WARP = 16, 16384, 32


def class_of(opcode, operands):
    if OF_ZERO.match(f"{opcode} {operands}"):
        return "moves"
    return next(name for name, pattern in CLASSES.items() if re.match(pattern, opcode))


def functions(listing):
    """{function: how many instructions of each class it has}; those that do nothing do not count."""
    return {name: Counter(class_of(*found) for found in INSTRUCTION.findall(body))
            for name, body in FUNCTION.findall(listing)}


def issued(count):
    """How many instructions take turns: all."""
    return sum(count.values())


def occupancy(registers):
    """The share of a multiprocessor's threads that registers leave room for."""
    blocks = REGISTERS_OF_PART // (WARP * 8 * math.ceil(registers / 8))
    return min(blocks, MOST_BLOCKS) / MOST_BLOCKS
