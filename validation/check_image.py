#!/usr/bin/env python3
"""Check the device images inside an offload module: check_image.py MODULE ARCH...

A module can link without an error and still hold no code that a GPU accepts. This reads the
images out of it and requires, for every ARCH, of Clang one of
  - machine code whose ELF flags name that architecture in the place where the offload runtime of
    Clang up to 20 looks for it (CUDA 13's tools write it elsewhere: LLVM issue 159088), and which
    is linked;
  - bitcode, which the runtime compiles at start, with nothing left undefined;
and of GCC PTX for it, which the GPU's driver compiles and links at start, with nothing left
undefined, and with every kernel's loops along x shared by the lanes of a warp.
"""

import argparse
import re
import shutil
import struct
import subprocess
import sys
import tempfile

MAGIC = b"\x10\xff\x10\xad"  # of LLVM's offload binary, llvm/Object/OffloadBinary.h
EM_CUDA = 190
ET_EXEC = 2


def images(module):
    """Yield (architecture, image) for every offload binary in the bytes of a module."""
    start = module.find(MAGIC)
    while start >= 0:
        entry, = struct.unpack_from("<Q", module, start + 16)
        strings, count, offset, size = struct.unpack_from("<QQQQ", module, start + entry + 8)
        names = {}
        for i in range(count):
            pair = struct.unpack_from("<QQ", module, start + strings + 16 * i)
            key, value = (module[start + p:module.index(b"\0", start + p)].decode() for p in pair)
            names[key] = value
        yield names.get("arch", "?"), module[start + offset:start + offset + size]
        start = module.find(MAGIC, start + 4)


def undefined_functions(bitcode):
    """The functions that bitcode calls and does not hold; LLVM's own do not count."""
    with tempfile.NamedTemporaryFile(suffix=".bc") as file:
        file.write(bitcode)
        file.flush()
        tool = shutil.which("llvm-nm-19") or "llvm-nm"
        listing = subprocess.run([tool, "--undefined-only", file.name], check=True,
                                 capture_output=True, text=True).stdout
    return [line.split()[-1] for line in listing.splitlines() if line.strip()]


WITHOUT_SIMD = "matmul"  # its nest has no loop along x
CUDA_BUILT_IN = {"free", "malloc", "vprintf"}  # functions that the driver brings


def ptx_modules(module):
    """The texts that GCC's offload linker put into a module; the first one is of our sources."""
    return [text.decode() for text in re.findall(rb"// BEGIN PREAMBLE[^\0]*", module)]


def functions(ptx, what):
    """The functions that PTX of GCC's declares (DECL) or defines (DEF)."""
    return set(re.findall(rf"// BEGIN (?:GLOBAL )?FUNCTION {what}: (\S+)", ptx))


def ptx_complaint(arch, modules):
    """What is wrong with GCC's PTX for an architecture, or None."""
    target = re.search(r"\.target\s+(\w+)", modules[0])[1]
    if target != arch:
        return f"PTX for {target}"
    missing = (set().union(*(functions(text, "DECL") for text in modules)) - CUDA_BUILT_IN -
               set().union(*(functions(text, "DEF") for text in modules)))
    if missing:
        return f"PTX lacks {', '.join(sorted(missing))}"
    nests = 0
    for text in re.split(r"(?=// BEGIN (?:GLOBAL )?FUNCTION DEF: )", modules[0]):
        name = re.match(r"// BEGIN (?:GLOBAL )?FUNCTION DEF: (\w+_offload_\w+\$_omp_fn\$\d+)\n",
                        text)
        if name and ".entry" not in text:
            nests += 1
            if "%laneid" not in text and not name[1].startswith(WITHOUT_SIMD):
                return f"{name[1]} leaves a warp's lanes idle"
    return None if nests else "PTX without kernels"


def complaint(arch, image):
    """What is wrong with an image for an architecture, or None."""
    if image[:4] == b"BC\xc0\xde":
        missing = undefined_functions(image)
        return f"bitcode lacks {', '.join(missing)}" if missing else None
    if image[:4] != b"\x7fELF":
        return "neither machine code nor bitcode"
    kind, machine = struct.unpack_from("<HH", image, 16)
    flags, = struct.unpack_from("<I", image, 48)
    if machine != EM_CUDA:
        return f"machine code for another machine ({machine})"
    if f"sm_{flags & 0xff}" != arch:
        return f"ELF flags {flags:#x} do not name it: made by CUDA 13's tools?"
    if kind != ET_EXEC:
        return "machine code that is not linked"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("architectures", nargs="+")
    arguments = parser.parse_args()
    with open(arguments.module, "rb") as file:
        module = file.read()
    failed = False
    if modules := ptx_modules(module):
        for arch in arguments.architectures:
            wrong = ptx_complaint(arch, modules)
            failed |= wrong is not None
            print(f"{arch}: {wrong or f'PTX, {len(modules[0])} characters, fits'}")
        return failed
    found = dict(images(module))
    for arch in arguments.architectures:
        wrong = complaint(arch, found[arch]) if arch in found else "no image"
        failed |= wrong is not None
        kind = "bitcode" if arch in found and found[arch][:2] == b"BC" else "machine code"
        print(f"{arch}: {wrong or f'{kind}, {len(found[arch])} bytes, fits'}")
    return failed


if __name__ == "__main__":
    sys.exit(main())
