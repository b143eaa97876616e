"""What the words of PTX's instructions are in C: registers, symbols, constants and addresses."""

import functools
import re

from .syntax import NAME, Unknown, bytes_of, split

C_TYPES = {"pred": "int", "f32": "float", "f64": "double",
           **{f"{letter}{bits}": f"{'' if letter == 's' else 'u'}int{bits}_t"
              for letter in "usb" for bits in (8, 16, 32, 64)}}
REGISTERS = {**C_TYPES, **{f"s{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)}}
SPECIAL = {**{f"%{what}.{axis}": f"t->{what}[{number}]" for number, axis in enumerate("xyz")
              for what in ("tid", "ntid", "ctaid", "nctaid")},
           "%laneid": "LANE(t)", "%warpid": "(t->number / 32)", "WARP_SZ": "32",
           "%lanemask_lt": "((1u << LANE(t)) - 1)", "%lanemask_gt": "(-2u << LANE(t))"}
ADDRESS = re.compile(rf"\[\s*({NAME}(?:\.[xy])?)\s*(?:\+\s*(-?\d+))?\s*\]")


@functools.cache
def mangled(name):
    """A name of PTX as one of C."""
    return re.sub(r"\W", lambda found: f"_{ord(found[0]):x}_", name.lstrip("%"))


def unsigned(kind):
    return "u" + kind[1:]


def is_real(kind):
    return kind[0] == "f"


class Frame:
    """The names that a function knows, and what C has for them."""

    def __init__(self, module, function):
        self.module, self.function = module, function
        self.registers, self.vectors, self.local = {}, {}, set()
        self.parameters = {}  # name -> C expression of its address
        self.waits = False  # for other threads
        offset = 0
        for number, parameter in enumerate(function.parameters):
            offset = -(-offset // parameter.align) * parameter.align
            self.parameters[parameter.name] = (f"(A + {offset})" if function.is_entry else f"A[{number}]")
            offset += parameter.bytes
        self.parameter_bytes = offset
        if function.result:
            self.parameters[function.result.name] = "R"

    # ---- declarations ----

    def declare_register(self, word, kind, lanes=1):
        """The declaration of a register in C, which has several where it is a vector."""
        if lanes > 1:
            self.vectors[word] = [f"{word}.{axis}" for axis in "xyzw"[:lanes]]
            return " ".join(self.declare_register(part, kind) for part in self.vectors[word])
        self.registers[word] = REGISTERS[kind]
        return f"{REGISTERS[kind]} {self.register(word)};"

    def declare_bytes(self, variable, table):
        name, align = f"l_{mangled(variable.name)}", max(variable.align, 8)
        if table == "parameter":
            self.parameters[variable.name] = name
            return f"_Alignas({align}) uint8_t {name}[{variable.bytes}];"
        self.local.add(variable.name)
        return f"LOCAL({name}, {variable.bytes}, {align});"

    # ---- names ----

    @staticmethod
    def register(word):
        return f"r_{mangled(word)}"

    def symbol(self, name):
        """The address that a symbol stands for."""
        name, _, offset = map(str.strip, name.partition("+"))
        if offset:
            return f"({self.symbol(name)} + {offset})"
        if name in self.local:
            return f"(uint64_t)(uintptr_t)l_{mangled(name)}"
        if name in self.module.functions:
            return f"(uint64_t)(uintptr_t)f_{mangled(name)}"
        variable = self.module.variables.get(name)
        if variable is None:
            raise Unknown(f"symbol {name}")
        if variable.space == "shared":
            return f"((uint64_t)(uintptr_t)t->shared + s_{mangled(name)})"
        return f"(uint64_t)(uintptr_t)g_{mangled(name)}"

    def has_parts(self, word):
        return word.startswith("{") or word in self.vectors

    def parts(self, word):
        """The words of an operand that is a vector."""
        return self.vectors.get(word) or split(word.strip("{} "))

    # ---- values ----

    def read(self, word, kind):
        """An operand as a C expression of a type."""
        if word in SPECIAL:
            return f"({C_TYPES[kind]}){SPECIAL[word]}"
        if word in self.registers:
            return self.read_register(word, kind)
        return self.constant(word, kind) or f"({C_TYPES[kind]}){self.symbol(word)}"

    def read_register(self, word, kind):
        have, name = self.registers[word], self.register(word)
        if kind == "pred" or have in ("int", C_TYPES[kind]):
            return name
        has_real = have in ("float", "double")
        if is_real(kind):
            return name if has_real else f"real{kind[1:]}({name})"
        if has_real:
            return f"({C_TYPES[kind]})bits{64 if have == 'double' else 32}({name})"
        return f"({C_TYPES[kind]}){name}"

    @staticmethod
    def constant(word, kind):
        """A number as a C expression; None where the word is none."""
        if found := re.fullmatch(r"0[dDfF]([0-9A-Fa-f]+)", word):
            bits = f"0x{found[1]}ull"
            return f"real{kind[1:]}({bits})" if is_real(kind) else f"({C_TYPES[kind]}){bits}"
        if not re.fullmatch(r"-?\d+U?|0x[0-9a-fA-F]+U?", word):
            return None
        number = int(word.rstrip("U"), 0)
        return f"({C_TYPES[kind]}){number % 2 ** 64}ull"

    def write(self, word, value, kind):
        """A statement that gives a register a value of a type."""
        if word == "_":
            return f"(void)({value});"
        if word not in self.registers:
            raise Unknown(f"register {word}")
        has_real = self.registers[word] in ("float", "double")
        if is_real(kind) and not has_real:
            value = f"bits{kind[1:]}({value})"
        elif not is_real(kind) and has_real:
            value = f"real{64 if self.registers[word] == 'double' else 32}({value})"
        return f"{self.register(word)} = {value};"

    # ---- memory ----

    def address(self, word):
        """Whether an address is one of a parameter, and the address as a C expression."""
        found = ADDRESS.fullmatch(word)
        if not found:
            raise Unknown(f"address {word}")
        base, offset = found[1], int(found[2] or 0)
        if base in self.parameters:
            return True, f"({self.parameters[base]} + {offset})"
        text = self.read(base, "u64")
        return False, f"({text} + (uint64_t){offset}ll)"

    def place(self, mods, word, kind):
        """What an address holds, as an expression that can stand on the left. Memory is checked:
        one of the device, aligned."""
        is_parameter, where = self.address(word)
        if is_parameter:
            return f"*({C_TYPES[kind]} *)(uintptr_t){where}"
        is_global = "global" in mods or "const" in mods
        check = "in_memory" if is_global else "in_reach"
        return f"*({C_TYPES[kind]} *)(uintptr_t){check}(t, {where}, {bytes_of(kind)}, __LINE__)"

    @staticmethod
    def behind(word, offset):
        """An address so many bytes further on."""
        return ADDRESS.sub(lambda found: f"[{found[1]}+{int(found[2] or 0) + offset}]", word)
