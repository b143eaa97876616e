"""A module of PTX as a file of C: one function for each function, and tables for the driver."""

import re

from .instructions import instruction
from .operands import Frame, mangled
from .syntax import NAME, Unknown, bytes_of, read_module, read_variable, split, statements

REGISTER = re.compile(r"\.reg\s*(?:\.v(\d)\s*)?\.(\w+)\s+(.+)", re.DOTALL)
STATEMENT = re.compile(rf"(?:@\s*(!?)\s*({NAME})\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
IGNORED = (".pragma", ".callprototype")


# ---- functions ----

def numbered(text):
    """A declaration, or as many as it stands for: .reg .b64 %rd<10>."""
    many = re.fullmatch(r"(.*)<(\d+)>", text, re.DOTALL)
    return [f"{many[1]}{i}" for i in range(int(many[2]))] if many else [text]


def registers(frame, text):
    """Declarations such as .reg .b64 %rd<10> and .reg .v2 .u64 %r7."""
    lanes, kind, names = REGISTER.fullmatch(text).groups()
    for name in split(names):
        yield from (frame.declare_register(word, kind, int(lanes or 1)) for word in numbered(name))


def parameters(frame, text):
    """Places for what a call passes and gets."""
    for one in numbered(text.replace(".param", ".local", 1)):
        yield frame.declare_bytes(read_variable(one), "parameter")


def statement(frame, text):
    """A statement as C."""
    if text in "{}":
        return text
    if text.endswith(":"):
        return f"L_{mangled(text[:-1])}:;"
    if text.startswith(".reg"):
        return " ".join(registers(frame, text))
    if text.startswith(".local"):
        return frame.declare_bytes(read_variable(text), "local")
    if text.startswith(".param"):
        return " ".join(parameters(frame, text))
    if text.startswith(".shared"):
        variable = read_variable(text)
        frame.module.variables[variable.name] = variable
        return ""
    if text.startswith(IGNORED):
        return ""
    found = STATEMENT.fullmatch(text)
    if not found:
        raise Unknown(text)
    op, *mods = found[3].replace("::", ".").split(".")
    done = instruction(frame, op, mods, split(found[4]))
    return f"if ({found[1]}{frame.register(found[2])}) {{ {done} }}" if found[2] else done


def signature(function):
    """An entry gets its parameters in one piece, another function one by one."""
    if function.is_entry:
        return f"k_{mangled(function.name)}(struct ptx_thread *t, const uint8_t *A)"
    return f"f_{mangled(function.name)}(struct ptx_thread *t, const uint8_t *const *A, uint8_t *R)"


def storage(linkage):
    """How C says that a name is the module's own, or one of all modules."""
    return {None: "static ", "weak": "WEAK ", "common": "WEAK "}.get(linkage, "")


def function_text(frame):
    function = frame.function
    lines = [statement(frame, text) for text in statements(function.body)]
    start = "static void " if function.is_entry else f"{storage(function.linkage)}void "
    return "\n".join([start + signature(function), "{", *filter(None, lines), "}"])


# ---- variables ----

def image(variable):
    """The bytes that a variable starts with, and which words are addresses: (offset, name)."""
    size, data, addresses = bytes_of(variable.kind), b"", []
    for word in variable.initial or []:
        if found := re.fullmatch(r"(?:generic\()?([A-Za-z_$][\w$]*)\)?", word):
            addresses.append((len(data), found[1]))
            data += bytes(size)
        else:
            number = int(word[2:], 16) if re.match("0[dDfF]", word) else int(word.rstrip("U"), 0)
            data += (number % (1 << 8 * size)).to_bytes(size, "little")
    return data.ljust(variable.bytes, b"\0"), addresses


def variable_text(variable):
    """Where a variable lies, which the driver sets, and what it starts with. That has the
    variable's own name, since an offload runtime looks into images by names."""
    name = mangled(variable.name)
    if variable.linkage == "extern":
        return f"extern {'uint32_t s_' if variable.space == 'shared' else 'void *g_'}{name};"
    if variable.space == "shared":
        return f"{storage(variable.linkage)}uint32_t s_{name};"
    label = f' __asm__("{variable.name}")' if variable.linkage else ""
    data = ", ".join(map(str, image(variable)[0]))
    return (f"{storage(variable.linkage)}void *g_{name};\n"
            f"{storage(variable.linkage)}const uint8_t i_{name}[]{label} = {{{data}}};")


def table(kind, name, rows):
    return [f"static const struct ptx_{kind} {name}[] = {{", *(f"    {{{row}}}," for row in rows), "    {0}};"]


def tables(module, frames):
    """What the driver has to know of a module."""
    own = [variable for variable in module.variables.values() if variable.linkage != "extern"]
    placed = [variable for variable in own if variable.space != "shared"]
    shared = [variable for variable in own if variable.space == "shared"]
    yield from table("kernel", "kernels", (
        f'"{frame.function.name}", k_{mangled(frame.function.name)}, '
        f"{frame.function.most_threads}, {int(frame.waits)}, {frame.parameter_bytes}"
        for frame in frames if frame.function.is_entry))
    yield from table("variable", "variables", (
        f'"{one.name}", {one.bytes}, {one.align}, i_{mangled(one.name)}, &g_{mangled(one.name)}'
        for one in placed))
    yield from table("shared", "shared", (f"{one.bytes}, {one.align}, &s_{mangled(one.name)}" for one in shared))
    yield from table("address", "addresses", (
        f"&g_{mangled(one.name)}, {offset}, " + (
            f"NULL, (void *)f_{mangled(name)}" if name in module.functions else
            f"&g_{mangled(name)}, NULL")
        for one in placed for offset, name in image(one)[1]))
    yield (f"static struct ptx_module module = {{{module.target}, kernels, variables, shared, "
           "addresses, &ptx};")
    yield "PTX_MODULE(module)"


def c_of(text, left_out=""):
    """C for PTX's text; functions with `left_out` in their names trap."""
    module = read_module(text)
    made = [function for function in module.functions.values() if function.body is not None]
    for function in made:
        if left_out and left_out in function.name:
            function.body = "trap;"
    frames = [Frame(module, function) for function in made]
    bodies = [function_text(frame) for frame in frames]  # they may add variables
    out = ['#include "ptx.h"']
    out += [f"{storage(one.linkage)}void {signature(one)};" for one in module.functions.values() if not one.is_entry]
    out += [variable_text(variable) for variable in module.variables.values()]
    return "\n".join([*out, *bodies, *tables(module, frames)]) + "\n"
