"""The syntax of PTX: a module's variables and functions, and the statements of a function."""

import re
from dataclasses import dataclass, field

NAME = r"[%$\w]+"
LINKAGE = r"(?:\.(?P<linkage>visible|weak|extern|common)\s+)?"
VARIABLE = re.compile(LINKAGE + r"\.(?P<space>global|const|shared|local)\s+(?:\.align\s+(?P<align>\d+)\s+)?"
                      rf"\.(?P<kind>\w+)\s+(?P<name>{NAME})\s*(?:\[(?P<count>\d*)\])?"
                      r"(?:\s*=\s*(?P<initial>.*))?", re.DOTALL)
FUNCTION = re.compile(LINKAGE + r"\.(?P<what>entry|func)\s*(?:\((?P<result>[^)]*)\))?"
                      rf"\s*(?P<name>{NAME})\s*(?:\((?P<parameters>[^)]*)\))?(?P<rest>.*)", re.DOTALL)
PARAMETER = re.compile(r"\.param\s*(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<kind>\w+)\s+"
                       rf"(?P<name>{NAME})(?:\[(?P<count>\d+)\])?")
MOST_THREADS = 1024  # of a block, where an entry names no other limit


class Unknown(Exception):
    """What this translator does not know."""


def bytes_of(kind):
    return int(kind[1:]) // 8


@dataclass
class Variable:
    """A variable, or a parameter of a function."""
    name: str
    kind: str
    count: int
    align: int
    space: str = "param"
    linkage: str | None = None  # None: the module's own
    initial: list | None = None  # words

    @property
    def bytes(self):
        return bytes_of(self.kind) * self.count


@dataclass
class Function:
    name: str
    is_entry: bool
    linkage: str | None
    parameters: list
    result: Variable | None
    most_threads: int = MOST_THREADS
    body: str | None = None  # None: a declaration


@dataclass
class Module:
    target: int = 0  # 90 of sm_90
    variables: dict = field(default_factory=dict)
    functions: dict = field(default_factory=dict)


def split(text):
    """Words at the commas outside of braces, brackets and parentheses."""
    if "{" not in text and "(" not in text:  # addresses have no commas
        return [word.strip() for word in text.split(",")] if text else []
    words, depth, word = [], 0, ""
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth == 0:
            words.append(word.strip())
            word = ""
        else:
            word += character
    return words + [word.strip()] if word.strip() else words


def statements(body):
    """A function's statements without their semicolons; labels with their colon; and braces."""
    start, in_operand = 0, False
    for found in re.finditer(r"[;{}]|(?<!:):(?!:)", body):
        pending = body[start:found.start()].strip()
        if found[0] == "{" and pending:
            in_operand = True  # a vector, as in mov.b64 {%r1, %r2}, %rd3
        elif found[0] == "}" and in_operand:
            in_operand = False
        elif found[0] == ":":
            yield pending + ":"
            start = found.end()
        else:
            yield from filter(None, (pending, found[0].strip(";")))
            start = found.end()


def read_variable(text):
    found = VARIABLE.fullmatch(text.strip())
    if not found:
        raise Unknown(text)
    size = bytes_of(found["kind"])
    initial = found["initial"] and split(found["initial"].strip().strip("{}"))
    return Variable(found["name"], found["kind"], int(found["count"] or 1),
                    int(found["align"] or size), found["space"], found["linkage"], initial)


def read_parameters(text):
    return [Variable(found["name"], found["kind"], int(found["count"] or 1),
                     int(found["align"] or bytes_of(found["kind"])))
            for found in PARAMETER.finditer(text or "")]


def read_function(header):
    found = FUNCTION.fullmatch(header.strip())
    if not found:
        raise Unknown(header)
    limit = re.search(r"\.maxntid\s+(\d+)(?:,\s*(\d+))?(?:,\s*(\d+))?", found["rest"])
    most = MOST_THREADS
    if limit:
        most = int(limit[1]) * int(limit[2] or 1) * int(limit[3] or 1)
    result = read_parameters(found["result"])
    return Function(found["name"], found["what"] == "entry", found["linkage"],
                    read_parameters(found["parameters"]), result[0] if result else None, most)


def end_of_block(text, start):
    """Behind the brace that closes the one just before `start`."""
    depth = 1
    for found in re.finditer("[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return start + found.end()
    raise Unknown("a brace that is not closed")


def without_comments(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
    return re.sub(r"^\s*\.(version|target|address_size|file|loc)\b[^\n]*", "", text, flags=re.MULTILINE)


def read_module(text):
    """A module of PTX's text."""
    module = Module(target=int(re.search(r"\.target\s+sm_(\d+)", text)[1]))
    text, place = without_comments(text).rstrip("\0 \n"), 0
    while found := re.compile("[;{]").search(text, place):
        begin, place = place, found.end()
        header = text[begin:found.start()].strip()
        if re.search(r"\.(entry|func)\b", header):
            function = read_function(header)
            if found[0] == "{":
                place = end_of_block(text, found.end())
                function.body = text[found.end():place - 1]
            if function.body is not None or function.name not in module.functions:
                module.functions[function.name] = function
            continue
        if found[0] == "{":  # of its initial values
            end = text.index(";", place)
            header, place = text[begin:end], end + 1
        variable = read_variable(header)
        module.variables[variable.name] = variable
    if text[place:].strip():
        raise Unknown(text[place:])
    return module
