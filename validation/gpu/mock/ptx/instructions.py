"""One function for each kind of instruction: what it is in C.

Every `.rn` instruction is IEEE's, so that results are the bits a GPU gives. An instruction of GCC's
without a rounding may be contracted by ptxas; here it is not.
"""

from .operands import C_TYPES, is_real, mangled, unsigned
from .syntax import Unknown, bytes_of, split

TABLE = {}
SIGNS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
         "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
# Comparisons of reals that are true where one is NaN, as the opposite of one that is false then.
OPPOSITES = {"equ": None, "ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
ROUNDING = {"rzi": "trunc", "rni": "roundeven", "rmi": "floor", "rpi": "ceil"}
APPROXIMATE = {"ftz", "approx", "sat", "full", "rz", "rm", "rp"}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^"}


def opcode(*names):
    def enter(function):
        TABLE.update(dict.fromkeys(names, function))
        return function
    return enter


def instruction(frame, op, mods, ops):
    """An instruction as C."""
    if op not in TABLE or APPROXIMATE.intersection(mods):
        raise Unknown(".".join((op, *mods)))
    return TABLE[op](frame, op, mods, ops)


def builtin(name, kind, *values):
    return f"__builtin_{name}{'f' if kind == 'f32' else ''}({', '.join(values)})"


# ---- memory ----

@opcode("ld", "ldu")
def load(frame, _op, mods, ops):
    kind = mods[-1]
    words = frame.parts(ops[0]) if {"v2", "v4"}.intersection(mods) else [ops[0]]
    return " ".join(
        frame.write(word, frame.place(mods, frame.behind(ops[1], i * bytes_of(kind)), kind), kind)
        for i, word in enumerate(words))


@opcode("st")
def store(frame, _op, mods, ops):
    kind = mods[-1]
    words = frame.parts(ops[1]) if {"v2", "v4"}.intersection(mods) else [ops[1]]
    text = " ".join(
        f"{frame.place(mods, frame.behind(ops[0], i * bytes_of(kind)), kind)} = "
        f"{frame.read(word, kind)};" for i, word in enumerate(words))
    return text if "param" in mods else f"STEP(t); {text}"


@opcode("atom", "red")
def atomic(frame, op, mods, ops):
    kind = mods[-1]
    where, *values = ops[1:] if op == "atom" else ops
    b, *more = (frame.read(word, kind) for word in values)
    new = {"add": f"o_ + {b}", "or": f"o_ | {b}", "and": f"o_ & {b}", "xor": f"o_ ^ {b}",
           "exch": b, "inc": f"o_ >= {b} ? 0 : o_ + 1",
           "dec": f"o_ == 0 || o_ > {b} ? {b} : o_ - 1", "min": f"o_ < {b} ? o_ : {b}",
           "max": f"o_ > {b} ? o_ : {b}", "cas": f"o_ == {b} ? {more[0] if more else 0} : o_"}
    how = next(mod for mod in mods if mod in new)
    keep = frame.write(ops[0], "o_", kind) if op == "atom" else ""
    return (f"STEP(t); {{ {C_TYPES[kind]} *a_ = &{frame.place(mods, where, kind)}; "
            f"{C_TYPES[kind]} o_ = *a_; *a_ = {new[how]}; {keep} }}")


@opcode("membar", "fence")
def fence(*_):
    return ";"


@opcode("isspacep")
def is_in_space(frame, _op, mods, ops):
    test = {"shared": "in_shared(t, {})", "global": "is_global({})"}
    if mods[0] not in test:
        raise Unknown(f"isspacep.{mods[0]}")
    return frame.write(ops[0], test[mods[0]].format(frame.read(ops[1], "u64")), "pred")


# ---- moves ----

@opcode("mov")
def move(frame, _op, mods, ops):
    kind = mods[-1]
    if mods[0] in ("v2", "v4"):
        return " ".join(frame.write(to, frame.read(word, kind), kind)
                        for to, word in zip(frame.parts(ops[0]), frame.parts(ops[1])))
    half = {"b64": "u32", "b32": "u16"}.get(kind)
    if frame.has_parts(ops[0]):
        source = frame.read(ops[1], kind)
        return " ".join(frame.write(word, f"({C_TYPES[half]})({source} >> {shift})", half)
                        for word, shift in zip(frame.parts(ops[0]), (0, 8 * bytes_of(half))))
    if frame.has_parts(ops[1]):
        low, high = (frame.read(word, half) for word in frame.parts(ops[1]))
        return frame.write(ops[0], f"({C_TYPES[kind]}){low} | ({C_TYPES[kind]}){high} << "
                           f"{8 * bytes_of(half)}", kind)
    value = frame.read(ops[1], kind)
    return frame.write(ops[0], f"{value} != 0" if kind == "pred" else value, kind)


@opcode("cvta")
def convert_address(frame, _op, mods, ops):
    return frame.write(ops[0], frame.read(ops[1], mods[-1]), mods[-1])


@opcode("cvt")
def convert(frame, _op, mods, ops):
    to, source = mods[-2:]
    value = frame.read(ops[1], source)
    how = next((ROUNDING[mod] for mod in mods if mod in ROUNDING), None)
    if how and is_real(to):
        value = builtin(how, source, value)
    elif not is_real(to) and is_real(source):
        value = f"saturated_{to}(__builtin_{how}((double){value}))"
    return frame.write(ops[0], f"({C_TYPES[to]})({value})", to)


@opcode("selp")
def select(frame, _op, mods, ops):
    a, b = (frame.read(word, mods[-1]) for word in ops[1:3])
    return frame.write(ops[0], f"{frame.register(ops[3])} ? {a} : {b}", mods[-1])


# ---- comparisons ----

def comparison(how, kind, a, b):
    if how in ("nan", "num"):
        return f"{'' if how == 'nan' else '!'}({a} != {a} || {b} != {b})"
    if is_real(kind) and how in ("ne", "equ"):  # false, and true, for NaN
        return f"{'' if how == 'ne' else '!'}({a} < {b} || {a} > {b})"
    if how == "neu":
        return f"({a} != {b})"
    if how in OPPOSITES:
        return f"!({a} {OPPOSITES[how]} {b})"
    return f"({a} {SIGNS[how]} {b})"


@opcode("setp")
def compare(frame, _op, mods, ops):
    how, kind = mods[0], mods[-1]
    value = comparison(how, kind, frame.read(ops[1], kind), frame.read(ops[2], kind))
    if mods[1] in ("and", "or", "xor"):
        value = f"({value} {ARITHMETIC[mods[1]]} {frame.read(ops[3], 'pred')})"
    return frame.write(ops[0], value, "pred")


# ---- arithmetic ----

@opcode("add", "sub", "and", "or", "xor")
def calculate(frame, op, mods, ops):
    kind = mods[-1] if is_real(mods[-1]) or mods[-1] == "pred" else unsigned(mods[-1])
    a, b = (frame.read(word, kind) for word in ops[1:3])
    return frame.write(ops[0], f"({C_TYPES[kind]})({a} {ARITHMETIC[op]} {b})", kind)


@opcode("div", "rem")
def divide(frame, op, mods, ops):
    kind = mods[-1]
    a, b = (frame.read(word, kind) for word in ops[1:3])
    value = f"{a} / {b}" if is_real(kind) else f"{op.upper()}({C_TYPES[kind]}, {a}, {b})"
    return frame.write(ops[0], value, kind)


def product(kind, how, a, b):
    """The product of two integers, and its type: as wide, twice as wide, or its upper half."""
    bits = 8 * bytes_of(kind)
    wide = f"{'' if kind[0] == 's' else 'unsigned '}__int128" if bits == 64 else \
        C_TYPES[f"{kind[0]}{2 * bits}"]
    if how == "wide":
        return f"({wide}){a} * ({wide}){b}", f"u{2 * bits}"
    if how == "hi":
        return f"(({wide}){a} * ({wide}){b}) >> {bits}", unsigned(kind)
    return f"(uint{bits}_t){a} * (uint{bits}_t){b}", unsigned(kind)


@opcode("mul", "mad")
def multiply(frame, op, mods, ops):
    kind = mods[-1]
    if is_real(kind):
        return fused(frame, op, mods, ops) if op == "mad" else frame.write(
            ops[0], f"{frame.read(ops[1], kind)} * {frame.read(ops[2], kind)}", kind)
    value, to = product(kind, mods[0], frame.read(ops[1], kind), frame.read(ops[2], kind))
    value = f"({C_TYPES[to]})({value})"
    if op == "mad":
        value = f"({C_TYPES[to]})({value} + {frame.read(ops[3], to)})"
    return frame.write(ops[0], value, to)


@opcode("fma")
def fused(frame, _op, mods, ops):
    kind = mods[-1]
    return frame.write(ops[0], builtin("fma", kind, *(frame.read(word, kind) for word in ops[1:4])), kind)


@opcode("sqrt", "rcp")
def root(frame, op, mods, ops):
    kind = mods[-1]
    value = frame.read(ops[1], kind)
    return frame.write(ops[0], builtin("sqrt", kind, value) if op == "sqrt" else f"({C_TYPES[kind]})1 / {value}", kind)


@opcode("neg", "abs")
def sign(frame, op, mods, ops):
    kind = mods[-1]
    value = frame.read(ops[1], kind)
    if is_real(kind):
        return frame.write(ops[0], builtin("fabs", kind, value) if op == "abs" else f"-{value}", kind)
    negative = f"({C_TYPES[unsigned(kind)]})(0 - {frame.read(ops[1], unsigned(kind))})"
    return frame.write(ops[0], negative if op == "neg" else f"{value} < 0 ? {negative} : {value}", unsigned(kind))


@opcode("copysign")
def copy_sign(frame, _op, mods, ops):
    kind = mods[-1]
    return frame.write(ops[0], builtin("copysign", kind, frame.read(ops[2], kind), frame.read(ops[1], kind)), kind)


@opcode("min", "max")
def choose(frame, op, mods, ops):
    kind = mods[-1]
    a, b = (frame.read(word, kind) for word in ops[1:3])
    return frame.write(ops[0], builtin(f"f{op}", kind, a, b) if is_real(kind) else
                       f"{a} {'<' if op == 'min' else '>'} {b} ? {a} : {b}", kind)


# ---- bits ----

@opcode("not", "cnot")
def invert(frame, op, mods, ops):
    kind = mods[-1]
    value = frame.read(ops[1], kind)
    bitwise = op == "not" and kind != "pred"
    return frame.write(ops[0], f"({C_TYPES[kind]})~{value}" if bitwise else f"!{value}", kind)


@opcode("shl", "shr")
def shift(frame, op, mods, ops):
    kind = unsigned(mods[-1]) if op == "shl" else mods[-1]
    name = "SHL" if op == "shl" else "SHR_SIGNED" if kind[0] == "s" else "SHR"
    return frame.write(ops[0], f"{name}({C_TYPES[kind]}, {frame.read(ops[1], kind)}, "
                       f"{frame.read(ops[2], 'u32')})", kind)


@opcode("bfe")
def extract(frame, _op, mods, ops):
    kind = mods[-1]
    if kind[0] != "u":
        raise Unknown(f"bfe.{kind}")
    place, count = (frame.read(word, "u32") for word in ops[2:4])
    return frame.write(ops[0], f"BFE({C_TYPES[kind]}, {frame.read(ops[1], kind)}, {place}, {count})", kind)


@opcode("vsub")
def subtract_and(frame, _op, mods, ops):
    if mods != ["u32", "u32", "u32", "add"]:
        raise Unknown(f"vsub.{'.'.join(mods)}")
    a, b, c = (frame.read(word, "u32") for word in ops[1:4])
    return frame.write(ops[0], f"{a} - {b} + {c}", "u32")


# ---- other threads ----

@opcode("bar", "barrier")
def barrier(frame, op, mods, ops):
    frame.waits = True
    if mods[0] == "warp":
        return f"ptx.shuffle(t, SHUFFLE_INDEX, 0, LANE(t), 31, {frame.read(ops[0], 'u32')}, NULL);"
    count = frame.read(ops[1], "u32") if len(ops) > 1 else "ALL_THREADS"
    line = "__LINE__" if op == "bar" or "aligned" in mods else "0"
    arrives = int("arrive" in mods)
    return f"ptx.barrier(t, {frame.read(ops[0], 'u32')}, {count}, {arrives}, {line});"


@opcode("shfl")
def shuffle(frame, _op, mods, ops):
    frame.waits = True
    mode = {"up": "UP", "down": "DOWN", "idx": "INDEX", "bfly": "BUTTERFLY"}[mods[1]]
    to, _, valid = ops[0].partition("|")
    words = ", ".join(frame.read(word, "u32") for word in ops[1:5])
    keep = frame.write(valid, "v_", "pred") if valid else ""
    value = f"ptx.shuffle(t, SHUFFLE_{mode}, {words}, &v_)"
    return f"{{ int v_; {frame.write(to, value, 'u32')} {keep} }}"


@opcode("trap")
def trap(*_):
    return 'ptx.fault(t, "trap", 0, __LINE__);'


# ---- control ----

@opcode("bra")
def branch(_frame, _op, _mods, ops):
    return f"goto L_{mangled(ops[0])};"


@opcode("ret", "exit")
def leave(frame, op, _mods, _ops):
    return "return;" if op == "ret" or frame.function.is_entry else "ptx.exit(t);"


@opcode("call")
def call(frame, _op, _mods, ops):
    """(result), function, (arguments), prototype; all but the function may be absent."""
    frame.waits = True
    ops = list(ops)
    result = ops.pop(0).strip("() ") if ops[0].startswith("(") else None
    name = ops.pop(0)
    arguments = split(ops[0].strip("() ")) if ops else []
    places = ", ".join(frame.parameters[word] for word in arguments)
    function = (f"((ptx_function *)(uintptr_t){frame.read(name, 'u64')})"
                if name in frame.registers else f"f_{mangled(name)}")
    return (f"{function}(t, (const uint8_t *const[]){{{places or 'NULL'}}}, "
            f"{frame.parameters[result] if result else 'NULL'});")
